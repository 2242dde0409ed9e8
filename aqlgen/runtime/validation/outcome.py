# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""A reading of a value or of a whole call, with what it changes, and the choice among several (R-REQ-4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

__all__ = ["Change", "Outcome", "Place", "least", "same"]

Place: TypeAlias = "tuple[str | int, ...]"


@dataclass(frozen=True, slots=True)
class Change:
    """What became of the value at a place: `before` and `now`, MISSING where there was or is none.

    `kinds` are the steps that led there; `moved` is the place that it came from.
    """

    before: Any
    now: Any
    kinds: tuple[str, ...]
    moved: Place | None = None


@dataclass(slots=True)
class Outcome:
    """A value as it was read, with every change by its place; `complete` if nothing of it is wrong any more."""

    value: Any
    changes: dict[Place, Change] = field(default_factory=dict)
    complete: bool = False

    def note(self, place: Place, change: Change) -> None:
        """Add a change, to what was done at its place before."""
        earlier = self.changes.get(place)
        if earlier is not None:
            change = Change(earlier.before, change.now, earlier.kinds + change.kinds, earlier.moved or change.moved)
        self.changes[place] = change


def same(value: Any, other: Any) -> bool:
    """Return True for equal JSON values: 1, 1.0 and true are three."""
    if type(value) is not type(other):
        return False
    if isinstance(value, dict):
        return value.keys() == other.keys() and all(same(inner, other[key]) for key, inner in value.items())
    if isinstance(value, list):
        return len(value) == len(other) and all(map(same, value, other))
    return bool(value == other)


def least(outcomes: Sequence[Outcome]) -> Outcome | None:
    """Return the only reading, or the one that changes least if all others change the same and more; else None."""
    for outcome in outcomes:
        if all(outcome is other or same(outcome.value, other.value) or _within(outcome, other) for other in outcomes):
            return outcome
    return None


def _within(outcome: Outcome, other: Outcome) -> bool:
    if isinstance(other.value, list) and len(other.value) == 1 and same(other.value[0], outcome.value):
        return True
    return len(outcome.changes) < len(other.changes) and all(
        place in other.changes and same(change.now, other.changes[place].now)
        for place, change in outcome.changes.items()
    )
