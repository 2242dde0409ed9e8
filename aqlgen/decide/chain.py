"""The nouns of a path, in the order and the groups that names are made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from aqlgen.words import singular

from .shape import Noun

__all__ = ["AREAS", "FEW", "IDS", "NAMES", "ONE_OF", "PREPOSITIONS", "Chain", "alike", "form", "join"]

AREAS: Final = frozenset(
    "actions settings analytics metrics permissions preferences stats statistics credentials details contents "
    " insights options capabilities basics graphics billing me self".split()
)
"""Plurals that stand for one thing."""

PREPOSITIONS: Final = frozenset(
    "by for from to with as on in of at into over via using under within without between about".split()
)
FEW: Final = 4
"""More words than these are too many for the nouns of a name, where nobody says them."""

IDS: Final = frozenset("id ids uuid guid gid sid".split())
NAMES: Final = frozenset("name names slug key code".split())
ONE_OF: Final = frozenset("latest default current next previous random first last effective".split())


@dataclass(frozen=True, slots=True)
class Chain:
    """The nouns of a path in order, grouped at the items that they pass through.

    `by` tells by which field an item is found (`/alerts/customer_id/{customer_id}`); `mine` that the path starts at the
    caller (`/me`); `adverb` holds a last segment such as `/bulk`; `mass` that the last noun has one form; `participle`
    that it is no noun at all (`/user/starred`), and `settled` that its adjective was put before the noun it belongs to;
    `area` holds the nouns before a version, which are the product's (`/inbound/fba/v1/plans`).
    """

    nouns: tuple[Noun, ...]
    by: tuple[str, ...] = ()
    mine: bool = False
    mass: bool = False
    participle: bool = False
    settled: bool = False
    adverb: tuple[str, ...] = ()
    area: tuple[str, ...] = ()

    @property
    def groups(self) -> tuple[tuple[Noun, ...], ...]:
        """The nouns, a new group after each one with parameters."""
        found: list[list[Noun]] = [[]]
        for noun in self.nouns:
            found[-1].append(noun)
            if noun.parameters:
                found.append([])
        return tuple(tuple(group) for group in found if group)

    @property
    def full(self) -> tuple[str, ...]:
        """Every noun, parents in the singular."""
        return self._words(self.nouns)

    @property
    def wider(self) -> tuple[str, ...]:
        """The nouns of the last two groups."""
        return self._words([noun for group in self.groups[-2:] for noun in group])

    @property
    def raw(self) -> tuple[str, ...]:
        """Every noun as the path has it, in its own number."""
        return join(*(noun.words for noun in self.nouns))

    @property
    def last(self) -> tuple[str, ...]:
        """The last word of the last noun."""
        return self.nouns[-1].words[-1:] if self.nouns else ()

    @property
    def within(self) -> bool:
        """Whether the path's end lies within an item."""
        return any(noun.parameters for noun in self.nouns)

    @property
    def itself(self) -> bool:
        """Whether the last noun is found by a parameter that is called like it (`/pets/{petId}`)."""
        if not self.nouns:
            return False
        last = self.nouns[-1].words
        head = next((at for at, each in enumerate(last) if at and each in PREPOSITIONS), len(last))
        words = [singular(word) for word in (last[:head] if head < len(last) - 1 else last)]
        return any(any(alike(each, singular(word)) for each in words) for word in self.parameters if word not in IDS)

    @property
    def item(self) -> bool:
        """Whether the path ends at one thing: `/pets/{petId}` or `/pets/{id}`, but not `/readme/{directory}`."""
        return self.itself or any(word in IDS | NAMES for word in self.parameters)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The words of the last noun's parameters."""
        return tuple(word for name in self.nouns[-1].parameters for word in name) if self.nouns else ()

    def _words(self, nouns: Sequence[Noun]) -> tuple[str, ...]:
        words = [form(noun) for noun in nouns[:-1]] + [noun.words for noun in nouns[-1:]]
        return join(("my",) if self.mine else (), *words)


def form(noun: Noun) -> tuple[str, ...]:
    """Give a parent's words: in the singular, but for areas such as actions or settings."""
    return noun.words if noun.words[-1] in AREAS and not noun.parameters else noun.one


def join(*parts: tuple[str, ...]) -> tuple[str, ...]:
    """Join words without stutter: a part is dropped where the next begins with it (user, user_key is user_key)."""
    words: list[str] = []
    for part in parts:
        fresh = part
        if fresh[:1] == ("child",):  # a child of its own kind says that already
            words = words[: len(words) - len(fresh) + 1] if _ends(words, fresh[1:]) else words
        if words and fresh:
            ones, first = [singular(word) for word in words], singular(fresh[0])
            for size in range(min(len(words), len(fresh)), 0, -1):
                if ones[-size] == first and ones[-size:] == [singular(word) for word in fresh[:size]]:
                    del words[-size:]
                    break
        words += fresh
    return tuple(words)


def _ends(words: list[str], tail: tuple[str, ...]) -> bool:
    return [singular(word) for word in words[-len(tail) :]] == [singular(word) for word in tail]


def alike(one: str, other: str) -> bool:
    """Whether two words are the same one, perhaps cut short: organization and org, repository and repo."""
    if one == other:
        return True
    short, long = (one, other) if len(one) < len(other) else (other, one)
    return len(short) > 2 and long.startswith(short)
