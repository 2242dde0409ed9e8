"""Name suffixes that disambiguate operations: lookup fields, literal queries, unusual methods, unreleased versions.

All are read from the operation alone, whether or not the document has a similar one, so that a name keeps its suffix
when the others go.
"""

from __future__ import annotations

import re
from typing import Final

from aqlgen.decide.decision import Category
from aqlgen.decide.facts import Facts
from aqlgen.decide.naming.chain import NounChain
from aqlgen.decide.naming.noun import IDS, Words, alike, head_size
from aqlgen.words import singular, split

__all__ = ["prerelease", "suffixes"]

_PRERELEASE: Final = re.compile(r"v\d+(alpha|beta|rc|preview)(\d*)")
_METHODS: Final = frozenset("get put post delete patch head options".split())


def suffixes(facts: Facts, chain: NounChain, category: Category) -> Words:
    """Return the words to put behind the nouns."""
    field = (*facts.shape.qualifier, *chain.by) or _spoken_field(facts, chain, category)
    return (*field, *facts.shape.query_words, *_method(facts))


def prerelease(facts: Facts, chain: NounChain) -> Words:
    """Return the word for a version that is no release yet, behind its product, to put before the nouns."""
    for word in facts.shape.residue:
        if match := _PRERELEASE.fullmatch(word):
            return (*chain.area, match[1] + (match[2] if match[2] != "1" else ""))
    return ()


def _method(facts: Facts) -> Words:
    """Name a method that says more than the verb: an action in a query is a POST as well, a proxy takes all of them."""
    if facts.method == "OPTIONS":
        return ("options",)
    if facts.shape.queried and facts.method == "GET":
        return ("via", "query")
    spoken = facts.phrase.object[:1] if facts.phrase else ()
    method = facts.method.lower()
    named = facts.named_verb is not None and facts.named_verb.word not in _METHODS
    return ("via", method) if named and spoken == (method,) else ()


def _spoken_field(facts: Facts, chain: NounChain, category: Category) -> Words:
    """Return the field by which people find a thing; its own id goes without saying, unless the thing is created."""
    if not chain.nouns or not chain.nouns[-1].parameters:
        return ()
    name = split(facts.operation.operation_id or "")
    at = max((at for at, word in enumerate(name) if at and word in ("by", "with")), default=len(name))
    words = _field_words(name[at + 1 :], chain)
    if not words:
        return ()
    if set(words) <= IDS:
        return ("with", "id") if category is Category.CREATE and name[at] == "with" else ()
    parameters = chain.parameters
    known = all(any(alike(word, parameter) for parameter in parameters) for word in words)
    return (name[at], *words) if known and not set(words) & IDS else ()


def _field_words(words: Words, chain: NounChain) -> Words:
    """Leave out the nouns of the path before the field, and what follows a preposition behind it."""
    nouns = {singular(word) for noun in chain.nouns for word in noun.words}
    while words and singular(words[0]) in nouns:
        words = words[1:]
    return words[: head_size(words, 0)]
