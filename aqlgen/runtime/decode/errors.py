# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The API's own words on an error: message, code and parameters, in the shapes that APIs use.

(RFC 9457 and the common ones. Keys are compared without case and signs: `ErrorMessage`, `error_message` and
`errorMessage` are one.)
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..errors import Code
from ..media import FORM, is_json, is_xml, media_type
from ..redaction import redact, redacted
from ..text import folded, words
from ..wire import ApiResponse
from .body import decode_text
from .faults import CODE_KEYS, FAULT_KEYS, Fault, by_folded_key, faults_of, is_list_of_texts, steps_of_name
from .upstream import visible_text

__all__ = ["ApiError", "kind_of_fault", "read_error"]

_MISSING = re.compile(
    r"\bmissing|\brequired\b|can(?:'?t|not) be (?:blank|null|empty)|must not be (?:null|empty|blank)", re.IGNORECASE
)
_UNKNOWN = re.compile(
    r"\bunknown (?:param|field|prop|arg|key|name)|\bunrecogni[sz]ed|\bunexpected (?:param|field|prop|arg|key)"
    r"|additional propert|extra_forbidden|extra (?:inputs|fields)|not permitted|cannot find field",
    re.IGNORECASE,
)
_MESSAGE_KEYS = (
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
_API_CODE_KEYS = ("code", "errorcode", "errcode")
_QUOTED = re.compile(r"['\"`]([A-Za-z_][\w.\-\[\]]{0,60})['\"`]")
_XML_MESSAGE = re.compile(
    r"<(?:\w+:)?(message|errormessage|error_message|faultstring|detail|description|reason|text|title|msg)\b[^<>]*>"
    r"(?:<!\[CDATA\[(.{1,2000}?)\]\]>|([^<]{1,2000}))</",
    re.IGNORECASE,
)
_XML_CODE = re.compile(r"<(?:\w+:)?(?:code|errorcode|faultcode)\b[^<>]*>\s*([\w.:-]{1,100})\s*</", re.IGNORECASE)
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_CHALLENGE = re.compile(r'\berror_description\s*=\s*"([^"]{1,500})"', re.IGNORECASE)
_JSON_MESSAGE = re.compile(
    r'"(?:message|detail|error_description|errorMessage|title|error|msg)"\s*:\s*("(?:[^"\\]|\\.){1,2000}")',
    re.IGNORECASE,
)
_OF_TYPES = frozenset(
    {
        *("type", "parsing", "error", "invalid", "mismatch", "wrong", "bad", "unexpected", "value", "validation"),
        *("string", "str", "text", "int", "integer", "float", "number", "bool", "boolean", "list", "array"),
        *("dict", "object", "map"),
    }
)
"""Words of codes that are about types, with those of JSON and of the validators in use."""
_LONGEST_CODE = 60
_MAX_DEPTH = 4
_MAX_FAULTS = 5
_MAX_ITEMS = 20


@dataclass(frozen=True, slots=True)
class ApiError:
    """An error as the API reports it, in its own words. `body` is all of it: data of JSON, else a text; or None.

    `evidence` is the message with all codes, by which its kind is known.
    """

    message: str = ""
    faults: tuple[Fault, ...] = ()
    api_code: str = ""
    evidence: str = ""
    body: Any = None

    @property
    def code(self) -> Code:
        """The kind of fault."""
        return kind_of_fault(self.evidence, self.codes)

    @property
    def codes(self) -> tuple[str, ...]:
        """The API's own codes of the error and of its faults."""
        return tuple(dict.fromkeys(filter(None, (self.api_code, *(fault.code for fault in self.faults)))))


def kind_of_fault(evidence: str, codes: Iterable[str]) -> Code:
    """Return whether a parameter is unknown or missing by the words and codes of an error, else INVALID_VALUE.

    Only a code that is about types, such as `invalid_type`, makes it INVALID_TYPE.
    """
    if _UNKNOWN.search(evidence):
        return Code.UNKNOWN_PARAM
    if _MISSING.search(evidence):
        return Code.MISSING_PARAM
    return Code.INVALID_TYPE if any(map(_is_of_type, codes)) else Code.INVALID_VALUE


def _is_of_type(code: str) -> bool:
    """Return True for a code such as `invalid_type`, `int_parsing`, `type_error.integer` or `typeMismatch`."""
    parts = {*words(code[:_LONGEST_CODE])}
    return not parts.isdisjoint(("type", "parsing")) and parts <= _OF_TYPES


def read_error(response: ApiResponse, secrets: Iterable[str] = ()) -> ApiError:
    """Return the message of an error, its single faults and the whole of it; without any secret."""
    content_type = response.headers.get("content-type", "")
    text = redact(decode_text(response.content[:262_144], content_type).strip(), secrets)
    if not is_json(content_type) and not text.startswith(("{", "[")):
        return _from_text(text, content_type, response.headers)
    try:
        has_charset = "charset" in content_type
        content = response.content if is_json(content_type) and not has_charset else text
        body = redacted(json.loads(content, parse_constant=lambda _: None), secrets)
    except (ValueError, RecursionError):
        return _classified(_message_of_broken_json(text), text)
    return _from_json(body)


def _from_text(text: str, content_type: str, headers: Mapping[str, str]) -> ApiError:
    if "html" in media_type(content_type) or text[:15].lower().startswith(("<!doctype html", "<html")):
        return replace(_challenged("", headers), body=visible_text(text))
    if _CONTROLS.search(text):
        return _challenged("", headers)
    if is_xml(content_type) or text.startswith("<"):
        return _from_xml(text)
    if media_type(content_type) == FORM:
        from urllib.parse import parse_qsl

        return _from_json(dict(parse_qsl(text[:65536])))
    return _challenged(text, headers)


def _challenged(text: str, headers: Mapping[str, str]) -> ApiError:
    """Return an error of this text; if there is none, of what the challenge of a 401 says."""
    challenge = _CHALLENGE.search(headers.get("www-authenticate", "")) if not text else None
    return _classified(challenge[1] if challenge is not None else text, text)


def _message_of_broken_json(text: str) -> str:
    """Return the message of what should be JSON and is not: a bare text, or JSON that was cut or is damaged."""
    if not text.startswith(("{", "[")):
        return "" if text.startswith("<") else text
    match = _JSON_MESSAGE.search(text)
    try:
        return str(json.loads(match[1])) if match is not None else ""
    except ValueError:
        return ""


def _from_json(body: Any) -> ApiError:
    return _classified(_whole_message(body), body, _all_codes(body), _api_code(body), tuple(faults_of(body)))


def _from_xml(text: str) -> ApiError:
    from html import unescape

    matches = reversed(list(_XML_MESSAGE.finditer(text[:65536])))  # the first of a name wins
    texts = {folded(match[1]): (match[2] or unescape(match[3])).strip() for match in matches}
    message = next((texts[key] for key in _MESSAGE_KEYS if texts.get(key)), "")
    code = _XML_CODE.search(text[:65536])
    api_code = code[1] if code is not None else ""
    return _classified(message, text, api_code, api_code)


def _classified(
    message: str, body: Any, codes: str = "", api_code: str = "", faults: tuple[Fault, ...] = ()
) -> ApiError:
    if not any(fault.steps for fault in faults):
        quoted = (Fault(steps_of_name(name), listed=False) for name in _QUOTED.findall(message)[:_MAX_ITEMS])
        faults = (*faults, *quoted)
    return ApiError(message, faults, api_code, f"{message} {codes}", body)


def _whole_message(body: Any) -> str:
    """Return the most telling message, with what the list of single faults adds to it."""
    message = _message(body, 0)
    if not isinstance(body, Mapping):
        return message
    fields = by_folded_key(body)
    inner = fields.get("error")
    for holder in (fields, by_folded_key(inner) if isinstance(inner, Mapping) else {}):
        for key in FAULT_KEYS:
            faults = list(dict.fromkeys(_faults(holder.get(key))))[:_MAX_FAULTS]
            if faults:
                return _joined(message, faults)
    return message


def _joined(message: str, faults: list[str]) -> str:
    if not message or message in faults or any(fault.endswith(f": {message}") for fault in faults):
        return "; ".join(faults)
    further = [fault for fault in faults if fault not in message]
    return f"{message.rstrip('. ')}: {'; '.join(further)}" if further else message


def _faults(value: Any) -> Iterator[str]:
    """Yield the message of each single fault, with the name that it is about."""
    if isinstance(value, Mapping):
        for name, item in list(value.items())[:_MAX_ITEMS]:
            message = _message(item, 1)
            if message:
                yield f"{name}: {message}"
    elif isinstance(value, list):
        for item in value[:_MAX_ITEMS]:
            message = _message(item, 1)
            if message:
                name = next((fault.name for fault in faults_of([item])), "") if isinstance(item, Mapping) else ""
                yield f"{name}: {message}" if name and name not in message else message


def _message(body: Any, depth: int) -> str:
    """Return one message: a detail before a title, a message before a bare code."""
    if isinstance(body, str):
        return body
    if depth > _MAX_DEPTH:
        return ""
    if isinstance(body, list):
        items = body[:_MAX_FAULTS]
        texts = [item for item in items if isinstance(item, str) and item]
        return "; ".join(texts) or next((message for item in items if (message := _message(item, depth + 1))), "")
    return _message_of_object(body, depth) if isinstance(body, Mapping) else ""


def _message_of_object(body: Mapping[str, Any], depth: int) -> str:
    fields = by_folded_key(body)
    for key in (*_MESSAGE_KEYS, *(() if not isinstance(fields.get("errors"), str) else ("errors",))):
        value = fields.get(key)
        if value and isinstance(value, str | Mapping | list):
            message = _message(value, depth + 1)
            if message:
                return message
    for key in FAULT_KEYS:
        fault = next(_faults(fields.get(key)), "") if depth else ""
        if fault:
            return fault
    if body and all(is_list_of_texts(value) for value in body.values()):  # faults by parameter, nothing around them
        return next(_faults(body), "")
    return ""


def _all_codes(body: Any) -> str:
    """Return the codes and types within an error, which show its kind more surely than its words."""
    codes: list[str] = []
    pending = [(body, 0)]
    while pending and len(codes) < 20:
        value, depth = pending.pop()
        if isinstance(value, Mapping):
            fields = by_folded_key(value)
            codes += [fields[key] for key in CODE_KEYS if isinstance(fields.get(key), str)]
            pending += [(inner, depth + 1) for inner in value.values() if depth < _MAX_DEPTH]
        elif isinstance(value, list):
            pending += [(inner, depth + 1) for inner in value[:_MAX_ITEMS] if depth < _MAX_DEPTH]
    return " ".join(codes)


def _api_code(body: Any) -> str:
    """Return the API's own code of an error, from its top or from the error within."""
    if isinstance(body, list):
        body = body[0] if body else None
    for _ in range(3):
        if not isinstance(body, Mapping):
            return ""
        fields = by_folded_key(body)
        for key in _API_CODE_KEYS:
            value = fields.get(key)
            if isinstance(value, str | int) and not isinstance(value, bool) and str(value):
                return str(value)[:100]
        inner = fields.get("error") or fields.get("errors") or fields.get("fault")
        body = inner[0] if isinstance(inner, list) and inner else inner
    return ""
