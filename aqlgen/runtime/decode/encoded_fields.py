"""Fields of JSON that hold bytes in base64: those that are text are shown as text, and taken as text.

(OpenAPI 3.1, `contentEncoding`; 3.0, `format: byte`; or `encoding: base64` beside the field, as file APIs have it.)
A field becomes `{text, was: "base64"}`, which a call can give back: it is sent as the API wants it, in base64. Where
the result of a tool carries files, images and long bytes become `{content, encoding, mime_type}`.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from typing import Any

from ..schema import Shape, Types, alternatives, parts, resolve, union_of
from ..schema.field_names import reaches
from ..table import JsonSchema, Row, Table
from ..text import words
from ..wire import OCTETS
from .attachments import base64_bytes, bytes_as_base64, collected, image_type, text_of

_CONTENTS = ("content", "contents", "data", "body", "value", "payload", "blob")
"""Fields that an `encoding` beside them is about."""
_OPAQUE = frozenset(
    {
        *("token", "cursor", "etag", "tag", "hash", "digest", "fingerprint", "checksum", "sha", "crc", "signature"),
        *("nonce", "salt", "iv", "id", "version"),
    }
)
"""Last words of the names of values that are handed back as they came, whatever they hold."""
_LONG = 16 * 1024
"""Bytes in base64 that do not stand in an answer if they can stand beside it."""
_MAX_DEPTH = 100
_MAX_DEPTH_OF_CALLS = 32
_UNDECLARED: JsonSchema = {}
_KEYS = frozenset({"text", "was", "mime_type", "filename", "encoding"})
_BASE64 = re.compile(r"\bbase[ -]?64\b", re.IGNORECASE)


class EncodedFields:
    """Finds the fields of answers that hold bytes; schemas are looked at once, and kept, so that their ids stay."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._shapes: dict[int, tuple[JsonSchema, Shape]] = {}
        self._encoded: dict[int, tuple[JsonSchema, bool]] = {}
        self._inspected: dict[str, tuple[bool, frozenset[str]]] = {}
        self._reaching: dict[int, tuple[JsonSchema, bool]] = {}

    @property
    def _types(self) -> Types:
        return self._table.types  # read at the first call that needs them

    def readable(self, data: Any, schema: JsonSchema, content: bytes) -> Any:
        """Return the data of an answer with these fields as text; `content` is the JSON that it was read from."""
        marked = b'"base64"' in content
        if id(schema) not in self._reaching:
            self._reaching[id(schema)] = (schema, reaches(schema, self._types, _is_marked, self._inspected))
        return self._value(data, schema, 0, marked=marked) if marked or self._reaching[id(schema)][1] else data

    def _is_encoded(self, schema: JsonSchema) -> bool:
        if id(schema) not in self._encoded:
            self._encoded[id(schema)] = (schema, is_base64(schema, self._types))
        return self._encoded[id(schema)][1]

    def _value(self, value: Any, schema: JsonSchema, depth: int, *, marked: bool) -> Any:
        """Return a value with its fields as text; `marked` says that a field `encoding` may be there."""
        if depth > _MAX_DEPTH or not isinstance(value, (dict, list)):
            return value
        if id(schema) not in self._shapes:
            self._shapes[id(schema)] = (schema, union_of(self._types, schema))
        shape = self._shapes[id(schema)][1]
        if isinstance(value, list):
            inner = shape.items[0] if shape.items else _UNDECLARED
            if self._is_encoded(inner):
                return [_readable(item) for item in value]
            return [self._value(item, inner, depth + 1, marked=marked) for item in value]
        return self._object(value, shape, depth, marked=marked)

    def _object(self, value: dict[str, Any], shape: Shape, depth: int, *, marked: bool) -> dict[str, Any]:
        sibling = _sibling(value) if marked else ""
        further = shape.extra[0] if shape.extra else _UNDECLARED
        readable: dict[str, Any] = {}
        for key, item in value.items():
            inner = shape.properties[key][1] if key in shape.properties else further
            if isinstance(item, str):
                is_opaque = key in shape.properties and not _OPAQUE.isdisjoint(words(key)[-1:])
                encoded = key == sibling or (self._is_encoded(inner) and not is_opaque)
                readable[key] = _readable(item) if encoded else item
            else:
                readable[key] = self._value(item, inner, depth + 1, marked=marked)
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


def with_texts_encoded(row: Row, types: Types, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a call with texts in base64 wherever that is what is declared.

    They are given as answers show them: `{text, was}`.
    """
    shapes: dict[int, Shape] = {}
    return {
        name: _encoded(value, parameter.schema, types, parameter.description or "", 0, shapes)
        if (parameter := row.parameters.get(name)) is not None
        else value
        for name, value in params.items()
    }


def _encoded(value: Any, schema: JsonSchema, types: Types, described: str, depth: int, shapes: dict[int, Shape]) -> Any:
    """Return a value with its texts in base64; `shapes` are those of the schemas that were met before."""
    if depth > _MAX_DEPTH_OF_CALLS or not isinstance(value, (dict, list)):
        return value
    if isinstance(value, dict) and isinstance(value.get("text"), str) and value.keys() <= _KEYS:
        is_sent_encoded = _takes_base64(schema, types, described)
        return base64.b64encode(value["text"].encode()).decode("ascii") if is_sent_encoded else value
    schema = resolve(schema, types)
    if not schema:
        return value
    shape = shapes.get(id(schema))
    if shape is None:
        shape = shapes[id(schema)] = union_of(types, schema)
    if isinstance(value, list):
        inner = shape.items[0] if shape.items else {}
        return [_encoded(item, inner, types, described, depth + 1, shapes) for item in value]
    extra = shape.extra[0] if shape.extra else {}
    return {
        key: _encoded(item, shape.properties.get(key, ("", extra))[1], types, "", depth + 1, shapes)
        for key, item in value.items()
    }


def _takes_base64(schema: JsonSchema, types: Types, described: str) -> bool:
    """Return True if a value must be a text, and one in base64, by its schema or by its description."""
    applying = parts(schema, types)
    kinds = [part["type"] for part in applying if "type" in part]
    if any("object" in kind if isinstance(kind, list) else kind == "object" for kind in kinds):
        return False  # a file, which takes a text as it is
    if is_base64(schema, types):
        return True
    texts = [described, *(str(part.get("description", "")) for part in applying)]
    return any(kind in ("string", ["string", "null"]) for kind in kinds) and any(map(_BASE64.search, texts))
