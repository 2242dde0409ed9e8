# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Operations and types as introspection shows them (introspection document, 3.1 to 3.6).

The details of an operation are written to the fullest detail that keeps within its size. What is cut is one call away:
`introspect` shows the parameters of an operation in full as a type, `create_thing.params`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..executions.operations import lifecycle
from ..protocol_operations import ProtocolOperation
from ..schema.groups import body_notes
from ..schema.reader import (
    Types,
    alternatives,
    enum_values,
    follow,
    is_object,
    shape_of,
    string_enum,
)
from ..schema.wording import (
    alternative_notes,
    discriminator_notes,
    key_notes,
    phrase,
    shown_type,
    union_notes,
)
from ..settings.config import Config
from ..table import ADAPTER, JsonSchema, Row, Table
from ..text import brief, clean, folded, line, listed
from .fields import IN_FULL, OF_TYPES, Detail, Info, field_info, parameter_info, with_notes
from .names import Alias
from .protocol import INTROSPECT, PERMISSIONS, tool_name

__all__ = [
    "PARAMETERS",
    "introspect_details",
    "operation_details",
    "operation_info",
    "operation_type",
    "parameter_info",
    "protocol_operation_details",
    "type_details",
    "type_info",
]

_MOST_VALUES = 50
_PLACES = {
    "path": "Goes in the path.",
    "query": "Goes in the query.",
    "querystring": "Is the whole query.",
    "header": "Goes in a header.",
    "cookie": "Goes in a cookie.",
    "body": "Goes in the body.",
    "body_rest": "Goes in the body.",
    "adapter": "The adapter's own, not sent.",
}


# Types


def type_info(name: str, schema: JsonSchema, types: Types) -> Info:
    """Return name, kind and one line of description."""
    details = type_details(name, schema, types)
    info = {"name": name, "kind": details["kind"]}
    text = line(details.get("description", ""), 160)
    if text:
        info["description"] = text
    return info


def kind_of(schema: JsonSchema, types: Types) -> str:
    """Return the kind of one of the API's types: enum, object, union or scalar, in this order of trial."""
    return _kind(follow(schema, types), types)


def _kind(target: JsonSchema, types: Types) -> str:
    if string_enum(target):
        return "enum"
    if is_object(target, types):
        return "object"
    return "union" if len(alternatives(target)) > 1 else "scalar"


def type_details(name: str, schema: JsonSchema, types: Types) -> Info:
    """Describe one of the API's types."""
    target = follow(schema, types)
    text = clean(str(schema.get("description") or target.get("description") or ""))
    kind = _kind(target, types)
    info: Info = {"name": name, "kind": kind}
    notes: list[str] = []
    if kind == "enum":
        info["values"] = string_enum(target)
    elif kind == "object":
        info["fields"] = list(_fields(target, types))
        notes += _object_notes(target)
    elif kind == "union":
        options = alternatives(target)
        info["members"] = list(dict.fromkeys(map(shown_type, options)))
        if any(phrase(option).endswith(")") for option in options):  # what a name alone does not say
            notes += union_notes(options)
    else:
        meaning = phrase(target, values=False)
        if not text or meaning.startswith("array of "):
            notes.append(f"{meaning[:1].upper()}{meaning[1:]}.")
        if enum_values(target):
            notes.append(f"One of {listed(enum_values(target), _MOST_VALUES)}.")
    notes += discriminator_notes(target)
    description = with_notes(text, notes)
    if description:
        info["description"] = description
    return info


def _object_notes(schema: JsonSchema) -> Iterator[str]:
    options = alternatives(schema)
    requirements = list(alternative_notes(schema, options))
    yield from requirements
    if len(options) > 1 and not any(note.startswith("Needs") for note in requirements):
        yield f"The rest is one of: {', '.join(phrase(option) for option in options)}."
    extra = schema.get("additionalProperties")
    if isinstance(extra, Mapping) and extra:
        yield f"Keys of any other name hold {phrase(extra)}."
    yield from key_notes(schema)


def _fields(schema: JsonSchema, types: Types) -> Iterator[Info]:
    shape = shape_of(types, schema)
    for name, (_, inner) in shape.properties.items():
        sensitive = inner.get("format") == "password"
        yield field_info(name, inner, name in shape.required, types, OF_TYPES, sensitive=sensitive)


def operation_info(name: str, family: str, description: str) -> dict[str, Any]:
    """Return an operation as lists show it."""
    return {"name": name, "semantic_category": family.upper(), "endpoint": family, "description": description}


def _header(config: Config, name: str, family: str, description: str) -> dict[str, Any]:
    """Return what the details of every operation begin with."""
    return {
        "name": name,
        "semantic_category": family.upper(),
        "endpoint": family,
        "mcpTool": tool_name(config, family),
        "description": description,
        "permissions": dict(PERMISSIONS[family.upper()]),
    }


@dataclass(frozen=True, slots=True)
class _Level:
    """How much the details of an operation say, and how many characters of JSON they may then have."""

    description: int
    required: Detail
    optional: Detail
    size: int


_LEVELS = (
    _Level(1000, Detail(400, 700, 50), Detail(300, 300, 50), 1400),
    _Level(600, Detail(300, 600, 30), Detail(160, 160, 20), 2200),
    _Level(400, Detail(200, 500, 20), Detail(90, 100, 12), 2900),
    _Level(300, Detail(120, 400, 10), Detail(50, 0, 6), 4000),
    _Level(300, Detail(80, 300, 8), Detail(0, 0, 4), 6000),
)
"""From the fullest to the tersest. Four characters are about a token: the budget is 300 to 700, and 2,000 at most."""
_LEAST_SIZE = 48
"""Characters of the shortest parameter: a level without room for so many is not tried."""
_MOST_NAMED = 1000
"""Characters of the names of the parameters that even the tersest details have no room for."""
PARAMETERS = ".params"
"""What follows the name of an operation in the name of the type that has its parameters."""


def operation_details(row: Row, table: Table, config: Config, alias: Alias | None) -> dict[str, Any]:
    """Return an operation of the API in the fullest detail that fits; `alias` is the old name that was asked for."""
    notes = list(body_notes(row, table.types))
    details: dict[str, Any] = {}
    for level in _LEVELS:
        if len(row.parameters) * _LEAST_SIZE > level.size and level is not _LEVELS[-1]:
            continue
        description = with_notes(brief(_description(row, table), level.description), notes)
        details = _header(config, row.name, row.family, description if alias is None else alias.describe(description))
        details |= {"parameters": _parameters(row, table, level), "returns": _returns(row, table.types)}
        if any(
            parameter.location == ADAPTER and parameter.wire == "aggregate" for parameter in row.parameters.values()
        ):
            details["aggregation_support"] = {"supported": True}
        states = lifecycle(row)
        if states is not None:
            details["lifecycle"] = states
        if row.example is not None:
            details["examples"] = [{"request": {"operation": row.name, "params": dict(row.example)}}]
        if _size(details) <= level.size:
            return details
    return _cut(details, row, _LEVELS[-1].size)


def _parameters(row: Row, table: Table, level: _Level) -> list[Info]:
    """Return the parameters; one that is the whole body is written as a required one is."""
    places, whole = _places(row), row.body.parameter if row.body is not None else "input"
    return [
        parameter_info(
            parameter,
            table.types,
            places.get(name, ""),
            level.required if parameter.required or name == whole else level.optional,
        )
        for name, parameter in row.parameters.items()
        if name not in row.hidden_parameters
    ]


def _cut(details: dict[str, Any], row: Row, size: int) -> dict[str, Any]:
    """Return details without the optional parameters that there is no room for, which are only named."""
    room = size - _size({**details, "parameters": []})
    kept, others = [], []
    for parameter in sorted(details["parameters"], key=lambda parameter: not parameter["required"]):
        room -= _size(parameter)
        if room > 0 or parameter["required"]:
            kept.append(parameter)
        else:
            others.append(parameter["name"])
    note = f"Parameters in full: introspect types, name {row.name}{PARAMETERS}."
    if others:
        note += f" {len(others)} more optional ones: {line(', '.join(others), _MOST_NAMED)}."
    return {**details, "description": with_notes(details["description"], [note]), "parameters": kept}


def _size(value: Any) -> int:
    """Return the bytes of a value as JSON: characters, of which those of other scripts cost more."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))


def operation_type(row: Row, table: Table) -> Info:
    """Return the parameters of an operation in full, as the fields of a type."""
    places = _places(row)
    fields = [
        parameter_info(parameter, table.types, places.get(name, ""), IN_FULL)
        for name, parameter in row.parameters.items()
        if name not in row.hidden_parameters
    ]
    return {"name": f"{row.name}{PARAMETERS}", "kind": "object", "fields": fields}


def _description(row: Row, table: Table) -> str:
    text = clean(row.description, 4000)
    if row.relative:
        text += f" (a kind of {row.relative})"
    if row.update is not None and row.update.replaces:
        from ..calls.update_plan import replacement

        text += f" {replacement(row, table)}"
    return f"Deprecated. {text}" if row.deprecated else text


def _places(row: Row) -> dict[str, str]:
    """Return where each parameter goes whose name the API has in several places."""
    locations: dict[str, set[str]] = {}
    shown = {name: item for name, item in row.parameters.items() if name not in row.hidden_parameters}
    for parameter in shown.values():
        locations.setdefault(folded(parameter.wire), set()).add(parameter.location)
    return {
        name: _PLACES[parameter.location]
        for name, parameter in shown.items()
        if len(locations[folded(parameter.wire)]) > 1
    }


def _returns(row: Row, types: Types) -> dict[str, Any]:
    """Return what the row says, with the kind that the type's own details show."""
    returns: dict[str, Any] = {**row.returns}
    schema = types.get(returns["name"])
    if schema is not None:
        returns["kind"] = kind_of(schema, types)
    return returns


def protocol_operation_details(operation: ProtocolOperation, config: Config) -> dict[str, Any]:
    """Return an operation of the protocol in full."""
    details = {
        **_header(config, operation.name, operation.family, operation.description),
        "parameters": [dict(parameter) for parameter in operation.parameters],
        "returns": dict(operation.returns),
        "examples": [
            {"description": description, "request": {"operation": operation.name, "params": dict(params)}}
            for description, params in operation.examples
        ],
    }
    if operation.lifecycle is not None:
        details["lifecycle"] = dict(operation.lifecycle)
    return details


def introspect_details(config: Config, operation: str, resource: str) -> dict[str, Any]:
    """Return `introspect` itself in full; its examples name an operation and a resource of the adapter."""
    words = {"{operation}": operation, "{resource}": resource}
    parameters: Sequence[Mapping[str, Any]] = INTROSPECT["parameters"]
    return {
        **_header(config, INTROSPECT["name"], INTROSPECT["endpoint"], INTROSPECT["description"]),
        "parameters": [
            {**parameter, "maximum": config.max_list} if parameter["name"] == "first" else parameter
            for parameter in parameters
        ],
        "returns": INTROSPECT["returns"],
        "examples": [
            {
                "description": example["description"],
                "request": {
                    "operation": "introspect",
                    "params": {key: words.get(value, value) for key, value in example["params"].items()},
                },
            }
            for example in INTROSPECT["examples"]
        ],
    }
