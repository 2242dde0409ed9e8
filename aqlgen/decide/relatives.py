"""The canonical verb that a verb of more meaning is a kind of (R-NAME-2): search is a kind of list, rename of update.

An agent that knows the canonical verbs alone learns by it what an operation does at its core.
"""

from __future__ import annotations

from typing import Final

from aqlgen.decisions import Category

__all__ = ["relative"]

_CANONICAL: Final = frozenset("create get list update delete execute cancel".split())
_LISTING: Final = frozenset("search find query lookup filter match browse scan discover suggest autocomplete".split())
"""Verbs that give many, where the document does not tell."""
_CANCELLING: Final = frozenset("cancel stop abort terminate halt".split())


def relative(verb: str, category: Category, many: bool | None) -> str:
    """Give the canonical relative of a verb, "" where it is canonical; `many` says whether the answer is a list."""
    if verb in _CANONICAL:
        return ""
    words = frozenset(verb.split("_"))
    if category is Category.READ:
        listing = "list" in words or bool(many) or (many is None and words & _LISTING)
        return "list" if listing else "get"
    if category is Category.EXECUTE and words & _CANCELLING:
        return "cancel"
    return category.family
