"""Changes as data: what changed, by which rule, what it means for an agent, and where."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal

__all__ = ["Change", "Difference", "Direction", "Level", "Place"]


class Level(StrEnum):
    """What a change means for an agent that knew the adapter before, the worst first.

    Breaking: a call that worked is refused now, does something else, or its answer lacks what it had. Attention: calls
    still work, but a person should have seen the change. Texts: what agents read has other words, which may instruct
    them. Compatible: nothing that worked before is any different.
    """

    BREAKING = "breaking"
    ATTENTION = "attention"
    TEXTS = "texts"
    COMPATIBLE = "compatible"

    @property
    def rank(self) -> int:
        """0 for breaking to 3 for compatible."""
        return list(Level).index(self)


class Direction(StrEnum):
    """Which way the values of a schema go: from the agent or to it. A partial input may lack required fields."""

    INPUT = "input"
    PARTIAL = "partial"
    OUTPUT = "output"


_CONTAINERS: Final = frozenset({"[]", "{}"})


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where a change is: in a parameter, the answer or a shared type, and the path within it.

    Steps of `path` are names of fields, `[]` for the items of a list and `{}` for the values of a map.
    """

    kind: Literal["parameter", "answer", "type"]
    name: str = ""
    path: tuple[str, ...] = ()

    def within(self, *steps: str) -> Place:
        """Return a place in this one."""
        return Place(self.kind, self.name, (*self.path, *steps))

    @property
    def is_field(self) -> bool:
        """True for a field; False for the whole parameter, answer or type and for its items."""
        return any(step not in _CONTAINERS for step in self.path)

    @property
    def field(self) -> str:
        """The last field on the path, with the marks of lists and maps behind it; without a field the whole path."""
        return _path_text(self.path[self._field_index() :])

    @property
    def parent(self) -> Place:
        """The place that the last field on the path is in."""
        return Place(self.kind, self.name, self.path[: self._field_index()])

    @property
    def path_text(self) -> str:
        """The path as text: `owner.tags[]`."""
        return _path_text(self.path)

    def _field_index(self) -> int:
        fields = (index for index in reversed(range(len(self.path))) if self.path[index] not in _CONTAINERS)
        return next(fields, 0)


def _path_text(path: tuple[str, ...]) -> str:
    return "".join(step if step in _CONTAINERS else f".{step}" for step in path).removeprefix(".")


@dataclass(frozen=True, slots=True)
class Difference:
    """What differs between two schemas: a rule with the texts for its wording.

    `values`, `items`: as of a Change. `phrase` takes the place of the first `{}` in the wording of the rule.
    """

    rule: str
    values: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    phrase: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """One change, with the operations that it affects: by today's names, or by earlier ones where they are gone.

    `wording` is a sentence without its subject. The texts of the API in it are `values`, each in place of a `{}`, and
    `items`, all in place of `{*}`. The subjects are `fields`, each of which is in each of the `places`; without places
    they are the operations or the adapter itself.
    """

    rule: str
    level: Level
    wording: str
    values: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    places: tuple[Place, ...] = ()
    operations: tuple[str, ...] = ()
    directions: tuple[Direction, ...] = ()
