# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Parameters that a person gives on the command line as NAME=VALUE, read as the operation's schema has them.

A text stays text where the schema says string: `123` is no number there. Other types are read as JSON; a list may be
written with commas, or by giving its name again, where that has one reading.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ..exact_json import read_float
from ..introspection.introspect import Introspection
from ..schema.reader import (
    MISSING,
    Types,
    alternatives,
    as_schema,
    declared_types,
    fixed_values,
    follow,
    json_type,
    only_type,
    parts,
    union_of,
    without_null,
)
from ..table import JsonSchema, Table
from ..text import folded, line, listed

__all__ = ["Declared", "ValueProblem", "declared_parameters", "read_pairs", "read_value"]

_ALL = frozenset({"string", "integer", "number", "boolean", "object", "array", "null"})
_STRUCTURED = frozenset({"object", "array", "null"})
_DEEPEST = 8
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
    return {"type": info["type"]} if info["type"] in _ALL else {}


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
    fixed = [value for value in listed_values or () if _written(value) == text]
    if len(fixed) == 1:
        return fixed[0]
    if listed_values and not fixed:
        raise _problem(name, text, schema, admitted, types)
    value = _json(text)
    kind = json_type(value)
    if value is not MISSING and kind != "string" and kind in admitted:
        return value
    if isinstance(value, float) and value.is_integer() and "integer" in admitted:
        return int(value)
    if "string" in admitted:
        quoted = isinstance(value, str) and (admitted - {"string", "null"} or value == "null")
        return value if quoted else text
    if "boolean" in admitted and text.lower() in ("true", "false"):
        return text.lower() == "true"
    if "array" in admitted and admitted <= _STRUCTURED:
        return _list(name, text, schema, types)
    raise _problem(name, text, schema, admitted, types)


def _list(name: str, text: str, schema: JsonSchema, types: Types) -> list[Any]:
    """Read a list whose items are divided by commas."""
    item = next(iter(union_of(types, follow(schema, types)).items), None)
    kinds = _ALL if item is None else admitted_types(item, types)
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


def admitted_types(schema: JsonSchema, types: Types, depth: int = 0) -> frozenset[str]:
    """Return the JSON types that a schema admits, `integer` wherever `number`; all where it says none."""
    admitted = _ALL
    for part in parts(schema, types) if depth < _DEEPEST else ():
        admitted &= _types_of_part(part, types, depth)
    return admitted or _ALL


def _types_of_part(part: JsonSchema, types: Types, depth: int) -> frozenset[str]:
    kinds = frozenset(declared_types(part))
    if not kinds and isinstance(part.get("enum"), list):
        kinds = frozenset(map(json_type, part["enum"]))
    if not kinds and "const" in part:
        kinds = frozenset({json_type(part["const"])})
    if not kinds:
        kinds = frozenset().union(*(admitted_types(as_schema(way), types, depth + 1) for way in alternatives(part)))
        if kinds and without_null(part)[1]:
            kinds |= {"null"}
    if not kinds:
        guess = only_type({key: value for key, value in part.items() if key != "allOf"})
        kinds = _ALL if guess is None else frozenset({guess, "null"} if guess in _STRUCTURED else {guess})
    return (kinds | {"integer"} if "number" in kinds else kinds) & _ALL


def _json(text: str) -> Any:
    try:
        return json.loads(text, parse_float=read_float, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return MISSING


def _refuse_constant(text: str) -> None:
    raise ValueError(text)


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
