"""What a comparison finds: changes, each of one rule, with what it means for an agent and where it is felt."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

__all__ = ["Change", "Direction", "Level", "Place"]


class Level(StrEnum):
    """What a change means for an agent that knew the adapter before, the worst first.

    Breaking: a call that worked is refused now, does something else, or its answer lacks what it had. Attention: calls
    go on working, but a person should have seen it. Compatible: nothing that worked before is any different.
    """

    BREAKING = "breaking"
    ATTENTION = "attention"
    COMPATIBLE = "compatible"

    @property
    def rank(self) -> int:
        """0 for breaking to 2 for compatible."""
        return list(Level).index(self)


class Direction(StrEnum):
    """Whether a schema says what an agent gives, or what it is given. A partial input may lack what is required."""

    INPUT = "input"
    PARTIAL = "partial"
    OUTPUT = "output"


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where in an operation or a shared type something is: a parameter, the answer or a type, and the way in it.

    Steps of `path` are names of fields, `[]` for the items of a list and `{}` for the values of a map.
    """

    kind: Literal["parameter", "answer", "type"]
    name: str = ""
    path: tuple[str, ...] = ()

    def within(self, *steps: str) -> Place:
        """Give a place in this one."""
        return Place(self.kind, self.name, (*self.path, *steps))

    @property
    def is_field(self) -> bool:
        """Whether it is a field of something, not the whole of it or its items."""
        return any(step not in ("[]", "{}") for step in self.path)

    @property
    def leaf(self) -> str:
        """The last name on the way, with the marks of lists and maps behind it; empty for the place itself."""
        return _written(self.path[self._named() :])

    @property
    def holder(self) -> Place:
        """The place that the leaf is in."""
        return Place(self.kind, self.name, self.path[: self._named()])

    @property
    def way(self) -> str:
        """The path as it is read: `owner.tags[]`."""
        return _written(self.path)

    def _named(self) -> int:
        found = (index for index in range(len(self.path) - 1, -1, -1) if self.path[index] not in ("[]", "{}"))
        return next(found, 0)


def _written(path: tuple[str, ...]) -> str:
    return "".join(step if step in ("[]", "{}") else f".{step}" for step in path).removeprefix(".")


@dataclass(frozen=True, slots=True)
class Change:
    """One change, felt in `operations`: today's names, or those of before where they are gone.

    `form` is a sentence without its subject, `values` and `listed` the texts of the API in it. Its subjects are
    `leaves`, each of which is in each of the `holders`; without holders they are the operations or the adapter itself.
    """

    rule: str
    level: Level
    form: str
    values: tuple[str, ...] = ()
    listed: tuple[str, ...] = ()
    leaves: tuple[str, ...] = ()
    holders: tuple[Place, ...] = ()
    operations: tuple[str, ...] = ()
    directions: tuple[Direction, ...] = ()
