# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Fields and files as the parts of a form (RFC 7578; OpenAPI 3.1.1, Encoding Object's defaults).

An array repeats its name, an object is a part of JSON or of XML, and a field whose schema is that of a file (of no type
of its own, and `contentEncoding: base64`) is one. Kinds of multipart other than form-data get the same parts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from .forms import json_text, parts_by_style
from .styles import as_json, text
from .table import JsonSchema, Parameter
from .uploads import File

__all__ = ["multipart"]

_BYTES = "application/octet-stream"
Read = Callable[[str, Any, str], File]


class _Told(NamedTuple):
    """What the document tells of a field: its content type, or a list of them, its headers, its hints of XML."""

    kind: str = ""
    headers: Mapping[str, str] = {}
    xml: Mapping[str, Any] | None = None


def multipart(kind: str, fields: Mapping[str, Any], declared: Mapping[str, Parameter], read: Read) -> tuple[str, bytes]:
    """Give the content type and the body of fields by wire name; `read(name, value, type)` gives a file."""
    parts = [part for name, value in fields.items() for part in _field(name, value, declared.get(name), read)]
    content = b"".join(parts)
    boundary = hashlib.sha256(content).hexdigest()[:32]  # the same call is the same bytes; none can hold its own hash
    limit = b"--" + boundary.encode()
    body = b"".join(limit + b"\r\n" + part + b"\r\n" for part in parts) + limit + b"--\r\n"
    return f"{kind}; boundary={boundary}", body


def _field(name: str, value: Any, field: Parameter | None, read: Read) -> Iterator[bytes]:
    if field is None:
        return _parts(name, value, {}, _Told(), read)
    styled = parts_by_style(name, value, field)
    if styled is not None:
        return (_part(key, one.encode(), "", field.headers) for key, one in styled)
    return _parts(name, value, field.schema, _Told(field.content_type or "", field.headers, field.xml), read)


def _parts(name: str, value: Any, schema: JsonSchema, told: _Told, read: Read) -> Iterator[bytes]:
    """Give the parts of one field."""
    kind, headers, xml = told
    if value is None:
        return
    usual = _first(kind, "")
    bare = usual.partition(";")[0].strip().lower()
    if isinstance(value, list | tuple) and not bare.endswith("json"):
        items = schema.get("items", {})
        for one in value:
            yield from _parts(name, one, items if isinstance(items, Mapping) else {}, told, read)
    elif _is_file(value, schema):
        file = read(name, value, _first(kind, _BYTES))
        yield _part(name, file.content, file.mime_type or _fitting(file, kind), headers, file.filename or name)
    elif isinstance(value, Mapping) and xml is not None:
        yield _part(name, _xml(name, value, xml), usual, headers)
    elif bare.endswith("json"):
        yield _part(name, json_text(value).encode(), usual, headers)
    elif isinstance(value, Mapping | list | tuple):
        yield _part(name, as_json(value).encode(), usual or "application/json", headers)
    else:
        yield _part(name, text(value).encode(), usual, headers)


def _is_file(value: Any, schema: JsonSchema) -> bool:
    """Whether a field is a file; of one that may be a text too, an object is."""
    if schema.get("x-file") == "object":
        return isinstance(value, Mapping)
    return schema.get("contentEncoding") == "base64" and "type" not in schema


def _xml(name: str, value: Any, hints: Mapping[str, Any]) -> bytes:
    from .xmltext import xml_text

    return xml_text(value, {**hints, "root": {"name": name, **hints["root"]}}).encode()


def _first(kinds: str, usual: str) -> str:
    """Give the first content type of a list that is no range; the usual one when there is none."""
    return next((one.strip() for one in kinds.split(",") if one.strip() and "*" not in one), usual)


def _fitting(file: File, kinds: str) -> str:
    """Give the type of a file that was not told: the one of its name where the document admits it, else the first."""
    guess = None
    if file.filename:
        from mimetypes import MimeTypes

        guess = MimeTypes().guess_type(file.filename)[0]
    admitted = [one.strip() for one in kinds.split(",") if one.strip()]
    if guess and (not admitted or any(_within(guess, one) for one in admitted)):
        return guess
    return _first(kinds, _BYTES)


def _within(kind: str, admitted: str) -> bool:
    return admitted in (kind, "*/*", kind.partition("/")[0] + "/*")


def _part(
    name: str, content: bytes, content_type: str, headers: Mapping[str, str], filename: str | None = None
) -> bytes:
    head = f'Content-Disposition: form-data; name="{_quoted(name)}"'
    if filename is not None:
        head += f'; filename="{_quoted(filename)}"'
    if content_type:
        head += f"\r\nContent-Type: {content_type}"
    for key, value in headers.items():
        head += f"\r\n{key}: {value}"
    return head.encode() + b"\r\n\r\n" + content


def _quoted(text: str) -> str:
    return text.replace("\r", "%0D").replace("\n", "%0A").replace('"', "%22")
