# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Sample values of schemas, always the same: the mock's answers where the document has no example."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..table import JsonSchema, Table
from .reader import MISSING, Shape, Types, alternatives, declared_types, json_type, referred, resolve, shape_of

__all__ = ["sample", "sample_of"]

_DEEPEST = 4
_MOST = 2000
_NUMBERS = frozenset({"integer", "number"})
_FORMATS = {
    "date-time": "2026-01-31T12:00:00Z",
    "date": "2026-01-31",
    "time": "12:00:00Z",
    "duration": "P1D",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
    "email": "someone@example.com",
    "idn-email": "someone@example.com",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com/",
    "url": "https://example.com/",
    "uri-reference": "/example",
    "byte": "ZXhhbXBsZQ==",
    "binary": "ZXhhbXBsZQ==",
    "json-pointer": "/example",
    "regex": "^example$",
}
_GUESSES = (
    "example",
    "Example",
    "EXAMPLE",
    "a",
    "A",
    "1",
    "12",
    "0.1",
    "1.0.0",
    "v1",
    "2026-01-31",
    "12:00",
    "#aabbcc",
    "en",
    "en-US",
    "USD",
    "example.com",
    "https://example.com/",
    "+15555550100",
    "sha256:" + "0" * 64,
    "0123456789abcdef01234567",
    "0123456789abcdef0123456789abcdef01234567",
    "123e4567-e89b-12d3-a456-426614174000",
)


def sample(table: Table, schema: Any) -> Any:
    """Return a value of a schema in the API's names: its example, default or first choice, else one made up."""
    return sample_of(table.types, schema)


def sample_of(types: Types, schema: Any) -> Any:
    """Return the same, without a table."""
    return _Sampler(types).value(schema, 0, 0)


class _Sampler:
    """Builds one value, of bounded depth and size."""

    def __init__(self, types: Types) -> None:
        self._types = types
        self._left = _MOST

    def value(self, schema: Any, depth: int, hops: int) -> Any:
        """Build a value; `hops` counts references and alternatives followed since the last object or array."""
        if not isinstance(schema, Mapping) or hops > _DEEPEST * 4:
            return "example"
        for key in ("const", "default"):
            if schema.get(key) is not None:
                return schema[key]
        for key in ("examples", "enum"):
            values = schema.get(key)
            if isinstance(values, list) and values:
                fitting = (value for value in values if _may_be(value, schema))
                value = next(fitting, values[0] if key == "enum" else MISSING)
                if value is not MISSING:
                    return value
        if referred(schema) is not None and "allOf" not in schema:
            return self.value(resolve(schema, self._types), depth, hops + 1)
        options = alternatives(schema)
        if options and "properties" not in schema and "allOf" not in schema:
            return self.value(options[0], depth, hops + 1)
        declared = declared_types(schema)
        kind = next((name for name in declared if name != "null"), "null" if declared else None)
        if kind == "object" or (kind is None and ("properties" in schema or "allOf" in schema)):
            return self._object(schema, depth, hops)
        if kind == "array":
            return self._array(schema, depth)
        return _scalar(schema, kind)

    def _object(self, schema: JsonSchema, depth: int, hops: int) -> Any:
        shape = shape_of(self._types, schema)
        if shape.alternatives:
            shape = shape_of(self._types, shape.alternatives[0], shape)
        composed = schema.get("allOf")
        if not shape.properties and composed:
            return self.value(composed[0], depth, hops + 1)
        fields: dict[str, Any] = {}
        for name, (spelling, inner) in shape.properties.items():
            if self._is_shown(shape, name, inner, depth):
                self._left -= 1
                fields[spelling] = self.value(inner, depth + 1, 0)
        return fields

    def _is_shown(self, shape: Shape, name: str, schema: JsonSchema, depth: int) -> bool:
        """Return True for every property near the surface, plain ones below, and further down required ones."""
        if depth < _DEEPEST - 1 and self._left > 0:
            return True
        target = resolve(schema, self._types)
        structured = bool(target.keys() & {"$ref", "properties", "items", "allOf", "oneOf", "anyOf"})
        if not structured and depth <= _DEEPEST and self._left > 0:
            return True  # what a list refers to has its id
        return name in shape.required and (not structured or (depth < _DEEPEST * 2 and self._left > 0))

    def _array(self, schema: JsonSchema, depth: int) -> list[Any]:
        least, items = schema.get("minItems", 0), schema.get("items", {"type": "string"})
        if not least and _is_silent(items):  # what is made up may not be what an update can write back
            return []
        if depth >= _DEEPEST * 2 or self._left <= 0 or (not least and depth >= _DEEPEST):
            return []
        self._left -= 1
        item = self.value(items, depth + 1, 0)
        return [item] * (1 if schema.get("uniqueItems") else min(max(1, least), 20))


def _may_be(value: Any, schema: JsonSchema) -> bool:
    """Return True if a value is of a type that its schema declares: an example of an object may be a text of JSON."""
    kinds, kind = declared_types(schema), json_type(value)
    return not kinds or kind in kinds or (kind in _NUMBERS and not _NUMBERS.isdisjoint(kinds))


def _is_silent(schema: Any) -> bool:
    """Return True if a schema says nothing of its values."""
    return not isinstance(schema, Mapping) or schema.keys() <= {"title", "description"}


def _scalar(schema: JsonSchema, kind: str | None) -> Any:
    if kind == "boolean":
        return True
    if kind == "null":
        return None
    if kind in ("integer", "number"):
        return _number(schema, whole=kind == "integer")
    return _text(schema)


def _number(schema: JsonSchema, *, whole: bool) -> int | float:
    step = schema.get("multipleOf", 1) or 1
    low = schema.get("minimum", schema.get("exclusiveMinimum", -step))
    value: int | float = 1 if low <= 1 <= schema.get("maximum", schema.get("exclusiveMaximum", 2)) else low
    if "exclusiveMinimum" in schema and value <= schema["exclusiveMinimum"]:
        value = schema["exclusiveMinimum"] + step
    top = schema.get("maximum", schema.get("exclusiveMaximum"))
    if top is not None and value > top:
        value = top
    if step != 1:
        value = -(-value // step) * step
    return int(value) if whole else value


def _text(schema: JsonSchema) -> str:
    format_name, pattern = schema.get("format"), schema.get("pattern")
    value = _FORMATS.get(format_name, "example") if isinstance(format_name, str) else "example"
    if isinstance(pattern, str):
        value = _matching(pattern, value)
    elif "format" not in schema:
        least = min(schema.get("minLength", 0), _MOST)
        value = (value * (least // len(value) + 1))[: min(schema.get("maxLength", _MOST), _MOST)]
    return value


def _matching(pattern: str, value: str) -> str:
    """Return the value or a guess that matches a pattern, by an engine that cannot be made to search for ever."""
    from jsonschema_rs import Draft202012Validator, FancyRegexOptions, ValidationError

    try:
        matcher = Draft202012Validator({"pattern": pattern}, pattern_options=FancyRegexOptions(backtrack_limit=10_000))
    except (ValidationError, ValueError):
        return value
    return next((guess for guess in (value, *_GUESSES) if matcher.is_valid(guess)), value)
