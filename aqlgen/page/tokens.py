"""An estimate of the tokens that an operation would cost an agent as a tool of its own.

The estimate needs no vocabulary of 200,000 entries. It splits a text where today's byte-pair tokenisers split it before
they look anything up (o200k: words with the one character before them, up to three digits, runs of signs): nearly every
such piece of an API's description is one token, and what the others cost on average is known.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from aqlgen.ir import Json
from aqlgen.runtime.table import Adapter
from aqlgen.table.model import FAMILIES, DecidedRow, Table

__all__ = ["Costs", "estimate", "offered", "tool"]

_READ_TOOL, _READ_EXAMPLE, _READ_STEPS, _SINGLE_TOOL = 126, 11, 9, 143
_OTHER_TOOLS: Final = {"create": 92, "update": 96, "delete": 100, "execute": 100}
"""What a tool of the adapter costs without the API's title and the name of an operation; held to o200k by a test."""

_TITLE, _SHORT_TITLE = 48, 18
"""How much of the title the tools show: all of it once, less in the others."""

_TYPES: Final = "#/types/"
_WORD: Final = r"(?:[A-Z]*[^\W\dA-Z_]+|[A-Z]+)"
_PIECE: Final = re.compile(rf"[^\r\n\w]?{_WORD}|_{_WORD}|\d{{1,3}}| ?[^\s\w]+|_+|\s+")

_LONG_SIGNS, _LONG_WORD, _LONG_JOINED, _LONG_CAPITALS = 5, 16, 8, 4
"""The lengths from which on a piece is rarely one token."""


def estimate(text: str) -> int:
    """Return how many tokens a text is, estimated."""
    return round(_tokens(text))


def _tokens(text: str) -> float:
    return sum(map(_cost, _PIECE.findall(text)))


@lru_cache(maxsize=65536)
def _cost(piece: str) -> float:
    """Return what a piece costs on average; the figures are o200k's over the descriptions of a dozen APIs."""
    length = len(piece.strip())
    if not piece[-1].isalpha():
        return 1.0 if length < _LONG_SIGNS else length / 2.1
    if not piece.isascii():
        return max(1.0, length * 0.6)
    joined = piece[0] != " " and not piece[0].isalpha()  # to a quote, an underscore, a dot …
    if length > _LONG_CAPITALS - 1 + joined and piece[-1].isupper() and piece[0] != " ":
        return length / 2.7
    if joined:
        return 1.25 if length < _LONG_JOINED else 1.7
    return 1.03 if length < _LONG_WORD else length / 5


def offered(adapter: Adapter) -> tuple[int, int]:
    """Return what `tools/list` costs with a tool for each category that has operations, and with one tool for all."""
    title, short = (adapter.title[:length] or adapter.name for length in (_TITLE, _SHORT_TITLE))
    names, counts = adapter.quick_start, adapter.counts
    has_changes = any(number for family, number in counts.items() if family != "read")
    others = [
        family
        for family in FAMILIES
        if family != "read" and (counts.get(family) or (family == "execute" and has_changes))  # it confirms changes
    ]
    first = next((names[family] for family in ("read", *FAMILIES) if family in names), "")
    semantic = _READ_TOOL + _READ_EXAMPLE * ("read" in names) + _tokens(title) + _tokens(str(names.get("read", "")))
    semantic += 0 if has_changes else _READ_STEPS  # else the execute tool performs several steps
    semantic += sum(_OTHER_TOOLS[family] + _tokens(short) + _tokens(str(names.get(family, ""))) for family in others)
    return round(semantic), round(_SINGLE_TOOL + _tokens(title) + _tokens(str(first)))


def tool(row: DecidedRow) -> dict[str, Json]:
    """Return an operation as a generator of discrete tools writes it, but without the `$defs` of its schema."""
    operation = row.decision.operation
    properties = {
        parameter.wire or parameter.name: {
            **parameter.schema,
            **({"description": parameter.description} if parameter.description else {}),
        }
        for parameter in row.row.shown_parameters.values()
    }
    schema: dict[str, Json] = {"type": "object", "properties": properties}
    required = [
        parameter.wire or parameter.name for parameter in row.row.shown_parameters.values() if parameter.required
    ]
    if required:
        schema["required"] = required
    return {
        "name": operation.operation_id or row.name,
        "description": operation.description or operation.summary,
        "inputSchema": schema,
    }


class Costs:
    """Estimates of the operations of a table; the tokens of a type are counted once and added wherever it is used."""

    def __init__(self, table: Table) -> None:
        self._types = table.types
        self._texts = {name: _compact(schema) for name, schema in table.types.items()}
        self._tokens = {name: _tokens(f'"{name}":{text},') for name, text in self._texts.items()}

    def of(self, row: DecidedRow) -> int:
        """Return the tokens of the operation as a discrete tool: its name, description and input schema."""
        return round(_tokens(_compact(tool(row))) + sum(self._tokens[name] for name in self.types_of(row)))

    def types_of(self, row: DecidedRow) -> list[str]:
        """Return the names of all types that its schema needs, sorted: sums of fractions depend on their order."""
        seen: set[str] = set()
        waiting = set(_references(tool(row)))
        while waiting:
            name = waiting.pop()
            if name in self._types and name not in seen:
                seen.add(name)
                if _TYPES in self._texts[name]:
                    waiting.update(_references(self._types[name]))
        return sorted(seen)


def _references(schema: Json) -> Iterator[str]:
    """Yield the names of the types that a schema refers to."""
    stack = [schema]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            reference = node.get("$ref")
            if isinstance(reference, str) and reference.startswith(_TYPES):
                yield reference.removeprefix(_TYPES)
            stack.extend(value for value in node.values() if isinstance(value, dict | list))
        elif isinstance(node, list):
            stack.extend(node)


def _compact(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
