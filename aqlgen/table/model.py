"""The operation table as the generator builds it: the rows that the adapter reads, with the decisions behind them.

Beside it all that agents read of an API through its adapter: names, texts, and values as they are shown.
The hash of it stands in the provenance of a project, so that other words in a regenerated project are noticed although
no schema and no code changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from json import JSONEncoder
from json.encoder import c_make_encoder, encode_basestring  # type: ignore[attr-defined]

from aqlgen.decide.decision import Category, Decision
from aqlgen.diagnostics.errors import FileError
from aqlgen.diagnostics.plain import escaped
from aqlgen.ir import Json
from aqlgen.runtime.table import FAMILIES, FORMAT, WORKFLOWS, Adapter, FormatError, Row, Workflow, check_format, encode

__all__ = ["FAMILIES", "DecidedRow", "Schema", "Table", "agent_texts", "require_format", "table_files"]

Schema = Mapping[str, Json]


@dataclass(frozen=True)
class DecidedRow:
    """A row of the table with the decision behind it."""

    row: Row
    decision: Decision
    mock: Mapping[str, Json]
    """The response in mock mode: status, content type and body."""

    @property
    def name(self) -> str:
        """The operation's name."""
        return self.row.name

    @property
    def family(self) -> str:
        """The endpoint family: `create`, `read`, …"""
        return self.row.family

    @cached_property
    def encoded(self) -> dict[str, Json]:
        """The row as it stands in its file; it must not be changed."""
        return encode(self.row)


@dataclass(frozen=True, slots=True)
class Table:
    """All rows sorted by name, the types, what `adapter.json` says, and workflows sorted by name."""

    rows: tuple[DecidedRow, ...]
    types: Mapping[str, Schema]
    adapter: Adapter
    workflows: tuple[Workflow, ...] = ()

    def of(self, family: str) -> tuple[DecidedRow, ...]:
        """Return the rows of one family."""
        category = Category(family.upper())
        return tuple(row for row in self.rows if row.decision.category is category)


SPREAD = ("parameters", "properties", "security_schemes", "inputs", "outputs", "apis")
"""Keys whose entries have a line each, also within `pagination`."""

TOGETHER = frozenset("path operation_id tags verb relative rule confidence danger_reason effects asked returns".split())
"""Keys of a row that share the line of the key before them, since they are read and changed together. Empty objects do,
too.
"""

_encoder = c_make_encoder(None, JSONEncoder().default, encode_basestring, None, ": ", ", ", False, False, True)
"""An encoder in C for all values: the one that JSONEncoder makes for each takes longer to make than to run."""


def _line(value: Json) -> str:
    """Write a value on one line; for most values the encoder would take longer to begin than to encode."""
    if value.__class__ is str:
        return encode_basestring(value)
    if value is True or value is False:
        return "true" if value else "false"
    return "{}" if value == {} else "".join(_encoder(value, 0))


def _object(entries: Iterable[tuple[str, Json]], depth: int) -> str:
    """Write an object, usually with one entry a line; the keys of SPREAD are written one level deeper."""
    pad = " " * depth
    text = ""
    for key, value in entries:
        if text:
            text += ", " if not depth and (key in TOGETHER or value == {}) else f",\n{pad} "
        text += f"{encode_basestring(key)}: {_value(key, value, depth)}"
    return f"{{\n{pad} {text}\n{pad}}}" if text else "{}"


def _value(key: str, value: Json, depth: int) -> str:
    """Write the value of a key; `pagination` goes on one line, except for its parameters."""
    if key in SPREAD and value and isinstance(value, Mapping):
        return _object(value.items(), depth + 1)
    parameters = value.get("parameters") if key == "pagination" and isinstance(value, Mapping) else None
    if not isinstance(parameters, Mapping):
        return _line(value)
    head = _line({name: part for name, part in value.items() if name != "parameters"})
    return f'{head.removesuffix("}")}, "parameters": {_object(parameters.items(), depth + 1)}}}'


def _blocks(entries: Iterable[tuple[str, Mapping[str, Json]]]) -> bytes:
    """Write named objects with a blank line between them."""
    return _file((f"{_line(name)}: {_object(members.items(), 0)}" for name, members in entries), b",\n\n")


def _file(entries: Iterable[str], separator: bytes) -> bytes:
    """Write an object; entry by entry, since one rare character makes each of a whole text four bytes long."""
    text = separator.join(_bytes(entry) for entry in entries)
    return b"{\n" + text + b"\n}\n" if text else b"{}\n"


def _bytes(text: str) -> bytes:
    return escaped(text).encode("utf-8", "backslashreplace")


def table_files(table: Table) -> Iterator[tuple[str, bytes]]:
    """Yield the data files of the package, each with its path in it."""
    yield "adapter.json", _bytes(_object(encode(table.adapter).items(), 0) + "\n")
    yield "types.json", _blocks(table.types.items())
    for family in FAMILIES:
        yield f"operations/{family}.json", _blocks((row.name, row.encoded) for row in table.of(family))
    mocks = (f"{_line(row.name)}: {_line(row.mock)}" for row in table.rows if row.mock != {"status": 200})
    yield "mock.json", _file(mocks, b",\n")  # but those that are successes without content
    if table.workflows:
        yield WORKFLOWS, _blocks((workflow.name, encode(workflow)) for workflow in table.workflows)


def require_format(adapter: Mapping[str, Json], path: str) -> None:
    """Raise FileError unless what `adapter.json` holds is of the format that this aqlgen reads."""
    try:
        check_format(adapter)
    except FormatError:
        raise FileError.of(
            "not-a-project",
            f"{path} says that the operation table is of format {adapter['format']}, and this aqlgen reads {FORMAT}",
            help="A newer aqlgen wrote it: install the newest one, then run `aqlgen update`.",
            file=path,
        ) from None


_KEYS = ("summary", "description", "confirmation", "deprecation", "aliases", "parameters", "returns", "example")
"""The texts of a row that introspection shows, with its defaults, listed values and examples."""


def agent_texts(table: Table) -> dict[str, Json]:
    """Return the texts that agents read: of the adapter, and by operation, type and workflow."""
    adapter = encode(table.adapter)
    return {
        "adapter": {key: adapter.get(key) for key in ("name", "title", "description", "servers")},
        "operations": {row.name: _of_row(row) for row in table.rows},
        "types": dict(table.types),
        **({"workflows": {item.name: encode(item) for item in table.workflows}} if table.workflows else {}),
    }


def _of_row(row: DecidedRow) -> dict[str, Json]:
    entry = row.encoded
    return {"category": row.family} | {key: entry[key] for key in _KEYS if key in entry}
