"""The table as text: one parameter a line, a blank line between operations, so that diffs and merges stay small."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from json import JSONEncoder

from aqlgen.ir import Json
from aqlgen.plain import escaped
from aqlgen.table.model import FAMILIES, Row, Table

SPREAD = ("parameters", "properties", "responses", "security_schemes")
"""Keys whose entries stand a line each."""


_line = JSONEncoder(ensure_ascii=False, separators=(", ", ": ")).encode


def _object(entries: Iterable[tuple[str, Json]], depth: int) -> str:
    """Write an object with an entry a line; the keys of SPREAD one level deeper."""
    pad = " " * depth
    lines = [
        f"{pad} {_line(key)}: "
        + (
            _object(value.items(), depth + 1)
            if key in SPREAD and isinstance(value, Mapping) and value
            else _line(value)
        )
        for key, value in entries
    ]
    return "{\n" + ",\n".join(lines) + f"\n{pad}}}" if lines else "{}"


def blocks(entries: Mapping[str, Mapping[str, Json]]) -> str:
    """Write named objects with a blank line between them."""
    if not entries:
        return "{}\n"
    return "{\n" + ",\n\n".join(f"{_line(name)}: {_object(one.items(), 0)}" for name, one in entries.items()) + "\n}\n"


def mocks(rows: Iterable[Row]) -> str:
    """Write the declared response examples, one a line."""
    lines = [f"{_line(row.name)}: {_line(row.mock)}" for row in rows if row.mock is not None]
    return "{\n" + ",\n".join(lines) + "\n}\n" if lines else "{}\n"


def files(table: Table) -> dict[str, str]:
    """Give the data files of the package by their path in it."""
    found = {"adapter.json": _object(table.adapter.items(), 0) + "\n", "types.json": blocks(table.types)}
    for family in FAMILIES:
        found[f"operations/{family}.json"] = blocks({row.name: row.as_json() for row in table.of(family)})
    found["mock.json"] = mocks(table.rows)
    return {path: escaped(text) for path, text in found.items()}
