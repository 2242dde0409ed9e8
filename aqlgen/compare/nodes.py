"""Schemas as the comparison sees them: references followed, null told apart, compositions written out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from aqlgen.ir import Json
from aqlgen.table.model import Schema

__all__ = ["ANY", "Types", "alternatives", "bare", "kinds", "named", "references", "worded"]

Types = Mapping[str, Schema]

ANY: Final = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})

_BESIDE: Final = frozenset(
    {"description", "default", "deprecated", "readOnly", "writeOnly", "examples", "x-name", "xml"}
)
_STRUCTURE: Final = frozenset(
    {"type", "properties", "$ref", "enum", "const", "items", "additionalProperties", "required"}
)
_DEEPEST: Final = 32


def named(schema: Schema) -> str:
    """Give the name of the shared type that a schema refers to, empty when it refers to none."""
    return str(schema["$ref"]).rsplit("/", 1)[-1] if "$ref" in schema else ""


def bare(schema: Json) -> tuple[Schema, bool]:
    """Give a schema without null, and whether it admits null; of one alternative beside null that alternative."""
    if not isinstance(schema, Mapping):
        return ({"not": {}} if schema is False else {}), schema is not False and schema is not None
    kind, null = schema.get("type"), False
    if isinstance(kind, list) and "null" in kind:
        rest = [one for one in kind if one != "null"]
        schema = {**schema, "type": rest[0] if len(rest) == 1 else rest}
        null = True
    if None in schema.get("enum", ()):
        schema = {**schema, "enum": [one for one in schema["enum"] if one is not None]}
    branches = schema.get("anyOf")
    if branches is None:
        return schema, null
    rest = [one for one in branches if not _is_null(one)]
    null = null or len(rest) < len(branches)
    if len(rest) == 1 and schema.keys() - {"anyOf"} <= _BESIDE and isinstance(rest[0], Mapping):
        inner, inner_null = bare(rest[0])
        return {**inner, **{key: value for key, value in schema.items() if key != "anyOf"}}, null or inner_null
    return {**schema, "anyOf": rest}, null


def alternatives(schema: Schema) -> list[Schema]:
    """Give the branches of a schema that is nothing but a union; any other schema is its own only one."""
    if "anyOf" in schema and schema.keys().isdisjoint(_STRUCTURE):
        return [one if isinstance(one, Mapping) else {} for one in schema["anyOf"]]
    return [schema]


def worded(schema: Schema, types: Types, depth: int = 0) -> Schema:
    """Give what a schema says once references are followed and the parts of `allOf` are put together."""
    if depth > _DEEPEST:
        return {}
    if "$ref" in schema:
        target = types.get(named(schema), {})
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        inner = worded(target, types, depth + 1)
        if "properties" in beside:
            beside["properties"] = {**inner.get("properties", {}), **beside["properties"]}
        return {**inner, **beside}
    if "allOf" not in schema:
        return schema
    whole = {key: value for key, value in schema.items() if key != "allOf"}
    for part in schema["allOf"]:
        if isinstance(part, Mapping):
            _join(whole, worded(part, types, depth + 1))
    return whole


def _join(whole: dict[str, Json], part: Schema) -> None:
    for key, value in part.items():
        if key == "properties":
            whole[key] = {**value, **whole.get(key, {})}
        elif key == "required":
            whole[key] = list(dict.fromkeys([*whole.get(key, ()), *value]))
        elif key == "enum" and key in whole:
            whole[key] = [one for one in whole[key] if one in value]
        else:
            whole.setdefault(key, value)


def kinds(schema: Schema) -> frozenset[str]:
    """Give the JSON types that a schema without null admits."""
    kind = schema.get("type")
    if kind is None:
        values = [schema["const"]] if "const" in schema else schema.get("enum")
        if values is not None:
            return frozenset(map(_kind_of, values)) - {"null"}
        return frozenset({"object"}) if "properties" in schema else ANY - {"null"}
    return frozenset(kind if isinstance(kind, list) else (kind,))


def references(schema: Json) -> Iterator[str]:
    """Give the names of the types that a schema refers to, wherever in it."""
    stack = [schema]
    while stack:
        one = stack.pop()
        if isinstance(one, Mapping):
            if isinstance(one.get("$ref"), str):
                yield named(one)
            stack.extend(one.values())
        elif isinstance(one, list):
            stack.extend(one)


def _is_null(branch: Json) -> bool:
    return isinstance(branch, Mapping) and branch.get("type") == "null"


def _kind_of(value: Json) -> str:
    names = (
        (bool, "boolean"),
        (int, "integer"),
        (float, "number"),
        (str, "string"),
        (list, "array"),
        (Mapping, "object"),
    )
    return next((name for kind, name in names if isinstance(value, kind)), "null")
