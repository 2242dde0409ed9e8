"""From the API's response to data under the agent's names (OpenAPI 3.1, Responses Object; R-SEL-1, R-ERR-2)."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from .bodies import is_json, is_text, media_type
from .errors import Code, Failure
from .names import Names
from .speech import redact
from .table import Row
from .wire import ApiResponse

__all__ = ["declared", "decode"]

_JSON = json.JSONDecoder(parse_constant=lambda _: None)  # NaN and Infinity are no JSON: null
_EMPTY = frozenset({204, 205, 304})


def decode(
    response: ApiResponse, row: Row, params: Mapping[str, Any], names: Names, secrets: frozenset[str] = frozenset()
) -> Any:
    """Give the data of an answer. Raises Failure when its status tells one, or its body is not what it says it is."""
    status = response.status
    if not 200 <= status < 300:
        if 300 <= status < 400 and _has(row, status):
            location = response.headers.get("location")
            if location is not None:
                return {"location": redact(location, secrets)}
        else:
            from .statuses import failure_of

            raise failure_of(response, row, params, secrets)
    if status in _EMPTY or not response.content:
        return None
    answer = declared(row, status)
    data = _data(response, str(answer.get("content_type") or ""))
    schema = answer.get("schema")
    return data if not isinstance(schema, Mapping) else names.to_agent(data, schema)


def declared(row: Row, status: int) -> Mapping[str, Any]:
    """Give what the document says of a status: by itself, by its range, or by default; empty when nothing."""
    responses = row.responses
    found = responses.get(str(status))
    if found is None:
        found = responses.get(f"{status // 100}XX") or responses.get("default")
    return found or {}


def _has(row: Row, status: int) -> bool:
    return str(status) in row.responses or f"{status // 100}XX" in row.responses


def _data(response: ApiResponse, promised: str) -> Any:
    told = response.headers.get("content-type", "")
    kind, wanted = media_type(told), media_type(promised)
    if is_json(kind) or (not kind and is_json(wanted)):
        return _json(response.content, told)
    if is_json(wanted) and kind in ("text/plain", "text/html", "text/javascript", "application/javascript"):
        try:
            return _json(response.content, told)  # JSON under a careless name
        except Failure:
            if kind != "text/plain":
                raise
    if is_text(kind) or (not kind and is_text(wanted)):
        return response.content.decode(_charset(told), errors="replace")
    return {
        "content": base64.b64encode(response.content).decode("ascii"),
        "encoding": "base64",
        "mime_type": kind or wanted or "application/octet-stream",
    }


def _json(content: bytes, content_type: str) -> Any:
    charset = _charset(content_type) if "charset" in content_type else json.detect_encoding(content)
    try:
        return _JSON.decode(content.decode(charset).removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        raise Failure(
            Code.INTERNAL_ERROR,
            "Internal error: the API promised JSON and answered with something else",
            {"content_type": content_type},
        ) from None


@lru_cache(256)
def _charset(content_type: str) -> str:
    """Give the charset of a content type; UTF-8 when it names none that is known."""
    for part in content_type.split(";")[1:]:
        key, _, value = part.partition("=")
        if key.strip().lower() == "charset":
            name = value.strip().strip("\"'")
            try:
                "".encode(name)
            except (LookupError, ValueError):
                return "utf-8"
            return name
    return "utf-8"
