"""The warning that a success came with another content than was asked for, not whole, or without it (R-ERR-2).

The call was carried out whatever the answer looks like, so it is no failure.
"""

from __future__ import annotations

import re
from typing import Any

from ..decode import declared_response
from ..decode.body import decode_text
from ..envelope import CallWarning
from ..table import Row
from ..wire import ApiResponse, admits_nothing, is_json, media_type, stream_form
from .ceiling import CODE

CONTENT = "VALIDATION_UNEXPECTED_CONTENT_WARNING"
_MEDIA_TYPE = re.compile(r"[a-z0-9][a-z0-9.+-]{0,60}+/[a-z0-9][a-z0-9.+-]{0,60}+")
_WITHOUT_CONTENT = frozenset({204, 205, 304})
_CUTS = {
    "events": "no more are taken from a stream",
    "bytes": "it is longer than an answer may be",
    "time": "the time for the call was over",
    "break": "the connection broke",
    "coding": "it could not be decompressed",
    "file": "its file could not be saved",
}
_OF_BYTES = frozenset({"encoding", "was", "content_block"})
"""Keys of what stands for bytes (`decode/attachments`), beside their type."""
_DONE = "The call was carried out."


def unexpected_content(row: Row, response: ApiResponse, data: Any) -> CallWarning | None:
    """Return the warning about the content of a success; None if it is as the document promises."""
    status, content = response.status, response.content
    promised = str(declared_response(row, status).get("content_type") or "")
    if not promised or response.file is not None or status in _WITHOUT_CONTENT or not 200 <= status < 300:
        return None
    if not content.strip():
        problem = "The API answered without the content its document promises"
        return _warning(row, problem, promised, "") if _is_missed(row, status, promised) else None
    content_type = response.headers.get("content-type", "")
    kind = media_type(content_type.partition(",")[0])
    if is_json(promised):
        data = data if row.paging is None else _of_page(data, decode_text(content, content_type))
        problem = _problem_of_json(response, kind, data)
    elif "html" in kind and not any(word in promised for word in ("html", "*")):
        problem = "The API answered with a page of HTML instead of the content asked for"
    else:
        problem = ""
    return _warning(row, problem, promised, kind) if problem else None


def _is_missed(row: Row, status: int, promised: str) -> bool:
    """Return True if an answer of that status has content by the document."""
    is_declared = str(status) in row.responses or f"{status // 100}XX" in row.responses
    return is_declared and not admits_nothing(promised) and row.method not in ("HEAD", "OPTIONS")


def _of_page(data: Any, text: str) -> Any:
    """Return the text that an answer is if it became the only item of a page, else the data."""
    items = data.get("items") if isinstance(data, dict) else None
    item = items[0] if isinstance(items, list) and len(items) == 1 else None
    return item if isinstance(item, str) and text.startswith(item[:200]) else data


def _problem_of_json(response: ApiResponse, kind: str, data: Any) -> str:
    """Return the problem of an answer that should be JSON; "" if it could be read as that."""
    if data is None:
        unread = response.content.strip() != b"null" and is_json(kind)
        return "The API's answer has more values than can be passed on" if unread else ""
    is_text = isinstance(data, str)
    is_bytes = isinstance(data, dict) and "mime_type" in data and not data.keys().isdisjoint(_OF_BYTES)
    if not is_text and not is_bytes:
        return ""
    shape = "text" if is_text else "bytes"
    if kind and not is_json(kind):
        return f"The API answered with another content type than JSON, which was asked for: the data are its {shape}"
    beginning = decode_text(response.content, kind).lstrip()[:1]
    if beginning == ('"' if is_text else "{"):
        return ""
    return f"The API's answer cannot be read as JSON: the data are its {shape}"


def cut_warning(row: Row, response: ApiResponse, data: Any) -> CallWarning:
    """Return the warning about an answer that did not come whole: that of a write, or a stream."""
    reason = _CUTS.get(response.cut, "it broke off")
    if stream_form(response.headers.get("content-type", "")) is not None:
        kept = len(data) if isinstance(data, list) else 0
        details = {"field": "data", "truncated_count": kept, "limit": kept, "reason": reason}
        return CallWarning(CODE, f"Response truncated to {kept} items: {reason}", "low", details)
    came = "the data are incomplete" if data is not None else "there are no data"
    return _warning(row, f"The API's answer is incomplete, because {reason}: {came}", "", "", "medium")


def _warning(row: Row, problem: str, expected: str, received: str, severity: str = "low") -> CallWarning:
    details = {"operation": row.name}
    if expected:
        details["expected"] = media_type(expected)
    if _MEDIA_TYPE.fullmatch(received):
        details["received"] = received
    message = f"{problem}. {_DONE}" if row.family != "read" else f"{problem}."
    return CallWarning(CONTENT, message, severity if not received else "medium", details)
