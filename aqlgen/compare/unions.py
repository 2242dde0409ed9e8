"""Alternatives of a union: which one of the new schema is which one of the old, and several answers as one object."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from aqlgen.compare.nodes import Types, listed_values, resolve, type_name, types_of
from aqlgen.ir import Json
from aqlgen.table.model import Schema

__all__ = ["Matches", "base_name", "combined", "match", "unrelated"]

_DIGEST: Final = re.compile(r"_[0-9a-f]{4}(?:[0-9a-f]{4}){0,3}$")
_SIMILAR: Final = 0.5
"""From what share of common fields on two alternatives are the same one."""
_UNRELATED: Final = 0.2
"""Below what share of common fields two types have nothing to do with each other."""
_ENOUGH_FIELDS: Final = 2


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
        lambda before, after: bool(type_name(before)) and type_name(before) == type_name(after),
        lambda before, after: bool(type_name(before)) and base_name(type_name(before)) == base_name(type_name(after)),
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
    return not type_name(old) and not type_name(new) and types_of(old) == types_of(new) != {"object"}


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


def base_name(name: str) -> str:
    """Return a type's name without the digest that distinguishes it from others of that name."""
    return _DIGEST.sub("", name)


def unrelated(old: Schema, new: Schema, old_types: Types, new_types: Types) -> bool:
    """Return True if two types have next to no fields in common."""
    before, after = set(_discriminators(old, old_types)), set(_discriminators(new, new_types))
    if min(len(before), len(after)) < _ENOUGH_FIELDS:
        return False
    return len(before & after) / len(before | after) < _UNRELATED


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
