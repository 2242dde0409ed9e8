"""From the bytes of a response to data, by its content type and by what the document promised.

What comes out is fit to be passed on: without halves of surrogate pairs, and not too deep to be written as JSON.
"""

from __future__ import annotations

import codecs
import json
import re
from contextlib import suppress
from typing import Any

from ..errors import Code, Failure, response_too_large
from ..exact_json import read_float, write_json
from ..wire import FORM, OCTETS, charset_of, is_json, is_text, is_xml, known_charset, media_type
from .attachments import CONTROLS, bytes_value

JSON_DECODER = json.JSONDecoder(parse_float=read_float, parse_constant=lambda _: None)
"""The reader of JSON text. NaN and Infinity are no JSON: null."""
_LONGEST_NUMBER = 4000
_LONG_DECODER = json.JSONDecoder(
    parse_float=read_float,
    parse_int=lambda text: int(text) if len(text) <= _LONGEST_NUMBER else text,
    parse_constant=lambda _: None,
)
"""The reader of JSON text with a whole number of more digits than Python reads: that comes as its text."""
_CARELESS = frozenset(
    {"text/plain", OCTETS, "binary/octet-stream", "text/html", "text/javascript", "application/javascript"}
)
"""Types under which JSON comes from servers that do not say what they send."""
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_XML_DECLARATION = re.compile(rb"""^\s*<\?xml[^<>]{0,200}?\bencoding\s*=\s*["']([A-Za-z][\w.:-]{0,40})["']""")
_HTML_META = re.compile(rb"""<meta[^<>]{0,200}?\bcharset\s*=\s*["']?([A-Za-z][\w.:-]{0,40})""", re.IGNORECASE)
_MAX_VALUES = 1_500_000
"""Values of one JSON text: each takes far more memory than the few bytes that it may be written in."""
_MAX_DEPTH = 150
"""Levels that can be passed on to the client with room to spare; anything deeper is given as its JSON."""


class NoJsonError(ValueError):
    """What should be JSON is none."""


class BrokenJsonError(NoJsonError):
    """A JSON object or array breaks off, or is malformed."""


def read_body(content: bytes, content_type: str, promised: str = "", *, strict: bool = False) -> Any:
    """Return the data of a content. Raises Failure when it has more values than can be passed on.

    What should be JSON and cannot be read comes as its text, bytes by what they are (`attachments`). With
    `strict`, a JSON object or array that is broken is a Failure, too.
    """
    if "multipart" not in content_type:
        content_type = content_type.partition(",")[0]
    kind, wanted = media_type(content_type), media_type(promised)
    is_called_json = is_json(kind) or (not kind and is_json(wanted))
    if is_called_json or (is_json(wanted) and kind in _CARELESS):
        try:
            return _read_json(content, content_type)
        except NoJsonError as error:
            if strict and isinstance(error, BrokenJsonError):
                message = "Internal error: the API answered with broken JSON, which is not shown. "
                message += "Try again, or ask for less"
                raise Failure(Code.INTERNAL_ERROR, message, {"reason": "invalid_json"}) from None
            if is_called_json:
                return _text_or_bytes(content, decode_text(content, content_type))
    return _read_other(content, content_type, promised)


def _read_other(content: bytes, content_type: str, promised: str) -> Any:
    """Return the value of content that is not JSON: as text, as the fields of a form, else by its bytes."""
    kind, wanted = media_type(content_type), media_type(promised)
    if is_text(kind) or (not kind and is_text(wanted)):
        return decode_text(content, content_type)
    if kind == FORM:
        return _read_form(decode_text(content, content_type))
    if not kind and not wanted:
        with suppress(NoJsonError):
            if content.lstrip()[:1] in (b"{", b"["):
                return _read_json(content, "")
        with suppress(UnicodeDecodeError):
            return _text_or_bytes(content, content.decode("utf-8-sig"))
        return bytes_value(content, OCTETS)
    return bytes_value(content, kind or wanted or OCTETS)


def decode_text(content: bytes, content_type: str) -> str:
    """Return a text by its byte order mark, its charset, or its own declaration; UTF-8 when there is none."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        if content.startswith(mark):
            return content.decode(encoding, errors="replace")
    charset = charset_of(content_type)
    is_html = media_type(content_type) == "text/html"
    if charset is None and (is_html or is_xml(content_type)):
        declaration = (_HTML_META if is_html else _XML_DECLARATION).search(content[:2048])
        charset = known_charset(declaration[1].decode("ascii", "replace")) if declaration is not None else None
    return content.decode(charset or "utf-8", errors="replace")


def _read_json(content: bytes, content_type: str) -> Any:
    """Read JSON: as UTF-8, -16 or -32 (RFC 8259), else as its charset says, or as a value a line.

    Raises NoJsonError, and Failure when it has too many values.
    """
    if len(content) > _MAX_VALUES:
        values = content.count(b",") + content.count(b"[") + content.count(b"{")
        if values > _MAX_VALUES:
            raise response_too_large(_MAX_VALUES, values, "response_values", "elements")
    try:
        text = content.decode(json.detect_encoding(content)).removeprefix("\ufeff")
    except UnicodeDecodeError:
        try:
            text = content.decode(charset_of(content_type) or "utf-8")
        except UnicodeDecodeError:
            raise NoJsonError from None
    if not text.strip():
        return None
    try:
        data = _decoded(text)
    except RecursionError:
        raise NoJsonError from None
    except ValueError:
        data = _read_lines(text)
        if data is None:
            error = BrokenJsonError if text.lstrip().startswith(("{", "[")) else NoJsonError
            raise error from None
    return sanitize(data, content)


def _decoded(text: str) -> Any:
    """Return the value of JSON text. Raises ValueError and RecursionError."""
    try:
        return JSON_DECODER.decode(text)
    except json.JSONDecodeError:
        raise
    except ValueError:
        return _LONG_DECODER.decode(text)


def _read_lines(text: str) -> list[Any] | None:
    """Return the values of a text that holds more than one, each on its own line; None when it does not."""
    lines = [line for line in text.split("\n") if line.strip()]  # a text may hold other breaks (RFC 8259, 7)
    if len(lines) < 2 or not lines[0].lstrip().startswith(("{", "[")):
        return None
    try:
        return [_decoded(line) for line in lines]
    except (ValueError, RecursionError):
        return None


def _text_or_bytes(content: bytes, text: str) -> Any:
    return bytes_value(content, OCTETS) if CONTROLS.search(text) else text


def _read_form(text: str) -> dict[str, Any]:
    """Return the fields of a form; one that comes more than once is a list."""
    from urllib.parse import parse_qs

    try:
        fields = parse_qs(text.strip(), keep_blank_values=True, max_num_fields=10_000)
    except ValueError:
        return {"content": text}
    return {name: values if len(values) > 1 else values[0] for name, values in fields.items()}


def sanitize(data: Any, content: bytes) -> Any:
    """Return data that can be passed on; it is copied only if `content`, the JSON of it, gives reason for doubt."""
    has_surrogates = b"\\" in content and (b"\\ud" in content or b"\\uD" in content)
    may_be_deep = content.count(b"}") + content.count(b"]") > _MAX_DEPTH
    if not has_surrogates and (not may_be_deep or _depth(data) <= _MAX_DEPTH):
        return data
    return _sanitized_copy(data, 1)


_CONTAINERS = frozenset({dict, list})


def _depth(data: Any) -> int:
    """Count the levels of arrays and objects; stops when there are too many."""
    depth = 0
    level = [data] if isinstance(data, (dict, list)) else []
    while level and depth <= _MAX_DEPTH:
        depth += 1
        level = [
            inner
            for outer in level
            for inner in (outer.values() if outer.__class__ is dict else outer)
            if inner.__class__ in _CONTAINERS  # half the time of isinstance
        ]
    return depth


def _sanitized_copy(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if not isinstance(value, (dict, list)):
        return value
    if depth > _MAX_DEPTH:
        try:
            return write_json(value, json.dumps)
        except RecursionError:
            return None
    if isinstance(value, dict):
        return {_sanitized_copy(key, depth): _sanitized_copy(item, depth + 1) for key, item in value.items()}
    return [_sanitized_copy(item, depth + 1) for item in value]
