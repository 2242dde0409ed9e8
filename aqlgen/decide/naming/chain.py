"""The noun chain of a path: its nouns in the order and the groups that names are made from.

Ordered steps make it of the path's nouns: run-together words, areas, the caller, adjectives. Which
of them a name needs lies in the operation itself, so that no other operation can change it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from aqlgen.decide.facts import Facts
from aqlgen.decide.naming.noun import (
    AREAS,
    FEW,
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
    singulars,
    thing,
)
from aqlgen.decide.naming.verbs import find_verb
from aqlgen.decide.naming.vocabulary import Vocabulary
from aqlgen.words import singular

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
    chain = NounChain(tuple(_spelled_out(noun, facts, vocabulary, is_last=noun is nouns[-1]) for noun in nouns))
    for step in STEPS:
        if not chain.nouns:
            return chain
        chain = step(chain, facts)
    last = chain.nouns[-1]
    return replace(chain, mass=not last.parameters and last.words[-1] in _ONE_FORM)


def _spelled_out(noun: Noun, facts: Facts, vocabulary: Vocabulary, *, is_last: bool) -> Noun:
    """Take run-together words apart, and read a letter as what its parameter or people's words name (`/b/{bucket}`)."""
    words = tuple(piece for word in noun.words for piece in vocabulary.apart(word, facts.operation))
    if len(words) == 1 and len(words[0]) == 1:
        space, spoken = (facts.phrase.namespace, facts.phrase.object) if facts.phrase else ((), ())
        names = (*noun.parameters[:1], space[-1:], *((word,) for word in spoken))
        name = next((name for name in names if name and name[0].startswith(words[0])), words)
        words = spoken if is_last and name[0] in spoken and not facts.shape.action else thing(name)
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


def _settle_adjective(chain: NounChain, facts: Facts) -> NounChain:
    """Find an adjective at the path's end, and put it before its noun: `/releases/latest` is a latest release.

    So is any word that people say before the noun (`getPrimaryBalance` of `/balances/primary`).
    """
    *nouns, last = chain.nouns
    if last.parameters or not nouns or nouns[-1].parameters or len(nouns[-1].words) > 3:
        return chain
    before, spoken = nouns.pop(), facts.phrase.object if facts.phrase else ()
    is_spoken = singulars(spoken) == [*last.words, *singulars(before.words)]
    is_one = not is_plural(spoken) if is_spoken else last.words[0] in ONE_OF
    if not is_spoken and not (is_adjective(last.words) and (is_one or is_plural(before.words))):
        return chain
    return replace(chain, nouns=(*nouns, Noun((*last.words, *(before.one if is_one else before.words)), ())))


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


def needed_nouns(facts: Facts, chain: NounChain, *, many: bool) -> tuple[Words, int]:
    """Return the words of the nouns that the name needs, and how many nouns they are.

    Those that people name; the item that a collection belongs to, or the area where it belongs to none; where people
    say nothing, all, unless they are too many.
    """
    if facts.phrase is None or not facts.phrase.evidence:
        kept = _few(chain)
        return chain.joined(kept), len(kept)
    *before, last = chain.nouns
    words = [spoken_words(facts, chain, noun) for noun in before]
    for index in _needed_parents(chain, facts.phrase.evidence, many=many):
        parent = parent_words(before[index])
        words[index] = join(words[index], parent)
    return join(("my",) if chain.mine else (), *words, last.words), sum(map(bool, words)) + 1


def _needed_parents(chain: NounChain, evidence: frozenset[str], *, many: bool) -> list[int]:
    """Return the indexes of the parents that a name needs though people may not say them."""
    count, last = len(chain.nouns), chain.nouns[-1]
    if not any(_is_said(singular(word), evidence) for word in last.words):
        return [index for index, noun in enumerate(chain.nouns[:-1]) if any(noun is each for each in _near(chain))]
    needed = -1
    if not last.parameters and len(chain.groups) > 1:
        needed = count - 1 - len(chain.groups[-1])
    elif many:
        needed = count - 2
    return [needed] if 0 <= needed < count - 1 else []


def parents(facts: Facts, chain: NounChain) -> Words:
    """Return the nouns before the last that people name, or where they say nothing, all that are not too many."""
    if facts.phrase is None:
        return join(*map(parent_words, _few(chain)[:-1]))
    return join(*(spoken_words(facts, chain, noun) for noun in chain.nouns[:-1]))


def nearest(chain: NounChain) -> Words:
    """Return the last noun with what stands before it up to the nearest parent item: (run, job), (my, playlist)."""
    return chain.joined(_near(chain))


def _near(chain: NounChain) -> tuple[Noun, ...]:
    groups = chain.groups
    parent = groups[-2][-1:] if len(groups) > 1 and not chain.mine else ()
    return (*parent, *groups[-1][:-1][-2:], groups[-1][-1])


def _few(chain: NounChain) -> list[Noun]:
    """Leave out nouns until they are few: first those that are no items, from the path's start on."""
    kept = list(chain.nouns)
    while len(kept) > 2 and len(chain.joined(kept)) > FEW:
        index = next((index for index, noun in enumerate(kept[:-1]) if not noun.parameters), 0)
        del kept[index]
    return kept


def spoken_words(facts: Facts, chain: NounChain, noun: Noun) -> Words:
    """Return a parent's words as far as people say them; the rest of `/{pki_mount_path}/` is none of their words.

    A word of a parent's parameter that people say is one too: with `aws-read-role`, `/auth/{aws_path}/role` is aws.
    """
    if facts.phrase is None:
        return parent_words(noun)
    evidence = frozenset(word for word in facts.phrase.evidence if not word.endswith("ed"))
    words = parent_words(noun) if _is_said(singular(noun.words[-1]), evidence) else ()
    if not noun.parameters:
        return words
    known = frozenset(singular(word) for each in chain.nouns for word in each.words)
    unexplained = [name for name in noun.parameters if not any(_is_said(singular(word), known) for word in name)]
    return (*(word for name in unexplained for word in name if word in evidence and word not in IDS), *words)


@lru_cache(maxsize=16384)
def _is_said(word: str, evidence: frozenset[str]) -> bool:
    return word in evidence or any(alike(word, spoken) for spoken in evidence)
