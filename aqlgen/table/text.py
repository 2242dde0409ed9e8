"""The table as text: one parameter a line, a blank line between operations, so that diffs and merges stay small."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from json import JSONEncoder

from aqlgen.diagnostics.plain import escaped
from aqlgen.ir import Json
from aqlgen.runtime.table import encode
from aqlgen.table.model import FAMILIES, DecidedRow, Table

SPREAD = ("parameters", "properties", "security_schemes")
"""Keys whose entries stand a line each, also within `pagination`."""

TOGETHER = frozenset({"path", "operation_id", "verb", "relative", "rule", "confidence", "danger_reason", "returns"})
"""Keys of a row that stand on the line of the key before them: what is read together, and changes together. So does
what is empty.
"""


_line = JSONEncoder(ensure_ascii=False, separators=(", ", ": ")).encode


def _object(entries: Iterable[tuple[str, Json]], depth: int) -> str:
    """Write an object, as a rule with an entry a line; the keys of SPREAD one level deeper."""
    pad = " " * depth
    text = ""
    for key, value in entries:
        if text:
            text += ", " if not depth and (key in TOGETHER or value == {}) else f",\n{pad} "
        text += f"{_line(key)}: {_value(key, value, depth)}"
    return f"{{\n{pad} {text}\n{pad}}}" if text else "{}"


def _value(key: str, value: Json, depth: int) -> str:
    """Write what stands at a key; what a paged operation is paged by on one line, but for the parameters."""
    if not isinstance(value, Mapping) or not value:
        return _line(value)
    if key in SPREAD:
        return _object(value.items(), depth + 1)
    parameters = value.get("parameters") if key == "pagination" else None
    if not isinstance(parameters, Mapping):
        return _line(value)
    head = _line({one: given for one, given in value.items() if one != "parameters"})
    return f'{head.removesuffix("}")}, "parameters": {_object(parameters.items(), depth + 1)}}}'


def blocks(entries: Mapping[str, Mapping[str, Json]]) -> str:
    """Write named objects with a blank line between them."""
    if not entries:
        return "{}\n"
    return "{\n" + ",\n\n".join(f"{_line(name)}: {_object(one.items(), 0)}" for name, one in entries.items()) + "\n}\n"


def mocks(rows: Iterable[DecidedRow]) -> str:
    """Write the declared response examples, one a line."""
    lines = [f"{_line(row.name)}: {_line(row.mock)}" for row in rows if row.mock is not None]
    return "{\n" + ",\n".join(lines) + "\n}\n" if lines else "{}\n"


def files(table: Table) -> dict[str, str]:
    """Return the data files of the package by their path in it."""
    found = {"adapter.json": _object(encode(table.adapter).items(), 0) + "\n", "types.json": blocks(table.types)}
    for family in FAMILIES:
        found[f"operations/{family}.json"] = blocks({row.name: row.as_json() for row in table.of(family)})
    found["mock.json"] = mocks(table.rows)
    return {path: escaped(text) for path, text in found.items()}
