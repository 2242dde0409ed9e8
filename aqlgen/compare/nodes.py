"""Schemas in the form that is compared: references followed, null split off, `allOf` merged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from aqlgen.ir import Json
from aqlgen.table.model import Schema

__all__ = [
    "ALL_TYPES",
    "Types",
    "alternatives",
    "listed_values",
    "references",
    "resolve",
    "split_null",
    "type_name",
    "types_of",
]

Types = Mapping[str, Schema]

ALL_TYPES: Final = frozenset({"array", "boolean", "integer", "number", "object", "string"})
"""All JSON types but null."""

_ANNOTATIONS: Final = frozenset(
    {"description", "default", "deprecated", "readOnly", "writeOnly", "examples", "x-name", "xml"}
)
_STRUCTURE: Final = frozenset(
    {"type", "properties", "$ref", "enum", "const", "items", "additionalProperties", "required"}
)
_MAX_DEPTH: Final = 32

_JSON_TYPES: Final = (
    (bool, "boolean"),
    (int, "integer"),
    (float, "number"),
    (str, "string"),
    (list, "array"),
    (Mapping, "object"),
)


def type_name(schema: Schema) -> str:
    """Return the name of the shared type that a schema refers to, "" if it refers to none."""
    return str(schema["$ref"]).rsplit("/", 1)[-1] if "$ref" in schema else ""


def split_null(schema: Json) -> tuple[Schema, bool]:
    """Return a schema without null, and True if it admits null. A union of one type and null becomes that type."""
    if not isinstance(schema, Mapping):
        return ({"not": {}} if schema is False else {}), schema is not False and schema is not None
    schema, nullable = _without_null_type(schema)
    branches = schema.get("anyOf")
    if branches is None:
        return schema, nullable
    others = [branch for branch in branches if not _is_null(branch)]
    nullable = nullable or len(others) < len(branches)
    if len(others) == 1 and schema.keys() - {"anyOf"} <= _ANNOTATIONS and isinstance(others[0], Mapping):
        inner, inner_nullable = split_null(others[0])
        annotations = {key: value for key, value in schema.items() if key != "anyOf"}
        return {**inner, **annotations}, nullable or inner_nullable
    return {**schema, "anyOf": others}, nullable


def _without_null_type(schema: Schema) -> tuple[Schema, bool]:
    """Return a schema without null in `type` and `enum`, and True if `type` had it."""
    names, nullable = schema.get("type"), False
    if isinstance(names, list) and "null" in names:
        others = [name for name in names if name != "null"]
        schema = {**schema, "type": others[0] if len(others) == 1 else others}
        nullable = True
    if None in schema.get("enum", ()):
        schema = {**schema, "enum": [value for value in schema["enum"] if value is not None]}
    return schema, nullable


def alternatives(schema: Schema) -> list[Schema]:
    """Return the branches of a schema that is nothing but a union; any other schema is its only alternative."""
    if "anyOf" in schema and schema.keys().isdisjoint(_STRUCTURE):
        return [branch if isinstance(branch, Mapping) else {} for branch in schema["anyOf"]]
    return [schema]


def resolve(schema: Schema, types: Types, depth: int = 0) -> Schema:
    """Return a schema with its own reference followed and the parts of its `allOf` merged."""
    if depth > _MAX_DEPTH:
        return {}
    if "$ref" in schema:
        target = types.get(type_name(schema), {})
        siblings = {key: value for key, value in schema.items() if key != "$ref"}
        inner = resolve(target, types, depth + 1)
        if "properties" in siblings:
            siblings["properties"] = {**inner.get("properties", {}), **siblings["properties"]}
        return {**inner, **siblings}
    if "allOf" not in schema:
        return schema
    whole = {key: value for key, value in schema.items() if key != "allOf"}
    for part in schema["allOf"]:
        if isinstance(part, Mapping):
            _merge_part(whole, resolve(part, types, depth + 1))
    return whole


def _merge_part(whole: dict[str, Json], part: Schema) -> None:
    for key, value in part.items():
        if key == "properties":
            whole[key] = {**value, **whole.get(key, {})}
        elif key == "required":
            whole[key] = list(dict.fromkeys([*whole.get(key, ()), *value]))
        elif key == "enum" and key in whole:
            whole[key] = [member for member in whole[key] if member in value]
        else:
            whole.setdefault(key, value)


def types_of(schema: Schema) -> frozenset[str]:
    """Return the JSON types that a schema without null admits."""
    names = schema.get("type")
    if names is not None:
        return frozenset(names if isinstance(names, list) else (names,))
    values = listed_values(schema)
    if values is not None:
        return frozenset(map(_type_of_value, values)) - {"null"}
    return frozenset({"object"}) if "properties" in schema else ALL_TYPES


def listed_values(schema: Schema) -> Sequence[Json] | None:
    """Return the values of `const` or `enum`, None for a schema without them."""
    values: Sequence[Json] | None = [schema["const"]] if "const" in schema else schema.get("enum")
    return values


def references(schema: Json) -> Iterator[str]:
    """Yield the names of the types that a schema refers to at any depth."""
    stack = [schema]
    while stack:
        node = stack.pop()
        if isinstance(node, Mapping):
            if isinstance(node.get("$ref"), str):
                yield type_name(node)
            stack.extend(node.values())
        elif isinstance(node, list):
            stack.extend(node)


def _is_null(branch: Json) -> bool:
    return isinstance(branch, Mapping) and branch.get("type") == "null"


def _type_of_value(value: Json) -> str:
    return next((name for kind, name in _JSON_TYPES if isinstance(value, kind)), "null")
