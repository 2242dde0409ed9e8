# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Where the parameters that a rule speaks of stand in an operation, and the values that a call has there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple, TypeAlias

from ...table import JsonSchema, Parameter, Row
from ...text import letters

__all__ = [
    "HIDDEN",
    "MISSING",
    "Place",
    "Spellings",
    "field_names",
    "is_open",
    "is_operation",
    "is_text",
    "joined",
    "places_of",
    "spelled",
    "spoken_parameters",
    "walk",
]

Spellings: TypeAlias = frozenset[str]
"""The names of one field, the agent's and the API's, each as its letters."""

HIDDEN = object()
"""Stands for what is sent and cannot be looked into, such as an object as text."""
MISSING = object()
"""Stands for the value that an item of a list lacks."""
_MOST_VALUES = 20_000
_MOST_PARTS = 2_000


class Place(NamedTuple):
    """Where a value stands: the parameter, and the names of the fields within it.

    `declared` says that the API's document knows it there, with `defaults` for a call that leaves it out; `patches`
    that only the operations of a patch can name it there.
    """

    parameter: str
    within: tuple[Spellings, ...]
    declared: bool
    defaults: tuple[Any, ...] = ()
    patches: bool = False

    def values(self, params: Mapping[str, Any], *, of_lists: bool) -> list[Any]:
        """Return every value that a call has here, or HIDDEN, or MISSING; with `of_lists` lists are values."""
        if self.parameter not in params or self.patches:
            return []
        values: list[Any] = []
        for value in walk(params[self.parameter], self.within, of_lists=of_lists):
            values.append(value)
            if len(values) > _MOST_VALUES:
                return [HIDDEN]
        return values


def walk(value: Any, path: Sequence[Spellings], *, of_lists: bool, is_item: bool = False) -> Iterator[Any]:
    """Yield the values at a path; lists on the way are of what it goes through."""
    if isinstance(value, list | tuple) and not (of_lists and not path):
        for item in value:
            yield from walk(item, path, of_lists=of_lists, is_item=True)
    elif not path:
        yield HIDDEN if value is None else value
    elif isinstance(value, Mapping):
        if len(value) > _MOST_VALUES:
            yield HIDDEN
            return
        is_known = False
        for steps in range(1, len(path) + 1):  # also `a.b` and `a[b]`, as some APIs write what is within `a`
            names = joined(tuple(path[:steps]))
            for key, inner in value.items():
                if spelled(str(key)) in names:
                    is_known = True
                    yield from walk(inner, path[steps:], of_lists=of_lists, is_item=is_item)
        if is_item and not is_known and not is_operation(value):
            yield MISSING
    else:
        yield HIDDEN


def is_operation(value: Mapping[str, Any]) -> bool:
    """Return True for an operation of a patch, which is no item that may lack a field."""
    names = {letters(str(key)) for key in value}
    return "op" in names and not names.isdisjoint(("path", "from", "value"))


@lru_cache(maxsize=1_000)
def joined(path: tuple[Spellings, ...]) -> Spellings:
    """Return the names of the fields of a path as one name, in each spelling."""
    return frozenset("".join(names) for names in product(*path))


def spelled(name: str) -> str:
    """Return the letters and digits of a name; the name itself if it has none."""
    return letters(name) or name


def places_of(row: Row, path: Sequence[str], types: Mapping[str, JsonSchema]) -> tuple[Place, ...]:
    """Return where a dotted path may lead in an operation: to a parameter of that name, or into its body."""
    places = []
    for name, parameter in row.sent_parameters.items():
        if spelled(path[0]) in (spelled(name), spelled(parameter.wire)):
            within, schemas = _descend(parameter.schema, path[1:], types)
            places.append(Place(name, within, True, _defaults(schemas) if _is_made_whole(row, name) else ()))
        elif parameter.location in ("body_rest", "querystring") or _is_whole(row, name) or _spreads(parameter, types):
            within, schemas = _descend(parameter.schema, path, types)
            defaults = _defaults(schemas) if _is_made_whole(row, name) else ()
            places.append(Place(name, within, bool(schemas), defaults))
        elif parameter.location == "body" and _holds_patches(parameter.schema, types):
            places.append(Place(name, _descend({}, path, types)[0], False, patches=True))
    return tuple(places)


def field_names(row: Row, path: Sequence[str], places: Sequence[Place]) -> tuple[Spellings, ...]:
    """Return the names of the fields of a dotted path in the request that is sent."""
    names = [frozenset({spelled(name)}) for name in path]
    for place in places:
        parameter = row.sent_parameters[place.parameter]
        within = place.within
        if len(within) < len(path):
            within = (frozenset({spelled(parameter.name), spelled(parameter.wire)}), *within)
        names = [known | more for known, more in zip(names, within, strict=True)]
    return tuple(names)


def _is_made_whole(row: Row, name: str) -> bool:
    """Return True if the API puts a declared default in place of a field that is left out: not in a change."""
    is_change = row.method == "PATCH" or (row.update is not None and not row.update.replaces)
    return not is_change or not _is_whole(row, name)


def _spreads(parameter: Parameter, types: Mapping[str, JsonSchema]) -> bool:
    """Return True if the fields of a parameter are sent as parameters of their own."""
    is_exploded = parameter.location in ("query", "cookie") or parameter.stated_style is not None
    if not is_exploded or parameter.style != "form" or not parameter.explode:
        return False
    keys = ("properties", "additionalProperties")
    return any(part.get("type") == "object" or any(map(part.get, keys)) for part in _parts([parameter.schema], types))


def _holds_patches(schema: Any, types: Mapping[str, JsonSchema]) -> bool:
    """Return True for a schema of the operations of a patch."""
    tables = (part.get("properties") or () for part in _parts([schema], types))
    return any({"op", "path"} <= {letters(key) for key in table} for table in tables)


def _defaults(schemas: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(schema["default"] for schema in schemas if schema.get("default") is not None)


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


def _descend(
    schema: Any, path: Sequence[str], types: Mapping[str, JsonSchema]
) -> tuple[tuple[Spellings, ...], list[Mapping[str, Any]]]:
    """Return the spellings of the names of a path in a schema, and the schemas at its end in any of its parts."""
    level, spellings = list(_parts([schema], types)), []
    for segment in path:
        name = spelled(segment)
        names, inner_schemas = {name}, []
        for part in level:
            for key, inner in (part.get("properties") or {}).items():
                known = _spellings(key, inner)
                if name in known:
                    names.update(known)
                    inner_schemas.append(inner)
        spellings.append(frozenset(names))
        level = list(_parts(inner_schemas, types))
    return tuple(spellings), level


def _spellings(key: str, schema: Any) -> tuple[str, ...]:
    wire = schema.get("x-name") if isinstance(schema, Mapping) else None
    return (spelled(key),) if wire is None else (spelled(key), spelled(str(wire)))


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


_OPEN = frozenset({"body_rest", "querystring"})
_PLAIN = frozenset({"string", "integer", "number", "boolean"})


def _is_plain(schema: Any) -> bool:
    """Return True for a schema of which it is plain that no fields are in its values."""
    items = schema.get("items") if isinstance(schema, Mapping) and schema.get("type") == "array" else schema
    types = items.get("type") if isinstance(items, Mapping) else None
    names = {types} if isinstance(types, str) else set(types or ())
    return bool(names) and names <= {*_PLAIN, "null"}


def is_text(entry: Mapping[str, Any]) -> bool:
    """Return True if the body of an operation is one text, by its entry in the table."""
    parameter = (entry.get("parameters") or {}).get((entry.get("body") or {}).get("parameter") or "")
    return parameter is not None and (parameter.get("schema") or {}).get("type") == "string"


def spoken_parameters(entry: Mapping[str, Any]) -> tuple[frozenset[str], bool]:
    """Return the names of an operation's parameters, as letters, from its entry in the table; and if it has a body.

    The body is one whose fields are no parameters by themselves, or a parameter that may hold further ones. Nothing is
    decoded.
    """
    tables = [entry, entry.get("pagination") or {}, entry.get("update") or {}]
    tables += [kind for choice in (entry.get("choices") or {}).values() for kind in choice.get("kinds", {}).values()]
    names, has_body = set(), "update" in entry or any((table.get("body") or {}).get("parameter") for table in tables)
    for table in tables:
        for key in ("parameters", "fixed"):
            for name, parameter in (table.get(key) or {}).items():
                names |= {spelled(name), spelled(str(parameter.get("name", name)))}
                has_body = has_body or parameter.get("in") in _OPEN or not _is_plain(parameter.get("schema"))
    return frozenset(names), has_body
