# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Warnings of limits: slow calls, quotas nearly used up, streams that are cut (R-WARN-3 to 5; warnings document, 4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..decode.headers import Quota, quotas, seconds_until_reset
from ..table import Row, Table
from .ceiling import CODE
from .collector import CallWarning
from .suggestions import suggestions

__all__ = ["QUOTA", "SLOW", "quota_warning", "slow_warning", "stream_warning"]


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
