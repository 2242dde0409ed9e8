# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Which fields the presets of field selection hold, chosen from the schema of what is returned (R-SEL-2).

`minimal` is what identifies a thing: identifiers and names. `standard` is all but what is heavy: of the things within
it only what identifies them, and no links of the API to itself. What no schema declares is never left out of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from .shapes import Shape, folded, referred, union_of
from .table import JsonSchema, Table

__all__ = ["Tree", "items_path", "minimal", "standard"]

Tree: TypeAlias = "dict[str, Tree | None]"
"""The fields to keep, with what to keep within each; None keeps all of it."""

_IDENTIFIERS = frozenset({"id", "uuid", "guid", "gid", "sid", "key", "slug", "number", "code", "arn"})
_NAMES = frozenset({"name", "title", "fullname", "displayname", "login", "username", "label", "summary", "email"})
_LINKS = ("_url", "_urls", "_uri", "_href", "_links")
_PAGES_OF_PEOPLE = frozenset({"html_url", "web_url"})
_FEW = 3
_DEEPEST = 6
_PAYLOADS = frozenset({"data", "result", "results", "items", "value", "values", "entries", "records", "response"})


def items_path(table: Table, schema: JsonSchema) -> tuple[tuple[str, ...], JsonSchema]:
    """Give where in an answer the things are, by the agent's names, and the schema of one of them.

    Within an envelope they are its list or, under a name that says so, its object.
    """
    path: tuple[str, ...] = ()
    for _ in range(_DEEPEST):
        shape = union_of(table, schema)
        if shape.items:
            return path, shape.items[0]
        structured = {
            name: inner
            for name, (_, inner) in shape.properties.items()
            if _is_list(table, inner) or folded(name) in _PAYLOADS
        }
        lists = [name for name, inner in structured.items() if _is_list(table, inner)]
        identified = any(folded(name) in _IDENTIFIERS for name in shape.properties)
        if identified or not structured:
            return path, schema
        named = [name for name in structured if folded(name) in _PAYLOADS]
        chosen = named[0] if named else lists[0] if len(lists) == 1 and len(shape.properties) <= _FEW + 2 else None
        if chosen is None:
            return path, schema
        path, schema = (*path, chosen), shape.properties[chosen][1]
    return path, schema


def minimal(table: Table, schema: JsonSchema, resource: str = "") -> Tree | None:
    """Give the fields that identify a thing; None when the schema does not tell any."""
    shape = union_of(table, schema)
    own = folded(resource)
    wanted = _IDENTIFIERS | _NAMES | {f"{own}{one}" for one in ("id", "name", "key", "uuid") if own}
    found = [name for name in shape.properties if folded(name) in wanted]
    if not found:
        plain = [name for name, (_, inner) in shape.properties.items() if not _is_structured(table, inner)]
        found = [name for name in plain if name in shape.required][:_FEW] or plain[:_FEW]
    return dict.fromkeys(found) if found else None


def standard(table: Table, schema: JsonSchema) -> dict[str, Tree | bool | None] | None:
    """Give what is shortened: False leaves a field out, a tree keeps what it holds; None when nothing is shortened."""
    shape = union_of(table, schema)
    found: dict[str, Tree | bool | None] = {}
    links = [name for name in shape.properties if name.endswith(_LINKS) and name not in _PAGES_OF_PEOPLE]
    if len(links) > _FEW:
        found.update(dict.fromkeys(links, False))
    for name, (_, inner) in shape.properties.items():
        tree = _within(table, inner) if name not in found else None
        if tree is not None:
            found[name] = tree
    return found or None


def _within(table: Table, schema: JsonSchema) -> Tree | None:
    """Give what is kept of an object or a list of objects within a thing; None for all of it."""
    shape = union_of(table, schema)
    if shape.items:
        return _within(table, shape.items[0])
    if shape.extra or len(shape.properties) <= _FEW or not _identified(shape):
        return None
    return minimal(table, schema)


def _identified(shape: Shape) -> bool:
    return any(folded(name) in _IDENTIFIERS for name in shape.properties)


def _is_list(table: Table, schema: JsonSchema) -> bool:
    return bool(union_of(table, schema).items)


def _is_structured(table: Table, schema: Any) -> bool:
    if not isinstance(schema, Mapping):
        return False
    name = referred(schema)
    if name is not None:
        schema = table.types.get(name, {})
    shape = union_of(table, schema)
    return bool(shape.properties or shape.items or shape.extra)
