# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Parameters on the command line as NAME=VALUE, read as the operation's schema has them, and the examples of `--help`.

A text stays text where the schema says string: `123` is no number there. Other types are read as JSON; a list may be
written with commas, or by giving its name again, where that has one reading. The coercions are those of agents'
calls (`validation.coercions`).

Examples are chosen from the table, with sample values, and each of them runs.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..introspection.introspect import Introspection
from ..schema.reader import Types, fixed_values, follow, union_of
from ..settings.config import Config
from ..settings.load import ConfigError, load
from ..table import Adapter, JsonSchema, Row, Table
from ..text import folded, line, listed
from ..validation.coercions import ALL_TYPES, admitted_types, coercions, member

__all__ = ["Declared", "ValueProblem", "declared_parameters", "example_calls", "read_pairs", "read_value"]

_STRUCTURED = frozenset({"object", "array", "null"})
_WORDS = {
    "string": "a text",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "object": "an object",
    "array": "a list",
    "null": "null",
}


class ValueProblem(ValueError):
    """A value that is none of the parameter's type. The message is a sentence for a person."""


class Declared(NamedTuple):
    """The schemas of an operation's parameters by name, and the types that they refer to; empty if it is unknown."""

    schemas: Mapping[str, JsonSchema]
    types: Types

    def schema(self, name: str) -> JsonSchema:
        """Return the schema of a parameter, by its name or another spelling of it; {} for one that is unknown."""
        if name in self.schemas:
            return self.schemas[name]
        alike = [schema for known, schema in self.schemas.items() if folded(known) == folded(name)]
        return alike[0] if len(alike) == 1 else {}


def declared_parameters(introspection: Introspection, table: Table, operation: str) -> Declared:
    """Return what an operation of the API or of the protocol declares."""
    row = introspection.find(operation)
    if row is not None:
        schemas = {name: parameter.schema for name, parameter in row.parameters.items()}
        return Declared({**{wire: schemas[name] for wire, name in row.wire_names.items()}, **schemas}, table.types)
    answer = introspection.answer({"query": "operations", "name": operation}, None)
    details = answer["data"]["operation"] if answer["success"] else None
    parameters = () if details is None else details["parameters"]
    return Declared({parameter["name"]: _schema_of(parameter) for parameter in parameters}, {})


def _schema_of(info: Mapping[str, Any]) -> JsonSchema:
    """Return the schema of a parameter as introspection describes it."""
    return {"type": info["type"]} if info["type"] in ALL_TYPES else {}


def read_pairs(pairs: Sequence[str], declared: Declared) -> dict[str, Any]:
    """Read NAME=VALUE each. A name that is given again adds to a list. Raises ValueProblem."""
    texts: dict[str, list[str]] = {}
    for pair in pairs:
        name, _, text = pair.partition("=")
        texts.setdefault(name, []).append(text)
    params: dict[str, Any] = {}
    for name, values_given in texts.items():
        schema = declared.schema(name)
        if len(values_given) == 1:
            params[name] = read_value(name, values_given[0], schema, declared.types)
        elif admitted_types(schema, declared.types) & {"array", "string"} == {"array"}:
            values = [read_value(name, text, schema, declared.types) for text in values_given]
            params[name] = [item for value in values for item in value]
        else:
            raise ValueProblem(f"'{line(name, 64)}' is given {len(values_given)} times, and it is no list")
    return params


def read_value(name: str, text: str, schema: JsonSchema, types: Types) -> Any:
    """Return the value that a text means for a parameter. Raises ValueProblem."""
    admitted = admitted_types(schema, types)
    if admitted == {"string"}:
        return text
    listed_values = fixed_values(follow(schema, types), types)
    if listed_values:
        fixed = member(text, listed_values)
        if fixed is None or not fixed.sure:
            raise _problem(name, text, schema, admitted, types)
        return fixed.value
    if text == "null" and "null" in admitted:
        return None
    for coercion in coercions(text, admitted):
        if coercion.sure and coercion.kind in ("json", "number", "boolean"):
            return coercion.value
    if "string" in admitted:
        value = _unquoted(text)
        return value if value is not None and (admitted - {"string", "null"} or value == "null") else text
    if "array" in admitted and admitted <= _STRUCTURED:
        return _list(name, text, schema, types)
    raise _problem(name, text, schema, admitted, types)


def _list(name: str, text: str, schema: JsonSchema, types: Types) -> list[Any]:
    """Read a list whose items are divided by commas."""
    item = next(iter(union_of(types, follow(schema, types)).items), None)
    kinds = ALL_TYPES if item is None else admitted_types(item, types)
    plain = not kinds & _STRUCTURED and (kinds == {"string"} or "string" not in kinds)
    if item is None or not plain or not text or text[0] in '[{"' or ", " in text:
        raise _problem(name, text, schema, frozenset({"array"}), types)
    return [read_value(name, part, item, types) for part in text.split(",")]


def _problem(name: str, text: str, schema: JsonSchema, admitted: Iterable[str], types: Types) -> ValueProblem:
    kinds = [kind for kind in _WORDS if kind in admitted and not (kind == "integer" and "number" in admitted)]
    wanted = " or ".join(_WORDS[kind] for kind in kinds) or "something else"
    values = fixed_values(follow(schema, types), types)
    if values:
        wanted = f"one of {listed(values)}"
    shown = line(name, 64)
    forms = {"object": "'{\"key\": …}'", "array": "'[…]'"}
    way = next((f"; give JSON: {shown}={forms[kind]}" for kind in ("array", "object") if kind in admitted), "")
    reason = f"'{line(text, 60)}' is none" if text else "nothing is given"
    return ValueProblem(f"'{shown}' wants {wanted}, and {reason}{way}")


def _unquoted(text: str) -> str | None:
    """Return the text that a JSON text is, None if it is none."""
    try:
        value = json.loads(text) if text[:1] == '"' else None
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, str) else None


_CHANGES, _HARMLESS = ("create", "update"), ("safe", "reversible")
_LONGEST = 200
_TRIED = 300
"""The number of operations of a kind that are read: the help of a large API comes as fast as that of a small one."""


def example_calls(folder: Path, adapter: Adapter, most: int) -> list[str]:
    """Return commands that run: safe reads first, those without parameters before others, then a harmless change."""
    command = f"{adapter.name}-adapter call"
    try:
        table, config = _table(folder)
        introspection = Introspection(adapter, table, config)
        calls = []
        for row, params in _chosen(table):
            words = _words(params, declared_parameters(introspection, table, row.name))
            if len(" ".join(words)) <= _LONGEST:
                calls.append(" ".join((command, row.name, *words, "--mock")))
    except (OSError, ValueError, KeyError, TypeError):  # a damaged table: the command itself says so
        return []
    return calls[:most]


def _table(folder: Path) -> tuple[Table, Config]:
    try:
        config = load(folder, os.environ)
    except ConfigError:
        config = Config()
    return Table(folder, read_only=config.read_only), config


def _chosen(table: Table) -> Iterator[tuple[Row, Mapping[str, Any]]]:
    """Yield a read without required parameters, then the read and the change whose example is shortest."""
    names = list(table.values("danger"))
    reads = _rows(table, [name for name, family, (danger,) in names if family == "read" and danger == "safe"])
    free = next((row for row in reads if not _required(row)), None)
    if free is not None:
        yield free, {}
    asking = [row for row in reads if _required(row)]
    changing = [name for name, family, (danger,) in names if family in _CHANGES and danger in _HARMLESS]
    for rows in (asking, _rows(table, changing)):
        examples = [(row, row.example) for row in rows if row.example]
        if examples:
            yield min(examples, key=lambda pair: len(json.dumps(pair[1])))


def _rows(table: Table, names: list[str]) -> list[Row]:
    rows = (table.find(name) for name in names[:_TRIED])
    return [row for row in rows if row is not None]


def _required(row: Row) -> bool:
    return any(parameter.required for parameter in row.parameters.values())


def _words(params: Mapping[str, Any], declared: Declared) -> list[str]:
    """Return parameters as words of a command line: NAME=VALUE if that is read back as it is, else one JSON object."""
    pairs = [
        f"{name}={value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in params.items()
    ]
    try:
        plain = all(isinstance(value, (str, int, float)) for value in params.values())
        as_pairs = plain and read_pairs(pairs, declared) == params
    except ValueProblem:
        as_pairs = False
    texts = pairs if as_pairs else [json.dumps(params, ensure_ascii=False, separators=(",", ":"))]
    return [shlex.quote(text) for text in texts]
