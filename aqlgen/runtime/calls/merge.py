"""Changes of JSON values: merging (RFC 7396), and the operations of a patch (RFC 6902)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..exact_json import canonical
from ..schema import Types, nullable, pointer_of, resolve, union_of
from ..table import JsonSchema

_NOTHING: JsonSchema = {}
_TYPING = frozenset({"type", "enum", "const", "anyOf", "oneOf", "$ref"})


def merged(there: Any, change: Any, types: Types = _NOTHING, schema: JsonSchema = _NOTHING) -> Any:
    """Return a copy of what is there with the change merged in, both by the API's names.

    Null removes a field, but stays where `schema` says that it can be null: an API may keep what a request lacks. An
    object of another alternative, by its discriminator, replaces what is there. An object that was not there loses its
    nulls.
    """
    if not isinstance(change, dict):
        return change
    shape = union_of(types, schema) if schema else None
    schemas = dict(shape.properties.values()) if shape is not None else {}
    whole = dict(there) if isinstance(there, dict) else {}
    if shape is not None and shape.discriminator is not None:
        tag = shape.properties.get(shape.discriminator[0], (shape.discriminator[0], {}))[0]
        if tag in change and change[tag] != whole.get(tag):
            whole = {}
    for key, value in change.items():
        inner = schemas.get(key, _NOTHING)
        if value is not None:
            whole[key] = merged(whole.get(key), value, types, inner)
        elif not _TYPING.isdisjoint(inner) and bool(resolve(inner, types)) and nullable(inner, types):
            whole[key] = None
        else:
            whole.pop(key, None)
    return whole


def filled(change: Any, there: Any, types: Types, schema: JsonSchema) -> Any:
    """Return a change with the required fields that it lacks as they are there, also in the objects that it names."""
    if not isinstance(change, dict) or not isinstance(there, dict):
        return change
    whole = dict(change)
    shape = union_of(types, schema)
    for name, (wire, inner) in shape.properties.items():
        if wire in whole:
            whole[wire] = filled(whole[wire], there.get(wire), types, inner)
        elif name in shape.required and wire in there:
            whole[wire] = there[wire]
    return whole


def lacks(change: Any, types: Types, schema: JsonSchema) -> bool:
    """Return True if a change, or an object that it names, has not all fields that are required."""
    if not isinstance(change, dict):
        return False
    shape = union_of(types, schema)
    return any(
        lacks(change[wire], types, inner) if wire in change else name in shape.required
        for name, (wire, inner) in shape.properties.items()
    )


def differences(before: Any, after: Any, path: str = "") -> Iterator[dict[str, Any]]:
    """Yield the operations that turn one value into the other (RFC 6902)."""
    if not isinstance(before, dict) or not isinstance(after, dict):
        if canonical(before) != canonical(after):
            yield {"op": "replace", "path": path, "value": after}
        return
    for key, value in before.items():
        if key not in after:
            yield {"op": "remove", "path": f"{path}{pointer_of([key])}"}
        else:
            yield from differences(value, after[key], f"{path}{pointer_of([key])}")
    for key, value in after.items():
        if key not in before:
            yield {"op": "add", "path": f"{path}{pointer_of([key])}", "value": value}


def operations(change: Any, path: str = "") -> Iterator[dict[str, Any]]:
    """Yield the operations of a change to what is not known: `add` replaces what may be there."""
    for key, value in change.items():
        here = f"{path}{pointer_of([key])}"
        if value is None:
            yield {"op": "remove", "path": here}
        elif isinstance(value, dict) and value:
            yield from operations(value, here)
        else:
            yield {"op": "add", "path": here, "value": value}


def covers(whole: Any, part: Any) -> bool:
    """Return True if a value has all of another: its fields, and its elements in any order."""
    if isinstance(whole, dict) and isinstance(part, dict):
        return all(key in whole and covers(whole[key], value) for key, value in part.items())
    if isinstance(whole, list) and isinstance(part, list):
        return {*map(canonical, whole)} >= {*map(canonical, part)} or (
            len(whole) >= len(part) and all(map(covers, whole, part))
        )
    return bool(canonical(whole) == canonical(part))


def agree(first: Any, second: Any) -> bool:
    """Return True if two values may be parts of the same: what both have is the same, or one has more of it."""
    if isinstance(first, dict) and isinstance(second, dict):
        return all(agree(first[key], second[key]) for key in first.keys() & second.keys())
    return covers(first, second) or covers(second, first)
