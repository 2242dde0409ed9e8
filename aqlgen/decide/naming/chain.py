"""The noun chain of a path: its nouns in the order and the groups that names are made from.

Ordered steps make it of the path's nouns: run-together words, areas, the caller, adjectives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from aqlgen.decide.facts import Facts
from aqlgen.decide.naming.noun import (
    AREAS,
    IDS,
    NAMES,
    ONE_OF,
    Noun,
    Words,
    alike,
    head_size,
    is_plural,
    join,
    parent_words,
    thing,
)
from aqlgen.decide.naming.verbs import find_verb
from aqlgen.decide.naming.vocabulary import Vocabulary
from aqlgen.words import singular

__all__ = ["NounChain", "is_adjective", "is_participle", "read_chain"]

_ONE_FORM: Final = AREAS | frozenset(
    "history activity inventory feed usage traffic content media timeline audience weather search code".split()
)
_SOME_OF: Final = frozenset(
    "recent trending popular featured active archived deleted pending upcoming top new public private available enabled"
    " disabled saved shared hidden blocked assigned starred watched all expired unread remote".split()
)
"""Adjectives that pick several things of many."""
_ME: Final = frozenset({"me", "self", "myself", "my"})
_MINE: Final = frozenset({"authenticated", "current", "my", "me", "own", "logged"})


@dataclass(frozen=True, slots=True)
class NounChain:
    """The nouns of a path in order, grouped at the items that they pass through."""

    nouns: tuple[Noun, ...]
    mine: bool = False
    """Whether the path starts at the caller (`/me`)."""
    mass: bool = False
    """Whether the last noun has one form for one and for many."""
    area: Words = ()
    """The nouns before a version, which are those of the product (`/inbound/fba/v1/plans`)."""

    @property
    def groups(self) -> tuple[tuple[Noun, ...], ...]:
        """The nouns, a new group after each one with parameters."""
        groups: list[list[Noun]] = [[]]
        for noun in self.nouns:
            groups[-1].append(noun)
            if noun.parameters:
                groups.append([])
        return tuple(tuple(group) for group in groups if group)

    @property
    def full(self) -> Words:
        """Every noun, parents in the singular."""
        return self.joined(self.nouns)

    @property
    def raw(self) -> Words:
        """Every noun as the path has it, in its own number."""
        return join(*(noun.words for noun in self.nouns))

    @property
    def last(self) -> Words:
        """The last word of the last noun."""
        return self.nouns[-1].words[-1:] if self.nouns else ()

    @property
    def within(self) -> bool:
        """True if the path's end lies within an item."""
        return any(noun.parameters for noun in self.nouns)

    @property
    def itself(self) -> bool:
        """True if a parameter with the last noun's name identifies it (`/pets/{petId}`)."""
        if not self.nouns:
            return False
        last = self.nouns[-1].words
        size = head_size(last)
        words = [singular(word) for word in (last[:size] if size < len(last) - 1 else last)]
        names = [singular(word) for word in self.parameters if word not in IDS]
        return any(alike(word, name) for name in names for word in words)

    @property
    def item(self) -> bool:
        """True if the path ends at one thing: `/pets/{petId}` or `/pets/{id}`, but not `/readme/{directory}`."""
        return self.itself or any(word in IDS | NAMES for word in self.parameters)

    @property
    def parameters(self) -> Words:
        """The words of the last noun's parameters."""
        return tuple(word for name in self.nouns[-1].parameters for word in name) if self.nouns else ()

    def joined(self, nouns: Sequence[Noun]) -> Words:
        """Join some of the nouns, parents in the singular."""
        words = [*map(parent_words, nouns[:-1]), *(noun.words for noun in nouns[-1:])]
        return join(("my",) if self.mine else (), *words)


def read_chain(facts: Facts, vocabulary: Vocabulary) -> NounChain:
    """Read the nouns of an operation's path; `vocabulary` tells which words the document runs together."""
    nouns, around = facts.shape.nouns, vocabulary.around
    evidence = facts.phrase.evidence if facts.phrase else ()
    if nouns[: len(around)] == around and not any(word in evidence for noun in around for word in noun.one):
        nouns = nouns[len(around) :] or nouns
    chain = NounChain(tuple(_spelled_out(noun, facts, vocabulary) for noun in nouns))
    for step in STEPS:
        if not chain.nouns:
            return chain
        chain = step(chain, facts)
    last = chain.nouns[-1]
    return replace(chain, mass=not last.parameters and last.words[-1] in _ONE_FORM)


def _spelled_out(noun: Noun, facts: Facts, vocabulary: Vocabulary) -> Noun:
    """Take run-together words apart, and read a letter as what its parameter or the namespace names (`/b/{bucket}`)."""
    words = tuple(piece for word in noun.words for piece in vocabulary.apart(word, facts.operation))
    if len(words) == 1 and len(words[0]) == 1:
        names = noun.parameters[:1] or ((facts.phrase.namespace[-1:],) if facts.phrase else ())
        words = next((thing(name) for name in names if name and name[0].startswith(words[0])), words)
    return noun if words == noun.words else replace(noun, words=words)


def _is_caller(first: Words, second: Words, spoken: Words) -> bool:
    if first == ("user",):
        return not _MINE.isdisjoint(spoken)
    return first[-1] in _ME or (first == ("users",) and second[0] in _ME)


def _read_me(chain: NounChain, facts: Facts) -> NounChain:
    """Read `/users/me` and `/me/pets` as the caller's own, and `/user` where people say that it is the caller."""
    nouns, mine = chain.nouns, chain.mine
    spoken = facts.phrase.words if facts.phrase else ()
    last = nouns[-1]
    if len(nouns) > 1 and last.words[-1] in _ME and not last.parameters:
        mine, nouns = True, (*nouns[:-2], Noun(nouns[-2].words, (last.words,)))
    while len(nouns) > 1 and not nouns[0].parameters and _is_caller(nouns[0].words, nouns[1].words, spoken):
        mine, nouns = True, nouns[1:]
    return replace(chain, nouns=nouns, mine=mine)


def _settle_adjective(chain: NounChain, _: Facts) -> NounChain:
    """Find an adjective at the path's end, and put it before its noun: `/releases/latest` is a latest release."""
    last = chain.nouns[-1]
    if last.parameters or not is_adjective(last.words):
        return chain
    before = chain.nouns[-2] if len(chain.nouns) > 1 else None
    (adjective,) = last.words
    if before is None or before.parameters or len(before.words) > 3:
        return chain
    if adjective not in ONE_OF and not is_plural(before.words):
        return chain
    moved = Noun((adjective, *(before.one if adjective in ONE_OF else before.words)), ())
    return replace(chain, nouns=(*chain.nouns[:-2], moved))


STEPS: Final[tuple[Callable[[NounChain, Facts], NounChain], ...]] = (
    _read_me,
    _settle_adjective,
)
"""The steps in order; they end where no noun is left."""


def is_adjective(words: Words) -> bool:
    """Return True if a segment is an adjective rather than a noun: latest, archived."""
    if len(words) != 1:
        return False
    return words[0] in ONE_OF | _SOME_OF or (words[0].endswith("ed") and len(words[0]) > 4)


def is_participle(word: str) -> bool:
    """Return True if a word says what was done to something: archived, viewed."""
    return word.endswith("ed") and len(word) > 4 and find_verb(word) is None
