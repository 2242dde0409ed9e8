# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""A warning before the API's own limit of calls is reached, by its headers (R-WARN-5; warnings document, 4.1)."""

from __future__ import annotations

from collections.abc import Mapping

from ..decode.headers import Quota, quotas, seconds_until_reset
from .collect import Notice

__all__ = ["CODE", "quota_notice"]

CODE = "RATE_LIMIT_QUOTA_WARNING"

_PER = {1: "second", 60: "minute", 3600: "hour", 86400: "day"}
_URGENT = 0.9


def quota_notice(headers: Mapping[str, str], percent: int) -> Notice | None:
    """Give the warning when `percent` of the fullest quota is used; above 90 % it also says where and when it ends."""
    worst: Quota | None = None
    for one in quotas(headers):
        if one.limit > 0 and (worst is None or one.remaining * worst.limit < worst.remaining * one.limit):
            worst = one
    if worst is None:
        return None
    current = max(worst.limit - worst.remaining, 0)
    threshold = worst.limit * percent // 100
    if current < threshold or current <= 0:
        return None
    per = _PER.get(worst.window or 0)
    details: dict[str, str | int] = {
        "metric": f"requests_per_{per}" if per else "requests",
        "current": current,
        "warn_threshold": threshold,
    }
    urgent = current > worst.limit * _URGENT
    if urgent:
        details["hard_stop_threshold"] = worst.limit
        reset = seconds_until_reset(worst.reset)
        if reset is not None:
            details["resets_in_seconds"] = reset
    return Notice(CODE, "Approaching quota limit", "high" if urgent else "medium", details)
