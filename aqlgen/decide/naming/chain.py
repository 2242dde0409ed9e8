"""The noun chain of a path: its nouns in the order and the groups that names are made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aqlgen.decide.naming.noun import IDS, NAMES, Noun, Words, alike, head_size, join, parent_words
from aqlgen.words import singular

__all__ = ["NounChain"]


@dataclass(frozen=True, slots=True)
class NounChain:
    """The nouns of a path in order, grouped at the items that they pass through."""

    nouns: tuple[Noun, ...]
    by: Words = ()
    """The field by which an item is found (`/alerts/customer_id/{customer_id}`)."""
    mine: bool = False
    """Whether the path starts at the caller (`/me`)."""
    mass: bool = False
    """Whether the last noun has one form for one and for many."""
    participle: bool = False
    """Whether the last noun is no noun at all (`/user/starred`)."""
    settled: bool = False
    """Whether that adjective was put before the noun it belongs to."""
    adverb: Words = ()
    """A last segment such as `/bulk`."""
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
    def wider(self) -> Words:
        """The nouns of the last two groups."""
        return self.joined([noun for group in self.groups[-2:] for noun in group])

    @property
    def raw(self) -> Words:
        """Every noun as the path has it, in its own number."""
        return join(*(noun.words for noun in self.nouns))

    @property
    def last(self) -> Words:
        """The last word of the last noun."""
        return self.nouns[-1].words[-1:] if self.nouns else ()

    @property
    def unsettled(self) -> bool:
        """True if the path ends in an adjective that has no noun."""
        return self.participle and not self.settled

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
