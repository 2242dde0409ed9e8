# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The body of a request, from parameters to bytes (OpenAPI 3.1, Media Type Object)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from .errors import Code, Failure
from .forms import form_pairs
from .multipart import multipart
from .names import Names
from .styles import as_json
from .table import Body, Parameter, Row
from .uploads import Files

__all__ = ["assemble", "encode_body", "is_json", "is_lines", "is_text", "media_type"]

_TEXTS = frozenset({"yaml", "x-yaml", "javascript", "graphql", "sql", "x-ndjson", "ndjson", "jsonl", "toml", "csv"})
_LINES = frozenset(
    {"x-ndjson", "ndjson", "jsonl", "x-jsonl", "jsonlines", "x-jsonlines", "json-lines", "x-json-stream", "json-seq"}
)
_FORM = "application/x-www-form-urlencoded"
_NO_FILES = Files()


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


def is_lines(kind: str) -> bool:
    """Whether a media type is JSON values one after the other, such as NDJSON."""
    return kind.partition("/")[2].rpartition("+")[2] in _LINES


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


def encode_body(row: Row, body: Body, value: Any, files: Files = _NO_FILES) -> tuple[str, bytes]:
    """Give the content type and the bytes of an assembled body. Raises Failure for a type that is not served."""
    kind = media_type(body.content_type)
    if is_json(kind) or kind in ("*/*", "application/*"):
        return (body.content_type if is_json(kind) else "application/json"), _json(value)
    if is_lines(kind) and isinstance(value, list | tuple):
        before = b"\x1e" if kind.endswith("json-seq") else b""
        return body.content_type, b"".join(before + _json(one) + b"\n" for one in value)
    if isinstance(value, Mapping):
        if kind == _FORM:
            return body.content_type, "&".join(form_pairs(value, _declared(row, body))).encode()
        if kind.startswith("multipart/"):
            return multipart(body.content_type, value, _declared(row, body), files.read)
    if body.xml is not None and not isinstance(value, str):
        from .xmltext import xml_text

        return body.content_type, _utf8(xml_text(value, body.xml))
    if body.shape == "whole" and not kind.startswith("multipart/"):
        if is_text(kind) and isinstance(value, str):
            return _text(body.content_type, value)
        if not is_text(kind) and isinstance(value, str | Mapping):
            file = files.read(body.parameter or "body", value, body.content_type)
            return (
                file.mime_type or body.content_type if "*" in body.content_type else body.content_type
            ), file.content
    raise Failure(
        Code.INTERNAL_ERROR,
        f"Internal error: a body of type '{body.content_type}' cannot be sent yet by this adapter",
        {"content_type": body.content_type},
    )


def _declared(row: Row, body: Body) -> Mapping[str, Parameter]:
    """Give the fields that say how they are written, by wire name."""
    if body.shape == "whole":
        return body.fields
    return {one.wire: one for one in row.parameters.values() if one.location == "body"}


def _text(content_type: str, value: str) -> tuple[str, bytes]:
    """Give a text in the charset that its content type names, else in UTF-8, which is said where it shows."""
    from email.message import Message

    message = Message()
    message["Content-Type"] = content_type
    charset = message.get_content_charset()
    if charset is None:
        return (content_type if value.isascii() else f"{content_type}; charset=utf-8"), _utf8(value)
    try:
        return content_type, value.encode(charset)
    except LookupError:
        return content_type, _utf8(value)
    except UnicodeEncodeError:
        if charset in ("utf-8", "utf8"):
            raise
        raise Failure(
            Code.INVALID_VALUE, f"The body is sent in {charset}, which lacks some of its characters"
        ) from None


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
