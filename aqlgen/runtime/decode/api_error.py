"""An error as the API reports it: its message, its code, and the single faults with the fields that they are about.

Faults are known by their shape: lists of objects with a name, a path or a pointer (RFC 9457, `invalid-params`;
JSON:API, `source`; `loc`, `fieldViolations` and their kin), objects with the names as keys
(`{"errors": {"name": ["…"]}}`), and a name beside the message (`{"error": {"param": "…"}}`). Keys are compared without
case and signs: `ErrorMessage`, `error_message` and `errorMessage` are one. XML is read as the same data.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any
from urllib.parse import unquote

from ..errors import Code
from ..redaction import redact, redacted
from ..schema import unescape
from ..text import folded, words
from ..wire import ApiResponse, is_json, is_xml, media_type
from .attachments import CONTROLS
from .body import decode_text
from .upstream import visible_text

_MISSING = re.compile(
    r"\bmissing|\brequired\b|can(?:'?t|not) be (?:blank|null|empty)|must not be (?:null|empty|blank)", re.IGNORECASE
)
_UNKNOWN = re.compile(
    r"\bunknown (?:param|field|prop|arg|key|name)|\bunrecogni[sz]ed|\bunexpected (?:param|field|prop|arg|key)"
    r"|additional propert|extra_forbidden|extra (?:inputs|fields)|not permitted|cannot find field",
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
_MESSAGES = (
    *("detail", "message", "errordescription", "errormessage", "faultstring", "defaultmessage", "title", "msg"),
    *("description", "reason", "error", "fault", "errormessages", "messages", "errors"),
)
_CODES = ("code", "errorcode", "errcode", "faultcode", "type", "reason", "rule", "keyword")
_NAMES = (
    *("param", "parameter", "field", "loc", "propertypath", "instancepath", "path", "pointer", "name", "property"),
    *("attribute", "location"),
)
_MAPS = ("errors", "fielderrors", "validationerrors", "modelstate", "details")
_HOLDERS = (
    *("message", "messages", "error", *_MAPS, "invalidparams", "detail", "violations", "fieldviolations", "issues"),
    *("elements", "errormessages", "reason", "fault", "body"),
)
"""Folded keys: of messages, the most telling first; of codes, those of the error itself first; of names; of what may
hold faults by their names; and of all that holds what an error reports, as against what it repeats of the request.
"""
PLACES = ("body", "query", "path", "header", "cookie")
WRAPPERS = (*PLACES, "data", "attributes", "params", "relationships")
"""Steps that lead into the request or into its envelope and may be no names themselves."""
_QUOTED = re.compile(r"['\"`]([A-Za-z_][\w.\-\[\]]{0,60})['\"`]")
_CHALLENGE = re.compile(r'\berror_description\s*=\s*"([^"]{1,500})"', re.IGNORECASE)
_LONGEST_CODE = 60
_MAX_TEXT = 262_144
_MAX_DEPTH = 6
_MAX_FAULTS = 50
_MAX_ITEMS = 20
_MAX_STEPS = 20
_MAX_STEP = 100


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault in the API's own words. `steps` lead to what it is about; there are none if it names nothing.

    `place` is the part of the request where the API says so: body, query, path, header or cookie. `listed` says that
    it stands in a list of faults, so that its name surely is one.
    """

    steps: tuple[str, ...] = ()
    place: str = ""
    message: str = ""
    code: str = ""
    listed: bool = True

    @property
    def name(self) -> str:
        """The steps as one text, without those that only lead into the request."""
        steps = self.steps
        while len(steps) > 1 and steps[0] in WRAPPERS:
            steps = steps[1:]
        return ".".join(steps)[:_MAX_STEP]


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
    text = redact(decode_text(response.content[:_MAX_TEXT], content_type).strip(), secrets)
    if is_json(content_type) or text.startswith(("{", "[")):
        has_charset = "charset" in content_type or not is_json(content_type)
        try:
            body = json.loads(text if has_charset else response.content, parse_constant=lambda _: None)
            return _of_data(redacted(body, secrets))
        except (ValueError, RecursionError):
            return _of_text("" if text.startswith(("{", "[", "<")) else text, text)
    if "html" in media_type(content_type) or text[:15].lower().startswith(("<!doctype html", "<html")):
        text, body = "", visible_text(text)
    elif is_xml(content_type) or text.startswith("<"):
        return _of_xml(text)
    else:
        text = body = "" if CONTROLS.search(text) else text
    challenge = _CHALLENGE.search(response.headers.get("www-authenticate", "")) if not text else None
    return _of_text(challenge[1] if challenge is not None else text, body)


def _of_xml(text: str) -> ApiError:
    from .xml import UnreadableXmlError, read_undeclared_xml

    try:
        return _of_data(read_undeclared_xml(text), text)
    except UnreadableXmlError:
        return _of_text("", text)


def _of_text(message: str, body: Any) -> ApiError:
    return ApiError(message, tuple(_quoted(message)), "", message, body)


def _quoted(message: str) -> Iterator[Fault]:
    for name in _QUOTED.findall(message)[:_MAX_ITEMS]:
        yield Fault(steps_of_name(name), listed=False)


def _of_data(data: Any, body: Any = None) -> ApiError:
    """Return the error that data report; its message is the most telling text."""
    reports = list(islice(_reports(data), 2 * _MAX_FAULTS))
    message = next((fault.message for fault in reports if fault.message), "")
    api_code = next((fault.code for fault in reports if fault.code and not fault.steps), "")
    faults = list(dict.fromkeys(fault for fault in reports if fault.steps or fault.listed))[:_MAX_FAULTS]
    evidence = " ".join(f"{fault.message} {fault.code}" for fault in reports[:_MAX_ITEMS])
    if not any(fault.steps for fault in faults):
        faults += _quoted(message)
    return ApiError(message, tuple(faults), api_code, evidence, data if body is None else body)


def _reports(data: Any) -> Iterator[Fault]:
    """Yield the fault of each object and each text of a list, the outer ones first, with the name that it is about."""
    level: list[tuple[Any, tuple[str, ...], bool]] = [(data, (), isinstance(data, list))]
    for depth in range(_MAX_DEPTH):
        inner: list[tuple[Any, tuple[str, ...], bool]] = []
        for value, steps, listed in level[:_MAX_FAULTS]:
            if isinstance(value, list):
                inner += [(item, steps, True) for item in value[:_MAX_ITEMS]]
            elif isinstance(value, str):
                yield Fault(steps, "", value, "", listed)
            elif isinstance(value, Mapping):
                fields = by_folded_key(value)
                place, named = _named(fields, depth)
                message = next((text for key in _MESSAGES if isinstance(text := fields.get(key), str) and text), "")
                yield Fault(steps or named, place, message, _code(fields), listed)
                inner += _within(fields, steps, depth, has_message=bool(message))
        level = inner


def _within(
    fields: Mapping[str, Any], steps: tuple[str, ...], depth: int, *, has_message: bool
) -> Iterator[tuple[Any, tuple[str, ...], bool]]:
    """Yield the parts of an object about an error, each with the steps of its name, and whether it is in a list."""
    for key, held in fields.items():
        if key in _MAPS and isinstance(held, Mapping) and _is_by_name(held):
            yield from ((item, steps_of_name(str(name)), True) for name, item in held.items())
        elif key in _HOLDERS and not isinstance(held, str):
            yield held, (), isinstance(held, list)
        elif steps and not has_message and not isinstance(held, str):  # names within a name
            yield held, (*steps, *steps_of_name(key)), True
        elif not depth and key not in _HOLDERS and _is_list_of_texts(held):  # a map of names without a frame
            yield held, steps_of_name(key), True


def _is_by_name(value: Mapping[str, Any]) -> bool:
    """Return True if the keys of an object are names of parameters and not those of one fault."""
    return not any(key in _MESSAGES and isinstance(text, str) for key, text in by_folded_key(value).items())


def by_folded_key(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object by its keys without what spellings differ in."""
    return {folded(str(key)): value for key, value in body.items()}


def steps_of_name(value: Any) -> tuple[str, ...]:
    """Return the steps in `petId`, `/data/petId`, `items[0][price]`, `$.items.0.price` or `["body", "petId"]`."""
    if isinstance(value, list):
        parts = [str(item) for item in value if isinstance(item, str | int)]
    elif not isinstance(value, str) or len(value) > _MAX_STEPS * _MAX_STEP:
        return ()
    elif value.startswith(("/", "#/")):
        parts = [unescape(unquote(part)) for part in value.split("/")[1:]]
    else:
        for sign in "[]/":
            value = value.replace(sign, ".")
        parts = value.removeprefix("#").split(".")
    steps = (part.strip().strip("'\"")[:_MAX_STEP] for part in parts[: 2 * _MAX_STEPS])
    return tuple(step for step in steps if step not in ("", "$"))[:_MAX_STEPS]


def _is_list_of_texts(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, str) for item in value)


def _named(fields: Mapping[str, Any], depth: int) -> tuple[str, tuple[str, ...]]:
    """Return the place and the steps of the name that an object has itself, or in its `source` (JSON:API)."""
    places = (str(fields.get(key)).lower() for key in ("in", "location"))
    place = next((place for place in places if place in PLACES), "")
    source = fields.get("source")
    if isinstance(source, Mapping):
        fields, depth = by_folded_key(source), 1
    # at the top a path is that of the server; RFC 9457, 3: a pointer is into the content of the request
    keys = sorted(_NAMES if depth else _NAMES[:4], key=lambda key: fields.get(key) in PLACES)  # a place is named last
    for key in keys:
        steps = steps_of_name(fields.get(key))
        if steps:
            return place or ("body" if key == "pointer" else ""), steps
    return place, ()


def _code(fields: Mapping[str, Any]) -> str:
    """Return the first key that is a code: a text or a number."""
    codes = (code for key in _CODES if isinstance(code := fields.get(key), str | int) and code is not True)
    return next((str(code)[:_MAX_STEP] for code in codes if code not in ("", False)), "")
