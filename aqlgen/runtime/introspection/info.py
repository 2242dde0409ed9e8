# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Operations, parameters and types as introspection shows them (introspection document, 3.1 to 3.6).

A ParameterInfo is closed, and its `type` is a name: of a JSON type, of one of the API's types, or `any`. What has no
key of its own (null, item counts, exclusive bounds, alternatives) is said in the description.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..protocol_operations import ProtocolOperation
from ..schema.groups import body_notes
from ..schema.reader import (
    Types,
    alternatives,
    as_schema,
    enum_values,
    follow,
    is_object,
    only_type,
    referred,
    shape_of,
    string_enum,
    without_null,
)
from ..schema.wording import (
    alternative_notes,
    bound_notes,
    discriminator_notes,
    is_number,
    item_notes,
    key_notes,
    named,
    phrase,
    shown_type,
    union_notes,
    union_type,
)
from ..settings.config import Config
from ..table import JsonSchema, Parameter, Row, Table
from ..text import clean, folded, line, listed
from .names import Alias
from .protocol import INTROSPECT, PERMISSIONS, tool_name

__all__ = [
    "introspect_details",
    "operation_details",
    "operation_info",
    "parameter_info",
    "protocol_operation_details",
    "type_details",
    "type_info",
]

Info = dict[str, Any]
_MOST_VALUES = 50
_MOST_FIELDS = 30
_BOUNDS = (("minimum", "exclusiveMinimum", 1), ("maximum", "exclusiveMaximum", -1))
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


# Parameters and fields


def parameter_info(parameter: Parameter, types: Types, place: str = "") -> Info:
    """Describe one parameter of an operation; `place` says where it goes, if others have its name."""
    schema: JsonSchema = parameter.schema
    if parameter.description:
        schema = {**schema, "description": parameter.description}
    if parameter.deprecated:
        schema = {**schema, "deprecated": True}
    info = _field_info(parameter.name, schema, parameter.required, types, sensitive=parameter.sensitive)
    if place:
        info["description"] = _with_notes(info.get("description", ""), [place])
    return info


def _field_info(name: str, schema: JsonSchema, required: bool, types: Types, *, sensitive: bool) -> Info:
    info: Info = {"name": name, "type": "any", "required": required}
    value, notes = _value(schema, types)
    text = clean(str(schema.get("description", "")))
    if schema.get("deprecated") is True:
        notes.insert(0, "Deprecated.")
    if schema.get("readOnly") is True:
        notes.append("Read-only.")
    if schema.get("writeOnly") is True:
        notes.append("Never given back.")
    info.update(value)
    description = _with_notes(text, notes)
    if description:
        info["description"] = description
    if "default" in schema:
        info["default"] = schema["default"]
    if sensitive or schema.get("format") == "password":
        info["sensitive"] = True
    return info


def _value(schema: JsonSchema, types: Types) -> tuple[Info, list[str]]:
    """Return type and constraints of a value, and what only words can say."""
    target, null = without_null(schema)
    notes = ["May be null."] if null else []
    name = referred(target)
    if name is not None:
        return _named_type(name, types, notes, null=null)
    options = alternatives(target)
    kind = only_type(target) or "any"
    info: Info
    if len(options) > 1 and "properties" not in target:
        info = {"type": union_type(options) if kind == "any" else kind}
        if info["type"] == "array":
            info["items"] = _items({"anyOf": [as_schema(option.get("items")) for option in options]}, types)
        return info, [*notes, *union_notes(options)]
    info = {"type": kind}
    info.update(_constraints(target, kind))
    if kind in ("integer", "number"):
        notes += bound_notes(target, whole=kind == "integer")
    elif kind == "array":
        notes += item_notes(target)
        info["items"] = _items(as_schema(target.get("items")), types)
    elif kind == "object":
        if as_schema(target.get("properties")):
            notes.append(f"Fields: {', '.join(_in_short(target, types))}.")
        if as_schema(target.get("additionalProperties")):
            notes.append(f"Every value is {phrase(as_schema(target['additionalProperties']))}.")
        notes += key_notes(target)
    elif kind == "any" and isinstance(target.get("type"), list):
        notes.append(f"One of: {', '.join(name for name in target['type'] if name != 'null')}.")
    return info, notes


def _named_type(name: str, types: Types, notes: list[str], *, null: bool) -> tuple[Info, list[str]]:
    """Return what a value of one of the API's types shows: the name, and the values of an enum if they are few."""
    schema = types.get(name, {})
    info: Info = {"type": name}
    values = enum_values(schema)
    if values and len(values) <= _MOST_VALUES:
        info["enum"] = values
    elif values:
        notes.append(f"One of {len(values)} values, such as {listed(values[:3])}: introspect the type for all.")
    if not null and without_null(schema)[1]:
        notes.append("May be null.")
    return info, notes


def _items(schema: JsonSchema, types: Types) -> Info:
    items, notes = _value(schema, types)
    description = _with_notes(clean(str(schema.get("description", ""))), notes)
    return {**items, "description": description} if description else items


def _constraints(schema: JsonSchema, kind: str) -> Info:
    """Return the constraints that have keys of their own."""
    info: Info = {}
    if isinstance(schema.get("enum"), list):
        info["enum"] = [value for value in schema["enum"] if value is not None]
    elif "const" in schema:
        info["enum"] = [schema["const"]]
    if kind in ("integer", "number"):
        for key, exclusive, step in _BOUNDS:
            if is_number(schema.get(key)):
                info[key] = schema[key]
            bound = schema.get(exclusive)
            if kind == "integer" and is_number(bound) and isinstance(bound, int):
                info[key] = bound + step
    if kind in ("string", "any"):
        info.update({key: schema[key] for key in ("minLength", "maxLength") if _is_count(schema.get(key))})
        if isinstance(schema.get("pattern"), str):
            info["pattern"] = schema["pattern"]
    if isinstance(schema.get("format"), str):
        info["format"] = schema["format"]
    return info


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
    description = _with_notes(text, notes)
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
        yield _field_info(name, inner, name in shape.required, types, sensitive=sensitive)


def _in_short(schema: JsonSchema, types: Types) -> Iterator[str]:
    """Yield the fields of an object that is no type of its own, each with its type: `name (string, required)`."""
    shape = shape_of(types, schema)
    for name, (_, inner) in list(shape.properties.items())[:_MOST_FIELDS]:
        yield f"{named(name)} ({phrase(inner)}{', required' if name in shape.required else ''})"
    if len(shape.properties) > _MOST_FIELDS:
        yield f"and {len(shape.properties) - _MOST_FIELDS} more"


def _with_notes(text: str, notes: list[str]) -> str:
    """Return the text followed by the notes, each a sentence of its own."""
    if text and notes and text[-1] not in ".!?:;…。":
        text += "."
    return " ".join(part for part in (text, *notes) if part)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


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


def operation_details(row: Row, table: Table, config: Config, alias: Alias | None) -> dict[str, Any]:
    """Return an operation of the API in full; `alias` is the old name by which it was asked for."""
    types, places = table.types, _places(row)
    description = _with_notes(_description(row, table), list(body_notes(row, types)))
    details = {
        **_header(config, row.name, row.family, description if alias is None else alias.describe(description)),
        "parameters": [
            parameter_info(parameter, types, places.get(name, ""))
            for name, parameter in row.parameters.items()
            if name not in row.hidden_parameters
        ],
        "returns": _returns(row, types),
    }
    if row.example is not None:
        details["examples"] = [{"request": {"operation": row.name, "params": dict(row.example)}}]
    return details


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
