# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Warnings of limits: slow calls, quotas nearly used up, answers that are cut (R-WARN-3 to 5; warnings document, 4)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..decode.headers import Quota, quotas, seconds_until_reset
from ..errors import response_too_large
from ..table import Row
from .collector import CallWarning

__all__ = ["CODE", "QUOTA", "SLOW", "quota_warning", "slow_warning", "stream_warning", "truncate"]


SLOW = "PERFORMANCE_SLOW_QUERY_WARNING"
QUOTA = "RATE_LIMIT_QUOTA_WARNING"

_SEVERE, _NOTABLE = 10, 2
"""Multiples of the threshold from which on a slow call is of high and of medium severity."""

_URGENT = 0.9
_UNITS = {1: "second", 60: "minute", 3600: "hour", 86400: "day"}
"""Names of a quota's window, by its seconds."""

_PAGING = re.compile(r"(^|_)(limit|page|per_page|page_size|size|first|count|offset|cursor|max_results|top)(_|$)")
_FILTERS = "Consider adding filters to narrow results"
_PAGES = "Use pagination for large result sets"


def slow_warning(row: Row, seconds: float, threshold_ms: int) -> CallWarning:
    """Return the warning about a call that took longer than the threshold."""
    duration = round(seconds * 1000)
    details: dict[str, Any] = {"operation": row.name, "duration_ms": duration, "threshold_ms": threshold_ms}
    suggestions = _suggestions(row)
    if suggestions:
        details["suggestions"] = suggestions
    severity = (
        "high" if duration > _SEVERE * threshold_ms else "medium" if duration >= _NOTABLE * threshold_ms else "low"
    )
    return CallWarning(SLOW, f"Operation took {duration}ms (threshold: {threshold_ms}ms)", severity, details)


def _suggestions(row: Row) -> list[str]:
    """Return what this operation offers to make it faster."""
    if row.family != "read":
        return []
    query = [parameter.name for parameter in row.parameters.values() if parameter.location == "query"]
    paging = [name for name in query if _PAGING.search(name)]
    suggestions = []
    if len(query) > len(paging):
        suggestions.append(_FILTERS)
    if paging:
        suggestions.append(_PAGES)
    return suggestions


def quota_warning(headers: Mapping[str, str], percent: int) -> CallWarning | None:
    """Return the warning if `percent` of the fullest quota is used; above 90 % with its limit and its reset."""
    fullest: Quota | None = None
    for quota in quotas(headers):
        if quota.limit > 0 and (fullest is None or quota.remaining * fullest.limit < fullest.remaining * quota.limit):
            fullest = quota
    if fullest is None:
        return None
    current = max(fullest.limit - fullest.remaining, 0)
    threshold = fullest.limit * percent // 100
    if current < threshold or current <= 0:
        return None
    unit = _UNITS.get(fullest.window or 0)
    details: dict[str, str | int] = {
        "metric": f"requests_per_{unit}" if unit else "requests",
        "current": current,
        "warn_threshold": threshold,
    }
    urgent = current > fullest.limit * _URGENT
    if urgent:
        details["hard_stop_threshold"] = fullest.limit
        reset = seconds_until_reset(fullest.reset)
        if reset is not None:
            details["resets_in_seconds"] = reset
    return CallWarning(QUOTA, "Approaching quota limit", "high" if urgent else "medium", details)


CODE = "VALIDATION_TRUNCATED_WARNING"
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def truncate(data: Any, most: int, *, performed: bool = False) -> tuple[Any, CallWarning | None]:
    """Return the data in `most` bytes of JSON or fewer, and the warning if some is lost.

    `performed` says that the call changed something. Raises Failure (PAYLOAD_TOO_LARGE). Costs as much as encoding the
    data, so call it only when the response was long.
    """
    size = _size(data)
    if size <= most:
        return data, None
    if isinstance(data, str):
        return _text(data, size, most)
    longest = max(_lists(data, ()), key=lambda entry: entry[0], default=None)
    if longest is not None:
        weight, path, items = longest
        kept = _count_fitting(items, most - (size - weight))
        if kept:
            field = ".".join(path) or "data"
            return _replaced(data, path, items[:kept]), _warning(field, len(items), kept, "items", most)
    if performed:
        return None, _warning("data", 1, 0, "items", most)
    raise response_too_large(most, size)


def stream_warning(cut: str, data: Any) -> CallWarning:
    """Return the warning that a stream was not read to its end; `cut` says why: events, bytes, time or break."""
    kept = len(data) if isinstance(data, list) else 0
    reason = {
        "events": "no more are taken from a stream",
        "bytes": "an answer may not hold more",
        "time": "the time for listening to a stream is over",
        "break": "the connection broke",
    }.get(cut, "it could not be read further")
    details = {"field": "data", "truncated_count": kept, "limit": kept, "reason": reason}
    return CallWarning(CODE, f"Response truncated to {kept} items: {reason}", "low", details)


def _size(value: Any) -> int:
    text = _encode(value)
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _lists(value: Any, path: tuple[str, ...]) -> Iterator[tuple[int, tuple[str, ...], list[Any]]]:
    """Yield every list within objects, with its size and path."""
    if isinstance(value, list):
        yield _size(value), path, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _lists(inner, (*path, key))


def _count_fitting(items: list[Any], room: int) -> int:
    """Count the leading items that fit into a list of `room` bytes."""
    room -= 1  # the brackets, less the comma that the last item does not need
    for index, item in enumerate(items):
        room -= _size(item) + 1
        if room < 0:
            return index
    return len(items)


def _replaced(data: Any, path: tuple[str, ...], items: list[Any]) -> Any:
    if not path:
        return items
    return {**data, path[0]: _replaced(data[path[0]], path[1:], items)}


def _text(text: str, size: int, most: int) -> tuple[str, CallWarning]:
    kept = text
    while size > most:
        kept = kept[: max(0, min(len(kept) * most // size, len(kept) - 1))]
        size = _size(kept)
    return kept, _warning("data", len(text), len(kept), "characters", most)


def _warning(field: str, original: int, kept: int, what: str, most: int) -> CallWarning:
    severity = "medium" if kept * 2 < original else "low"
    details = {
        "field": field,
        "original_count": original,
        "truncated_count": kept,
        "limit": kept,
        "max_response_size": most,
    }
    return CallWarning(CODE, f"Response truncated to {kept} {what}", severity, details)
