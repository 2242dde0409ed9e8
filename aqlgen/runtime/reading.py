# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""From the bytes of an answer to data, by its content type and by what the document promised."""

from __future__ import annotations

import base64
import codecs
import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from .bodies import is_json, is_text, media_type
from .errors import Code, Failure
from .sound import sound

__all__ = ["read", "text_of"]

_JSON = json.JSONDecoder(parse_constant=lambda _: None)  # NaN and Infinity are no JSON: null
_CARELESS = frozenset(
    {
        "text/plain",
        "text/html",
        "text/javascript",
        "application/javascript",
        "application/octet-stream",
        "binary/octet-stream",
    }
)
"""Types under which JSON comes from servers that do not say what they send."""
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_DECLARED = re.compile(rb"""^\s*<\?xml[^>]{0,200}?\bencoding\s*=\s*["']([A-Za-z][\w.:-]{0,40})["']""")
_META = re.compile(rb"""<meta[^>]{0,200}?\bcharset\s*=\s*["']?([A-Za-z][\w.:-]{0,40})""", re.IGNORECASE)
_NOT_FOR_TEXT = frozenset(
    {"idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined", "utf-7", "mbcs", "oem"}
)
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_MOST_VALUES = 3_000_000
"""Values of one JSON text: each takes far more memory than the few bytes that it may be written in."""
_FORM = "application/x-www-form-urlencoded"


def read(content: bytes, content_type: str, promised: str = "") -> Any:
    """Give the data of a content. Raises Failure when JSON was promised and something else came.

    What is neither JSON nor text comes as base64 with its type.
    """
    told = content_type.partition(",")[0] if "multipart" not in content_type else content_type
    kind, wanted = media_type(told), media_type(promised)
    if is_json(kind) or (not kind and is_json(wanted)):
        return _json(content, told)
    if is_json(wanted) and kind in _CARELESS:
        try:
            return _json(content, told)
        except Failure:
            if kind not in ("text/plain", "application/octet-stream", "binary/octet-stream"):
                raise
    if is_text(kind) or (not kind and is_text(wanted)):
        return text_of(content, told, kind)
    if kind == _FORM:
        return _form(text_of(content, told, kind))
    if not kind and not wanted:
        return _guessed(content)
    return _bytes(content, kind or wanted or "application/octet-stream")


def text_of(content: bytes, content_type: str, kind: str = "") -> str:
    """Give a text by its byte order mark, its charset, or what it says of itself; UTF-8 when nothing tells."""
    for mark, name in _BOMS:
        if content.startswith(mark):
            return content.decode(name, errors="replace")
    charset = _charset(content_type)
    if charset is None and (kind.endswith("xml") or kind == "text/html"):
        found = (_META if kind == "text/html" else _DECLARED).search(content[:2048])
        charset = _known(found[1].decode("ascii", "replace")) if found is not None else None
    return content.decode(charset or "utf-8", errors="replace")


def _json(content: bytes, content_type: str) -> Any:
    """Read JSON: as UTF-8, -16 or -32 (RFC 8259), else as its charset says, or as values a line each."""
    if len(content) > _MOST_VALUES:
        values = content.count(b",") + content.count(b"[") + content.count(b"{")
        if values > _MOST_VALUES:
            raise _too_many(values)
    try:
        text = content.decode(json.detect_encoding(content)).removeprefix("\ufeff")
    except UnicodeDecodeError:
        try:
            text = content.decode(_charset(content_type) or "utf-8")
        except UnicodeDecodeError:
            raise _not_json(content_type) from None
    if not text.strip():
        return None
    try:
        data = _JSON.decode(text)
    except RecursionError:
        raise _not_json(content_type) from None
    except ValueError:
        data = _line_by_line(text)
        if data is None:
            raise _not_json(content_type) from None
    return sound(data, content)


def _line_by_line(text: str) -> list[Any] | None:
    """Give the values of an answer that holds more than one, each on its own line."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) < 2 or not lines[0].lstrip().startswith(("{", "[")):
        return None
    try:
        return [_JSON.decode(line) for line in lines]
    except (ValueError, RecursionError):
        return None


def _too_many(values: int) -> Failure:
    details = {"limit_type": "response_values", "limit_value": _MOST_VALUES, "actual_value": values, "unit": "elements"}
    message = f"Payload exceeds response_values limit of {_MOST_VALUES} elements: ask for less, such as a smaller page"
    return Failure(Code.PAYLOAD_TOO_LARGE, message, details)


def _not_json(content_type: str) -> Failure:
    return Failure(
        Code.INTERNAL_ERROR,
        "Internal error: the API promised JSON and answered with something else",
        {"content_type": content_type[:200]},
    )


def _guessed(content: bytes) -> Any:
    """Read an answer that nothing is said of: JSON if it is that, else text if it can be, else bytes."""
    if content.lstrip()[:1] in (b"{", b"["):
        try:
            return _json(content, "")
        except Failure:
            pass
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return _bytes(content, "application/octet-stream")
    return _bytes(content, "application/octet-stream") if _CONTROLS.search(text) else text


def _bytes(content: bytes, kind: str) -> Mapping[str, str]:
    return {"content": base64.b64encode(content).decode("ascii"), "encoding": "base64", "mime_type": kind}


def _form(text: str) -> dict[str, Any]:
    """Give the fields of a form; one that comes more than once is a list."""
    from urllib.parse import parse_qsl

    fields: dict[str, Any] = {}
    try:
        pairs = parse_qsl(text.strip(), keep_blank_values=True, max_num_fields=10_000)
    except ValueError:
        return {"content": text}
    for name, value in pairs:
        if name in fields:
            known = fields[name]
            fields[name] = [*known, value] if isinstance(known, list) else [known, value]
        else:
            fields[name] = value
    return fields


@lru_cache(256)
def _charset(content_type: str) -> str | None:
    """Give the charset of a content type, None when it names none that is known."""
    for part in content_type.split(";")[1:]:
        key, _, value = part.partition("=")
        if key.strip().lower() == "charset":
            return _known(value.strip().strip("\"'"))
    return None


def _known(name: str) -> str | None:
    try:
        found = codecs.lookup(name)
    except (LookupError, ValueError):
        return None
    return found.name if found._is_text_encoding and found.name not in _NOT_FOR_TEXT else None
