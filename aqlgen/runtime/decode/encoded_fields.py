# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Fields of JSON that hold bytes in base64: those that are text are shown as text.

(OpenAPI 3.1, `contentEncoding`; 3.0, `format: byte`; or `encoding: base64` beside the field, as file APIs have it.)
A field becomes `{text, was: "base64"}`, which a call can give back (`validation/encoded_texts`). Where the result of a
tool carries files, images and long bytes become `{content, encoding, mime_type}`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..media import OCTETS
from ..schema.reader import Shape, Types, alternatives, parts, referred, subschemas, union_of
from ..table import JsonSchema
from ..text import words
from .attachments import bytes_as_base64, collected
from .binary import base64_bytes, image_type, text_of

__all__ = ["EncodedFields", "is_base64"]

_CONTENTS = ("content", "contents", "data", "body", "value", "payload", "blob")
"""Fields that an `encoding` beside them is about."""
_OPAQUE = frozenset(
    {
        "token",
        "cursor",
        "etag",
        "tag",
        "hash",
        "digest",
        "fingerprint",
        "checksum",
        "sha",
        "crc",
        "signature",
        "nonce",
        "salt",
        "iv",
        "id",
        "version",
    }
)
"""Last words of the names of values that are handed back as they came, whatever they hold."""
_LONG = 16 * 1024
"""Bytes in base64 that do not stand in an answer if they can stand beside it."""
_MAX_DEPTH = 100


class EncodedFields:
    """Finds the fields of answers that hold bytes; a schema is looked at once."""

    def __init__(self, types: Types) -> None:
        self._types = types
        self._relevant: dict[int, tuple[JsonSchema, bool]] = {}
        self._shapes: dict[int, tuple[JsonSchema, Shape]] = {}

    def readable(self, data: Any, schema: JsonSchema | None, content: bytes) -> Any:
        """Return the data of an answer with these fields as text; `content` is the JSON that it was read from."""
        if not schema:
            return self._value(data, {}, 0) if b'"base64"' in content else data
        relevant = self._relevant.get(id(schema))
        if relevant is None:
            relevant = self._relevant[id(schema)] = (schema, self._reaches_bytes(schema))
        return self._value(data, schema, 0) if relevant[1] else data

    def _reaches_bytes(self, schema: JsonSchema) -> bool:
        """Return True if a schema, or any that it refers to, has a field of bytes or an `encoding`."""
        seen: set[str] = set()
        todo: list[Any] = [schema]
        while todo:
            for inner in subschemas(todo.pop()):
                properties = inner.get("properties")
                if _is_marked(inner) or (isinstance(properties, Mapping) and "encoding" in properties):
                    return True
                name = referred(inner)
                if name is not None and name not in seen:
                    seen.add(name)
                    todo.append(self._types.get(name))
        return False

    def _shape(self, schema: JsonSchema) -> Shape:
        known = self._shapes.get(id(schema))
        if known is None:
            known = self._shapes[id(schema)] = (schema, union_of(self._types, schema))  # the schema keeps its id unique
        return known[1]

    def _value(self, value: Any, schema: Any, depth: int) -> Any:
        if depth > _MAX_DEPTH or not isinstance(value, (dict, list)):
            return value
        shape = self._shape(schema) if isinstance(schema, Mapping) and schema else Shape()
        if isinstance(value, list):
            inner = shape.items[0] if shape.items else {}
            encoded = is_base64(inner, self._types)
            return [_readable(item) if encoded else self._value(item, inner, depth + 1) for item in value]
        sibling = _sibling(value)
        readable: dict[str, Any] = {}
        for key, item in value.items():
            declared = shape.properties.get(key)
            inner = declared[1] if declared is not None else shape.extra[0] if shape.extra else {}
            if isinstance(item, str):
                opaque = _OPAQUE.intersection(words(key)[-1:])
                encoded = key == sibling or (bool(inner) and not opaque and is_base64(inner, self._types))
                readable[key] = _readable(item) if encoded else item
            else:
                readable[key] = self._value(item, inner, depth + 1)
        return readable


def is_base64(schema: Any, types: Types) -> bool:
    """Return True if a schema is that of bytes in base64, which may be null."""
    if not isinstance(schema, Mapping):
        return False
    collected_parts = parts(schema, types)
    branches = [branch for part in collected_parts for branch in alternatives(part)]
    return any(map(_is_marked, collected_parts)) or (
        len(branches) == 1 and any(map(_is_marked, parts(branches[0], types)))
    )


def _is_marked(schema: Mapping[str, Any]) -> bool:
    return schema.get("contentEncoding") == "base64" or schema.get("format") == "byte"


def _sibling(value: Mapping[str, Any]) -> str:
    """Return the field that an `encoding: base64` beside it is about; "" if there is none."""
    encoding = value.get("encoding")
    if not isinstance(encoding, str) or encoding.lower() != "base64":
        return ""
    return next((key for key in _CONTENTS if isinstance(value.get(key), str)), "")


def _readable(value: Any) -> Any:
    """Return the value of such a field as it can be read; itself where it cannot."""
    content = base64_bytes(value) if isinstance(value, str) and value else None
    if content is None:
        return value
    text = text_of(content)
    if text is not None:
        return {"text": text, "was": "base64"}
    if collected() is None:
        return value
    kind = image_type(content)
    return bytes_as_base64(content, kind or OCTETS) if kind or len(content) > _LONG else value
