"""The danger of an operation (R-SAFE-1): by category, raised by its name's patterns and its shape; the highest wins.

The defaults and the patterns are those of the protocol's danger levels (sections 3.3 and 6).
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Final

from aqlgen.decisions import Category, Danger, Evidence, Reason

from .facts import Facts
from .nouns import AREAS
from .shape import is_plural

__all__ = ["danger"]

_DEFAULTS: Final = {
    Category.READ: Danger.SAFE,
    Category.CREATE: Danger.REVERSIBLE,
    Category.UPDATE: Danger.REVERSIBLE,
    Category.DELETE: Danger.DESTRUCTIVE,
    Category.EXECUTE: Danger.REVERSIBLE,
}
_PATTERNS: Final = {
    Danger.FORBIDDEN: "drop_* delete_all* truncate_* reset_* destroy_* wipe_* *_production",
    Danger.DANGEROUS: "force_* *_permanently bulk_delete* override_* bypass_* *_without_backup purge_*",
}


def danger(facts: Facts, category: Category, name: str) -> tuple[Danger, Reason]:
    """Give the level with what raised it. A READ stays safe, whatever it is called: patterns are about changes."""
    given = facts.operation.extensions.get("x-mcpaql-danger")
    if isinstance(given, str) and given in list(Danger):
        return Danger(given), Reason("declared", Evidence.METADATA, 1.0, "x-mcpaql-danger")
    if category is Category.READ:
        return Danger.SAFE, Reason("category", Evidence.RULE, 0.95, "READ")
    found = [(_DEFAULTS[category], Reason("category", Evidence.RULE, 0.9, category.value))]
    for level, patterns in _PATTERNS.items():
        for pattern in patterns.split():
            if fnmatchcase(name, pattern) or (name == pattern.strip("_*") and pattern.endswith("*")):
                found.append((level, Reason("name-pattern", Evidence.RULE, 0.8, f"the name matches {pattern}")))
    if _on_collection(facts, category):
        found.append(
            (Danger.DANGEROUS, Reason("whole-collection", Evidence.RULE, 0.8, f"{facts.method} on a collection"))
        )
    return max(found, key=lambda pair: pair[0].rank)


def _on_collection(facts: Facts, category: Category) -> bool:
    """Whether a DELETE or PUT takes a whole collection at once."""
    last = facts.shape.nouns[-1] if facts.shape.nouns else None
    if last is None or last.parameters or facts.shape.action or not is_plural(last.words) or last.words[-1] in AREAS:
        return False
    return (facts.method == "DELETE" and category is Category.DELETE) or (
        facts.method == "PUT" and category is Category.UPDATE
    )
