# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""A value that fits a schema, always the same one: what the mock answers with when the document has no example."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .shapes import Shape, referred, shape_of
from .table import JsonSchema, Table

__all__ = ["sample"]

_DEEPEST = 4
_MOST = 2000
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
    """Give a value of a schema under the API's names: its example, default or first choice, else one made up."""
    return _Sampler(table).value(schema, 0, 0)


class _Sampler:
    """Makes one value, of bounded depth and size."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._left = _MOST

    def value(self, schema: Any, depth: int, hops: int) -> Any:
        """Give a value; `hops` counts references and alternatives gone through since the last object or array."""
        if not isinstance(schema, Mapping) or hops > _DEEPEST * 4:
            return "example"
        for key in ("const", "default"):
            if schema.get(key) is not None:
                return schema[key]
        for key in ("examples", "enum"):
            options = schema.get(key)
            if isinstance(options, list) and options:
                return options[0]
        name = referred(schema)
        if name is not None and "allOf" not in schema:
            return self.value(self._table.types.get(name, {}), depth, hops + 1)
        for key in ("oneOf", "anyOf"):
            options = [one for one in schema.get(key, ()) if one != {"type": "null"}]
            if options and "properties" not in schema and "allOf" not in schema:
                return self.value(options[0], depth, hops + 1)
        kind = schema.get("type")
        if isinstance(kind, list):
            kind = next((one for one in kind if one != "null"), "null")
        if kind == "object" or (kind is None and ("properties" in schema or "allOf" in schema)):
            return self._object(schema, depth, hops)
        if kind == "array":
            return self._array(schema, depth)
        return _scalar(schema, kind)

    def _object(self, schema: JsonSchema, depth: int, hops: int) -> Any:
        shape = shape_of(self._table, schema)
        if shape.alternatives:
            shape = shape_of(self._table, shape.alternatives[0], shape)
        parts = schema.get("allOf")
        if not shape.properties and parts:
            return self.value(parts[0], depth, hops + 1)
        made: dict[str, Any] = {}
        for name, (spelling, inner) in shape.properties.items():
            if self._wanted(shape, name, inner, depth):
                self._left -= 1
                made[spelling] = self.value(inner, depth + 1, 0)
        return made

    def _wanted(self, shape: Shape, name: str, schema: JsonSchema, depth: int) -> bool:
        """Whether a property is shown: all of them near the surface, only what is required further down."""
        if depth < _DEEPEST - 1 and self._left > 0:
            return True
        name_of_type = referred(schema)
        target = schema if name_of_type is None else self._table.types.get(name_of_type, {})
        structured = bool(target.keys() & {"$ref", "properties", "allOf", "oneOf", "anyOf"})
        return name in shape.required and (not structured or (depth < _DEEPEST * 2 and self._left > 0))

    def _array(self, schema: JsonSchema, depth: int) -> list[Any]:
        least = schema.get("minItems", 0)
        if not least and (depth >= _DEEPEST or self._left <= 0):
            return []
        item = self.value(schema.get("items", {"type": "string"}), depth + 1, 0)
        return [item] * (1 if schema.get("uniqueItems") else min(max(1, least), 20))


def _scalar(schema: JsonSchema, kind: Any) -> Any:
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
    form, pattern = schema.get("format"), schema.get("pattern")
    value = _FORMATS.get(form, "example") if isinstance(form, str) else "example"
    if isinstance(pattern, str):
        try:
            value = next((guess for guess in (value, *_GUESSES) if re.search(pattern, guess)), value)
        except re.error:
            return value
    elif "format" not in schema:
        value = (value * (schema.get("minLength", 0) // len(value) + 1))[: min(schema.get("maxLength", 2000), 2000)]
    return value
