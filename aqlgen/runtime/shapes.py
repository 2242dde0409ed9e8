# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""What a schema declares of an object or array, once its references and allOf parts are brought together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeGuard

from .schemas import type_named
from .table import JsonSchema, Table

__all__ = ["STRUCTURE", "Shape", "constants", "folded", "referred", "renames", "shape_of", "union_of"]

STRUCTURE = frozenset({"properties", "allOf", "oneOf", "anyOf", "items", "additionalProperties"})
_NULL = {"type": "null"}
_MOST_ALTERNATIVES = 40


@dataclass(slots=True)
class Shape:
    """The declared parts, still as schemas. `properties`: agent name → (wire name, schema).

    `extra` are the schemas of undeclared keys; `hidden` are the read-only properties that were left out.
    """

    properties: dict[str, tuple[str, JsonSchema]] = field(default_factory=dict)
    required: set[str] = field(default_factory=set)
    hidden: set[str] = field(default_factory=set)
    items: list[JsonSchema] = field(default_factory=list)
    extra: list[JsonSchema] = field(default_factory=list)
    alternatives: list[JsonSchema] = field(default_factory=list)
    discriminator: tuple[str, Mapping[str, str]] | None = None


def folded(name: str) -> str:
    """Give a name without what spellings differ in: case, hyphens, underscores."""
    return name.replace("-", "").replace("_", "").lower()


def referred(schema: JsonSchema) -> str | None:
    """Give the name of the type that a schema refers to, if it does."""
    ref = schema.get("$ref")
    return type_named(ref) if isinstance(ref, str) else None


def shape_of(table: Table, schema: Any, base: Shape | None = None) -> Shape:
    """Give the shape of a schema, its alternatives left apart; on top of `base`'s properties when given."""
    shape = Shape() if base is None else Shape(properties=dict(base.properties), required=set(base.required))
    _gather(table, schema, shape, set())
    return shape


def union_of(table: Table, schema: Any) -> Shape:
    """Give the shape of a schema with the fields of every alternative, also of those within them."""
    shape = shape_of(table, schema)
    todo, seen = list(shape.alternatives), 0
    while todo and seen < _MOST_ALTERNATIVES:
        seen += 1
        inner = shape_of(table, todo.pop(0))
        todo += inner.alternatives
        shape.properties = {**inner.properties, **shape.properties}
        shape.hidden |= inner.hidden
        shape.items += inner.items
        shape.extra += inner.extra
    return shape


def _gather(table: Table, schema: Any, shape: Shape, seen: set[str]) -> None:
    if not isinstance(schema, Mapping):
        return
    name = referred(schema)
    if name is not None and name not in seen:
        seen.add(name)
        _gather(table, table.types.get(name), shape, seen)
    for part in schema.get("allOf", ()):
        _gather(table, part, shape, seen)
    for key, inner in schema.get("properties", {}).items():
        if isinstance(inner, Mapping):
            shape.properties[key] = (inner.get("x-name", key), inner)
    shape.required.update(schema.get("required", ()))
    shape.hidden.update(schema.get("x-read-only", ()))
    shape.items.extend(one for one in (schema.get("items"), *schema.get("prefixItems", ())) if _is_schema(one))
    extra = (schema.get("additionalProperties"), *schema.get("patternProperties", {}).values())
    shape.extra.extend(one for one in extra if _is_schema(one))
    for key in ("oneOf", "anyOf"):
        shape.alternatives.extend(one for one in schema.get(key, ()) if _is_schema(one) and one != _NULL)
    discriminator = schema.get("discriminator")
    if isinstance(discriminator, Mapping) and isinstance(discriminator.get("propertyName"), str):
        targets = {key: str(target).rpartition("/")[2] for key, target in discriminator.get("mapping", {}).items()}
        shape.discriminator = (discriminator["propertyName"], targets)


def constants(table: Table, schema: JsonSchema) -> Sequence[Any] | None:
    """Give the values that a schema admits when it names them (const, enum)."""
    name = referred(schema)
    target = schema if name is None else table.types.get(name, {})
    if "const" in target:
        return [target["const"]]
    options = target.get("enum")
    return options if isinstance(options, list) else None


def renames(table: Table, schema: JsonSchema) -> bool:
    """Whether anything that a schema reaches carries another name on the wire."""
    seen: set[str] = set()
    todo: list[Any] = [schema]
    while todo:
        for name in _marks(todo.pop()):
            if name is None:
                return True
            if name not in seen:
                seen.add(name)
                todo.append(table.types.get(name, {}))
    return False


def _is_schema(node: Any) -> TypeGuard[JsonSchema]:
    return isinstance(node, Mapping) and bool(node)


def _marks(node: Any) -> Iterator[str | None]:
    """Give the name of each type referred to within a schema, and None for each property that is renamed."""
    todo = [node]
    while todo:
        one = todo.pop()
        if isinstance(one, list):
            todo.extend(one)
        elif isinstance(one, Mapping):
            name = referred(one)
            if name is not None:
                yield name
            properties = one.get("properties")
            if isinstance(properties, Mapping):
                for inner in properties.values():
                    if isinstance(inner, Mapping) and isinstance(inner.get("x-name"), str):
                        yield None
            todo.extend(one.values())
