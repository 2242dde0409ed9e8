# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Where the parameters that a rule speaks of stand in an operation, and the values that a call has there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ...table import JsonSchema, Row
from ...text import letters

__all__ = ["HIDDEN", "MISSING", "Place", "is_open", "places_of", "spoken_parameters"]

HIDDEN = object()
"""Stands for what is sent and cannot be looked into, such as an object as text."""
MISSING = object()
"""Stands for the value that an item of a list lacks."""
_MOST_VALUES = 20_000
_MOST_PARTS = 2_000


class Place(NamedTuple):
    """Where a value stands: the parameter, and the names of the fields within it.

    `declared` says that the API's document knows it there.
    """

    parameter: str
    within: tuple[str, ...]
    declared: bool
    default: Any = None

    def values(self, params: Mapping[str, Any], *, of_lists: bool) -> list[Any]:
        """Return every value that a call has here, or HIDDEN, or MISSING; with `of_lists` lists are values."""
        if self.parameter not in params:
            return []
        values: list[Any] = []
        for value in _walk(params[self.parameter], self.within, of_lists=of_lists):
            values.append(value)
            if len(values) > _MOST_VALUES:
                return [HIDDEN]
        return values


def _walk(value: Any, path: Sequence[str], *, of_lists: bool, is_item: bool = False) -> Iterator[Any]:
    """Yield the values at a path; lists on the way are of what it goes through."""
    if isinstance(value, list | tuple) and not (of_lists and not path):
        for item in value:
            yield from _walk(item, path, of_lists=of_lists, is_item=True)
    elif not path:
        yield HIDDEN if value is None else value
    elif isinstance(value, Mapping):
        is_known = False
        for steps in range(1, len(path) + 1):  # also `a.b` and `a[b]`, as some APIs write what is within `a`
            name = "".join(map(_letters, path[:steps]))
            for key, inner in value.items():
                if _letters(str(key)) == name:
                    is_known = True
                    yield from _walk(inner, path[steps:], of_lists=of_lists, is_item=is_item)
        if is_item and not is_known:
            yield MISSING
    else:
        yield HIDDEN


def _letters(name: str) -> str:
    return letters(name) or name


def places_of(row: Row, path: Sequence[str], types: Mapping[str, JsonSchema]) -> tuple[Place, ...]:
    """Return where a dotted path may lead in an operation: to a parameter of that name, or into its body."""
    places = []
    for name, parameter in row.sent_parameters.items():
        wanted = _letters(path[0])
        if wanted in (_letters(name), _letters(parameter.wire)):
            default = parameter.schema.get("default") if len(path) == 1 else None
            places.append(Place(name, tuple(path[1:]), True, default))
        elif parameter.location == "body_rest" or _is_whole(row, name):
            declared = is_declared(parameter.schema, path, types)
            places.append(Place(name, tuple(path), declared))
    return tuple(places)


def is_open(row: Row, types: Mapping[str, JsonSchema]) -> bool:
    """Return True if a call may send fields that the document does not declare."""
    return any(
        parameter.location == "body_rest" or (_is_whole(row, name) and not _is_closed(parameter.schema, types))
        for name, parameter in row.parameters.items()
    )


def _is_whole(row: Row, name: str) -> bool:
    parameter = row.parameters.get(name)
    return parameter is not None and (
        (row.body is not None and row.body.parameter == name) or (name == "input" and row.update is not None)
    )


def _is_closed(schema: Any, types: Mapping[str, JsonSchema]) -> bool:
    parts = list(_parts([schema], types))
    return any("properties" in part and not part.get("additionalProperties", False) for part in parts)


def is_declared(schema: Any, path: Sequence[str], types: Mapping[str, JsonSchema]) -> bool:
    """Return True if a schema has a property at a path, in any of its parts."""
    level: list[Any] = [schema]
    for segment in path:
        name = _letters(segment)
        properties = ((part.get("properties") or {}) for part in _parts(level, types))
        level = [inner for table in properties for key, inner in table.items() if name in _spellings(key, inner)]
    return bool(level)


def _spellings(key: str, schema: Any) -> tuple[str, ...]:
    wire = schema.get("x-name") if isinstance(schema, Mapping) else None
    return (_letters(key),) if wire is None else (_letters(key), _letters(str(wire)))


def _parts(schemas: Iterable[Any], types: Mapping[str, JsonSchema]) -> Iterator[Mapping[str, Any]]:
    """Yield schemas, those that they refer to, their alternatives and their items, each once."""
    left, seen = list(schemas), set[int]()
    while left and len(seen) < _MOST_PARTS:
        schema = left.pop()
        if not isinstance(schema, Mapping) or id(schema) in seen:
            continue
        seen.add(id(schema))
        yield schema
        reference = schema.get("$ref")
        if isinstance(reference, str):
            left.append(types.get(reference.rpartition("/")[2]))
        for key in ("allOf", "anyOf", "oneOf"):
            left += schema.get(key) or ()
        left.append(schema.get("items"))


def spoken_parameters(entry: Mapping[str, Any]) -> tuple[frozenset[str], bool]:
    """Return the names of an operation's parameters, as letters, from its entry in the table; and if it has a body.

    The body is one whose fields are no parameters by themselves. Nothing is decoded.
    """
    tables = [entry, entry.get("pagination") or {}, entry.get("update") or {}]
    tables += [kind for choice in (entry.get("choices") or {}).values() for kind in choice.get("kinds", {}).values()]
    names, has_body = set(), "update" in entry or any((table.get("body") or {}).get("parameter") for table in tables)
    for table in tables:
        for key in ("parameters", "fixed"):
            for name, parameter in (table.get(key) or {}).items():
                names |= {_letters(name), _letters(str(parameter.get("name", name)))}
                has_body = has_body or parameter.get("in") == "body_rest"
    return frozenset(names), has_body
