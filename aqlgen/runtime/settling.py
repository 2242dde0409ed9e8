# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Which warnings a response shows (warnings document, 6.4 and 6.5; R-WARN-6).

Suppressed codes are left out; the same warning more than once becomes one with `occurrence_count`; one that the
session has seen a short time ago is not repeated, unless it has become more urgent; the most urgent stand first, and
where there are too many, a last one says how many were left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from time import monotonic
from typing import Any, TypeAlias

from .config import Config
from .notices import ABOUT_DATA, Notice

__all__ = ["OMITTED", "settle"]

OMITTED = "META_WARNINGS_OMITTED_WARNING"
"""Code of the warning about warnings."""

_RANKS = {"high": 0, "medium": 1, "low": 2}
_IDENTITY = {
    "DEPRECATION_WARNING": ("type", "deprecated_item"),
    "RATE_LIMIT_QUOTA_WARNING": ("metric", "warn_threshold"),
    "PERFORMANCE_SLOW_QUERY_WARNING": ("operation", "threshold_ms"),
    "VALIDATION_TRUNCATED_WARNING": ("field",),
}
"""The details that make two warnings of a code the same; of other codes all of them."""

_PEAKS = frozenset({"current", "duration_ms"})
_STATE = "warnings"
_MOST_KNOWN = 256

Key: TypeAlias = tuple[str, str]


def settle(notices: Iterable[Notice], config: Config, state: dict[str, Any]) -> list[dict[str, Any]]:
    """Give the warnings to show; `state` is the session's, which remembers them."""
    found: dict[Key, Notice] = {}
    counts: dict[Key, int] = {}
    for one in notices:
        if _suppressed(one.code, config.warn_suppress):
            continue
        key = _key(one)
        found[key] = _merged(found[key], one) if key in found else one
        counts[key] = counts.get(key, 0) + 1
    if config.warn_repeat_after:
        known: dict[Key, tuple[float, int]] = state.setdefault(_STATE, {})
        found = {key: one for key, one in found.items() if _is_news(key, one, known, config.warn_repeat_after)}
    shown = [_counted(one, counts[key]) for key, one in found.items()]
    shown.sort(key=_rank)
    if len(shown) > config.warn_most:
        shown = [*shown[: config.warn_most - 1], _omitted(shown[config.warn_most - 1 :], config.warn_most)]
    return [one.as_json() for one in shown]


def _suppressed(code: str, chosen: Iterable[str]) -> bool:
    """Whether a code is among those chosen; one that ends with an underscore stands for its whole category."""
    return any(code == one or (one.endswith("_") and code.startswith(one)) for one in chosen)


def _rank(notice: Notice) -> int:
    return _RANKS.get(notice.severity or "medium", 1)


def _key(notice: Notice) -> Key:
    details = notice.details or {}
    names = _IDENTITY.get(notice.code, details)
    return notice.code, json.dumps([[name, details.get(name)] for name in sorted(names)], default=str)


def _merged(one: Notice, other: Notice) -> Notice:
    """Make one of two: what they agree on, the higher of what is counted, the more urgent of the severities."""
    mine, theirs = one.details or {}, other.details or {}
    details = {
        name: max(value, theirs[name]) if name in _PEAKS else value
        for name, value in mine.items()
        if name in theirs and (name in _PEAKS or theirs[name] == value)
    }
    urgent = min(one, other, key=_rank)
    return Notice(one.code, urgent.message, urgent.severity, details)


def _counted(notice: Notice, count: int) -> Notice:
    return notice if count == 1 else notice._replace(details={**(notice.details or {}), "occurrence_count": count})


def _is_news(key: Key, notice: Notice, known: dict[Key, tuple[float, int]], window: int) -> bool:
    """Whether the session has not seen this within the window, or not as urgent; remembers it."""
    if notice.code.startswith(ABOUT_DATA):  # of this very data, so it is always news
        return True
    now, rank = monotonic(), _rank(notice)
    shown, before = known.get(key, (-float(window), rank))
    if now - shown < window and rank >= before:
        return False
    known.pop(key, None)
    if len(known) >= _MOST_KNOWN:
        known.pop(next(iter(known)))
    known[key] = (now, rank)
    return True


def _omitted(rest: list[Notice], most: int) -> Notice:
    codes = sorted({one.code for one in rest})
    details = {"omitted_count": len(rest), "limit": most, "codes": codes}
    return Notice(OMITTED, f"{len(rest)} further warnings were left out", "low", details)
