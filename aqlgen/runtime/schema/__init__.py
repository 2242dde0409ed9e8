"""JSON Schema, read: references, allOf parts, alternatives, types, and what an object or an array declares."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, TypeGuard
from urllib.parse import unquote

from ..table import JsonSchema

Types: TypeAlias = Mapping[str, JsonSchema]

_PREFIX = "#/types/"
_NAME_AT = len(_PREFIX)
_LONGEST_CHAIN = 40
_CONTAINER_KEYS = ("properties", "additionalProperties", "allOf")


def as_schema(value: Any) -> JsonSchema:
    """Return a subschema; `true`, `false` and whatever is not a schema become the empty schema."""
    return value if isinstance(value, (dict, Mapping)) else {}


# References


def type_named(ref: str) -> str | None:
    """Return the name of the type that a reference points to, or None if it points elsewhere."""
    if not ref.startswith(_PREFIX):
        return None
    name = ref[_NAME_AT:].partition("/")[0]
    return unescape(unquote(name)) if "~" in name or "%" in name else name


def referred(schema: JsonSchema) -> str | None:
    """Return the name of the type that a schema refers to, or None if it refers to none."""
    ref = schema.get("$ref")
    return type_named(ref) if isinstance(ref, str) else None


def resolve(schema: JsonSchema, types: Types) -> JsonSchema:
    """Return the type that a schema refers to, or the schema itself if it refers to none."""
    name = referred(schema)
    return schema if name is None else types.get(name, {})


def subschemas(node: Any) -> Iterator[dict[str, Any]]:
    """Yield every mapping within a schema, the schema itself included, without following references."""
    todo: list[Any] = [node] if isinstance(node, (dict, list)) else []
    while todo:
        members = inner = todo.pop()
        if isinstance(inner, dict):
            yield inner
            members = inner.values()
        todo += [member for member in members if isinstance(member, (dict, list))]


def references(node: Any) -> Iterator[str]:
    """Yield the name of every type that a schema refers to, at any depth."""
    return (name for inner in subschemas(node) if "$ref" in inner and (name := referred(inner)) is not None)


# Composition and alternatives

DEMANDED: Final = "x-demanded"
"""The fields that an alternative of a body requires, and an agent does not give: the adapter's credentials."""


def parts(schema: Any, types: Types) -> list[JsonSchema]:
    """Return the schemas that apply together: what the schema refers to, its allOf, then the schema itself."""
    collected: list[JsonSchema] = []
    _collect(schema, types, collected, set())
    return collected


def _collect(schema: Any, types: Types, collected: list[JsonSchema], seen: set[str]) -> None:
    if not isinstance(schema, (dict, Mapping)):
        return
    name = referred(schema) if "$ref" in schema else None
    if name is not None and name not in seen:
        seen.add(name)
        _collect(types.get(name), types, collected, seen)
    if "allOf" in schema:
        for part in schema["allOf"]:
            _collect(part, types, collected, seen)
    collected.append(schema)


def alternatives(schema: JsonSchema) -> list[JsonSchema]:
    """Return the alternatives of oneOf and anyOf, without null."""
    if "oneOf" not in schema and "anyOf" not in schema:
        return []
    return [
        as_schema(alternative)
        for key in ("oneOf", "anyOf")
        if isinstance(schema.get(key), list)
        for alternative in schema[key]
        if not is_null(alternative)
    ]


def is_null(schema: Any) -> bool:
    """Return True if a schema admits only null."""
    return isinstance(schema, (dict, Mapping)) and (schema.get("type") == "null" or schema.get("const", 0) is None)


def without_null(schema: JsonSchema) -> tuple[JsonSchema, bool]:
    """Return the schema without null, and whether null was admitted.

    An anyOf, oneOf or allOf of which one schema is left is replaced by that schema.
    """
    null = _names_null(schema)
    for key in ("anyOf", "oneOf"):
        options = schema.get(key)
        if not isinstance(options, list):
            continue
        rest = [option for option in options if not is_null(option)]
        null |= len(rest) < len(options)
        if len(rest) == 1 and "properties" not in schema:
            inner, deeper = without_null({**_without(schema, key), **as_schema(rest[0])})
            return inner, null or deeper
    composed = schema.get("allOf")
    if (
        isinstance(composed, list)
        and len(composed) == 1
        and "properties" not in schema
        and referred(as_schema(composed[0]))
    ):
        inner, deeper = without_null({**_without(schema, "allOf"), **composed[0]})
        return inner, null or deeper
    return schema, null


def _names_null(schema: JsonSchema) -> bool:
    declared = schema.get("type")
    if declared is None:
        return None in schema.get("enum", ())
    return isinstance(declared, list) and "null" in declared and len(declared) > 1


def _without(schema: JsonSchema, key: str) -> dict[str, Any]:
    return {name: value for name, value in schema.items() if name != key}


def follow(schema: JsonSchema, types: Types) -> JsonSchema:
    """Return the schema behind types that are only another type's name, or that or null."""
    for _ in range(_LONGEST_CHAIN):
        target, _ = without_null(schema)
        name = referred(target)
        if name is None or name not in types:
            return target
        schema = types[name]
    return {}


def nullable(schema: JsonSchema, types: Types, depth: int = 0) -> bool:
    """Return True if a schema admits null, or does not say what it admits."""
    name = referred(schema)
    if name is not None:
        return depth < _LONGEST_CHAIN and nullable(types.get(name, {}), types, depth + 1)
    if schema.get("type") is not None:
        return "null" in declared_types(schema)
    if "enum" in schema:
        return None in schema["enum"]
    for key in ("anyOf", "oneOf"):
        options = schema.get(key)
        if isinstance(options, list):
            return any(isinstance(option, Mapping) and nullable(option, types, depth + 1) for option in options)
    return "properties" not in schema and "allOf" not in schema


# Types and values


def declared_types(schema: JsonSchema) -> tuple[str, ...]:
    """Return the JSON types that the keyword `type` names, null included."""
    declared = schema.get("type")
    return (declared,) if isinstance(declared, str) else tuple(declared) if isinstance(declared, list) else ()


def only_type(schema: JsonSchema, *, guess: bool = True) -> str | None:
    """Return the one JSON type other than null that a schema declares or, with `guess`, implies by its keywords."""
    declared = schema.get("type")
    if isinstance(declared, str):
        return "any" if declared == "null" else declared
    if isinstance(declared, list):
        rest = [name for name in declared if name != "null"]
        return rest[0] if len(rest) == 1 else None
    if not guess:
        return None
    if any(key in schema for key in _CONTAINER_KEYS):
        return "object"
    if "items" in schema:
        return "array"
    values = schema.get("enum", [schema["const"]] if "const" in schema else [])
    return "string" if values and all(isinstance(value, str) for value in values) else None


def is_object(schema: JsonSchema, types: Types) -> bool:
    """Return True if a schema has properties, or is an object of which no more is known.

    Alternatives without properties beside them make a union, not an object.
    """
    composed = parts(schema, types)
    if any("properties" in part for part in composed):
        return True
    return len(alternatives(schema)) < 2 and any(only_type(part, guess=False) == "object" for part in composed)


def kind_of(schema: JsonSchema, types: Types) -> str:
    """Return the kind of one of the API's types: enum, object, union or scalar, in this order of trial."""
    target = follow(schema, types)
    if string_enum(target):
        return "enum"
    if is_object(target, types):
        return "object"
    return "union" if len(alternatives(target)) > 1 else "scalar"


def enum_values(schema: JsonSchema) -> list[Any]:
    """Return the values of an enum of strings, numbers and booleans, without null; [] for any other schema."""
    return _enum(schema, (str, int, float))


def string_enum(schema: JsonSchema) -> list[str]:
    """Return the values of an enum of strings, without null; [] for any other schema."""
    return _enum(schema, str)


def _enum(schema: JsonSchema, kinds: type | tuple[type, ...]) -> list[Any]:
    values = schema.get("enum")
    rest = [value for value in values if value is not None] if isinstance(values, list) else []
    return rest if all(isinstance(value, kinds) for value in rest) else []


def fixed_values(schema: JsonSchema, types: Types) -> list[Any] | None:
    """Return the values that a schema admits if it lists them (const, enum), else None."""
    target = resolve(schema, types)
    if "const" in target:
        return [target["const"]]
    values = target.get("enum")
    return values if isinstance(values, list) else None


def json_type(value: Any) -> str:
    """Return the JSON type of a value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    for kind, name in ((str, "string"), (int, "integer"), (float, "number"), (Mapping, "object")):
        if isinstance(value, kind):
            return name
    return "array"


JSON_TYPES: Final = frozenset({"string", "integer", "number", "boolean", "object", "array", "null"})


def admitted_types(schema: JsonSchema, types: Types, depth: int = 0) -> frozenset[str]:
    """Return the JSON types that a schema admits, all where it says none."""
    for part in parts(schema, types):
        kinds = declared_types(part) or tuple(map(json_type, fixed_values(part, {}) or ()))
        if kinds:
            return frozenset(kinds) | ({"integer"} if "number" in kinds else frozenset())
        ways = alternatives(part)
        if ways and depth < _LONGEST_CHAIN:
            return frozenset().union(*(admitted_types(way, types, depth + 1) for way in ways))
    return JSON_TYPES


STRUCTURE = frozenset({"properties", "allOf", "oneOf", "anyOf", "items", "additionalProperties"})
MISSING: Any = object()
_MOST_ALTERNATIVES = 40
_NOTHING: Mapping[str, Any] = {}


@dataclass(slots=True)
class Shape:
    """The declarations of a schema. `properties`: agent name → (wire name, schema).

    `extra` are the schemas of undeclared keys; `hidden` are the read-only properties that the generator left out,
    `spellings` the API's names of those that it spells otherwise.
    """

    properties: dict[str, tuple[str, JsonSchema]] = field(default_factory=dict)
    required: set[str] = field(default_factory=set)
    hidden: set[str] = field(default_factory=set)
    spellings: dict[str, str] = field(default_factory=dict)
    items: list[JsonSchema] = field(default_factory=list)
    extra: list[JsonSchema] = field(default_factory=list)
    alternatives: list[JsonSchema] = field(default_factory=list)
    discriminator: tuple[str, Mapping[str, str]] | None = None


_SHAPING: Final = frozenset(
    {
        "$ref", "allOf", "oneOf", "anyOf", "properties", "required", "x-read-only", "x-read-only-names", "items",
        "prefixItems", "additionalProperties", "patternProperties", "discriminator",
    }
)  # fmt: skip
"""The keywords that say something of a shape; most schemas have none of them."""


def is_shaped(schema: JsonSchema) -> bool:
    """Return True if a schema says something of a shape: most fields do not."""
    return not _SHAPING.isdisjoint(schema)


def shape_of(types: Types, schema: Any) -> Shape:
    """Return the shape of a schema, its alternatives kept apart."""
    shape = Shape()
    if isinstance(schema, (dict, Mapping)) and not _SHAPING.isdisjoint(schema):
        for part in parts(schema, types):
            _add(shape, part)
    return shape


def union_of(types: Types, schema: Any, base: Shape | None = None) -> Shape:
    """Return the shape of a schema with the properties of all its alternatives, nested ones and those of `base`."""
    shape = shape_of(types, schema)
    if base is not None:
        shape.properties = {**base.properties, **shape.properties}
        shape.required |= base.required
    if not shape.alternatives:
        return shape
    todo, count = list(shape.alternatives), 0
    while todo and count < _MOST_ALTERNATIVES:
        count += 1
        inner = shape_of(types, todo.pop(0))
        todo += inner.alternatives
        shared = {
            name: (shape.properties[name][0], _either(shape.properties[name][1], inner.properties[name][1], types))
            for name in inner.properties.keys() & shape.properties.keys()
        }
        shape.properties = {**inner.properties, **shape.properties, **shared}
        shape.hidden |= inner.hidden
        shape.spellings |= inner.spellings
        shape.items += inner.items
        shape.extra += inner.extra
    return shape


def _either(schema: JsonSchema, other: JsonSchema, types: Types) -> JsonSchema:
    """Return the schema of a property that two alternatives have: with the values that both list, else one of both.

    Where descriptions, bounds and the like alone differ, those of the first stand for both.
    """
    first, second = fixed_values(schema, types), fixed_values(other, types)
    if first is not None and second is not None:
        more = [value for value in second if value not in first]
        return {**_without(schema, "const"), "enum": [*first, *more]} if more else schema
    if schema == other or not _structure(other):
        return schema
    if not _structure(schema):
        return {**other, **schema}
    options = schema["anyOf"] if {"anyOf"} <= schema.keys() <= {"anyOf", "description"} else [schema]
    if _structure(other) in map(_structure, options):
        return schema
    return {key: schema[key] for key in ("description",) if key in schema} | {"anyOf": [*options, other]}


def _structure(schema: JsonSchema) -> dict[str, Any]:
    kinds = schema.get("type", [])
    kinds = {*(kinds if isinstance(kinds, list) else [kinds])} - {"null"}
    return {key: schema[key] for key in STRUCTURE | {"$ref"} if key in schema} | ({"type": kinds} if kinds else {})


def _add(shape: Shape, part: JsonSchema) -> None:
    properties = part.get("properties")
    if properties:
        known = shape.properties
        for name, schema in properties.items():
            if not isinstance(schema, (dict, Mapping)):
                schema = _NOTHING
            if name in known:
                schema = {**known[name][1], **schema}
            known[name] = (schema.get("x-name", name), schema)
    if "required" in part:
        shape.required.update(part["required"])
    if "x-read-only" in part:
        shape.hidden.update(part["x-read-only"])
        shape.spellings.update(part.get("x-read-only-names", {}))
    if "items" in part or "prefixItems" in part:
        shape.items += filter(_is_schema, (part.get("items"), *part.get("prefixItems", ())))
    if "additionalProperties" in part or "patternProperties" in part:
        shape.extra += filter(
            _is_schema, (part.get("additionalProperties"), *part.get("patternProperties", {}).values())
        )
    if "oneOf" in part or "anyOf" in part:
        shape.alternatives += filter(None, alternatives(part))
    if "discriminator" in part:
        shape.discriminator = _discriminator(as_schema(part["discriminator"])) or shape.discriminator


def _discriminator(stated: JsonSchema) -> tuple[str, dict[str, str]] | None:
    """Return the property that tells alternatives apart, and the types that its values stand for."""
    if not isinstance(stated.get("propertyName"), str):
        return None
    return stated["propertyName"], {
        key: str(target).rpartition("/")[2] for key, target in stated.get("mapping", {}).items()
    }


def _is_schema(node: Any) -> TypeGuard[JsonSchema]:
    return isinstance(node, (dict, Mapping)) and bool(node)


# Paths


def unescape(step: str) -> str:
    """Decode one step of a JSON pointer (RFC 6901, section 4)."""
    return step.replace("~1", "/").replace("~0", "~")


def steps_of(pointer: str) -> tuple[str, ...]:
    """Return the steps of a JSON pointer; none for the empty pointer."""
    return tuple(map(unescape, pointer.split("/")[1:]))


def pointer_of(steps: Iterable[str]) -> str:
    """Return the JSON pointer of steps (RFC 6901); empty for none."""
    return "".join("/" + step.replace("~", "~0").replace("/", "~1") for step in steps)


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
    """Return the value at a path, or MISSING."""
    for step in path:
        if isinstance(value, (dict, Mapping)) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            return MISSING
    return value
