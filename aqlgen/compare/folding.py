"""One change for what is found alike in many places, and one for the many fields of a place that changed alike."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from aqlgen.compare.facets import Aspect
from aqlgen.compare.model import Change, Direction, Level, Place
from aqlgen.compare.rules import RULES
from aqlgen.compare.walk import Finding

__all__ = ["fold"]


def fold(findings: Iterable[Finding], types: Mapping[str, Any]) -> list[Change]:
    """Fold findings into changes; those in a type as it is given are of the type itself where it is answered too."""
    return _by_place(_by_leaf(_by_direction(findings, types)))


def _by_direction(findings: Iterable[Finding], types: Mapping[str, Any]) -> Iterator[tuple[Change, Place]]:
    """Bring together what is found in both directions, and leave out what no agent feels."""
    found: dict[tuple[Aspect, Place], tuple[set[Direction], set[str]]] = defaultdict(lambda: (set(), set()))
    for one in findings:
        directions, operations = found[one.aspect, _own(one.place, types)]
        directions.add(one.direction)
        operations |= one.operations
    for (aspect, place), (directions, operations) in found.items():
        told = _told(aspect, frozenset(directions))
        if told is not None:
            form, level = told
            ordered = tuple(one for one in Direction if one in directions)
            yield _change(aspect, form, level, operations, ordered), place


def _change(aspect: Aspect, form: str, level: Level, operations: set[str], directions: tuple[Direction, ...]) -> Change:
    form = form.replace("{}", aspect.phrase, 1) if aspect.phrase else form
    return Change(
        aspect.rule, level, form, aspect.values, aspect.listed, operations=tuple(operations), directions=directions
    )


def _told(aspect: Aspect, directions: frozenset[Direction]) -> tuple[str, Level] | None:
    rule = RULES[aspect.rule]
    return (rule.form, rule.level) if rule.form else rule.felt(directions)


def _own(place: Place, types: Mapping[str, Any]) -> Place:
    name = place.name.removesuffix("Input")
    return Place("type", name, place.path) if place.kind == "type" and name in types else place


def _by_leaf(found: Iterable[tuple[Change, Place]]) -> list[Change]:
    """Fold what is said of fields of the same name."""

    def key(change: Change, place: Place) -> object:
        kind = "" if place.is_field else place.kind
        return (*_said(change), _subject(place), kind)

    groups: dict[object, list[tuple[Change, Place]]] = defaultdict(list)
    for change, place in found:
        groups[key(change, place)].append((change, place))
    return [
        _joined(
            [change for change, _ in those],
            (_subject(those[0][1]),),
            tuple(sorted({_holder(place) for _, place in those})),
        )
        for those in groups.values()
    ]


def _by_place(changes: Iterable[Change]) -> list[Change]:
    """Fold what is said of several fields of the same places, in the same operations."""
    groups: dict[object, list[Change]] = defaultdict(list)
    for one in changes:
        groups[(*_said(one), one.holders, frozenset(one.operations), bool(one.leaves[0]))].append(one)
    return [
        _joined(those, tuple(sorted(leaf for one in those for leaf in one.leaves)), those[0].holders)
        for those in groups.values()
    ]


def _said(change: Change) -> tuple[object, ...]:
    return (change.rule, change.level, change.form, change.values, change.listed)


def _subject(place: Place) -> str:
    if place.is_field:
        return place.leaf
    return f"{place.name}{place.way}" if place.kind == "parameter" else ""


def _holder(place: Place) -> Place:
    if place.is_field:
        return place.holder
    return Place("parameter") if place.kind == "parameter" else place


def _joined(those: list[Change], leaves: tuple[str, ...], holders: tuple[Place, ...]) -> Change:
    first = those[0]
    return Change(
        first.rule,
        first.level,
        first.form,
        first.values,
        first.listed,
        leaves,
        holders,
        tuple(sorted({name for one in those for name in one.operations})),
        tuple(one for one in Direction if any(one in other.directions for other in those)),
    )
