"""Rows of operation tables as they stand in a project's files, and the rows that a user intended by edits of them.

Rows are brought into a form in which edits can be told apart; those of the old rows are applied to the rows as they
come out today.
Beside it the equality of values of two tables, in which types can have other names.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from aqlgen.ir import Json
from aqlgen.runtime.schema.reader import pointer_of
from aqlgen.runtime.table import Parameter, decode
from aqlgen.table.model import FAMILIES

__all__ = ["CALLED", "Equality", "Found", "Intent", "RowError", "intent", "operations_file", "pointer", "rows"]

CALLED: Final = "called"
"""The key of a parameter's entry for what agents call it, which in the file is the key of the entry itself."""


class RowError(ValueError):
    """A file is no table any more. `offset` is where its text stops to be JSON, None when it does not."""

    def __init__(self, path: str, why: str, offset: int | None = None, at: str = "") -> None:
        super().__init__(why)
        self.path = path
        self.offset = offset
        self.at = at


@dataclass(frozen=True, slots=True)
class Found:
    """A row: what it is called, in which family's file it stands, its entries; parameters by place and wire name."""

    name: str
    family: str
    row: Mapping[str, Json]


def operations_file(package: str, family: str) -> str:
    """Return the path of the file that holds the rows of a family."""
    return f"src/{package}/operations/{family}.json"


def rows(files: Mapping[str, bytes], package: str) -> dict[str, Found]:
    """Read the rows by `METHOD /path`. Raises RowError."""
    table_rows: dict[str, Found] = {}
    for family in FAMILIES:
        path = operations_file(package, family)
        for name, row in _object(files.get(path, b"{}"), path).items():
            key = _key(row)
            if key is None:
                raise RowError(path, f"`{name}` is not a row of the table", at=f"/{name}")
            if key in table_rows:
                raise RowError(path, f"`{name}` and `{table_rows[key].name}` are both {key}", at=f"/{name}")
            try:
                table_rows[key] = Found(name, family, _by_wire(row))
            except (TypeError, ValueError, AttributeError):
                raise RowError(path, f"`{name}` is not a row of the table", at=f"/{name}") from None
    return table_rows


def _object(content: bytes, path: str) -> dict[str, Json]:
    doubled: list[str] = []

    def pairs(members: list[tuple[str, Json]]) -> dict[str, Json]:
        unique = dict(members)
        doubled.extend(
            key for key in unique if len(members) > len(unique) and sum(key == name for name, _ in members) > 1
        )
        return unique

    try:
        value = json.loads(content, object_pairs_hook=pairs)
    except json.JSONDecodeError as error:
        raise RowError(path, f"it is not JSON: {error.msg}", error.pos) from None
    except (ValueError, RecursionError):
        raise RowError(path, "it is not JSON") from None
    if not isinstance(value, dict):
        raise RowError(path, "it is not a JSON object")
    if doubled:
        raise RowError(path, f"`{doubled[0]}` stands there twice")
    return value


def _key(row: Json) -> str | None:
    if not isinstance(row, dict) or not isinstance(row.get("parameters"), dict):
        return None
    method, path = row.get("method"), row.get("path")
    entries = row["parameters"].values()
    whole = isinstance(method, str) and isinstance(path, str) and all(isinstance(entry, dict) for entry in entries)
    if not whole:
        return None
    api = row.get("api", "")
    return f"{api}:{method} {path}" if api else f"{method} {path}"


def _by_wire(row: dict[str, Any]) -> dict[str, Json]:
    row_by_wire = {**row, "parameters": dict(_parameters(row["parameters"]))}
    paging = row.get("pagination")
    if isinstance(paging, dict) and isinstance(paging.get("parameters"), dict):
        row_by_wire["pagination"] = {**paging, "parameters": dict(_parameters(paging["parameters"]))}
    return row_by_wire


def _parameters(entries: Mapping[str, Json]) -> Iterator[tuple[str, Json]]:
    for name, entry in entries.items():
        if isinstance(entry, dict):
            parameter = decode(Parameter, entry, name=name)
            place = parameter.location.split("_")[0]
            yield f"{place}:{parameter.wire}", {**entry, "name": parameter.wire, CALLED: name}


def pointer(table_row: Found, *parts: str) -> str:
    """Return the JSON pointer, in the family's file, of the value at some keys of a row."""
    keys = list(parts)
    if len(keys) > 1 and keys[0] == "parameters":
        keys[1] = str(table_row.row["parameters"].get(keys[1], {}).get(CALLED, keys[1]))
    return pointer_of((table_row.name, *keys))


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
