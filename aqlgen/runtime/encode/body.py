# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The body of a request, from parameters to bytes (OpenAPI 3.1, Media Type Object)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import Code, Failure
from ..media import FORM, JSON, admits_json, is_json, is_json_lines, is_multipart, is_text, media_type, stream_form
from ..schema.field_names import Names
from ..table import Body, Parameter, Row
from .forms import encode_multipart, form_pairs
from .framing import check_names
from .styles import as_json
from .uploads import Files

__all__ = ["assemble_body", "encode_body"]

_NO_FILES = Files()


def assemble_body(row: Row, params: Mapping[str, Any], names: Names) -> Any:
    """Return the body under the API's names; None when there is none to send."""
    body = row.body
    if body is None:
        return None
    if row.presets or row.fixed:
        params = {**row.presets, **params, **row.fixed_values}
    if body.shape == "whole":
        parameter = row.sent_parameters.get(body.parameter or "")
        constants = _constants(row, body, names) if row.fixed else {}
        if parameter is None or parameter.name not in params:
            return constants or None
        value = names.to_wire(params[parameter.name], parameter.schema)
        return {**value, **constants} if constants and isinstance(value, Mapping) else value
    fields: dict[str, Any] = {}
    further_fields: Any = None
    has_fields = False
    for name, parameter in row.sent_parameters.items():
        if name not in params:
            continue
        if parameter.location == "body":
            fields[parameter.wire] = names.to_wire(params[name], parameter.schema)
            has_fields = True
        elif parameter.location == "body_rest":
            further_fields = names.to_wire(params[name], parameter.schema)
            has_fields = True
    if isinstance(further_fields, Mapping):
        fields = {**further_fields, **fields}
    return fields if has_fields or body.required else None


def _constants(row: Row, body: Body, names: Names) -> dict[str, Any]:
    """Return the fields that the owner fixed within a body that is one parameter, under the API's names."""
    fixed = [field for field in row.fixed.values() if field.location == "body" and field.name != body.parameter]
    return {field.wire: names.to_wire(field.preset, field.schema) for field in fixed}


def encode_body(row: Row, body: Body, value: Any, files: Files = _NO_FILES) -> tuple[str, bytes]:
    """Return the content type and the bytes of an assembled body. Raises Failure for a type that is not served."""
    if isinstance(value, Mapping):
        check_names(value, body.parameter or "body")
    content_type = body.content_type
    if admits_json(content_type):
        return (content_type if is_json(content_type) else JSON), _json_bytes(value)
    if is_json_lines(content_type) and isinstance(value, list | tuple):
        separator = b"\x1e" if stream_form(content_type) == "sequence" else b""
        return content_type, b"".join(separator + _json_bytes(item) + b"\n" for item in value)
    if isinstance(value, Mapping):
        if media_type(content_type) == FORM:
            return content_type, "&".join(form_pairs(value, _declared_fields(row, body))).encode()
        if is_multipart(content_type):
            return encode_multipart(content_type, value, _declared_fields(row, body), files.read)
    if body.xml is not None and not isinstance(value, str):
        from .xml import encode_xml

        return content_type, _utf8_bytes(encode_xml(value, body.xml))
    if body.shape == "whole" and not is_multipart(content_type):
        if is_text(content_type) and isinstance(value, str):
            return _encode_text(content_type, value)
        if not is_text(content_type) and isinstance(value, str | Mapping):
            file = files.read(body.parameter or "body", value, content_type)
            return (file.mime_type or content_type if "*" in content_type else content_type), file.content
    raise Failure(
        Code.INTERNAL_ERROR,
        f"Internal error: a body of type '{content_type}' cannot be sent yet by this adapter",
        {"content_type": content_type},
    )


def _declared_fields(row: Row, body: Body) -> Mapping[str, Parameter]:
    """Return the fields whose encoding the document declares, by wire name."""
    if body.shape == "whole":
        return body.fields
    return {parameter.wire: parameter for parameter in row.sent_parameters.values() if parameter.location == "body"}


def _encode_text(content_type: str, value: str) -> tuple[str, bytes]:
    """Return a text in the charset of its content type, else in UTF-8, which is declared where it matters."""
    from email.message import Message

    from ..decode.body import known_charset

    message = Message()
    message["Content-Type"] = content_type
    charset = message.get_content_charset()
    if charset is None:
        return (content_type if value.isascii() else f"{content_type}; charset=utf-8"), _utf8_bytes(value)
    codec = known_charset(charset)
    if codec is None:
        return content_type, _utf8_bytes(value)
    try:
        return content_type, value.encode(codec)
    except UnicodeEncodeError:
        if charset in ("utf-8", "utf8"):
            raise
        raise Failure(
            Code.INVALID_VALUE, f"The body is sent in {charset}, which lacks some of its characters"
        ) from None


def _json_bytes(value: Any) -> bytes:
    try:
        return _utf8_bytes(as_json(value))
    except ValueError as error:
        if isinstance(error, UnicodeError):
            raise
        raise Failure(Code.INVALID_VALUE, "The body holds a number unknown to JSON, such as NaN") from None


def _utf8_bytes(value: str) -> bytes:
    try:
        return value.encode()
    except UnicodeEncodeError:
        raise Failure(Code.INVALID_ENCODING, "Invalid character encoding in request") from None
