# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""The shape of an object or array: its properties, items and alternatives, with references and allOf resolved.

Also paths into a value: JSON pointers in the API's names, translated to the agent's names (RFC 6901; R-SEL-1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeGuard

from ..table import JsonSchema
from .reader import Types, alternatives, as_schema, parts

__all__ = ["MISSING", "STRUCTURE", "Shape", "agent_path", "at", "schema_at", "shape_of", "steps_of", "union_of"]

STRUCTURE = frozenset({"properties", "allOf", "oneOf", "anyOf", "items", "additionalProperties"})
MISSING: Any = object()
_MOST_ALTERNATIVES = 40
_NOTHING: Mapping[str, Any] = {}


@dataclass(slots=True)
class Shape:
    """The declarations of a schema. `properties`: agent name → (wire name, schema).

    `extra` are the schemas of undeclared keys; `hidden` are the read-only properties that the generator left out.
    """

    properties: dict[str, tuple[str, JsonSchema]] = field(default_factory=dict)
    required: set[str] = field(default_factory=set)
    hidden: set[str] = field(default_factory=set)
    items: list[JsonSchema] = field(default_factory=list)
    extra: list[JsonSchema] = field(default_factory=list)
    alternatives: list[JsonSchema] = field(default_factory=list)
    discriminator: tuple[str, Mapping[str, str]] | None = None


def shape_of(types: Types, schema: Any, base: Shape | None = None) -> Shape:
    """Return the shape of a schema, its alternatives kept apart; with `base`, on top of its properties."""
    shape = Shape()
    for part in parts(schema, types):
        _add(shape, part)
    if base is not None:
        shape.properties = {**base.properties, **shape.properties}
        shape.required |= base.required
    return shape


def union_of(types: Types, schema: Any) -> Shape:
    """Return the shape of a schema with the properties of all its alternatives, nested ones included."""
    shape = shape_of(types, schema)
    todo, count = list(shape.alternatives), 0
    while todo and count < _MOST_ALTERNATIVES:
        count += 1
        inner = shape_of(types, todo.pop(0))
        todo += inner.alternatives
        shape.properties = {**inner.properties, **shape.properties}
        shape.hidden |= inner.hidden
        shape.items += inner.items
        shape.extra += inner.extra
    return shape


def _add(shape: Shape, part: JsonSchema) -> None:
    for name, schema in part.get("properties", _NOTHING).items():
        schema = as_schema(schema)
        if name in shape.properties:
            schema = {**shape.properties[name][1], **schema}
        shape.properties[name] = (schema.get("x-name", name), schema)
    shape.required.update(part.get("required", ()))
    shape.hidden.update(part.get("x-read-only", ()))
    shape.items += filter(_is_schema, (part.get("items"), *part.get("prefixItems", ())))
    shape.extra += filter(_is_schema, (part.get("additionalProperties"), *part.get("patternProperties", {}).values()))
    shape.alternatives += filter(None, alternatives(part))
    discriminator = part.get("discriminator")
    if isinstance(discriminator, Mapping) and isinstance(discriminator.get("propertyName"), str):
        targets = {key: str(target).rpartition("/")[2] for key, target in discriminator.get("mapping", {}).items()}
        shape.discriminator = (discriminator["propertyName"], targets)


def _is_schema(node: Any) -> TypeGuard[JsonSchema]:
    return isinstance(node, Mapping) and bool(node)


# Paths


def steps_of(pointer: str) -> tuple[str, ...]:
    """Return the steps of a JSON pointer; none for the empty pointer."""
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])


def agent_path(types: Types, schema: JsonSchema, pointer: str) -> tuple[str, ...]:
    """Return the steps of a pointer in the agent's names; a step that no schema declares is left as it is."""
    path: list[str] = []
    for step in steps_of(pointer):
        shape = union_of(types, schema)
        name = next((name for name, (wire, _) in shape.properties.items() if wire == step), None)
        path.append(step if name is None else name)
        schema = {} if name is None else shape.properties[name][1]
        if name is None and shape.items:
            schema = shape.items[0]
    return tuple(path)


def schema_at(types: Types, schema: JsonSchema, path: Sequence[str], *, items: bool = False) -> JsonSchema:
    """Return the schema at a path of the agent's names, with `items` that of the items there; {} if undeclared."""
    for step in path:
        declared = union_of(types, schema).properties.get(step)
        schema = {} if declared is None else declared[1]
    if not items:
        return schema
    shape = union_of(types, schema)
    return shape.items[0] if shape.items else {}


def at(value: Any, path: Sequence[str]) -> Any:
    """Return what is at a path, or MISSING."""
    for step in path:
        if isinstance(value, Mapping) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            return MISSING
    return value
