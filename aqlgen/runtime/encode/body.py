"""The body of a request, from parameters to bytes (OpenAPI 3.1, Media Type Object), and forms, as a body or a query.

Fields of a form are urlencoded in a body or as the whole query, or they are the parts of a multipart body.
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
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import quote, quote_plus, unquote

from ..errors import Code, Failure, invalid
from ..exact_json import holds_whole, write_json
from ..schema import DEMANDED, alternatives, resolve, steps_of
from ..schema.field_names import Names, operations_to_wire
from ..table import Body, JsonSchema, Parameter, Row
from ..wire import (
    FORM,
    JSON,
    JSON_PATCH,
    OCTETS,
    admits_json,
    charset_of,
    is_json,
    is_json_lines,
    is_multipart,
    is_text,
    media_type,
    stream_form,
)
from . import check_names, folded, is_framing
from .styles import check_separable, percent_encoded, query_pairs, wire_text
from .uploads import File, Files, first_type, type_of_file

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
    text = value if isinstance(value, str) and not is_json(content_type) else write_json(value)
    return [percent_encoded(text)] if text else []


def _urlencoded(name: str, value: Any, field: Parameter | None) -> Iterator[str]:
    if field is not None and field.style in _STYLES:
        check_separable(value, field)
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
    return write_json(value)


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
        check_separable(value, field, plain=True)
        pairs = query_pairs(quote(name, safe=""), value, field.style, explode=field.explode)
        divided = (pair.partition("=") for pair in pairs)
        return (_part(unquote(key), unquote(text).encode(), "", field.headers) for key, _, text in divided)
    return _parts(name, value, field.schema, _PartRules(field.content_type or "", field.headers, field.xml), read_file)


def _parts(name: str, value: Any, schema: JsonSchema, rules: _PartRules, read_file: ReadFile) -> Iterator[bytes]:
    content_types, headers, xml = rules
    if value is None:
        return
    content_type = _type_of_part(value, content_types)
    if isinstance(value, list | tuple) and not is_json(content_type):
        items = schema.get("items", {})
        for item in value:
            yield from _parts(name, item, items if isinstance(items, Mapping) else {}, rules, read_file)
    elif _is_file(value, schema):
        file = read_file(name, value, first_type(content_types, OCTETS))
        kind = type_of_file(file, "" if content_types == OCTETS else content_types)  # every file is plain bytes
        yield _part(name, file.content, kind, headers, file.filename or name)
    elif isinstance(value, Mapping) and xml is not None:
        yield _part(name, _xml(name, value, xml), content_type, headers)
    elif is_json(content_type):
        yield _part(name, _json_text(value).encode(), content_type, headers)
    elif isinstance(value, Mapping | list | tuple):
        yield _part(name, write_json(value).encode(), content_type or JSON, headers)
    elif is_text(content_type):
        content_type, content = _encode_text(content_type, wire_text(value))
        yield _part(name, content, content_type, headers)
    else:
        yield _part(name, wire_text(value).encode(), content_type, headers)


def _type_of_part(value: Any, content_types: str) -> str:
    """Return the content type of a part; of several, one that can hold its value."""
    first = first_type(content_types, "")
    if isinstance(value, Mapping | list | tuple) and "," in content_types:
        return next(filter(is_json, map(str.strip, content_types.split(","))), first)
    return first


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


_NO_FILES = Files()


def assemble_body(row: Row, params: Mapping[str, Any], names: Names) -> Any:
    """Return the body under the API's names; None when there is none to send."""
    body = row.body
    if body is None:
        return None
    if row.presets or row.fixed:
        params = {**row.presets, **params, **row.fixed_values}
    if body.shape == "whole":
        return _whole(row, body, params, names)
    fields: dict[str, Any] = {}
    further: Any = {}
    has_fields = body.required
    for name, parameter in row.sent_parameters.items():
        if name in params and parameter.location in ("body", "body_rest"):
            has_fields = True
            value = _sent_value(params[name], parameter, names)
            if parameter.location == "body":
                fields[parameter.wire] = value
            elif isinstance(value, Mapping):
                further = value
    return {**further, **fields} if has_fields else None


def _sent_value(value: Any, parameter: Parameter, names: Names) -> Any:
    """Return a value under the API's names, its whole numbers as integers where these are wanted."""
    if holds_whole(value):
        from .integers import with_integers

        value = with_integers(value, parameter.schema, names.table.types)
    return names.to_wire(value, parameter.schema)


def _whole(row: Row, body: Body, params: Mapping[str, Any], names: Names) -> Any:
    """Return a body that is one parameter, with the fields in it that the owner fixed."""
    parameter = row.sent_parameters.get(body.parameter or "")
    constants = _constants(row, body, names) if row.fixed else {}
    if parameter is None or parameter.name not in params:
        return constants or None
    value = _sent_value(params[parameter.name], parameter, names)
    if isinstance(value, list) and body.content_type == JSON_PATCH:
        renaming = names.renaming(parameter.schema)
        value = value if renaming is None else operations_to_wire(value, renaming)
    return {**value, **constants} if constants and isinstance(value, Mapping) else value


def _constants(row: Row, body: Body, names: Names) -> dict[str, Any]:
    """Return the fields that the owner fixed within a body that is one parameter, under the API's names."""
    fixed = [field for field in row.fixed.values() if field.location == "body" and field.name != body.parameter]
    return {field.wire: names.to_wire(field.preset, field.schema) for field in fixed}


def with_credentials(body: Mapping[str, Any], credentials: Mapping[str, str]) -> dict[str, Any]:
    """Return a body with credentials in its fields: by a field's name, or by its JSON pointer if it is deeper.

    Fields whose names a server may read as that one give way. What a pointer leads through has to be there: no object
    is made for a credential alone.
    """
    whole = dict(body)
    for place, credential in credentials.items():
        *outer, name = steps_of(place) if place.startswith("/") else (place,)
        holder: dict[str, Any] | None = whole
        for step in outer:
            inner = None if holder is None else holder.get(step)
            if holder is not None and isinstance(inner, Mapping):
                inner = holder[step] = dict(inner)
            holder = inner if isinstance(inner, dict) else None
        if holder is not None:
            for other in [other for other in holder if folded(other) == folded(name)]:
                del holder[other]
            holder[name] = credential
    return whole


def demanded_fields(body: Body, value: Any, names: Names, fields: Collection[str]) -> list[str]:
    """Return those of the fields that the alternative requires which a body fits, the fewest if it fits several.

    The body is under the API's names.
    """
    types = names.table.types
    options = [resolve(option, types) for option in alternatives(resolve(body.schema, types))]
    fitting = (option.get(DEMANDED, []) for option in options if _fits(names.to_agent(value, option), option))
    demanded = ([field for field in fields if isinstance(each, list) and field in each] for each in fitting)
    return min(demanded, key=len, default=[])


def _fits(value: Any, schema: JsonSchema) -> bool:
    """Return True for an object that has the fields that a schema requires, each with one of its constants."""
    known = schema.get("properties", {}).items()
    constants = {name: each.get("enum", [each["const"]] if "const" in each else None) for name, each in known}
    is_whole = isinstance(value, Mapping) and value.keys() >= set(schema.get("required", ()))
    return is_whole and all(value[name] in (constants[name] or [value[name]]) for name in value.keys() & constants)


def encode_body(row: Row, body: Body, value: Any, files: Files = _NO_FILES) -> tuple[str, bytes]:
    """Return the content type and the bytes of an assembled body. Raises Failure for a type that is not served."""
    if isinstance(value, Mapping):
        check_names(value, body.parameter or "body")
    content_type = body.content_type
    if body.shape == "whole" and _is_file(None, body.schema):
        file = files.read(body.parameter or "body", value, content_type)
        return type_of_file(file, content_type), file.content
    if "*" in content_type:
        content_type = _for_range(content_type)
    if is_json(content_type):
        return content_type, _json_bytes(value)
    if is_json_lines(content_type) and isinstance(value, list | tuple):
        separator = b"\x1e" if stream_form(content_type) == "sequence" else b""
        return content_type, b"".join(separator + _json_bytes(item) + b"\n" for item in value)
    if isinstance(value, Mapping) and (media_type(content_type) == FORM or is_multipart(content_type)):
        return _encode_form(content_type, value, _declared_fields(row, body), files)
    return _encode_other(body, content_type, value, files)


def _encode_form(
    content_type: str, values: Mapping[str, Any], declared: Mapping[str, Parameter], files: Files
) -> tuple[str, bytes]:
    _check_exploded(values, declared)
    if is_multipart(content_type):
        return encode_multipart(content_type, values, declared, files.read)
    return content_type, "&".join(form_pairs(values, declared)).encode()


def _check_exploded(values: Mapping[str, Any], declared: Mapping[str, Parameter]) -> None:
    """Raise Failure if a pair from within a form's field has the name of another field, or is read as the method."""
    for name, field in declared.items():
        value = values.get(name)
        if isinstance(value, Mapping) and field.style == "form" and field.explode:
            check_names(value, field.name)
            others = set(map(folded, values.keys() - {name}))
            for inner in value:
                if folded(inner) in others:
                    message = f"'{inner}' in '{field.name}' would stand for another field of the body. Leave it out"
                    raise invalid(field.name, message)


def _encode_other(body: Body, content_type: str, value: Any, files: Files) -> tuple[str, bytes]:
    """Return a body that is neither JSON nor a form: XML, a text or a file."""
    if body.xml is not None and not isinstance(value, str):
        from .xml import encode_xml

        return content_type, _utf8_bytes(encode_xml(value, body.xml))
    if body.shape == "whole" and not is_multipart(content_type):
        if is_text(content_type) and isinstance(value, str | int | float):
            return _encode_text(content_type, wire_text(value))
        if not is_text(content_type) and isinstance(value, str | Mapping):
            file = files.read(body.parameter or "body", value, body.content_type)
            return type_of_file(file, body.content_type), file.content
    raise Failure(
        Code.INTERNAL_ERROR,
        f"Internal error: a body of type '{content_type}' cannot be sent yet by this adapter",
        {"content_type": content_type},
    )


def _for_range(content_type: str) -> str:
    """Return the content type for data under a range: a type is sent, never a range (RFC 9110, 8.3)."""
    if admits_json(content_type):
        return JSON
    if is_text(content_type):
        return "text/plain"
    return "multipart/form-data" if is_multipart(content_type) else content_type


def _declared_fields(row: Row, body: Body) -> Mapping[str, Parameter]:
    """Return the fields whose encoding the document declares, by wire name."""
    if body.shape == "whole":
        return body.fields
    return {parameter.wire: parameter for parameter in row.sent_parameters.values() if parameter.location == "body"}


def _encode_text(content_type: str, value: str) -> tuple[str, bytes]:
    """Return a text in the charset of its content type, else in UTF-8, which is declared where it matters."""
    codec = charset_of(content_type)
    if codec is None:
        is_named = "charset" in content_type or value.isascii()
        return (content_type if is_named else f"{content_type}; charset=utf-8"), _utf8_bytes(value)
    try:
        return content_type, value.encode(codec)
    except UnicodeEncodeError:
        if codec == "utf-8":
            raise
        message = f"The body is sent in {codec}, which lacks some of its characters"
        raise Failure(Code.INVALID_VALUE, message) from None


def _json_bytes(value: Any) -> bytes:
    try:
        return _utf8_bytes(write_json(value))
    except ValueError as error:
        if isinstance(error, UnicodeError):
            raise
        raise Failure(Code.INVALID_VALUE, "The body holds a number unknown to JSON, such as NaN") from None


def _utf8_bytes(value: str) -> bytes:
    try:
        return value.encode()
    except UnicodeEncodeError:
        raise Failure(Code.INVALID_ENCODING, "Invalid character encoding in request") from None
