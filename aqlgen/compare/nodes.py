"""Schemas in the form that is compared: references followed, null split off, `allOf` merged, alternatives paired.

Of the alternatives of a union: which one of the new schema is which one of the old, and several answers as one object.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from aqlgen.ir import Json
from aqlgen.runtime.schema import JSON_TYPES, declared_types, is_null, json_type, parts, referred, without_null
from aqlgen.schemas.all_of import combine
from aqlgen.table.model import Schema

Types = Mapping[str, Schema]

ALL_TYPES: Final = JSON_TYPES - {"null"}
"""All JSON types but null."""

_STRUCTURE: Final = frozenset(
    {"type", "properties", "$ref", "enum", "const", "items", "additionalProperties", "required"}
)
_PARTS: Final = frozenset({"$ref", "allOf"})


def split_null(schema: Json) -> tuple[Schema, bool]:
    """Return a schema without null, and True if it admits null. A union of one type and null becomes that type."""
    if not isinstance(schema, Mapping):
        return ({"not": {}} if schema is False else {}), schema is not False and schema is not None
    bare, nullable = without_null(schema)
    changed: dict[str, Json] = {}
    if isinstance(bare.get("type"), list):
        changed["type"] = [name for name in bare["type"] if name != "null"]
    if None in bare.get("enum", ()):
        changed["enum"] = [value for value in bare["enum"] if value is not None]
    if "anyOf" in bare:
        changed["anyOf"] = [branch for branch in bare["anyOf"] if not is_null(branch)]
    return {**bare, **changed}, nullable


def alternatives(schema: Schema) -> list[Schema]:
    """Return the branches of a schema that is nothing but a union; any other schema is its only alternative."""
    if "anyOf" in schema and schema.keys().isdisjoint(_STRUCTURE):
        return [branch if isinstance(branch, Mapping) else {} for branch in schema["anyOf"]]
    return [schema]


def resolve(schema: Schema, types: Types) -> Schema:
    """Return a schema with its own reference followed and the parts of its `allOf` merged."""
    if schema.keys().isdisjoint(_PARTS):
        return schema
    whole: dict[str, Json] = {}
    for part in parts(schema, types):
        bare = {key: value for key, value in part.items() if key not in _PARTS}
        whole = combine(whole, bare, _second) or {**whole, **bare}
    return whole


def _second(_: Json, second: Json, *, writable: bool = False) -> Json:  # noqa: ARG001 - as a join of two schemas
    return second


def types_of(schema: Schema) -> frozenset[str]:
    """Return the JSON types that a schema without null admits."""
    if "type" in schema:
        return frozenset(declared_types(schema))
    values = listed_values(schema)
    if values is not None:
        return frozenset(map(json_type, values)) - {"null"}
    return frozenset({"object"}) if "properties" in schema else ALL_TYPES


def listed_values(schema: Schema) -> Sequence[Json] | None:
    """Return the values of `const` or `enum`, None for a schema without them."""
    values: Sequence[Json] | None = [schema["const"]] if "const" in schema else schema.get("enum")
    return values


_DIGEST: Final = re.compile(r"_[0-9a-f]{4}(?:[0-9a-f]{4}){0,3}$")
_SIMILAR: Final = 0.5
"""From what share of common fields on two alternatives are the same one."""


@dataclass(frozen=True, slots=True)
class Matches:
    """The alternatives that are the same before and now, those that are gone, and those that are new."""

    kept: list[tuple[Schema, Schema]]
    removed: list[Schema]
    added: list[Schema]


def match(old: Sequence[Schema], new: Sequence[Schema], old_types: Types, new_types: Types) -> Matches:
    """Match the alternatives of two unions by one test after the other, the surest first."""
    tests: tuple[Callable[[Schema, Schema], bool], ...] = (
        lambda before, after: before == after,
        lambda before, after: referred(before) is not None and referred(before) == referred(after),
        lambda before, after: referred(before) is not None and _base_name(before) == _base_name(after),
        lambda before, after: _similarity(before, after, old_types, new_types) >= _SIMILAR,
        _same_unnamed_types,
    )
    removed, added, kept = list(old), list(new), []
    for is_same in tests:
        for before in tuple(removed):
            after = next((candidate for candidate in added if is_same(before, candidate)), None)
            if after is not None:
                kept.append((before, after))
                removed.remove(before)
                added.remove(after)
    if len(removed) == len(added) == 1 and (len(old) == len(new) == 1):
        kept.append((removed.pop(), added.pop()))
    return Matches(kept, removed, added)


def _same_unnamed_types(old: Schema, new: Schema) -> bool:
    return referred(old) is referred(new) is None and types_of(old) == types_of(new) != {"object"}


def combined(schemas: Sequence[Schema], types: Types) -> Schema | None:
    """Return one object for the alternatives of an answer: the fields of any, and required what all require.

    None when they are not all objects whose fields are declared.
    """
    objects = [resolve(schema, types) for schema in schemas]
    if not all(types_of(schema) == {"object"} and schema.get("properties") for schema in objects):
        return None
    names = dict.fromkeys(name for schema in objects for name in schema["properties"])
    properties = {
        name: _either([schema["properties"][name] for schema in objects if name in schema["properties"]])
        for name in names
    }
    required = set.intersection(*(set(schema.get("required", ())) for schema in objects))
    return {"type": "object", "properties": properties, "required": sorted(required)}


def _either(schemas: Sequence[Schema]) -> Schema:
    """Return a schema for the values of any of several; one list of values if all list theirs."""
    unique = [schema for index, schema in enumerate(schemas) if schema not in schemas[:index]]
    if len(unique) == 1:
        return unique[0]
    lists = [_constants(schema) for schema in unique]
    if not all(lists) or len({str(schema.get("type")) for schema in unique}) > 1:
        return {"anyOf": unique}
    values = list(dict.fromkeys(value for constants in lists for value in constants))
    return {**({"type": unique[0]["type"]} if "type" in unique[0] else {}), "enum": values}


def _constants(schema: Json) -> Sequence[Json]:
    """Return the values of a schema that lists texts or numbers, an empty list for any other."""
    values = listed_values(schema) if isinstance(schema, dict) else None
    return values if values is not None and all(isinstance(value, str | int) for value in values) else ()


def _base_name(schema: Schema) -> str:
    """Return the name of a schema's type without the digest that distinguishes it from others of that name."""
    return _DIGEST.sub("", referred(schema) or "")


def _similarity(old: Schema, new: Schema, old_types: Types, new_types: Types) -> float:
    """Return the share of common fields, 0 if the fields that discriminate alternatives have other values."""
    before, after = _discriminators(old, old_types), _discriminators(new, new_types)
    if not before or not after:
        return 0
    shared = before.keys() & after.keys()
    constants = [(before[name], after[name]) for name in shared if None not in (before[name], after[name])]
    if constants and all(value != other for value, other in constants):
        return 0
    return len(shared) / len(before.keys() | after.keys())


def _discriminators(schema: Schema, types: Types) -> dict[str, str | None]:
    """Return the fields of an object, each with its value if it can have only one."""
    properties = resolve(schema, types).get("properties", {})
    constants = {name: _constants(field) for name, field in properties.items()}
    return {name: str(values[0]) if len(values) == 1 else None for name, values in constants.items()}
