# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""What an API says of an error, found in the shapes that APIs use (RFC 9457 and the common ones)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .bodies import is_json, media_type
from .errors import Code
from .reading import text_of
from .shapes import folded
from .speech import redact, redacted
from .upstream_names import LISTS, by_name, is_texts, names_of
from .wire import ApiResponse

__all__ = ["Told", "listen"]

_MISSING = re.compile(
    r"\bmissing|\brequired\b|can(?:'?t|not) be (?:blank|null|empty)|must not be (?:null|empty|blank)", re.IGNORECASE
)
_UNKNOWN = re.compile(
    r"\bunknown (?:param|field|prop|arg|key|name)|\bunrecogni[sz]ed|\bunexpected (?:param|field|prop|arg|key)"
    r"|additional propert|extra_forbidden|extra (?:inputs|fields)|not permitted|cannot find field",
    re.IGNORECASE,
)
_MESSAGES = (
    "detail",
    "message",
    "errordescription",
    "errormessage",
    "errorsummary",
    "faultstring",
    "usermessage",
    "defaultmessage",
    "developermessage",
    "title",
    "msg",
    "description",
    "reason",
    "error",
    "fault",
    "errormessages",
    "messages",
    "text",
)
"""Keys of a message, folded, the most telling first."""
_CODES = ("code", "errorcode", "errcode", "type", "reason", "rule", "keyword", "name")
_OWN_CODES = ("code", "errorcode", "errcode")
_QUOTED = re.compile(r"['\"`]([A-Za-z_][\w.\-\[\]]{0,60})['\"`]")
_XML = re.compile(
    r"<(?:\w+:)?(message|errormessage|error_message|faultstring|detail|description|reason|text|title|msg)\b[^<>]*>"
    r"(?:<!\[CDATA\[(.{1,2000}?)\]\]>|([^<]{1,2000}))</",
    re.IGNORECASE,
)
_XML_CODE = re.compile(r"<(?:\w+:)?(?:code|errorcode|faultcode)\b[^<>]*>\s*([\w.:-]{1,100})\s*</", re.IGNORECASE)
_CHALLENGE = re.compile(r'\berror_description\s*=\s*"([^"]{1,500})"', re.IGNORECASE)
_CUT = re.compile(
    r'"(?:message|detail|error_description|errorMessage|title|error|msg)"\s*:\s*("(?:[^"\\]|\\.){1,2000}")',
    re.IGNORECASE,
)
_DEEPEST = 4
_MOST = 5


@dataclass(frozen=True, slots=True)
class Told:
    """An error in the API's own words; `params` are the names it speaks of, in its own spelling, `own` its own code."""

    message: str = ""
    code: Code = Code.INVALID_TYPE
    params: tuple[str, ...] = ()
    own: str = ""


def listen(response: ApiResponse, secrets: Iterable[str] = ()) -> Told:
    """Find the message, what kind of fault it tells of, and the parameters that it names; no secret is in them."""
    header = response.headers.get("content-type", "")
    kind = media_type(header)
    text = redact(text_of(response.content[:262_144], header, kind).strip(), secrets)
    if not is_json(kind) and not text.startswith(("{", "[")):
        if "html" in kind or text[:15].lower().startswith(("<!doctype html", "<html")):
            text = ""
        elif kind.endswith("xml") or text.startswith("<"):
            return _of_xml(text)
        elif kind == "application/x-www-form-urlencoded":
            from urllib.parse import parse_qsl

            return _of_json(dict(parse_qsl(text[:65536])))
        challenge = _CHALLENGE.search(response.headers.get("www-authenticate", "")) if not text else None
        return _told(challenge[1] if challenge is not None else text, ())
    try:
        body = json.loads(response.content if is_json(kind) and "charset" not in header else text)
        body = redacted(body, secrets)
    except (ValueError, RecursionError):
        return _told(_in_pieces(text), ())
    return _of_json(body)


def _in_pieces(text: str) -> str:
    """Give the message of what is called JSON and is none: a bare text, or JSON that was cut or is damaged."""
    if not text.startswith(("{", "[")):
        return "" if text.startswith("<") else text
    found = _CUT.search(text)
    try:
        return str(json.loads(found[1])) if found is not None else ""
    except ValueError:
        return ""


def _of_json(body: Any) -> Told:
    params = tuple(dict.fromkeys(names_of(body, 0)))
    return _told(_whole_message(body), params, _marks(body), _own_code(body))


def _of_xml(text: str) -> Told:
    from html import unescape

    found = reversed(list(_XML.finditer(text[:65536])))  # the first of a name wins
    named = {folded(one[1]): (one[2] or unescape(one[3])).strip() for one in found}
    message = next((named[key] for key in _MESSAGES if named.get(key)), "")
    code = _XML_CODE.search(text[:65536])
    own = code[1] if code is not None else ""
    return _told(message, (), own, own)


def _told(message: str, params: tuple[str, ...], marks: str = "", own: str = "") -> Told:
    evidence = f"{message} {marks}"
    code = Code.INVALID_TYPE
    if _UNKNOWN.search(evidence):
        code = Code.UNKNOWN_PARAM
    elif _MISSING.search(evidence):
        code = Code.MISSING_PARAM
    return Told(message, code, params or tuple(_QUOTED.findall(message)), own)


def _whole_message(body: Any) -> str:
    """Give the most telling message, and what the list of single faults adds to it."""
    message = _message(body, 0)
    if not isinstance(body, Mapping):
        return message
    known = by_name(body)
    inner = known.get("error")
    for one in (known, by_name(inner) if isinstance(inner, Mapping) else {}):
        for key in LISTS:
            faults = list(dict.fromkeys(_faults(one.get(key))))[:_MOST]
            if faults:
                fresh = [fault for fault in faults if fault not in message]
                if not message or message in faults or any(fault.endswith(f": {message}") for fault in faults):
                    return "; ".join(faults)
                return f"{message.rstrip('. ')}: {'; '.join(fresh)}" if fresh else message
    return message


def _faults(value: Any) -> Iterator[str]:
    """Give the message of every single fault, with the name that it is about."""
    if isinstance(value, Mapping):
        for name, one in list(value.items())[:20]:
            found = _message(one, 1)
            if found:
                yield f"{name}: {found}"
    elif isinstance(value, list):
        for one in value[:20]:
            found = _message(one, 1)
            if found:
                name = next(names_of(one, 1), "") if isinstance(one, Mapping) else ""
                yield f"{name}: {found}" if name and name not in found else found


def _message(body: Any, depth: int) -> str:
    """Give one message: a detail before a title, a message before a bare code."""
    if isinstance(body, str):
        return body
    if depth > _DEEPEST:
        return ""
    if isinstance(body, list):
        texts = [one for one in body[:_MOST] if isinstance(one, str) and one]
        return "; ".join(texts) or next((found for one in body[:_MOST] if (found := _message(one, depth + 1))), "")
    if not isinstance(body, Mapping):
        return ""
    known = by_name(body)
    for key in (*_MESSAGES, *(() if not isinstance(known.get("errors"), str) else ("errors",))):
        value = known.get(key)
        if value and isinstance(value, str | Mapping | list):
            found = _message(value, depth + 1)
            if found:
                return found
    for key in LISTS:
        faults = next(_faults(known.get(key)), "") if depth else ""
        if faults:
            return faults
    if body and all(is_texts(value) for value in body.values()):  # faults by parameter, with nothing around them
        return next(_faults(body), "")
    return ""


def _marks(body: Any) -> str:
    """Give the codes and types of an error, which tell what kind it is more surely than its words."""
    found: list[str] = []
    todo = [(body, 0)]
    while todo and len(found) < 20:
        one, depth = todo.pop()
        if isinstance(one, Mapping):
            known = by_name(one)
            found += [known[key] for key in _CODES if isinstance(known.get(key), str)]
            todo += [(value, depth + 1) for value in one.values() if depth < _DEEPEST]
        elif isinstance(one, list):
            todo += [(value, depth + 1) for value in one[:20] if depth < _DEEPEST]
    return " ".join(found)


def _own_code(body: Any) -> str:
    """Give the API's own code of an error, from its top or from the one error within."""
    if isinstance(body, list):
        body = body[0] if body else None
    for _ in range(3):
        if not isinstance(body, Mapping):
            return ""
        known = by_name(body)
        for key in _OWN_CODES:
            value = known.get(key)
            if isinstance(value, str | int) and not isinstance(value, bool) and str(value):
                return str(value)[:100]
        inner = known.get("error") or known.get("errors") or known.get("fault")
        body = inner[0] if isinstance(inner, list) and inner else inner
    return ""
