# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Fields of a form: urlencoded in a body or as the whole query, or the parts of a multipart body.

(OpenAPI 3.1.1, Encoding Object and its defaults; RFC 7578.) A field without a style is written by its content type,
which for objects is JSON (3.0.4 and 3.1.1 say so; the older texts' default of `form` would lose the field's own name).
A field with a style is written by that.

In a multipart body an array repeats its name, an object is a part of JSON or of XML, and a field whose schema is that
of a file (without a type, and `contentEncoding: base64`) is a file. Multipart types other than form-data get the same
parts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import quote, quote_plus, unquote

from ..errors import Code, Failure
from ..media import FORM, JSON, OCTETS, is_json, media_type
from ..table import JsonSchema, Parameter
from .framing import is_framing
from .styles import as_json, percent_encoded, query_pairs, wire_text
from .uploads import File, first_type, type_of_file

__all__ = ["encode_multipart", "encode_querystring", "form_pairs"]

ReadFile = Callable[[str, Any, str], File]
_STYLES = frozenset({"form", "spaceDelimited", "pipeDelimited", "tabDelimited", "deepObject"})
_NO_FIELDS: Mapping[str, Parameter] = MappingProxyType({})


def form_pairs(values: Mapping[str, Any], declared: Mapping[str, Parameter] = _NO_FIELDS) -> list[str]:
    """Return the `name=value` pairs of a form; `declared` are the fields with an encoding, by wire name.

    A field that is not among them repeats its name for an array and is JSON for an object; null is left out.
    """
    return [pair for name, value in values.items() for pair in _urlencoded(name, value, declared.get(name))]


def encode_querystring(value: Any, content_type: str, declared: Mapping[str, Parameter]) -> list[str]:
    """Return the parts of a query that is one value: a form, JSON or a text (OpenAPI 3.2, `in: querystring`).

    Null and an empty object make no part.
    """
    if value is None:
        return []
    if media_type(content_type) == FORM and isinstance(value, Mapping):
        return form_pairs(value, declared)
    text = value if isinstance(value, str) and not is_json(content_type) else as_json(value)
    return [percent_encoded(text)] if text else []


def _urlencoded(name: str, value: Any, field: Parameter | None) -> Iterator[str]:
    if field is not None and field.style in _STYLES:
        key = quote(name, safe="")
        yield from query_pairs(key, value, field.style, explode=field.explode, allow_reserved=field.allow_reserved)
    elif field is not None and is_json(field.content_type or "") and value is not None:
        yield f"{quote_plus(name)}={quote_plus(_json_text(value))}"
    else:
        for item in value if isinstance(value, list | tuple) else (value,):
            if item is not None:
                yield f"{quote_plus(name)}={quote_plus(wire_text(item))}"


def _json_text(value: Any) -> str:
    """Return a field's value as JSON; a text that already is an object or an array of JSON stays as it is."""
    if isinstance(value, str) and value.lstrip().startswith(("{", "[")):
        with suppress(ValueError, RecursionError):
            json.loads(value)
            return value
    return as_json(value)


class _PartRules(NamedTuple):
    """What the document says of the parts of a field: a content type or a list of them, headers, hints of XML."""

    content_types: str = ""
    headers: Mapping[str, str] = {}
    xml: Mapping[str, Any] | None = None


def encode_multipart(
    content_type: str, values: Mapping[str, Any], declared: Mapping[str, Parameter], read_file: ReadFile
) -> tuple[str, bytes]:
    """Return the content type and the body of values by wire name; `read_file(name, value, type)` reads a file."""
    parts = [
        part for name, value in values.items() for part in _field_parts(name, value, declared.get(name), read_file)
    ]
    boundary = hashlib.sha256(b"".join(parts)).hexdigest()[:32]  # stable for a call; no part can hold its own hash
    delimiter = b"--" + boundary.encode()
    body = b"".join(delimiter + b"\r\n" + part + b"\r\n" for part in parts) + delimiter + b"--\r\n"
    return f"{content_type}; boundary={boundary}", body


def _field_parts(name: str, value: Any, field: Parameter | None, read_file: ReadFile) -> Iterator[bytes]:
    if field is None:
        return _parts(name, value, {}, _PartRules(), read_file)
    if field.style in _STYLES:  # as the pairs of a query, but nothing is percent-encoded (OpenAPI 3.1.1, appendix C)
        pairs = query_pairs(quote(name, safe=""), value, field.style, explode=field.explode)
        divided = (pair.partition("=") for pair in pairs)
        return (_part(unquote(key), unquote(text).encode(), "", field.headers) for key, _, text in divided)
    return _parts(name, value, field.schema, _PartRules(field.content_type or "", field.headers, field.xml), read_file)


def _parts(name: str, value: Any, schema: JsonSchema, rules: _PartRules, read_file: ReadFile) -> Iterator[bytes]:
    content_types, headers, xml = rules
    if value is None:
        return
    content_type = first_type(content_types, "")
    if isinstance(value, Mapping | list | tuple) and "," in content_types:  # of several types, one that can hold it
        content_type = next(filter(is_json, map(str.strip, content_types.split(","))), content_type)
    if isinstance(value, list | tuple) and not is_json(content_type):
        items = schema.get("items", {})
        for item in value:
            yield from _parts(name, item, items if isinstance(items, Mapping) else {}, rules, read_file)
    elif _is_file(value, schema):
        file = read_file(name, value, first_type(content_types, OCTETS))
        file_type = file.mime_type or type_of_file(file, content_types)
        yield _part(name, file.content, file_type, headers, file.filename or name)
    elif isinstance(value, Mapping) and xml is not None:
        yield _part(name, _xml(name, value, xml), content_type, headers)
    elif is_json(content_type):
        yield _part(name, _json_text(value).encode(), content_type, headers)
    elif isinstance(value, Mapping | list | tuple):
        yield _part(name, as_json(value).encode(), content_type or JSON, headers)
    else:
        yield _part(name, wire_text(value).encode(), content_type, headers)


def _is_file(value: Any, schema: JsonSchema) -> bool:
    """Return True if a field is a file; where it may also be a text, an object is one."""
    if schema.get("x-file") == "object":
        return isinstance(value, Mapping)
    return schema.get("contentEncoding") == "base64" and "type" not in schema


def _xml(name: str, value: Any, hints: Mapping[str, Any]) -> bytes:
    from .xml import encode_xml

    return encode_xml(value, {**hints, "root": {"name": name, **hints["root"]}}).encode()


def _part(
    name: str, content: bytes, content_type: str, headers: Mapping[str, str], filename: str | None = None
) -> bytes:
    head = f'Content-Disposition: form-data; name="{_quoted(name)}"'
    if filename is not None:
        head += f'; filename="{_quoted(filename)}"'
    if content_type:
        head += f"\r\nContent-Type: {content_type}"
    for key, value in headers.items():
        if is_framing(key, of_part=True):
            continue
        head += f"\r\n{key}: {value}"
    return head.encode() + b"\r\n\r\n" + content


def _quoted(text: str) -> str:
    if "\0" in text:
        raise Failure(Code.INVALID_VALUE, "The name of a field or of a file must not hold a zero character")
    return text.replace("\r", "%0D").replace("\n", "%0A").replace('"', "%22")
