"""The table as text: one parameter a line, a blank line between operations, so that diffs and merges stay small."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from json import JSONEncoder

from aqlgen.diagnostics.plain import escaped
from aqlgen.ir import Json
from aqlgen.runtime.table import encode
from aqlgen.table.model import FAMILIES, DecidedRow, Table

SPREAD = ("parameters", "properties", "security_schemes")
"""Keys whose entries have a line each, also within `pagination`."""

TOGETHER = frozenset({"path", "operation_id", "verb", "relative", "rule", "confidence", "danger_reason", "returns"})
"""Keys of a row that share the line of the key before them, since they are read and changed together. Empty objects do,
too.
"""

_line = JSONEncoder(ensure_ascii=False, separators=(", ", ": ")).encode


def _object(entries: Iterable[tuple[str, Json]], depth: int) -> str:
    """Write an object, usually with one entry a line; the keys of SPREAD are written one level deeper."""
    pad = " " * depth
    text = ""
    for key, value in entries:
        if text:
            text += ", " if not depth and (key in TOGETHER or value == {}) else f",\n{pad} "
        text += f"{_line(key)}: {_value(key, value, depth)}"
    return f"{{\n{pad} {text}\n{pad}}}" if text else "{}"


def _value(key: str, value: Json, depth: int) -> str:
    """Write the value of a key; `pagination` goes on one line, except for its parameters."""
    if not isinstance(value, Mapping) or not value:
        return _line(value)
    if key in SPREAD:
        return _object(value.items(), depth + 1)
    parameters = value.get("parameters") if key == "pagination" else None
    if not isinstance(parameters, Mapping):
        return _line(value)
    head = _line({name: part for name, part in value.items() if name != "parameters"})
    return f'{head.removesuffix("}")}, "parameters": {_object(parameters.items(), depth + 1)}}}'


def blocks(entries: Mapping[str, Mapping[str, Json]]) -> str:
    """Write named objects with a blank line between them."""
    if not entries:
        return "{}\n"
    return (
        "{\n"
        + ",\n\n".join(f"{_line(name)}: {_object(members.items(), 0)}" for name, members in entries.items())
        + "\n}\n"
    )


def mocks(rows: Iterable[DecidedRow]) -> str:
    """Write the declared response examples, one a line."""
    lines = [f"{_line(row.name)}: {_line(row.mock)}" for row in rows if row.mock is not None]
    return "{\n" + ",\n".join(lines) + "\n}\n" if lines else "{}\n"


def files(table: Table) -> dict[str, str]:
    """Return the data files of the package by their path in it."""
    contents = {"adapter.json": _object(encode(table.adapter).items(), 0) + "\n", "types.json": blocks(table.types)}
    for family in FAMILIES:
        contents[f"operations/{family}.json"] = blocks({row.name: row.as_json() for row in table.of(family)})
    contents["mock.json"] = mocks(table.rows)
    return {path: escaped(text) for path, text in contents.items()}
