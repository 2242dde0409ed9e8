# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""What a JSON Schema means to a reader: its type, what it is composed of, whether it may be null."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .table import JsonSchema

__all__ = [
    "composed", "follow", "is_object", "name_of", "only_type", "phrase", "plain_enum", "reference", "schema_of",
    "string_enum", "unwrap", "variants",
]  # fmt: skip

_SCALARS = ("string", "integer", "number", "boolean")
_MAX_OPTIONS, _MAX_PATTERN = 10, 150


def composed(schema: JsonSchema, types: Mapping[str, JsonSchema], seen: set[str]) -> Iterator[JsonSchema]:
    """Give the schema and everything that it is composed of by allOf, the composed first."""
    for one in schema.get("allOf", ()):
        name = reference(one)
        if name is None:
            yield from composed(one, types, seen)
        elif name not in seen and name in types:
            seen.add(name)
            yield from composed(types[name], types, seen)
    name = reference(schema)
    if name is not None and name not in seen and name in types:
        seen.add(name)
        yield from composed(types[name], types, seen)
    yield schema


def is_object(schema: JsonSchema, types: Mapping[str, JsonSchema]) -> bool:
    """Tell whether it has fields, or is an object of which no more is known; alternatives alone make a union."""
    parts = list(composed(schema, types, set()))
    if any("properties" in part for part in parts):
        return True
    return len(variants(schema)) < 2 and any(only_type(part, guess=False) == "object" for part in parts)


def follow(schema: JsonSchema, types: Mapping[str, JsonSchema]) -> JsonSchema:
    """Look through a type that is only another's name, or another's or null."""
    for _ in range(16):
        target, _nullable = unwrap(schema)
        name = reference(target)
        if name is None or name not in types:
            return target
        schema = types[name]
    return {}


def unwrap(schema: JsonSchema) -> tuple[JsonSchema, bool]:
    """Drop null from the alternatives; give the schema that is left when it is only one, and whether null was there."""
    kinds = schema.get("type")
    nullable = isinstance(kinds, list) and "null" in kinds and len(kinds) > 1
    for key in ("anyOf", "oneOf"):
        listed = schema.get(key)
        if not isinstance(listed, list):
            continue
        rest = [one for one in listed if not _is_null(one)]
        nullable = nullable or len(rest) < len(listed)
        if len(rest) == 1 and "properties" not in schema:
            inner, deeper = unwrap({**_without(schema, key), **schema_of(rest[0])})
            return inner, nullable or deeper
    whole = schema.get("allOf")
    if isinstance(whole, list) and len(whole) == 1 and "properties" not in schema and reference(whole[0]):
        inner, deeper = unwrap({**_without(schema, "allOf"), **whole[0]})
        return inner, nullable or deeper
    return schema, nullable


def _without(schema: JsonSchema, key: str) -> dict[str, Any]:
    return {name: value for name, value in schema.items() if name != key}


def variants(schema: JsonSchema) -> list[JsonSchema]:
    """Give the alternatives of oneOf or anyOf, null left out."""
    for key in ("oneOf", "anyOf"):
        if isinstance(schema.get(key), list):
            return [schema_of(one) for one in schema[key] if not _is_null(one)]
    return []


def _is_null(schema: Any) -> bool:
    return isinstance(schema, Mapping) and (schema.get("type") == "null" or schema.get("const", 0) is None)


def schema_of(value: Any) -> JsonSchema:
    """Give a subschema; `true`, `false` and what is no schema become the empty one."""
    return value if isinstance(value, Mapping) else {}


def reference(schema: Any) -> str | None:
    """Name the type that the schema refers to."""
    target = schema.get("$ref") if isinstance(schema, Mapping) else None
    return target.rpartition("/")[2] if isinstance(target, str) else None


def only_type(schema: JsonSchema, *, guess: bool = True) -> str | None:
    """Name the one type other than null that the schema declares or, by its keywords, means."""
    kinds = schema.get("type")
    if isinstance(kinds, str):
        return "any" if kinds == "null" else kinds
    if isinstance(kinds, list):
        rest = [one for one in kinds if one != "null"]
        return rest[0] if len(rest) == 1 else None
    if not guess:
        return None
    if any(key in schema for key in ("properties", "additionalProperties", "allOf")):
        return "object"
    if "items" in schema:
        return "array"
    values = schema.get("enum", [schema["const"]] if "const" in schema else [])
    if values and all(isinstance(one, str) for one in values):
        return "string"
    return None


def string_enum(schema: JsonSchema) -> list[str]:
    """Give the values of an enum of strings; empty for any other schema."""
    values = schema.get("enum")
    if not isinstance(values, list):
        return []
    rest = [one for one in values if one is not None]
    return rest if all(isinstance(one, str) for one in rest) else []


def plain_enum(schema: JsonSchema) -> list[Any]:
    """Give the values of an enum of texts, numbers and truth values; empty for any other schema."""
    values = schema.get("enum")
    rest = [one for one in values if one is not None] if isinstance(values, list) else []
    return rest if all(isinstance(one, (str, int, float)) for one in rest) else []


def name_of(schema: JsonSchema) -> str:
    """Name a member of a union by a name that introspection can show."""
    target, _ = unwrap(schema)
    return reference(target) or only_type(target) or "any"


def phrase(schema: JsonSchema, *, values: bool = True) -> str:
    """Say in a few words what a value is: `array of Pet`, `string (uuid)`, `integer (1 to 5)`, `string ('a' | 'b')`."""
    target, _ = unwrap(schema)
    name = name_of(target)
    if name == "array" and schema_of(target.get("items")):
        return f"array of {phrase(target['items'])}"
    if "const" in target:
        return repr(target["const"])
    told = _told(target, values=values) if name in _SCALARS else ""
    return f"{name} ({told})" if told else name


def _told(schema: JsonSchema, *, values: bool) -> str:
    """Say in a word or three which values a scalar has."""
    options = plain_enum(schema)
    if options:
        return " | ".join(map(repr, options)) if values and len(options) <= _MAX_OPTIONS else ""
    if isinstance(schema.get("format"), str):
        return str(schema["format"])
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None or high is not None:
        return f"{low} to {high}" if None not in (low, high) else f"{low} or more" if high is None else f"up to {high}"
    pattern = schema.get("pattern")
    return f"pattern {pattern}" if isinstance(pattern, str) and len(pattern) <= _MAX_PATTERN else ""
