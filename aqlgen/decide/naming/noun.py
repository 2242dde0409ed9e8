"""The nouns of a path: their words, their number, and how words are compared and joined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from aqlgen.words import singular

Words: TypeAlias = tuple[str, ...]

AREAS: Final = frozenset(
    "actions settings analytics metrics permissions preferences stats statistics credentials details contents "
    " insights options capabilities basics graphics billing me self".split()
)
"""Plurals that stand for one thing."""

PREPOSITIONS: Final = frozenset(
    "by for from to with as on in of at into over via using under within without between about".split()
)
MOVING: Final = frozenset("to from into".split())
"""Prepositions of joining: what is added to a cart is not created."""
FEW: Final = 4
"""A name that people did not give has at most this many words for its nouns."""

IDS: Final = frozenset("id ids uuid guid gid sid".split())
NAMES: Final = frozenset("name names slug key code".split())
ONE_OF: Final = frozenset("latest default current next previous random first last effective".split())
"""Adjectives that pick one thing of many."""

_ADDRESSING: Final = frozenset("id ids name slug key uuid sid code path mount or".split())
"""Words of a parameter that say how a thing is found (`{pki_mount_path}`)."""


@dataclass(frozen=True, slots=True)
class Noun:
    """A literal segment: its words, and the parameters that follow it (`/repos/{owner}/{repo}`: two)."""

    words: Words
    parameters: tuple[Words, ...]

    @property
    def one(self) -> Words:
        """The words with the last in the singular; a parameter's name knows it best (`/cwsus/{cwsuId}`)."""
        last = self.words[-1]
        if self.parameters and f"{self.parameters[0][0]}s" == last:
            return (*self.words[:-1], self.parameters[0][0])
        return (*self.words[:-1], singular(last))


def is_plural(words: Words) -> bool:
    """Return True if the last word is a plural."""
    return bool(words) and singular(words[-1]) != words[-1]


def head_size(words: Words, start: int = 1) -> int:
    """Return how many words stand before the first preposition from `start` on: 1 of (stops, for, route)."""
    return next((at for at in range(start, len(words)) if words[at] in PREPOSITIONS), len(words))


def singulars(words: Words) -> list[str]:
    """Return each word in the singular."""
    return [singular(word) for word in words]


def thing(name: Words) -> Words:
    """Return the noun in a parameter's name: (pet, id) is (pet,)."""
    while len(name) > 1 and name[-1] in _ADDRESSING:
        name = name[:-1]
    return name


def parent_words(noun: Noun) -> Words:
    """Return a parent's words: in the singular, except for areas such as actions or settings."""
    return noun.words if noun.words[-1] in AREAS and not noun.parameters else noun.one


def join(*parts: Words) -> Words:
    """Join words without repeats: a part is dropped if the next begins with it (user, user_key is user_key)."""
    words: list[str] = []
    for part in parts:
        if words and part:
            size = _overlap(words, part)
            words = words[: len(words) - size]
        words += part
    return tuple(words)


def _overlap(words: list[str], part: Words) -> int:
    """Return how many words at the end are those that the part begins with, in whatever number."""
    ones, first = [singular(word) for word in words[-len(part) :]], singular(part[0])
    for size in range(len(ones), 0, -1):
        if ones[-size] == first and ones[-size:] == singulars(part[:size]):
            return size
    return 0


def alike(word: str, other: str) -> bool:
    """Return True if two words are the same one, perhaps cut short: organization and org, repository and repo."""
    if word == other:
        return True
    short, long = (word, other) if len(word) < len(other) else (other, word)
    return len(short) > 2 and long.startswith(short)
