# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""The API's own limits of calls, read from the headers of an answer.

Three families of headers are known: `X-RateLimit-Limit` and its relatives, `RateLimit-Limit` of the older drafts, and
`RateLimit` with `RateLimit-Policy` of the newer ones (draft-ietf-httpapi-ratelimit-headers). The patterns are plain
strings, compiled at their first use: every adapter imports this module when it starts, few APIs send these headers.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterator, Mapping
from typing import NamedTuple

__all__ = ["QUOTA_HEADERS", "Quota", "quotas", "seconds_until_reset"]

QUOTA_HEADERS = {
    f"{prefix}remaining{suffix}": (f"{prefix}limit{suffix}", f"{prefix}reset{suffix}", suffix)
    for prefix in ("x-ratelimit-", "ratelimit-", "x-rate-limit-", "rate-limit-")
    for suffix in ("", "-requests", "-second", "-minute", "-hour", "-day")
}
"""Headers that hold what is left of a quota, each with those of its limit and its reset, and the suffix of its name."""

_WINDOWS = {"-second": 1, "-minute": 60, "-hour": 3600, "-day": 86400}
_EPOCH = 1_000_000_000
"""A reset above this number is a point in time, not a number of seconds."""

_NUMBER = r"\s*([0-9]{1,15})"
_ITEM = r'\s*"?([^",;]*)"?((?:\s*;\s*[a-z]+\s*=\s*"?[^";,]*"?)*)\s*(?:,|$)'
_ARGUMENT = r'([a-z]+)\s*=\s*"?([0-9]{1,15})'
_SPAN = r"(?:([0-9]{1,6})h)?(?:([0-9]{1,6})m)?(?:([0-9]{1,9}(?:\.[0-9]{1,9})?)s)?(?:([0-9]{1,9}(?:\.[0-9]{1,9})?)ms)?"


class Quota(NamedTuple):
    """A quota as an answer states it. `limit` is 0 when it is not stated; `reset` is the header's own text."""

    limit: int
    remaining: int
    reset: str = ""
    window: int | None = None
    name: str = ""


def quotas(headers: Mapping[str, str]) -> Iterator[Quota]:
    """Yield every quota that the headers state."""
    policies = _policies(headers["ratelimit-policy"]) if "ratelimit-policy" in headers else {}
    for name in headers.keys() & QUOTA_HEADERS.keys():
        limit_name, reset_name, suffix = QUOTA_HEADERS[name]
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
    """Return quota and window by the policy's name; in older drafts the quota is the name."""
    return {name: (arguments.get("q", _number(name)), arguments.get("w")) for name, arguments in _items(value) if value}


def _items(value: str) -> Iterator[tuple[str, dict[str, int]]]:
    """Read a list of items with whole numbers as parameters (RFC 9651), as leniently as the drafts differ."""
    text = value[:2048]
    if "limit=" in text.replace(" ", "") and ";" not in text:  # a middle draft: limit=100, remaining=50, reset=5
        yield "", {key: int(number) for key, number in re.findall(_ARGUMENT, text)}
        return
    for name, arguments in re.findall(_ITEM, text):
        if name or arguments:
            yield name.strip(), {key: int(number) for key, number in re.findall(_ARGUMENT, arguments)}


def _number(value: str) -> int | None:
    match = re.match(_NUMBER, value)
    return int(match[1]) if match else None


def seconds_until_reset(value: str, now: float | None = None) -> int | None:
    """Return the seconds until a reset: a number of them, a span such as `1m30s`, or a point in time."""
    now = time.time() if now is None else now
    text = value.strip()
    span = re.fullmatch(_SPAN, text)
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
