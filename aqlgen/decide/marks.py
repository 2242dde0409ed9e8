"""What tells an operation from its like in its name, whether the document has the like or not.

By what an item is found, what a literal query says (`?beta=true`), an unusual method, a version that is no release: all
are read from the operation alone, so that a name keeps its mark when the others go.
"""

from __future__ import annotations

import re
from typing import Final

from aqlgen.decisions import Category
from aqlgen.words import singular, split

from .chain import IDS, PREPOSITIONS, Chain, alike
from .facts import Facts

__all__ = ["marks", "stage"]

_STAGE: Final = re.compile(r"v\d+(alpha|beta|rc|preview)(\d*)")
_METHODS: Final = frozenset("get put post delete patch head options".split())


def marks(facts: Facts, links: Chain, category: Category) -> tuple[str, ...]:
    """Give the words to put behind the nouns."""
    found = (*facts.shape.qualifier, *links.by) or _found_by(facts, links, category)
    return (*found, *facts.shape.marks, *_method(facts))


def stage(facts: Facts, links: Chain) -> tuple[str, ...]:
    """Give the word for a version that is no release yet, behind the product it is of, to put before the nouns."""
    for word in facts.shape.residue:
        if match := _STAGE.fullmatch(word):
            return (*links.area, match[1] + (match[2] if match[2] != "1" else ""))
    return ()


def _method(facts: Facts) -> tuple[str, ...]:
    """Name a method that says more than the verb: an action in a query is a POST as well, a proxy takes all of them."""
    if facts.method == "OPTIONS":
        return ("options",)
    if facts.shape.queried and facts.method == "GET":
        return ("via", "query")
    said = facts.phrase.object[:1] if facts.phrase else ()
    own = facts.method.lower()
    return ("via", own) if said == (own,) and facts.named and facts.named.word not in _METHODS else ()


def _found_by(facts: Facts, links: Chain, category: Category) -> tuple[str, ...]:
    """Give the field that people say a thing is found by; its own id goes without saying, but where it is created."""
    if not links.nouns or not links.nouns[-1].parameters:
        return ()
    said = split(facts.operation.operation_id or "")
    at = max((at for at, word in enumerate(said) if at and word in ("by", "with")), default=len(said))
    words = said[at + 1 :]
    nouns = {singular(word) for noun in links.nouns for word in noun.words}
    while words and singular(words[0]) in nouns:
        words = words[1:]
    end = next((index for index, word in enumerate(words) if word in PREPOSITIONS), len(words))
    words = words[:end]
    if not words:
        return ()
    if set(words) <= IDS:
        return ("with", "id") if category is Category.CREATE and said[at] == "with" else ()
    own = [word for name in links.nouns[-1].parameters for word in name]
    known = all(any(alike(word, each) for each in own) for word in words)
    return (said[at], *words) if known and not set(words) & IDS else ()
