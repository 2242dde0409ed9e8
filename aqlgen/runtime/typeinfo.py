# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Schemas as introspection shows them: ParameterInfo, TypeInfo and TypeDetails (introspection document, 3.4 to 3.6).

A ParameterInfo is closed, and its `type` is a name: of a JSON type, of one of the API's types, or `any`. What has no
key of its own (null, item counts, exclusive bounds, alternatives) is said in the description.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .meaning import (
    composed,
    follow,
    is_object,
    name_of,
    only_type,
    phrase,
    plain_enum,
    reference,
    schema_of,
    string_enum,
    unwrap,
    variants,
)
from .rules import choice_notes, item_notes, key_notes, kind_notes
from .speech import listed
from .table import JsonSchema, Parameter
from .text import clean, line

__all__ = ["parameter_info", "type_details", "type_info"]

Info = dict[str, Any]
_MAX_INLINE_ENUM = 50


def parameter_info(parameter: Parameter, types: Mapping[str, JsonSchema]) -> Info:
    """Describe one parameter of an operation."""
    schema: JsonSchema = parameter.schema
    if parameter.description:
        schema = {**schema, "description": parameter.description}
    if parameter.deprecated:
        schema = {**schema, "deprecated": True}
    return _named(parameter.name, schema, parameter.required, types, sensitive=parameter.sensitive)


def _named(name: str, schema: JsonSchema, required: bool, types: Mapping[str, JsonSchema], *, sensitive: bool) -> Info:
    info: Info = {"name": name, "type": "any", "required": required}
    body, notes = _value(schema, types)
    text = clean(str(schema.get("description", "")))
    if schema.get("deprecated") is True:
        notes.insert(0, "Deprecated.")
    if schema.get("readOnly") is True:
        notes.append("Read-only.")
    if schema.get("writeOnly") is True:
        notes.append("Never given back.")
    info.update(body)
    said = _said(text, notes)
    if said:
        info["description"] = said
    if "default" in schema:
        info["default"] = schema["default"]
    if sensitive or schema.get("format") == "password":
        info["sensitive"] = True
    return info


def _value(schema: JsonSchema, types: Mapping[str, JsonSchema]) -> tuple[Info, list[str]]:
    """Give type and constraints of a value, and what only words can say."""
    notes: list[str] = []
    target, nullable = unwrap(schema)
    if nullable:
        notes.append("May be null.")
    name = reference(target)
    if name is not None:
        named = types.get(name, {})
        info: Info = {"type": name}
        values = plain_enum(named)
        if values and len(values) <= _MAX_INLINE_ENUM:
            info["enum"] = values
        elif values:
            notes.append(f"One of {len(values)} values, such as {listed(values[:3])}: introspect the type for all.")
        if not nullable and unwrap(named)[1]:
            notes.append("May be null.")
        return info, notes
    alternatives = variants(target)
    if len(alternatives) > 1:
        notes.append(f"One of: {', '.join(phrase(one) for one in alternatives)}.")
        return {"type": only_type(target) or "any"}, notes
    info = {"type": only_type(target) or "any"}
    info.update(_constraints(target, info["type"], notes))
    if info["type"] == "array":
        element = schema_of(target.get("items"))
        items, inner = _value(element, types)
        described = _said(clean(str(element.get("description", ""))), inner)
        info["items"] = {**items, "description": described} if described else items
    elif info["type"] == "any" and isinstance(target.get("type"), list):
        notes.append(f"One of: {', '.join(one for one in target['type'] if one != 'null')}.")
    elif info["type"] == "object":
        if schema_of(target.get("additionalProperties")):
            notes.append(f"Every value is {phrase(schema_of(target['additionalProperties']))}.")
        notes += key_notes(target)
    return info, notes


def _constraints(schema: JsonSchema, kind: str, notes: list[str]) -> Info:
    info: Info = {}
    if isinstance(schema.get("enum"), list):
        info["enum"] = [one for one in schema["enum"] if one is not None]
    elif "const" in schema:
        info["enum"] = [schema["const"]]
    if kind in ("integer", "number"):
        step = 1 if kind == "integer" else 0
        for key, exclusive, sign, word in (
            ("minimum", "exclusiveMinimum", step, "Above"),
            ("maximum", "exclusiveMaximum", -step, "Below"),
        ):
            if _number(schema.get(key)):
                info[key] = schema[key]
            bound = schema.get(exclusive)
            if _number(bound) and isinstance(bound, int) and step:
                info[key] = bound + sign
            elif _number(bound):
                notes.append(f"{word} {bound}.")
        if _number(schema.get("multipleOf")):
            notes.append(f"A multiple of {schema['multipleOf']}.")
    if kind in ("string", "any"):
        info.update({key: schema[key] for key in ("minLength", "maxLength") if _count(schema.get(key))})
        if isinstance(schema.get("pattern"), str):
            info["pattern"] = schema["pattern"]
    if isinstance(schema.get("format"), str):
        info["format"] = schema["format"]
    if kind == "array":
        least, most = schema.get("minItems"), schema.get("maxItems")
        if (_count(least) and least) or _count(most):
            notes.append(f"Items: {least or 0} to {most}." if _count(most) else f"Items: {least} or more.")
        if schema.get("uniqueItems") is True:
            notes.append("No item twice.")
        notes += item_notes(schema)
    return info


def type_info(name: str, schema: JsonSchema, types: Mapping[str, JsonSchema]) -> Info:
    """Give name, kind and one line of description."""
    details = type_details(name, schema, types)
    info = {"name": name, "kind": details["kind"]}
    text = line(details.get("description", ""), 160)
    if text:
        info["description"] = text
    return info


def type_details(name: str, schema: JsonSchema, types: Mapping[str, JsonSchema]) -> Info:
    """Describe one of the API's types: enum, object, union or scalar, in this order of trial."""
    target = follow(schema, types)
    text = clean(str(schema.get("description") or target.get("description") or ""))
    values = string_enum(target)
    alternatives = variants(target)
    notes: list[str] = []
    info: Info
    if values:
        info = {"name": name, "kind": "enum", "values": values}
    elif is_object(target, types):
        info = {"name": name, "kind": "object", "fields": list(_fields(target, types))}
        told = list(choice_notes(target, alternatives))
        notes += told
        if len(alternatives) > 1 and not any(one.startswith("Needs") for one in told):
            notes.append(f"The rest is one of: {', '.join(phrase(one) for one in alternatives)}.")
        extra = target.get("additionalProperties")
        if isinstance(extra, Mapping) and extra:
            notes.append(f"Keys of any other name hold {phrase(extra)}.")
        notes += key_notes(target)
    elif len(alternatives) > 1:
        info = {"name": name, "kind": "union", "members": list(dict.fromkeys(name_of(one) for one in alternatives))}
        told = [phrase(one) for one in alternatives]
        if any(one.endswith(")") for one in told):  # what a name alone does not say
            notes.append(f"One of: {', '.join(told)}.")
    else:
        info = {"name": name, "kind": "scalar"}
        said = phrase(target, values=False)
        if not text or said.startswith("array of "):
            notes.append(f"{said[:1].upper()}{said[1:]}.")
        if plain_enum(target):
            notes.append(f"One of {listed(plain_enum(target), _MAX_INLINE_ENUM)}.")
    notes += kind_notes(target)
    said = _said(text, notes)
    if said:
        info["description"] = said
    return info


def _said(text: str, notes: list[str]) -> str:
    """Put the notes behind the text, each a sentence of its own."""
    if text and notes and text[-1] not in ".!?:;…。":
        text += "."
    return " ".join(part for part in (text, *notes) if part)


def _fields(schema: JsonSchema, types: Mapping[str, JsonSchema]) -> Iterator[Info]:
    properties: dict[str, JsonSchema] = {}
    required: set[str] = set()
    for part in composed(schema, types, set()):
        for key, value in schema_of(part.get("properties")).items():
            properties[key] = {**properties.get(key, {}), **schema_of(value)}
        required.update(one for one in part.get("required", ()) if isinstance(one, str))
    for key, value in properties.items():
        yield _named(key, value, key in required, types, sensitive=value.get("format") == "password")


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
