"""Alternatives of a union, each with what became of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from aqlgen.compare.nodes import Types, kinds, named, worded
from aqlgen.ir import Json
from aqlgen.table.model import Schema

__all__ = ["dissimilar", "matched", "spread", "stem"]

_DIGEST: Final = re.compile(r"_[0-9a-f]{4}(?:[0-9a-f]{4}){0,3}$")
_ALIKE: Final = 0.5
_UNLIKE: Final = 0.2
_FEW: Final = 2

Pairs = list[tuple[Schema, Schema]]


def matched(
    old: Sequence[Schema], new: Sequence[Schema], old_types: Types, new_types: Types
) -> tuple[Pairs, list[Schema], list[Schema]]:
    """Give the alternatives that are the same ones, those that are gone, and those that have come."""
    tests: tuple[Callable[[Schema, Schema], bool], ...] = (
        lambda one, other: one == other,
        lambda one, other: bool(named(one)) and named(one) == named(other),
        lambda one, other: bool(named(one)) and stem(named(one)) == stem(named(other)),
        lambda one, other: _likeness(one, other, old_types, new_types) >= _ALIKE,
        lambda one, other: not named(one) and not named(other) and kinds(one) == kinds(other) != {"object"},
    )
    gone, come, pairs = list(old), list(new), []
    for same in tests:
        for one in tuple(gone):
            other = next((two for two in come if same(one, two)), None)
            if other is not None:
                pairs.append((one, other))
                gone.remove(one)
                come.remove(other)
    if len(gone) == len(come) == 1 and (len(old) == len(new) == 1):
        pairs.append((gone.pop(), come.pop()))
    return pairs, gone, come


def spread(new: Sequence[Schema], types: Types) -> Schema | None:
    """Give one object for several that may be answered, with the fields of any and what all must have.

    None when they are not all objects whose fields are declared.
    """
    every = [worded(one, types) for one in new]
    if not all(kinds(one) == {"object"} and one.get("properties") for one in every):
        return None
    names = dict.fromkeys(name for one in every for name in one["properties"])
    given = {name: [one["properties"][name] for one in every if name in one["properties"]] for name in names}
    required = set.intersection(*(set(one.get("required", ())) for one in every))
    properties = {name: _either(schemas) for name, schemas in given.items()}
    return {"type": "object", "properties": properties, "required": sorted(required)}


def _either(schemas: Sequence[Schema]) -> Schema:
    """Give a schema for what suits one of several; of values that are listed, all of them."""
    unique = [one for index, one in enumerate(schemas) if one not in schemas[:index]]
    if len(unique) == 1:
        return unique[0]
    listed = [_listed(one) for one in unique]
    if not all(listed) or len({str(one.get("type")) for one in unique}) > 1:
        return {"anyOf": unique}
    values = list(dict.fromkeys(value for one in listed for value in one))
    return {**({"type": unique[0]["type"]} if "type" in unique[0] else {}), "enum": values}


def _listed(schema: Schema) -> Sequence[Json]:
    """Give the values of a schema that lists them."""
    if not isinstance(schema, dict):
        return ()
    values = [schema["const"]] if "const" in schema else schema.get("enum", ())
    return values if all(isinstance(one, str | int) for one in values) else ()


def stem(name: str) -> str:
    """Give a type's name without what tells it apart from others of its name."""
    return _DIGEST.sub("", name)


def dissimilar(old: Schema, new: Schema, old_types: Types, new_types: Types) -> bool:
    """Whether two types have next to nothing in common but where they stand."""
    before, after = (set(_fields(one, types)) for one, types in ((old, old_types), (new, new_types)))
    if min(len(before), len(after)) < _FEW:
        return False
    return len(before & after) / len(before | after) < _UNLIKE


def _likeness(old: Schema, new: Schema, old_types: Types, new_types: Types) -> float:
    before, after = _fields(old, old_types), _fields(new, new_types)
    if not before or not after:
        return 0
    shared = before.keys() & after.keys()
    told = [(before[name], after[name]) for name in shared if before[name] and after[name]]
    if told and all(not one & other for one, other in told):  # what tells alternatives apart differs
        return 0
    return len(shared) / len(before.keys() | after.keys())


def _fields(schema: Schema, types: Types) -> dict[str, frozenset[str]]:
    """Give the fields of an object, each with the few values it can have."""
    found = worded(schema, types).get("properties", {})
    return {name: _constants(one) for name, one in found.items()}


def _constants(schema: Schema) -> frozenset[str]:
    values = _listed(schema)
    return frozenset(map(str, values)) if len(values) == 1 else frozenset()
