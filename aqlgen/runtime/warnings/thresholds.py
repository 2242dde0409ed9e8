"""Warnings of limits: slow calls and quotas nearly used up (R-WARN-4 and 5; warnings document, 4).

What would make a slow call faster is suggested as far as its operation offers it (4.4). Only what the API itself acts
on counts: what the adapter selects or cuts afterwards makes no answer come sooner.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ..calls.selection import items_path
from ..decode import declared_response
from ..decode.headers import Quota, quotas, seconds_until_reset
from ..envelope import CallWarning
from ..schema import union_of
from ..table import ADAPTER, Row, Table
from ..text import folded

SLOW = "PERFORMANCE_SLOW_QUERY_WARNING"
QUOTA = "RATE_LIMIT_QUOTA_WARNING"

_SEVERE, _NOTABLE = 10, 2
"""Multiples of the threshold from which on a slow call is of high and of medium severity."""

_URGENT = 0.9
_UNITS = {1: "second", 60: "minute", 3600: "hour", 86400: "day"}
"""Names of a quota's window, by its seconds."""


def slow_warning(
    row: Row, seconds: float, threshold_ms: int, params: Mapping[str, Any], table: Table | None
) -> CallWarning:
    """Return the warning about a call that took longer than the threshold, with what could make it faster."""
    duration = round(seconds * 1000)
    details: dict[str, Any] = {"operation": row.name, "duration_ms": duration, "threshold_ms": threshold_ms}
    advice = suggestions(row, params, table)
    if advice:
        details["suggestions"] = advice
    severity = (
        "high" if duration > _SEVERE * threshold_ms else "medium" if duration >= _NOTABLE * threshold_ms else "low"
    )
    return CallWarning(SLOW, f"Operation took {duration}ms (threshold: {threshold_ms}ms)", severity, details)


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


_MOST_FILTERS: Final = 3
_LISTING: Final = frozenset({"list", "search", "find", "query"})


def suggestions(row: Row, params: Mapping[str, Any], table: Table | None) -> list[str]:
    """Return how a call of this operation could be faster; `params` are those that it has already."""
    is_list = row.pagination is not None or row.verb in _LISTING or row.returns["name"] == "array"
    return list(_suggestions(row, params, table)) if row.family == "read" and is_list and table is not None else []


def _suggestions(row: Row, params: Mapping[str, Any], table: Table) -> Iterator[str]:
    filters = [f"`{name}`" for name in _filters(row, table) if name not in params]
    if filters:
        yield f"Consider adding filters to narrow results: {', '.join(filters[:_MOST_FILTERS])}"
    size = None if row.pagination is None else row.pagination.size_param
    offered = row.shown_parameters.values()
    sizes = [
        item.name
        for item in offered
        if not item.deprecated and item.wire == ("first" if item.location == ADAPTER else size)
    ]
    if size and sizes and params.get(sizes[0]) not in (1, "1"):
        yield f"Use pagination for large result sets: a smaller `{sizes[0]}`"


def _filters(row: Row, table: Table) -> Iterator[str]:
    """Yield the parameters that have the name of a field of the answer's things."""
    _, thing = items_path(table.types, declared_response(row, 200).get("schema") or {})
    fields = {folded(name) for name in union_of(table.types, thing).properties}
    for item in row.shown_parameters.values():
        if item.location in ("query", "body") and not item.deprecated and folded(item.name) in fields:
            yield item.name
