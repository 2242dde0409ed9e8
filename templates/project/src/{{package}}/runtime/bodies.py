"""The body of a request, from parameters to bytes (OpenAPI 3.1, Media Type Object)."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from .errors import Code, Failure
from .forms import form_pairs, joined
from .multipart import multipart
from .names import Names
from .styles import as_json
from .table import Body, Row

__all__ = ["assemble", "encode_body", "is_json", "is_text", "media_type"]

_TEXTS = frozenset({"yaml", "x-yaml", "javascript", "graphql", "sql", "x-ndjson", "ndjson", "jsonl", "toml", "csv"})
_FORM = "application/x-www-form-urlencoded"


@lru_cache(256)
def media_type(content_type: str) -> str:
    """Give a content type without its parameters, in lower case."""
    return content_type.partition(";")[0].strip().lower()


def is_json(kind: str) -> bool:
    """Whether a media type is JSON."""
    return kind in ("application/json", "text/json") or kind.endswith("+json")


def is_text(kind: str) -> bool:
    """Whether a media type is read by people, JSON apart."""
    family, _, name = kind.partition("/")
    return family == "text" or name in _TEXTS or name == "xml" or name.endswith(("+xml", "+yaml"))


def assemble(row: Row, params: Mapping[str, Any], names: Names) -> Any:
    """Give the body under the API's names; None when there is none to send."""
    body = row.body
    if body is None:
        return None
    if body.shape == "whole":
        parameter = row.parameters.get(body.parameter or "")
        if parameter is None or parameter.name not in params:
            return None
        return names.to_wire(params[parameter.name], parameter.schema)
    fields: dict[str, Any] = {}
    rest: Any = None
    given = False
    for name, parameter in row.parameters.items():
        if name not in params:
            continue
        if parameter.location == "body":
            fields[parameter.wire] = names.to_wire(params[name], parameter.schema)
            given = True
        elif parameter.location == "body_rest":
            rest = names.to_wire(params[name], parameter.schema)
            given = True
    if isinstance(rest, Mapping):
        fields = {**rest, **fields}
    return fields if given or body.required else None


def encode_body(row: Row, body: Body, value: Any) -> tuple[str, bytes]:
    """Give the content type and the bytes of an assembled body. Raises Failure for a type that is not served."""
    kind = media_type(body.content_type)
    if is_json(kind) or kind in ("*/*", "application/*"):
        return (body.content_type if is_json(kind) else "application/json"), _json(value)
    declared = {one.wire: one for one in row.parameters.values() if one.location == "body"}
    if kind == _FORM and isinstance(value, Mapping):
        return _FORM, "&".join(form_pairs(value, declared)).encode()
    if kind == "multipart/form-data" and isinstance(value, Mapping):
        fields = {name: joined(one, declared.get(name)) for name, one in value.items()}
        return multipart(fields, declared, lambda name, one: _binary(name, one, "application/octet-stream"))
    if body.shape == "whole" and isinstance(value, str) and not kind.startswith("multipart/"):
        if is_text(kind):
            charset = "" if value.isascii() or "charset" in body.content_type.lower() else "; charset=utf-8"
            return body.content_type + charset, _utf8(value)
        return body.content_type, _binary(body.parameter or "body", value, body.content_type)
    raise Failure(
        Code.INTERNAL_ERROR,
        f"Internal error: a body of type '{body.content_type}' cannot be sent yet by this adapter",
        {"content_type": body.content_type},
    )


def _json(value: Any) -> bytes:
    try:
        return _utf8(as_json(value))
    except ValueError as error:
        if isinstance(error, UnicodeError):
            raise
        raise Failure(Code.INVALID_VALUE, "The body holds a number unknown to JSON, such as NaN") from None


def _utf8(value: str) -> bytes:
    try:
        return value.encode()
    except UnicodeEncodeError:
        raise Failure(Code.INVALID_ENCODING, "Invalid character encoding in request") from None


def _binary(name: str, value: str, content_type: str) -> bytes:
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        raise Failure(
            Code.INVALID_VALUE,
            f"Parameter '{name}' must be base64, the bytes are of type '{content_type}'",
            {"param_name": name, "format": "base64"},
        ) from None
