# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Texts that a call gives for fields in base64, as answers show them: `{text, was}` (`decode/encoded_fields`).

They are sent as the API wants them: in base64.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from typing import Any

from ..decode.encoded_fields import is_base64
from ..schema.reader import Types, parts, union_of
from ..table import JsonSchema, Row

__all__ = ["with_texts_encoded"]

_KEYS = frozenset({"text", "was", "mime_type", "filename", "encoding"})
_BASE64 = re.compile(r"\bbase[ -]?64\b", re.IGNORECASE)
_MAX_DEPTH = 32


def with_texts_encoded(row: Row, types: Types, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a call with such texts in base64 wherever a text in base64 is what is declared."""
    encoded: dict[str, Any] = {}
    for name, value in params.items():
        parameter = row.parameters.get(name)
        schema: Mapping[str, Any] = {} if parameter is None else parameter.schema
        described = "" if parameter is None else parameter.description
        encoded[name] = _encoded(value, schema, types, described or "", 0)
    return encoded


def _encoded(value: Any, schema: JsonSchema, types: Types, described: str, depth: int) -> Any:
    if depth > _MAX_DEPTH or not isinstance(value, (dict, list)):
        return value
    if isinstance(value, dict) and isinstance(value.get("text"), str) and value.keys() <= _KEYS:
        if _takes_base64(schema, types, described):
            return base64.b64encode(value["text"].encode()).decode("ascii")
        return value
    shape = union_of(types, schema)
    if isinstance(value, list):
        inner = shape.items[0] if shape.items else {}
        return [_encoded(item, inner, types, described, depth + 1) for item in value]
    copy: dict[str, Any] = {}
    for key, item in value.items():
        declared = shape.properties.get(key)
        inner = declared[1] if declared is not None else shape.extra[0] if shape.extra else {}
        copy[key] = _encoded(item, inner, types, "", depth + 1)
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
