"""What an agent sees of an adapter: its operations, their types, and what holds for all of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from aqlgen.decisions import Danger
from aqlgen.diagnostics.errors import FileError
from aqlgen.ir import Json
from aqlgen.table.model import FAMILIES, Schema, Table

__all__ = ["Operation", "Surface", "surface_of_folder", "surface_of_table"]


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation: `row` is its entry of the operation table."""

    name: str
    family: str
    row: Mapping[str, Json]

    @property
    def key(self) -> str:
        """What it calls: `METHOD /path`."""
        return f"{self.row['method']} {self.row['path']}"


@dataclass(frozen=True, slots=True)
class Surface:
    """An adapter as an agent sees it. Operations by name; `adapter` is what `adapter.json` says."""

    operations: Mapping[str, Operation]
    types: Mapping[str, Schema]
    adapter: Mapping[str, Json]

    @property
    def version(self) -> str:
        """The version that the API's document gives itself."""
        return str(self.adapter.get("api_version", ""))


def surface_of_table(table: Table) -> Surface:
    """Return what an agent sees of a table."""
    return _surface((Operation(row.name, row.family, row.as_json()) for row in table.rows), table.types, table.adapter)


def surface_of_folder(files: Mapping[str, bytes], package: str) -> Surface:
    """Return what an agent sees of a project, from its files by their path in it. Raises FileError."""
    place = f"src/{package}"
    operations = [
        Operation(name, family, row)
        for family in FAMILIES
        for name, row in _rows(files, f"{place}/operations/{family}.json").items()
    ]
    return _surface(operations, _data(files, f"{place}/types.json"), _data(files, f"{place}/adapter.json"))


def _surface(operations: Iterable[Operation], types: Mapping[str, Schema], adapter: Mapping[str, Json]) -> Surface:
    return Surface({one.name: one for one in operations}, types, adapter)


def _rows(files: Mapping[str, bytes], path: str) -> dict[str, Mapping[str, Json]]:
    rows = _data(files, path, needed=False)
    for name, row in rows.items():
        kinds = {"method": str, "path": str, "danger": str, "parameters": dict, "responses": dict}
        if not isinstance(row, dict) or any(not isinstance(row.get(key), kind) for key, kind in kinds.items()):
            raise _broken(path, f"has an entry that is no operation: {name}")
        if row["danger"] not in list(Danger):
            raise _broken(path, f"has an operation of no known danger: {name}")
    return rows


def _data(files: Mapping[str, bytes], path: str, *, needed: bool = True) -> dict[str, Json]:
    if path not in files and not needed:
        return {}
    try:
        found = json.loads(files[path])
    except KeyError:
        raise _broken(path, "is missing") from None
    except ValueError as error:
        raise _broken(path, f"is no JSON: {error}") from None
    if not isinstance(found, dict):
        raise _broken(path, "is no JSON object")
    return found


def _broken(path: str, why: str) -> FileError:
    return FileError.of(
        "not-a-project",
        f"{path} of the project {why}",
        help="`aqlgen update` writes it anew; to compare with an earlier state, name a git revision.",
        file=path,
    )
