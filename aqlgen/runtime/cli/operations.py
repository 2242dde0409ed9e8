"""What the command prints of operations: the list of `operations`, and the answer of `call`.

Nothing here imports mcp.

Parameters come as NAME=VALUE each. A value is JSON where its parameter takes another type than a text, and reads so;
a text otherwise, as it stands; of a list of texts, each between commas. What it lacks, the call itself says.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from ..exact_json import read_float, write_json
from ..introspection.introspect import Introspection
from ..protocol_operations import Person
from ..schema import JSON_TYPES, Types, admitted_types, alternatives, as_schema, follow, json_type, union_of
from ..schema.validators import PROTOCOL_SCHEMAS
from ..settings.load import load
from ..table import Adapter, JsonSchema, Row, Table
from ..text import escaped, folded, line, terminal_text


def _introspection(folder: Path, environ: Mapping[str, str]) -> tuple[Introspection, Table]:
    config = load(folder, environ)
    table = Table(folder, read_only=config.read_only)
    return Introspection(Adapter.load(folder), table, config), table


class Declared(NamedTuple):
    """The schemas of an operation's parameters by name, and the types that they refer to; empty if it is unknown."""

    schemas: Mapping[str, JsonSchema]
    types: Types

    def read(self, pairs: Sequence[str]) -> dict[str, Any]:
        """Read NAME=VALUE each. A name that is given again, or in another spelling, adds to a list."""
        spelled = {folded(name): schema for name, schema in self.schemas.items()}
        values: dict[str, list[Any]] = {}
        for name, _, text in (pair.partition("=") for pair in pairs):
            schema = self.schemas.get(name, spelled.get(folded(name), {}))
            values.setdefault(name, []).append(read_value(text, schema, self.types))
        return {
            name: entries[0]
            if len(entries) == 1
            else [item for value in entries for item in (value if isinstance(value, list) else [value])]
            for name, entries in values.items()
        }


def read_value(text: str, schema: JsonSchema, types: Types) -> Any:
    """Return the value that a text is for a parameter."""
    admitted = admitted_types(schema, types)
    if admitted == {"string"}:
        return text
    with suppress(ValueError, RecursionError):
        value = json.loads(text, parse_float=read_float, parse_constant=str)
        if json_type(value) in admitted:
            return value
    if "array" in admitted and ("string" not in admitted or not _admits_text(text, schema, types)):
        item = next(iter(union_of(types, follow(schema, types)).items), {})
        return [read_value(part, item, types) for part in text.split(",")]
    return text


def _admits_text(text: str, schema: JsonSchema, types: Types) -> bool:
    """Return True if a text is a value of a schema, which may name its texts, such as `minimal`, beside lists."""
    ways = alternatives(as_schema(follow(schema, types))) or [schema]
    return any("string" in admitted_types(way, types) and text in way.get("enum", [text]) for way in ways)


def declared(row: Row, types: Types) -> Declared:
    """Return the schemas and types by which NAME=VALUE is read for an operation."""
    types = {**PROTOCOL_SCHEMAS, **types}
    schemas = {name: parameter.schema for name, parameter in row.parameters.items()}
    return Declared({**{wire: schemas[name] for wire, name in row.wire_names.items()}, **schemas}, types)


def read_params(folder: Path, operation: str, pairs: Sequence[str], environ: Mapping[str, str]) -> dict[str, Any]:
    """Read NAME=VALUE each, as the operation's schemas have them."""
    introspection, table = _introspection(folder, environ)
    row = introspection.find(operation)
    if row is not None:
        return declared(row, table.types).read(pairs)
    answer = introspection.answer({"query": "operations", "name": operation}, None)
    parameters = ((answer["data"]["operation"] if answer["success"] else None) or {}).get("parameters", ())
    known = {info["name"]: {"type": info["type"]} for info in parameters if info["type"] in JSON_TYPES}
    return Declared(known, {}).read(pairs)


def list_operations(
    folder: Path, environ: Mapping[str, str], *, category: str | None, search: str | None
) -> list[dict[str, Any]]:
    """Return the operations that are offered as introspection lists them, with method and path; workflows have none.

    Searched ones are in order, the best first.
    """
    from ..introspection.info import operation_info, workflow_operations
    from ..introspection.search import Search

    table = Table(folder, read_only=load(folder, environ).read_only)
    listed = {
        name: {
            "name": name,
            "semantic_category": family.upper(),
            "endpoint": family,
            "description": summary,
            "method": method,
            "path": path,
            "resource": resource,
            "danger": danger,
        }
        for name, family, (summary, method, path, resource, danger) in table.values(
            "summary", "method", "path", "resource", "danger"
        )
        if category is None or family == category.lower()
    }
    operations = list(workflow_operations(table))
    for operation in operations:
        if category is None or operation.family == category.lower():
            info = operation_info(operation.name, operation.family, operation.description)
            listed[operation.name] = {**info, "danger": table.workflows[operation.name].danger}
    if search is None:
        return list(listed.values())
    return [listed[hit.name] for hit in Search(table, operations).find(search, lambda hit: hit.name in listed).hits]


def render_operations(operations: list[dict[str, Any]]) -> str:
    """Return a table of operations for a terminal, a line each."""
    width = max((len(operation["name"]) for operation in operations), default=0)
    return "\n".join(
        f"{operation['semantic_category']:<7}  {operation['name']:<{width}}  {line(operation['description'], 120)}"
        for operation in operations
    )


async def call(
    folder: Path,
    hooks: object | None,
    operation: str,
    params: Any,
    environ: Mapping[str, str],
    *,
    mock: bool,
    yes: bool = False,
) -> dict[str, Any]:
    """Perform an operation as for an agent. Returns the envelope; the person at the terminal can confirm.

    `yes` confirms in advance, unless the owner demands a person.
    """
    from ..assembly import assemble
    from ..session import TERMINAL, Session

    parts = assemble(folder, hooks, environ=environ, mock=mock)
    by_person = parts.config.confirmation.approval != "agent"
    if yes and by_person:
        sys.stderr.write(
            'Note: --yes confirms nothing here: the adapter\'s owner demands a person (approval = "person").\n'
        )
    person = Terminal(yes=yes and not by_person)
    try:
        return await parts.dispatcher.handle(
            None, {"operation": operation, "params": params}, Session(TERMINAL), person
        )
    finally:
        await parts.close()


def as_json(value: Any) -> str:
    """Return JSON for people to read, where the output is a terminal; else in one line, as agents are answered."""
    layout: dict[str, Any] = {"indent": 2} if sys.stdout.isatty() else {"separators": (",", ":")}
    return escaped(write_json(value, json.JSONEncoder(ensure_ascii=False, **layout).encode))


class Terminal(Person):
    """The person at the terminal, whom `call` asks for a confirmation (R-SAFE-4). `yes` answers each question."""

    def __init__(self, *, yes: bool) -> None:
        self._yes = yes

    @property
    def reachable(self) -> bool:
        """True if somebody can answer."""
        return self._yes or (sys.stdin is not None and sys.stdin.isatty())

    async def ask(self, question: str) -> bool:
        """Ask a question. Anything but a clear yes is a no."""
        if self._yes:
            return True
        sys.stderr.write(f"{terminal_text(question)}\nConfirm? [y/N] ")
        sys.stderr.flush()
        return sys.stdin.readline().strip().lower() in ("y", "yes")

    async def ask_text(self, question: str, name: str) -> str | None:
        """Ask for a text; None if nothing is typed, or nobody can answer."""
        if sys.stdin is None or not sys.stdin.isatty():
            return None
        sys.stderr.write(f"{terminal_text(question)}\n{name}: ")
        sys.stderr.flush()
        return sys.stdin.readline().strip() or None


def advice(envelope: Mapping[str, Any], command: str) -> str:
    """Return the advice to a person on confirming a call that was held back, "" for any other."""
    error = envelope.get("error", {})
    if error.get("code") != "CONFIRMATION_REQUIRED":
        return ""
    if "waits_as" in error.get("details", {}):
        return f"An operator approves it: {command} operator"
    return "To confirm it yourself, add --yes, or run the command in a terminal."
