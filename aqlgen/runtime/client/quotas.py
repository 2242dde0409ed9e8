"""The API's own quotas: a request that would exceed one is refused before it is sent (R-RATE-2).

A quota counts for the origin and the credential of the request whose response told of it, and for its bucket:

- the bucket that the response names: `X-RateLimit-Bucket`, `X-RateLimit-Resource`, a policy of `RateLimit` with its
  partition (draft-ietf-httpapi-ratelimit-headers);
- every operation, where the response calls the limit global (`X-RateLimit-Global`, `X-RateLimit-Scope`);
- else the operation.

When a quota starts again, at most its size of requests is under way at first. A response 429 without a quota holds back
its operation for as long as it says.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import Code, Failure
from ..wire import QUOTA_NAMES, ApiRequest, ApiResponse, origin_of

if TYPE_CHECKING:
    from ..decode.headers import Quota

_MAX_CALLERS, _MAX_BUCKETS = 256, 1024
_LONGEST_HOLD = 3600.0
"""However far the end of a quota is, after these seconds one request finds out whether it still holds."""
_GLOBAL, _SCOPE = "x-ratelimit-global", "x-ratelimit-scope"
_DEFAULT_HOLD = 1.0
"""Seconds that a response 429 without a word about time holds back its operation."""
_SAME_END = 1.1
"""Ends of one quota that are told in whole seconds differ by less than these."""


class _Bucket(NamedTuple):
    """The subject of a quota: a bucket that the API names, or an operation. One name can have several quotas."""

    name: str
    operation: str = ""
    limit: int = 0
    window: int | None = None


_WHOLE_API = _Bucket("global")


@dataclass(slots=True)
class _Count:
    """The requests left until `ends`, by the API's last answer. `under_way` counts requests without a response yet."""

    left: int
    ends: float
    limit: int = 0
    under_way: int = 0

    def take(self, other: _Count) -> None:
        """Take what a response says; responses of one window may come in another order than they were counted in."""
        same = abs(other.ends - self.ends) <= _SAME_END
        self.left = min(self.left, other.left) if same else other.left
        self.ends, self.limit = other.ends, other.limit

    def seconds_held(self, now: float) -> float | None:
        """Return the seconds until another request may be sent, None if it may now."""
        if self.ends > now:
            return self.ends - now if self.left - self.under_way <= 0 else None
        return 1.0 if 0 < self.limit <= self.under_way else None


@dataclass(slots=True)
class _Caller:
    """The quotas of one origin and credential by bucket, and the buckets that each operation's responses told of."""

    counts: OrderedDict[_Bucket, _Count] = field(default_factory=OrderedDict)
    operations: dict[str, tuple[_Bucket, ...]] = field(default_factory=dict)

    def counts_of(self, operation: str) -> list[_Count]:
        """Return the quotas that an operation counts against."""
        buckets = dict.fromkeys((*self.operations.get(operation, ()), _WHOLE_API, _held(operation)))
        return [self.counts[bucket] for bucket in buckets if bucket in self.counts]

    def remember(self, bucket: _Bucket, count: _Count) -> None:
        """Take what the API says of a bucket; the object stays, since requests under way count on it."""
        self.counts.setdefault(bucket, count).take(count)
        self.counts.move_to_end(bucket)
        while len(self.counts) > _MAX_BUCKETS:
            self.counts.popitem(last=False)


class QuotaMeter:
    """The API's quotas, by what its responses say of them. `now` returns seconds since the epoch."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._callers: OrderedDict[tuple[str, frozenset[str]], _Caller] = OrderedDict()

    def seconds_held(self, request: ApiRequest, operation: str) -> float:
        """Return the seconds until another request of an operation may be sent."""
        caller = self._callers.get(_caller_key(request))
        now = self._now()
        held = (count.seconds_held(now) for count in caller.counts_of(operation)) if caller is not None else ()
        return max((seconds for seconds in held if seconds is not None), default=0.0)

    @contextmanager
    def admitted(self, request: ApiRequest, operation: str) -> Iterator[None]:
        """Count a request as under way. Raises Failure (RATE_LIMIT_EXCEEDED) when it would exceed a quota."""
        caller = self._callers.get(_caller_key(request)) if self._callers else None
        counts = caller.counts_of(operation) if caller is not None else []
        now = self._now() if counts else 0.0
        for count in counts:
            seconds = count.seconds_held(now)
            if seconds is not None:
                raise _exceeded(ceil(seconds), count.limit)
        for count in counts:
            count.under_way += 1
        try:
            yield
        finally:
            for count in counts:
                count.under_way -= 1

    def note(self, request: ApiRequest, operation: str, response: ApiResponse) -> None:
        """Remember the quotas in a response."""
        headers = response.headers
        is_limited = response.status == 429
        if not is_limited and QUOTA_NAMES.isdisjoint(headers):
            return
        now = self._now()
        stated = list(_stated(headers, now))
        hold = _hold(stated, headers, now) if is_limited else None
        if not stated and hold is None:
            return
        caller = self._caller(request)
        if stated:
            buckets = {
                _Bucket(quota.name, "" if quota.is_named else operation, quota.limit, quota.window): count
                for quota, count in stated
            }
            caller.operations[operation] = tuple(buckets)
            for bucket, count in buckets.items():
                caller.remember(bucket, count)
        if hold is not None:
            scopes = [headers.get(name, "").strip().lower() for name in (_GLOBAL, _SCOPE)]
            caller.remember(_WHOLE_API if scopes[0] == "true" or scopes[1] == "global" else _held(operation), hold)

    def _caller(self, request: ApiRequest) -> _Caller:
        key = _caller_key(request)
        caller = self._callers.setdefault(key, _Caller())
        self._callers.move_to_end(key)
        while len(self._callers) > _MAX_CALLERS:
            self._callers.popitem(last=False)
        return caller


def _stated(headers: Mapping[str, str], now: float) -> Iterator[tuple[Quota, _Count]]:
    """Yield every quota in the headers of a response that has an end, with what is left of it."""
    if QUOTA_NAMES.isdisjoint(headers):
        return
    from ..decode.headers import quotas, seconds_until_reset

    for quota in quotas(headers):
        seconds = seconds_until_reset(quota.reset, _api_time(headers, now)) if quota.reset else None
        if seconds is not None:
            yield quota, _Count(quota.remaining, now + min(seconds, _LONGEST_HOLD), quota.limit)


def _hold(stated: list[tuple[Quota, _Count]], headers: Mapping[str, str], now: float) -> _Count | None:
    """Take a response 429: nothing is left of the quotas that it tells of as spent, or of its only one, until then.

    Return what holds back its operation where it tells of none.
    """
    from ..decode.headers import retry_after

    wait = retry_after(headers.get("retry-after", ""), _api_time(headers, now))
    if wait is None:
        return None if any(count.left <= 0 for _, count in stated) else _Count(0, now + _DEFAULT_HOLD)
    ends = now + min(wait, _LONGEST_HOLD)
    spent = [count for _, count in stated if count.left <= 0]
    if not spent and len(stated) == 1:
        spent = [stated[0][1]]
    for count in spent:
        count.left, count.ends = 0, ends
    return None if spent else _Count(0, ends)


def _held(operation: str) -> _Bucket:
    """Return the bucket of what a response 429 without a quota holds back."""
    return _Bucket("429", operation)


def _api_time(headers: Mapping[str, str], now: float) -> float:
    """Return the API's own time, so that clocks that differ do no harm."""
    from email.utils import parsedate_to_datetime

    try:
        return parsedate_to_datetime(headers["date"]).timestamp()
    except (KeyError, ValueError, TypeError, IndexError, OverflowError):
        return now


def _caller_key(request: ApiRequest) -> tuple[str, frozenset[str]]:
    return origin_of(request.url), request.secrets


def _exceeded(seconds: int, limit: int) -> Failure:
    details: dict[str, Any] = {"retry_after_seconds": seconds, "remaining": 0, "sent": False}
    if limit:
        details["limit"] = limit
    message = f"API rate limit exceeded: nothing was sent, try again in {seconds} seconds"
    return Failure(Code.RATE_LIMIT_EXCEEDED, message, details)
