"""Rows of operation tables as they stand in a project's files, brought into a form in which edits can be told apart."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from aqlgen.ir import Json
from aqlgen.runtime.table import Parameter, decode
from aqlgen.table.model import FAMILIES

__all__ = ["CALLED", "Found", "RowError", "operations_file", "pointer", "rows"]

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
    return f"{method} {path}" if whole else None


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
    return "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in (table_row.name, *keys))
