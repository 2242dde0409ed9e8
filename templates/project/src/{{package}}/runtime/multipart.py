"""Fields and files as multipart/form-data (RFC 7578; OpenAPI 3.1, Encoding Object's defaults).

An array repeats its name, an object is a part of JSON, and a field whose schema says `contentEncoding: base64` is a
file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from .styles import as_json, text
from .table import JsonSchema, Parameter

__all__ = ["multipart"]


def multipart(
    fields: Mapping[str, Any], declared: Mapping[str, Parameter], decoded: Callable[[str, str], bytes]
) -> tuple[str, bytes]:
    """Give the content type and the body of fields by wire name; `decoded(name, base64)` gives a file's bytes."""
    parts = [
        part
        for name, value in fields.items()
        for part in _parts(name, value, *_declared(declared.get(name)), partial(decoded, name))
    ]
    content = b"".join(parts)
    boundary = hashlib.sha256(content).hexdigest()[:32]  # the same call is the same bytes
    limit = b"--" + boundary.encode()
    body = b"".join(limit + b"\r\n" + part + b"\r\n" for part in parts) + limit + b"--\r\n"
    return f"multipart/form-data; boundary={boundary}", body


def _declared(field: Parameter | None) -> tuple[JsonSchema, str]:
    return ({}, "") if field is None else (field.schema, field.content_type or "")


def _parts(name: str, value: Any, schema: JsonSchema, kind: str, decoded: Callable[[str], bytes]) -> Iterator[bytes]:
    """Give the parts of one field; `kind` is the content type that the document gives it."""
    if value is None:
        return
    if isinstance(value, list | tuple) and not kind.endswith("json"):
        items = schema.get("items", {})
        for one in value:
            yield from _parts(name, one, items if isinstance(items, Mapping) else {}, kind, decoded)
    elif isinstance(value, str) and schema.get("contentEncoding") == "base64":
        yield _part(name, decoded(value), kind or "application/octet-stream", filename=True)
    elif isinstance(value, Mapping | list | tuple):
        yield _part(name, as_json(value).encode(), kind or "application/json")
    else:
        yield _part(name, text(value).encode(), kind)


def _part(name: str, content: bytes, content_type: str = "", *, filename: bool = False) -> bytes:
    quoted = name.replace("\r", "%0D").replace("\n", "%0A").replace('"', "%22")
    head = f'Content-Disposition: form-data; name="{quoted}"'
    if filename:
        head += f'; filename="{quoted}"'
    if content_type:
        head += f"\r\nContent-Type: {content_type}"
    return head.encode() + b"\r\n\r\n" + content
