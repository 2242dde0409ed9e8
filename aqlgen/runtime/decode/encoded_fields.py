# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Fields of JSON that hold bytes in base64: those that are text are shown as text, and taken as text.

(OpenAPI 3.1, `contentEncoding`; 3.0, `format: byte`; or `encoding: base64` beside the field, as file APIs have it.)
A field becomes `{text, was: "base64"}`, which a call can give back: it is sent as the API wants it, in base64. Where
the result of a tool carries files, images and long bytes become `{content, encoding, mime_type}`.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from ..media import OCTETS
from ..schema.field_names import reached
from ..schema.reader import Shape, Types, alternatives, parts, referred, resolve, subschemas, union_of
from ..table import JsonSchema, Row, Table
from ..text import words
from .attachments import base64_bytes, bytes_as_base64, collected, image_type, text_of

__all__ = ["EncodedFields", "is_base64", "with_texts_encoded"]

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
_MAX_DEPTH_OF_CALLS = 32
_UNDECLARED: JsonSchema = {}
_KEYS = frozenset({"text", "was", "mime_type", "filename", "encoding"})
_BASE64 = re.compile(r"\bbase[ -]?64\b", re.IGNORECASE)


class _Reach(IntEnum):
    """What a schema has within it that may be about bytes."""

    NOTHING = 0
    ENCODING = 1
    """A field `encoding`, or anything, since nothing is declared."""
    BYTES = 2


@dataclass(slots=True)
class _Fields:
    """The schemas within a schema; `encoded` are the fields of bytes, "" stands for undeclared ones.

    The schema is kept, so that its id stays unique.
    """

    schema: JsonSchema
    reach: _Reach
    inner: Mapping[str, JsonSchema]
    encoded: frozenset[str]
    items: JsonSchema
    extra: JsonSchema


class EncodedFields:
    """Finds the fields of answers that hold bytes; a schema is looked at once."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._fields: dict[int, _Fields] = {}
        self._without_bytes: set[int] = set()
        self._inspected: dict[str, tuple[_Reach, frozenset[str]]] = {}

    @property
    def _types(self) -> Types:
        return self._table.types  # read at the first call that needs them

    def readable(self, data: Any, schema: JsonSchema, content: bytes) -> Any:
        """Return the data of an answer with these fields as text; `content` is the JSON that it was read from."""
        if id(schema) in self._without_bytes:
            return data
        fields = self._fields_of(schema)
        if fields.reach is _Reach.NOTHING:
            self._without_bytes.add(id(schema))
            return data
        marked = b'"base64"' in content
        return self._value(data, fields, 0, marked=marked) if marked or fields.reach is _Reach.BYTES else data

    def _fields_of(self, schema: JsonSchema) -> _Fields:
        fields = self._fields.get(id(schema))
        if fields is None:
            shape = union_of(self._types, schema)
            inner = {name: declared for name, (_, declared) in shape.properties.items()}
            items, extra = (schemas[0] if schemas else _UNDECLARED for schemas in (shape.items, shape.extra))
            encoded = {name for name in inner if _is_encoded(name, inner[name], self._types)}
            encoded |= {""} if is_base64(extra, self._types) else set()
            fields = _Fields(schema, self._reach(schema), inner, frozenset(encoded), items, extra)
            self._fields[id(schema)] = fields
        return fields

    def _reach(self, schema: JsonSchema) -> _Reach:
        most = _Reach(0)
        for reach in reached(schema, self._types, _inspected, self._inspected):
            most = max(most, reach)
            if most is _Reach.BYTES:
                break
        return most

    def _value(self, value: Any, fields: _Fields, depth: int, *, marked: bool) -> Any:
        """Return a value with its fields as text; `marked` says that a field `encoding` may be there."""
        if depth > _MAX_DEPTH or not isinstance(value, (dict, list)):
            return value
        if fields.reach is _Reach.NOTHING or (fields.reach is _Reach.ENCODING and not marked):
            return value
        if isinstance(value, list):
            if is_base64(fields.items, self._types):
                return [_readable(item) for item in value]
            items = self._fields_of(fields.items)
            return [self._value(item, items, depth + 1, marked=marked) for item in value]
        sibling = _sibling(value) if marked else ""
        readable: dict[str, Any] = {}
        for key, item in value.items():
            if isinstance(item, str):
                encoded = key == sibling or (key if key in fields.inner else "") in fields.encoded
                readable[key] = _readable(item) if encoded else item
            elif isinstance(item, (dict, list)):
                inner = self._fields_of(fields.inner.get(key, fields.extra))
                readable[key] = self._value(item, inner, depth + 1, marked=marked)
            else:
                readable[key] = item
        return readable


def _inspected(schema: JsonSchema) -> tuple[_Reach, frozenset[str]]:
    """Return what a schema declares itself, and the types that it refers to."""
    reach = _Reach.NOTHING if schema else _Reach.ENCODING
    references: set[str] = set()
    for inner in subschemas(schema):
        properties = inner.get("properties")
        if _is_marked(inner):
            reach = _Reach.BYTES
        elif isinstance(properties, Mapping) and "encoding" in properties:
            reach = max(reach, _Reach.ENCODING)
        name = referred(inner)
        if name is not None:
            references.add(name)
    return reach, frozenset(references)


def _is_encoded(name: str, schema: JsonSchema, types: Types) -> bool:
    """Return True if a field holds bytes that are for reading."""
    return is_base64(schema, types) and not _OPAQUE.intersection(words(name)[-1:])


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
    encoded: dict[str, Any] = {}
    shapes: dict[int, Shape] = {}
    for name, value in params.items():
        parameter = row.parameters.get(name)
        schema: Mapping[str, Any] = {} if parameter is None else parameter.schema
        described = "" if parameter is None else parameter.description
        encoded[name] = _encoded(value, schema, types, described or "", 0, shapes)
    return encoded


def _encoded(value: Any, schema: JsonSchema, types: Types, described: str, depth: int, shapes: dict[int, Shape]) -> Any:
    """Return a value with its texts in base64; `shapes` are those of the schemas that were met before."""
    if depth > _MAX_DEPTH_OF_CALLS or not isinstance(value, (dict, list)):
        return value
    if isinstance(value, dict) and isinstance(value.get("text"), str) and value.keys() <= _KEYS:
        if _takes_base64(schema, types, described):
            return base64.b64encode(value["text"].encode()).decode("ascii")
        return value
    schema = resolve(schema, types)
    shape = shapes.get(id(schema))
    if shape is None:
        shape = shapes[id(schema)] = union_of(types, schema)
    if isinstance(value, list):
        inner = shape.items[0] if shape.items else {}
        return [_encoded(item, inner, types, described, depth + 1, shapes) for item in value]
    copy: dict[str, Any] = {}
    for key, item in value.items():
        declared = shape.properties.get(key)
        inner = declared[1] if declared is not None else shape.extra[0] if shape.extra else {}
        copy[key] = _encoded(item, inner, types, "", depth + 1, shapes)
    return copy


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
