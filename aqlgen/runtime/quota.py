# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""A warning before the API's own limit of calls is reached, read from its headers (R-WARN-5; warnings document, 4.1).

Three families of headers are known: `X-RateLimit-Limit` and its kin, `RateLimit-Limit` of the older drafts, and
`RateLimit` with `RateLimit-Policy` of the newer ones (draft-ietf-httpapi-ratelimit-headers).
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from .notices import QUOTAS, Notice

__all__ = ["CODE", "Quota", "quota_notice", "quotas", "resets_in"]

CODE = "RATE_LIMIT_QUOTA_WARNING"

_PER = {1: "second", 60: "minute", 3600: "hour", 86400: "day"}
_WINDOWS = {f"-{name}": seconds for seconds, name in _PER.items()}
_EPOCH = 1_000_000_000
_NUMBER = re.compile(r"\s*([0-9]{1,15})")
_ITEM = re.compile(r'\s*"?([^",;]*)"?((?:\s*;\s*[a-z]+\s*=\s*"?[^";,]*"?)*)\s*(?:,|$)')
_ARGUMENT = re.compile(r'([a-z]+)\s*=\s*"?([0-9]{1,15})')
_SPAN = re.compile(
    r"(?:([0-9]{1,6})h)?(?:([0-9]{1,6})m)?(?:([0-9]{1,9}(?:\.[0-9]{1,9})?)s)?(?:([0-9]{1,9}(?:\.[0-9]{1,9})?)ms)?"
)
_URGENT = 0.9


class Quota(NamedTuple):
    """A quota as an answer tells of it. `limit` is 0 when it is not told; `reset` is the header as it stands."""

    limit: int
    remaining: int
    reset: str = ""
    window: int | None = None
    name: str = ""


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
        reset = resets_in(worst.reset)
        if reset is not None:
            details["resets_in_seconds"] = reset
    return Notice(CODE, "Approaching quota limit", "high" if urgent else "medium", details)


def quotas(headers: Mapping[str, str]) -> Iterator[Quota]:
    """Give every quota that the headers tell of."""
    policies = _policies(headers["ratelimit-policy"]) if "ratelimit-policy" in headers else {}
    for name in headers.keys() & QUOTAS.keys():
        limit_name, reset_name, suffix = QUOTAS[name]
        remaining, limit = _number(headers[name]), _number(headers.get(limit_name, "")) or 0
        if remaining is not None:
            window = _WINDOWS.get(suffix)
            if window is None and policies:
                window = next((window for quota, window in policies.values() if quota == limit), None)
            reset = headers.get(f"{reset_name}-after") or headers.get(reset_name, "")
            yield Quota(limit, remaining, reset, window, headers.get("x-ratelimit-resource", suffix))
    if "ratelimit" in headers:
        for name, arguments in _items(headers["ratelimit"]):
            remaining = arguments.get("r", arguments.get("remaining"))
            quota, window = policies.get(name, (arguments.get("limit"), None))
            if remaining is not None:
                yield Quota(quota or 0, remaining, str(arguments.get("t", arguments.get("reset", ""))), window, name)


def _policies(value: str) -> dict[str, tuple[int | None, int | None]]:
    """Give quota and window by the policy's name; in older drafts the quota is the name."""
    return {name: (arguments.get("q", _number(name)), arguments.get("w")) for name, arguments in _items(value) if value}


def _items(value: str) -> Iterator[tuple[str, dict[str, int]]]:
    """Read a list of items with whole numbers as parameters (RFC 9651), as leniently as the drafts differ."""
    text = value[:2048]
    if "limit=" in text.replace(" ", "") and ";" not in text:  # a middle draft: limit=100, remaining=50, reset=5
        yield "", {key: int(number) for key, number in _ARGUMENT.findall(text)}
        return
    for name, arguments in _ITEM.findall(text):
        if name or arguments:
            yield name.strip(), {key: int(number) for key, number in _ARGUMENT.findall(arguments)}


def _number(value: str) -> int | None:
    found = _NUMBER.match(value)
    return int(found[1]) if found else None


def resets_in(value: str, now: float | None = None) -> int | None:
    """Give the seconds until a reset: a number of them, a span such as `1m30s`, or a point in time."""
    now = time.time() if now is None else now
    text = value.strip()
    span = _SPAN.fullmatch(text)
    if span is not None and text:
        hours, minutes, seconds, milliseconds = (float(part or 0) for part in span.groups())
        return math.ceil(hours * 3600 + minutes * 60 + seconds + milliseconds / 1000)
    try:
        number = float(text) if len(text) < 32 else math.inf
    except ValueError:
        moment = _moment(text)
        return None if moment is None else max(0, math.ceil(moment - now))
    if not 0 <= number < _EPOCH * 10_000:
        return None
    if number <= _EPOCH:
        return math.ceil(number)
    return max(0, math.ceil((number / 1000 if number > _EPOCH * 1000 else number) - now))


def _moment(text: str) -> float | None:
    """Read a date of ISO 8601 or of HTTP as seconds since the epoch."""
    from datetime import UTC, datetime
    from email.utils import parsedate_to_datetime

    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            moment = read(text[:64])
        except (ValueError, TypeError, IndexError):
            continue
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return None
