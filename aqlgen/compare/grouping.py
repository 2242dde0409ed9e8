"""The findings of a comparison, grouped into changes: one change for all its places and operations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import replace
from typing import TypeAlias

from aqlgen.compare.model import Change, Difference, Direction, Level, Place
from aqlgen.compare.rules import RULES
from aqlgen.ir import Json

_Uses: TypeAlias = tuple[set[Direction], set[str]]
"""The ways that values go, and the operations."""


class Findings:
    """The differences of two adapters, each once, with all operations that have it.

    `types` are the new ones: what is found in the input form of a type is reported of the type itself if it is one.
    """

    def __init__(self, types: Mapping[str, Json]) -> None:
        self._types = types
        self._found: dict[tuple[Difference, Place | None], _Uses] = defaultdict(lambda: (set(), set()))

    def note(
        self,
        rule: str,
        operation: str = "",
        *values: str,
        wording: str = "",
        items: tuple[str, ...] = (),
        level: Level | None = None,
    ) -> None:
        """Add a change of an operation as a whole, or of the adapter. `wording` and `level` replace the rule's."""
        difference = Difference(rule, values, items, wording, level)
        self._found[difference, None][1].update((operation,) if operation else ())

    def add(self, difference: Difference, place: Place, direction: Direction, operations: Iterable[str]) -> None:
        """Add a difference of two schemas at a place, whose values go in a direction."""
        type_name = place.name.removesuffix("Input")
        if place.kind == "type" and type_name in self._types:
            place = Place("type", type_name, place.path)
        directions, users = self._found[difference, place]
        directions.add(direction)
        users.update(operations)

    def changes(self) -> list[Change]:
        """Return the changes that an agent notices: first of all places of a field, then of all fields of a place."""
        single = [_change(difference, place, *uses) for (difference, place), uses in self._found.items()]
        by_field = _grouped(filter(None, single), lambda change: (change.fields, _kind(change)))
        return _grouped(by_field, lambda change: (change.places, frozenset(change.operations), any(change.fields[:1])))


def _change(
    difference: Difference, place: Place | None, directions: set[Direction], operations: set[str]
) -> Change | None:
    """Return the change that a difference is, None if no agent notices it."""
    rule = RULES[difference.rule]
    subject: tuple[str, ...] = ()
    holder: tuple[Place, ...] = ()
    effect = rule.effect(frozenset(directions))
    if place is None:
        effect = difference.wording or rule.wording, difference.level or rule.level
    elif place.is_field:
        subject, holder = (place.field,), (place.parent,)
    elif place.kind == "parameter":
        subject, holder = (f"{place.name}{place.path_text}",), (Place("parameter"),)
    else:
        subject, holder = ("",), (place,)
    if effect is None:
        return None
    wording, level = effect
    if place is not None and difference.wording:
        wording = wording.replace("{}", difference.wording, 1)
    about = difference.rule, level, wording, difference.values, difference.items
    return Change(*about, subject, holder, tuple(operations), tuple(directions))


def _kind(change: Change) -> str:
    """Return the kind of a subject, which is different for a parameter and a field of the same name."""
    is_field = any(change.fields) and change.places != (Place("parameter"),)
    return "" if is_field or not change.places else change.places[0].kind


def _grouped(changes: Iterable[Change], key: Callable[[Change], Hashable]) -> list[Change]:
    """Make one change of those that say the same and have the same key, with what any of them is about."""
    groups: dict[Hashable, list[Change]] = defaultdict(list)
    for change in changes:
        content = change.rule, change.level, change.wording, change.values, change.items
        groups[content, key(change)].append(change)
    return [
        replace(
            members[0],
            fields=tuple(sorted({field for change in members for field in change.fields})),
            places=tuple(sorted({place for change in members for place in change.places})),
            operations=tuple(sorted({name for change in members for name in change.operations})),
            directions=tuple(way for way in Direction if any(way in change.directions for change in members)),
        )
        for members in groups.values()
    ]
