"""What an API says of an error, found in the shapes that APIs use (RFC 9457 and the common ones)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .bodies import is_json, media_type
from .errors import Code
from .wire import ApiResponse

__all__ = ["Told", "listen"]

_MISSING = re.compile(r"\bmissing|\brequired\b|can'?t be blank|must not be (null|empty|blank)", re.IGNORECASE)
_UNKNOWN = re.compile(
    r"\bunknown (param|field|prop|arg|key)|\bunrecogni[sz]ed|\bunexpected (param|field|prop|arg|key)"
    r"|additional propert|extra_forbidden|extra (inputs|fields)|not permitted",
    re.IGNORECASE,
)
_MESSAGES = (
    "detail",
    "message",
    "error_description",
    "title",
    "msg",
    "description",
    "reason",
    "error_message",
    "error",
)
_PARAMS = ("param", "parameter", "field", "loc", "path", "pointer", "name", "property", "attribute", "location")
_LISTS = ("errors", "invalid_params", "invalid-params", "detail", "details", "violations")
_QUOTED = re.compile(r"['\"`]([A-Za-z_][\w.\-\[\]]{0,60})['\"`]")
_DEEPEST = 4


@dataclass(frozen=True, slots=True)
class Told:
    """An error in the API's own words; `params` are the names it speaks of, in its own spelling."""

    message: str = ""
    code: Code = Code.INVALID_TYPE
    params: tuple[str, ...] = ()


def listen(response: ApiResponse) -> Told:
    """Find the message, what kind of fault it tells of, and the parameters that it names."""
    text = response.content[:65536].decode("utf-8", errors="replace").strip()
    kind = media_type(response.headers.get("content-type", ""))
    if not is_json(kind) and not text.startswith(("{", "[")):
        return Told() if "html" in kind or text.startswith("<") else _told(text, ())
    try:
        body = json.loads(response.content)
    except (ValueError, RecursionError):
        return Told()
    return _told(_message(body, 0), tuple(dict.fromkeys(_params(body, 0))), _marks(body))


def _told(message: str, params: tuple[str, ...], marks: str = "") -> Told:
    evidence = f"{message} {marks}"
    code = Code.INVALID_TYPE
    if _UNKNOWN.search(evidence):
        code = Code.UNKNOWN_PARAM
    elif _MISSING.search(evidence):
        code = Code.MISSING_PARAM
    return Told(message, code, params or tuple(_QUOTED.findall(message)))


def _message(body: Any, depth: int) -> str:
    """Give the most telling message: a detail before a title, a message before a bare code."""
    if isinstance(body, str):
        return body
    if depth > _DEEPEST:
        return ""
    if isinstance(body, list):
        return _message(body[0], depth + 1) if body else ""
    if not isinstance(body, Mapping):
        return ""
    for key in _MESSAGES:
        value = body.get(key)
        if value and isinstance(value, str | Mapping | list):
            found = _message(value, depth + 1)
            if found:
                return found
    errors = body.get("errors")
    if isinstance(errors, Mapping):
        for name, value in errors.items():
            inner = _message(value, depth + 1)
            if inner:
                return f"{name}: {inner}"
    return _message(errors, depth + 1) if errors else ""


def _params(body: Any, depth: int) -> Iterator[str]:
    """Give the names of the parameters that the error is about."""
    if depth > _DEEPEST:
        return
    if isinstance(body, list):
        for one in body[:20]:
            yield from _params(one, depth + 1)
        return
    if not isinstance(body, Mapping):
        return
    for key in _PARAMS if depth else ("param", "parameter", "field"):
        name = _name(body.get(key))
        if name:
            yield name
            break
    for key in ("source", "error", *_LISTS):
        value = body.get(key)
        if key == "errors" and isinstance(value, Mapping):
            yield from (str(name) for name in list(value)[:20])
        elif isinstance(value, list | Mapping):
            yield from _params(value, depth + 1)


def _name(value: Any) -> str:
    """Give a name out of `petId`, `/data/petId`, `body.petId` or `["body", "petId"]`."""
    if isinstance(value, list):
        steps = [str(one) for one in value]
    elif isinstance(value, str):
        steps = [one for one in re.split(r"[/.]", value.removeprefix("#")) if one not in ("", "$")]
    else:
        return ""
    if len(steps) > 1 and steps[0] in ("body", "query", "path", "header", "cookie", "data", "attributes", "params"):
        steps = steps[1:]
    if len(steps) > 1 and steps[0] == "attributes":
        steps = steps[1:]
    return ".".join(steps)[:100]


def _marks(body: Any) -> str:
    """Give the codes and types of an error, which tell what kind it is more surely than its words."""
    found: list[str] = []
    todo = [(body, 0)]
    while todo and len(found) < 20:
        one, depth = todo.pop()
        if isinstance(one, Mapping):
            found += [str(one[key]) for key in ("code", "type", "reason", "rule") if isinstance(one.get(key), str)]
            todo += [(value, depth + 1) for value in one.values() if depth < _DEEPEST]
        elif isinstance(one, list):
            todo += [(value, depth + 1) for value in one[:20] if depth < _DEEPEST]
    return " ".join(found)
