"""Differences and notes grouped into changes, so that the same change in many places or operations is reported once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from aqlgen.compare.model import Change, Difference, Direction, Level, Place
from aqlgen.compare.rules import RULES
from aqlgen.compare.walk import Finding
from aqlgen.ir import Json

NoteKey = tuple[str, str, tuple[str, ...], tuple[str, ...], Level]
"""Rule, wording, values, items and level."""


@dataclass(slots=True)
class Notes:
    """What changed of operations as a whole and of the adapter: operations by what is noted of them."""

    _operations: dict[NoteKey, set[str]] = field(default_factory=lambda: defaultdict(set))

    def add(
        self,
        rule: str,
        operation: str = "",
        *values: str,
        wording: str = "",
        items: tuple[str, ...] = (),
        level: Level | None = None,
    ) -> None:
        """Note a change of an operation, or of the adapter. `wording` and `level` replace those of the rule."""
        key = (rule, wording or RULES[rule].wording, values, items, level or RULES[rule].level)
        self._operations[key].update((operation,) if operation else ())

    def changes(self) -> list[Change]:
        """Return a change for each note, with all its operations."""
        return [
            Change(rule, level, wording, values, items, operations=tuple(sorted(operations)))
            for (rule, wording, values, items, level), operations in self._operations.items()
        ]


def group(findings: Iterable[Finding], types: Mapping[str, Json]) -> list[Change]:
    """Group findings into changes: by direction, then by the name of the field, then by place.

    `types` are the new ones: what is found in the input form of a type is reported of the type itself if it is one.
    """
    return _group_fields(_group_places(_group_directions(findings, types)))


def _group_directions(findings: Iterable[Finding], types: Mapping[str, Json]) -> Iterator[tuple[Change, Place]]:
    """Yield a change for each difference at a place, whichever way its values go, if an agent notices it."""
    groups: dict[tuple[Difference, Place], tuple[set[Direction], set[str]]] = defaultdict(lambda: (set(), set()))
    for finding in findings:
        directions, operations = groups[finding.difference, _without_input_form(finding.place, types)]
        directions.add(finding.direction)
        operations |= finding.operations
    for (difference, place), (directions, operations) in groups.items():
        effect = RULES[difference.rule].effect(frozenset(directions))
        if effect is None:
            continue
        wording, level = effect
        change = Change(
            difference.rule,
            level,
            wording.replace("{}", difference.phrase, 1) if difference.phrase else wording,
            difference.values,
            difference.items,
            operations=tuple(operations),
            directions=tuple(direction for direction in Direction if direction in directions),
        )
        yield change, place


def _without_input_form(place: Place, types: Mapping[str, Json]) -> Place:
    """Return the place in the type that `…Input` is the input form of."""
    name = place.name.removesuffix("Input")
    return Place("type", name, place.path) if place.kind == "type" and name in types else place


def _group_places(changes: Iterable[tuple[Change, Place]]) -> list[Change]:
    """Make one change of those that say the same of fields of the same name."""
    groups: dict[object, list[tuple[Change, Place]]] = defaultdict(list)
    for change, place in changes:
        kind = "" if place.is_field else place.kind
        groups[(*_content(change), _subject(place), kind)].append((change, place))
    return [
        _merged(
            [change for change, _ in members],
            (_subject(members[0][1]),),
            tuple(sorted({_holder(place) for _, place in members})),
        )
        for members in groups.values()
    ]


def _group_fields(changes: Iterable[Change]) -> list[Change]:
    """Make one change of those that say the same of several fields of the same places, in the same operations."""
    groups: dict[object, list[Change]] = defaultdict(list)
    for change in changes:
        key = (*_content(change), change.places, frozenset(change.operations), bool(change.fields[0]))
        groups[key].append(change)
    return [
        _merged(members, tuple(sorted(name for change in members for name in change.fields)), members[0].places)
        for members in groups.values()
    ]


def _content(change: Change) -> tuple[object, ...]:
    """Return what a change says, without where."""
    return (change.rule, change.level, change.wording, change.values, change.items)


def _subject(place: Place) -> str:
    """Return the field or parameter that a place is; empty for a whole answer or type."""
    if place.is_field:
        return place.field
    return f"{place.name}{place.path_text}" if place.kind == "parameter" else ""


def _holder(place: Place) -> Place:
    """Return the place that the subject is in; parameters share one."""
    if place.is_field:
        return place.parent
    return Place("parameter") if place.kind == "parameter" else place


def _merged(changes: list[Change], fields: tuple[str, ...], places: tuple[Place, ...]) -> Change:
    """Return one change of several with the same content, with the operations and directions of all."""
    first = changes[0]
    return Change(
        first.rule,
        first.level,
        first.wording,
        first.values,
        first.items,
        fields,
        places,
        tuple(sorted({name for change in changes for name in change.operations})),
        tuple(direction for direction in Direction if any(direction in change.directions for change in changes)),
    )
