"""The rows that a user intended by edits: the edits of the old rows, applied to the rows as they come out today.

Beside it the equality of values of two tables, in which types can have other names.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from aqlgen.ir import Json
from aqlgen.project.edits.rows import CALLED, Found

__all__ = ["Equality", "Intent", "intent"]

_ABSENT: Final = object()
_TYPES: Final = "#/types/"


@dataclass(frozen=True, slots=True)
class Intent:
    """The edited rows as they should be by `METHOD /path`, None for a removed one; and the touched keys of each."""

    rows: Mapping[str, Found | None]
    touched: Mapping[str, frozenset[str]]


def intent(before: Mapping[str, Found], after: Mapping[str, Found], today: Mapping[str, Found]) -> Intent:
    """Apply the differences between the rows as generated and as edited to the rows as they come out today."""
    rows: dict[str, Found | None] = {}
    touched: dict[str, frozenset[str]] = {}
    moved = {row.name for key, row in after.items() if key not in before}  # their method or path was changed
    for key, pristine in before.items():
        edited = after.get(key)
        if edited == pristine or (edited is None and pristine.name in moved):
            continue
        if edited is None:
            rows[key], touched[key] = None, frozenset()
        else:
            edited = _example_aside(pristine, edited)
            rows[key] = _carried(pristine, edited, today.get(key, pristine))
            touched[key] = _touched(pristine, edited)
    return Intent(rows, touched)


def _carried(pristine: Found, edited: Found, today: Found) -> Found:
    """Take the entries that the user changed from the edited row, and all others from today's."""
    return Found(
        edited.name if edited.name != pristine.name else today.name,
        edited.family if edited.family != pristine.family else today.family,
        _merged(pristine.row, edited.row, today.row),
    )


def _merged(pristine: Any, edited: Any, today: Any) -> Any:
    if pristine == edited:
        return today
    if not (isinstance(pristine, Mapping) and isinstance(edited, Mapping) and isinstance(today, Mapping)):
        return edited
    merged = {}
    for key in dict.fromkeys((*today, *edited)):
        value = _merged(pristine.get(key, _ABSENT), edited.get(key, _ABSENT), today.get(key, _ABSENT))
        if value is not _ABSENT:
            merged[key] = value
    return merged


def _touched(pristine: Found, edited: Found) -> frozenset[str]:
    """Return the keys of a row that the user changed, and the keys of the parameters."""
    keys, inner = _changed(pristine.row, edited.row), _changed(pristine.row["parameters"], edited.row["parameters"])
    return frozenset((*keys, *inner))


def _changed(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    return [key for key in {*old, *new} if old.get(key, _ABSENT) != new.get(key, _ABSENT)]


def _example_aside(pristine: Found, edited: Found) -> Found:
    """Treat an example as unchanged that only follows renamed or removed parameters."""
    names = {entry[CALLED]: where for where, entry in pristine.row["parameters"].items()}
    example = pristine.row.get("example")
    if not isinstance(example, Mapping):
        return edited
    kept = {names.get(name, name): value for name, value in example.items()}
    now = {where: entry[CALLED] for where, entry in edited.row["parameters"].items()}
    following = {now[where]: value for where, value in kept.items() if where in now}
    return replace(edited, row={**edited.row, "example": example}) if edited.row.get("example") == following else edited


class Equality:
    """Compares values of two tables; the types of each are given as the content of its file."""

    def __init__(self, first: bytes, second: bytes) -> None:
        self._first: Mapping[str, Json] = json.loads(first)
        self._second: Mapping[str, Json] = json.loads(second)
        self._equal: set[tuple[str, str]] = set()

    def __call__(self, left: Json, right: Json) -> bool:
        """Return True if a value of the first table equals one of the second, whatever the names of its types."""
        if left == right:
            return True
        if isinstance(left, Mapping) and isinstance(right, Mapping):
            return left.keys() == right.keys() and all(self._member(key, left[key], right[key]) for key in left)
        if isinstance(left, list) and isinstance(right, list):
            return len(left) == len(right) and all(map(self, left, right))
        return False

    def _member(self, key: str, left: Json, right: Json) -> bool:
        if key != "$ref" or left == right or not (isinstance(left, str) and isinstance(right, str)):
            return self(left, right)
        names = left.removeprefix(_TYPES), right.removeprefix(_TYPES)
        if names in self._equal:  # compared before, or a type within itself
            return True
        if names[0] not in self._first or names[1] not in self._second:
            return False
        self._equal.add(names)
        same = self(self._first[names[0]], self._second[names[1]])
        if not same:
            self._equal.discard(names)
        return same
