# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""JSON pointers of the API's names, found again under the agent's names (RFC 6901; R-SEL-1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .shapes import union_of
from .table import JsonSchema, Table

__all__ = ["MISSING", "agent_path", "at", "schema_at", "steps_of"]

MISSING: Any = object()


def steps_of(pointer: str) -> tuple[str, ...]:
    """Give the steps of a pointer; of the empty one, none."""
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])


def agent_path(table: Table, schema: JsonSchema, pointer: str) -> tuple[str, ...]:
    """Give the steps of a pointer under the agent's names; a step that no schema declares stays as it is."""
    path: list[str] = []
    for step in steps_of(pointer):
        shape = union_of(table, schema)
        name = next((name for name, (wire, _) in shape.properties.items() if wire == step), None)
        path.append(step if name is None else name)
        schema = {} if name is None else shape.properties[name][1]
        if name is None and shape.items:
            schema = shape.items[0]
    return tuple(path)


def schema_at(table: Table, schema: JsonSchema, path: Sequence[str], *, items: bool = False) -> JsonSchema:
    """Give the schema at a path of the agent's names, or of the items of the list there; empty if none is told."""
    for step in path:
        known = union_of(table, schema).properties.get(step)
        schema = {} if known is None else known[1]
    if not items:
        return schema
    shape = union_of(table, schema)
    return shape.items[0] if shape.items else {}


def at(value: Any, path: Sequence[str]) -> Any:
    """Give what is at a path; MISSING when there is nothing."""
    for step in path:
        if isinstance(value, Mapping) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            return MISSING
    return value
