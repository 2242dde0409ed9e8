# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The answer to introspect, query `quota_status` (rate limiting document, 6.2)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING, Any

from ..text import line
from .counting import iso_time

if TYPE_CHECKING:
    from ..client.quotas import KnownLimit
    from .counting import Quotas, Use

__all__ = ["quota_status"]

_MOST, _LONGEST = 50, 80
"""The most limits of the API that are shown, and the longest name of one: these are the API's words."""
_WINDOWS = {1: "second", 60: "minute", 3600: "hour", 86400: "day"}


async def quota_status(adapter: str, quotas: Quotas | None, api_limits: Iterable[KnownLimit]) -> dict[str, Any]:
    """Return what is used of the owner's quotas, and what the API last said of its own limits."""
    known = {}
    ends = []
    for limit in islice(api_limits, _MOST):
        entry: dict[str, Any] = {"limit": limit.limit} if limit.limit else {}
        entry["remaining"] = limit.remaining
        window = _WINDOWS.get(limit.window or 0)
        if window:
            entry["window"] = window
        entry["resets_at"] = iso_time(limit.ends)
        known[line(limit.name, _LONGEST) or "default"] = entry
        ends.append(limit.ends)
    uses = [] if quotas is None else await quotas.uses()
    data: dict[str, Any] = {"adapter": adapter, "api_limits": known, "quotas": []}
    if uses is None:
        data["note"] = "The store of the quotas cannot be reached: calls go on and are not counted until it is back"
    elif quotas is not None:
        data["quotas"] = [_shown(use, quotas.config.quota.currency) for use in uses]
        ends += [use.window.ends for use in uses]
    if ends:
        data["next_reset"] = iso_time(min(ends))
    return data


def _shown(use: Use, currency: str) -> dict[str, Any]:
    limit = use.limit
    return {
        "metric": limit.metric,
        "current": limit.shown(use.window.used),
        "warn": limit.shown(limit.warn),
        "pause": limit.shown(limit.pause),
        "hard_stop": limit.shown(limit.most),
        "status": use.status,
        **limit.label(currency),
    }
