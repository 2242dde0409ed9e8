"""The danger of an operation (R-SAFE-1): by category, raised by its name's patterns and its shape; the highest wins.

The defaults and the patterns are those of the protocol's danger levels (sections 3.3 and 6), read by what they say they
are for: `reset_*` is "reset to empty or factory state", so it is about what holds data or runs things; resetting a
token or a counter loses one value, and is destructive.
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Final

from aqlgen.decisions import Category, Danger, Evidence, Reason
from aqlgen.ir import Location
from aqlgen.words import singular

from .answers import sends_many
from .chain import AREAS, PREPOSITIONS
from .facts import Facts
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
    Danger.FORBIDDEN: "drop_* delete_all_* truncate_* reset_* destroy_* wipe_* *_production",
    Danger.DANGEROUS: "force_* *_permanently bulk_delete_* override_* bypass_* *_without_backup purge_*",
}
_WHOLES: Final = frozenset(
    "all everything factory system database db data datum schema table store storage bucket disk volume filesystem"
    " device machine server instance node cluster host hub router network firewall environment sandbox production"
    " account organization org company tenant workspace project site app application repository repo branch service"
    " installation index cache queue topic stream application settings setting configuration config default defaults"
    " bmc phone terminal printer vm".split()
)
"""What goes back to an empty or factory state when it is reset."""


_REPLACING: Final = frozenset("update replace set put overwrite write change edit modify manage".split())


def danger(
    facts: Facts, category: Category, name: str, lists: Mapping[str, bool | None] | None = None
) -> tuple[Danger, Reason]:
    """Give the level with what raised it. A READ stays safe, whatever it is called: patterns are about changes.

    `lists` tells of paths whether a GET of them answers with a list.
    """
    given = facts.operation.extensions.get("x-mcpaql-danger")
    if isinstance(given, str) and given in list(Danger):
        return Danger(given), Reason("declared", Evidence.METADATA, 1.0, "x-mcpaql-danger")
    if category is Category.READ:
        return Danger.SAFE, Reason("category", Evidence.RULE, 0.95, "READ")
    found = [(_DEFAULTS[category], Reason("category", Evidence.RULE, 0.9, category.value))]
    for level, patterns in _PATTERNS.items():
        for pattern in patterns.split():
            if fnmatchcase(name, pattern) or (pattern.endswith("_*") and name == pattern[:-2]):
                found.append(_matched(level, pattern, name))
    if _takes_a_collection(facts, category, name, lists or {}):
        note = f"{facts.method} on a collection"
        found.append((Danger.DANGEROUS, Reason("whole-collection", Evidence.RULE, 0.8, note)))
    if category is not Category.DELETE and (word := _destroys(name)):
        note = f"its name speaks of {word}"
        found.append((Danger.DESTRUCTIVE, Reason("names-destruction", Evidence.RULE, 0.75, note)))
    if category is Category.DELETE and _says_all(facts):
        found.append((Danger.DANGEROUS, Reason("says-all", Evidence.RULE, 0.8, "people say that it takes all")))
    return max(found, key=lambda pair: pair[0].rank)


def _matched(level: Danger, pattern: str, name: str) -> tuple[Danger, Reason]:
    words = name.split("_")
    end = next((at for at, word in enumerate(words) if at > 1 and word in PREPOSITIONS), len(words))
    if pattern == "reset_*" and len(words) > 1 and not _WHOLES & {singular(words[end - 1]), words[end - 1]}:
        return Danger.DESTRUCTIVE, Reason("name-pattern", Evidence.RULE, 0.8, "a reset loses the value there was")
    return level, Reason("name-pattern", Evidence.RULE, 0.8, f"the name matches {pattern}")


def _takes_a_collection(facts: Facts, category: Category, name: str, lists: Mapping[str, bool | None]) -> bool:
    """Whether a DELETE or PUT takes a whole collection at once, not what a parameter or the body picks from it."""
    wanted = {"DELETE": Category.DELETE, "PUT": Category.UPDATE}
    if wanted.get(facts.method) is not category or facts.shape.action:
        return False
    if facts.method == "PUT" and name.split("_")[0] not in _REPLACING:
        return False
    if facts.operation.extensions.get("x-kubernetes-action") == "deletecollection":
        return True
    last = facts.shape.nouns[-1] if facts.shape.nouns else None
    if last is None or last.parameters or (category is Category.DELETE and _picks(facts)):
        return False
    if facts.method == "PUT" and sends_many(facts.operation, facts.resolver) is False:
        return False
    said = facts.phrase.object if facts.phrase else ()
    if said and not is_plural(said) and not is_plural(last.words):
        return False
    told = lists.get(facts.operation.path)
    return told if told is not None else is_plural(last.words) and last.words[-1] not in AREAS


def _destroys(name: str) -> str:
    """Give the word by which something is destroyed though the operation does something else (`submit_delete_job`)."""
    first, *rest = name.split("_")
    return "" if first in _AVERTING else next((word for word in rest if word in _DESTROYING), "")


_DESTROYING: Final = frozenset("delete destroy purge wipe erase".split())
_AVERTING: Final = frozenset("cancel stop abort pause undo restore recover disable".split())


def _says_all(facts: Facts) -> bool:
    """Whether people or the path say `all` right behind the verb: `deleteAllReactions`, `/delete-all`."""
    said = facts.phrase.object[:1] if facts.phrase else ()
    return "all" in (*said, *facts.shape.action[1:2])


def _picks(facts: Facts) -> bool:
    """Whether the request must say what is deleted."""
    body = facts.operation.body
    wanted = (Location.QUERY, Location.COOKIE)
    asked = any(each.required and each.location in wanted for each in facts.operation.parameters)
    return asked or (body is not None and body.required is not False and bool(body.media))
