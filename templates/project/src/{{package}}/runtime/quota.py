"""A warning before the API's own limit of calls is reached, read from its headers (R-WARN-5; warnings document, 4.1).

Three families of headers are known: `X-RateLimit-Limit` and its kin, `RateLimit-Limit` of the older drafts, and
`RateLimit` with `RateLimit-Policy` of the newer ones (draft-ietf-httpapi-ratelimit-headers).
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from .notices import QUOTAS, Notice

__all__ = ["CODE", "quota_notice"]

CODE = "RATE_LIMIT_QUOTA_WARNING"

_PER = {1: "second", 60: "minute", 3600: "hour", 86400: "day"}
_WINDOWS = {f"-{name}": seconds for seconds, name in _PER.items()}
_EPOCH = 1_000_000_000
_NUMBER = re.compile(r"\s*([0-9]{1,15})")
_ITEM = re.compile(r'\s*"?([^",;]*)"?((?:\s*;\s*[a-z]+\s*=\s*"?[^";,]*"?)*)\s*(?:,|$)')
_ARGUMENT = re.compile(r'([a-z]+)\s*=\s*"?([0-9]{1,15})')
_URGENT = 0.9


class _Quota(NamedTuple):
    limit: int
    remaining: int
    reset: str = ""
    window: int | None = None


def quota_notice(headers: Mapping[str, str], percent: int) -> Notice | None:
    """Give the warning when `percent` of the fullest quota is used; above 90 % it also says where and when it ends."""
    worst: _Quota | None = None
    for one in _quotas(headers):
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
        reset = _seconds(worst.reset)
        if reset is not None:
            details["resets_in_seconds"] = reset
    return Notice(CODE, "Approaching quota limit", "high" if urgent else "medium", details)


def _quotas(headers: Mapping[str, str]) -> Iterator[_Quota]:
    """Give every quota that the headers tell of."""
    policies = _policies(headers["ratelimit-policy"]) if "ratelimit-policy" in headers else {}
    for name in headers.keys() & QUOTAS.keys():
        limit_name, reset_name, suffix = QUOTAS[name]
        remaining, limit = _number(headers[name]), _number(headers.get(limit_name, ""))
        if remaining is not None and limit is not None:
            window = _WINDOWS.get(suffix)
            if window is None and policies:
                window = next((window for quota, window in policies.values() if quota == limit), None)
            yield _Quota(limit, remaining, headers.get(reset_name, ""), window)
    if "ratelimit" in headers:
        for name, arguments in _items(headers["ratelimit"]):
            remaining = arguments.get("r", arguments.get("remaining"))
            quota, window = policies.get(name, (arguments.get("limit"), None))
            if remaining is not None and quota is not None:
                yield _Quota(quota, remaining, str(arguments.get("t", arguments.get("reset", ""))), window)


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


def _seconds(value: str) -> int | None:
    """Read a reset: seconds from now, or a point in time in seconds or milliseconds."""
    number = _number(value)
    if number is None or number <= _EPOCH:
        return number
    return max(0, int((number / 1000 if number > _EPOCH * 1000 else number) - time.time()))
