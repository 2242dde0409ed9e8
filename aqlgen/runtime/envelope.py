"""The two envelopes, and how they become the result of an MCP tool call (specification, 5; R-ENV-1 to 3)."""

from __future__ import annotations

import itertools
import math
import secrets
from collections.abc import Mapping, Sequence
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from .errors import Code
from .exact_json import ExactFloat, with_floats, write_json
from .text import escaped

if TYPE_CHECKING:
    from mcp.types import CallToolResult

    from .wire import ApiResponse

Envelope: TypeAlias = dict[str, Any]

_SHOW_BOTH = {"github-copilot-developer": "Copilot CLI, github/copilot-cli#4515"}
"""Clients, by the name that they give, that show a model both the text of a result and its structured content."""
_REFERENCE = "The answer is the structured content."

_process = secrets.token_hex(4)
_count = itertools.count(1)


class Stamp:
    """The id and the beginning of a request, from which its `_meta` is made; `last` is the API's last answer to it."""

    __slots__ = ("_begin", "last", "request_id")

    def __init__(self) -> None:
        self.request_id = f"req_{_process}_{next(_count):x}"
        self.last: ApiResponse | None = None
        self._begin = perf_counter_ns()

    def meta(self) -> dict[str, Any]:
        """Return request_id and duration_ms up to now (R-ENV-2)."""
        return {"request_id": self.request_id, "duration_ms": round(self.seconds * 1000, 3)}

    @property
    def seconds(self) -> float:
        """The time since the beginning."""
        return (perf_counter_ns() - self._begin) / 1e9

    def mark(self, failed: Envelope, session_id: str | None) -> None:
        """Add the ids by which log and audit know a request to the details of its failure."""
        ids = {"request_id": self.request_id} | ({} if session_id is None else {"session_id": session_id})
        failed["error"]["details"] = {**failed["error"].get("details", {}), **ids}


class CallWarning(NamedTuple):
    """One warning. Without a severity it counts as medium."""

    code: str
    message: str
    severity: str | None = None
    details: Mapping[str, Any] | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the warning as the envelope shows it."""
        content: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.details:
            content["details"] = dict(self.details)
        if self.severity is not None:
            content["severity"] = self.severity
        return content


def success(data: Any, meta: Mapping[str, Any] | None = None, warnings: Sequence[Mapping[str, Any]] = ()) -> Envelope:
    """Build the success envelope; `warnings` and `_meta` are absent when there are none."""
    envelope: Envelope = {"success": True, "data": data}
    if warnings:
        envelope["warnings"] = list(warnings)
    if meta is not None:
        envelope["_meta"] = meta
    return envelope


def tool_result(envelope: Envelope, client: str = "") -> CallToolResult:
    """Build the tool's result for a client: the envelope as structured content and as compact JSON.

    `isError` is true only for what an agent cannot repair (R-ENV-3). In the text, characters that are not seen stand as
    escapes of JSON: the data are the same, and nothing hides in them.
    """
    from mcp.types import CallToolResult, TextContent

    failed = not envelope["success"] and envelope["error"]["code"] == Code.INTERNAL_ERROR
    try:
        text = escaped(write_json(envelope))
    except ValueError:
        envelope = _encodable(envelope)
        text = escaped(write_json(envelope))
    content = TextContent(type="text", text=_REFERENCE if client in _SHOW_BOTH else text)
    return CallToolResult(content=[content], structured_content=with_floats(envelope, to_show=True), is_error=failed)


def _encodable(value: Any) -> Any:
    """Replace what an API may send and JSON cannot carry: halves of surrogate pairs, NaN and infinities."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_encodable(key): _encodable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_encodable(item) for item in value]
    if type(value) is ExactFloat:
        return value
    return None if isinstance(value, float) and not math.isfinite(value) else value
