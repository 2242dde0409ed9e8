# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The API's own quotas: a request that would exceed one is refused before it is sent (R-RATE-2).

A quota counts for the origin and the credential of the request whose response told of it, and for its bucket:

- the bucket that the response names: `X-RateLimit-Bucket`, `X-RateLimit-Resource`, a policy of `RateLimit` with its
  partition (draft-ietf-httpapi-ratelimit-headers);
- every operation, where the response calls the limit global (`X-RateLimit-Global`, `X-RateLimit-Scope`);
- else the operation. Several operations share a quota without a name when each of their responses counts it on: the
  same size, the same end, and a little less left than the response before said.

An operation that was not called yet counts against what all others are known to share, and against nothing else.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import ceil
from typing import TYPE_CHECKING, Any

from ..errors import Code, Failure
from ..wire import QUOTA_HEADERS, ApiRequest, ApiResponse

if TYPE_CHECKING:
    from ..decode.headers import Quota

__all__ = ["QuotaMeter"]

_MAX_CALLERS, _MAX_BUCKETS = 256, 1024
_LONGEST_HOLD = 3600.0
"""However far the end of a quota is, after these seconds one request finds out whether it still holds."""
_GLOBAL, _SCOPE = "x-ratelimit-global", "x-ratelimit-scope"
_NOTED_HEADERS = frozenset({"ratelimit", *QUOTA_HEADERS})
_WHOLE_API = "global"
_SAME_END = 2.0
"""Ends of one quota that are told in whole seconds differ by less than these."""
_SMALL_COST = 3
"""What is left of a shared quota falls by no more than this between two responses, or by a twentieth of its size."""


@dataclass(slots=True)
class _Count:
    """What is left until `ends`, as the API last said; `under_way` are requests without a response yet."""

    left: int
    ends: float
    limit: int = 0
    under_way: int = 0

    def is_counted_on_by(self, other: _Count) -> bool:
        """Return True if `other`, of a later response, is this quota with a little less left."""
        if self.limit != other.limit or abs(self.ends - other.ends) > _SAME_END:
            return False
        most = max(_SMALL_COST, self.limit // 20) + self.under_way
        return 0 < self.left - other.left <= most

    def is_continued_by(self, other: _Count) -> bool:
        """Return True if `other`, of a later response for an operation of this quota, does not contradict it."""
        return other.left <= self.left + self.under_way or other.ends > self.ends + _SAME_END


@dataclass(slots=True)
class _Caller:
    """The quotas of one origin and credential by bucket, and the buckets that each operation's responses told of."""

    counts: OrderedDict[Hashable, _Count] = field(default_factory=OrderedDict)
    operations: dict[str, tuple[Hashable, ...]] = field(default_factory=dict)

    def counts_of(self, operation: str) -> list[_Count]:
        """Return the quotas that an operation counts against."""
        buckets = self.operations.get(operation)
        if buckets is None:
            buckets = self._shared()
        candidates = dict.fromkeys((*buckets, _WHOLE_API, _held(operation)))
        return [self.counts[bucket] for bucket in candidates if bucket in self.counts]

    def _shared(self) -> tuple[Hashable, ...]:
        """Return the buckets that all operations share, of which there must be several."""
        if len(self.operations) < 2:
            return ()
        first, *others = self.operations.values()
        return tuple(bucket for bucket in first if all(bucket in buckets for buckets in others))

    def unnamed_bucket(self, operation: str, kind: Hashable, count: _Count) -> Hashable:
        """Return the bucket of a quota without a name: the operation's, or that of others that it counts on."""
        for bucket in self.operations.get(operation, ()):
            if isinstance(bucket, _Unnamed) and bucket.kind == kind:
                if bucket.operation == operation or self.counts[bucket].is_continued_by(count):
                    return bucket
                return _Unnamed(kind, operation)
        for bucket, known in self.counts.items():
            if isinstance(bucket, _Unnamed) and bucket.kind == kind and known.is_counted_on_by(count):
                return bucket
        return _Unnamed(kind, operation)

    def remember(self, bucket: Hashable, count: _Count) -> None:
        """Take what the API says of a bucket; the object stays, since requests under way count on it."""
        known = self.counts.setdefault(bucket, count)
        known.left, known.ends, known.limit = count.left, count.ends, count.limit
        self.counts.move_to_end(bucket)
        while len(self.counts) > _MAX_BUCKETS:
            dropped, _ = self.counts.popitem(last=False)
            self.operations = {name: kept for name, kept in self.operations.items() if dropped not in kept}


@dataclass(frozen=True, slots=True)
class _Unnamed:
    """The bucket of a quota without a name, of a kind (its header's ending, size and window)."""

    kind: Hashable
    operation: str


class QuotaMeter:
    """The API's quotas, by what its responses say of them. `now` returns seconds since the epoch."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._callers: OrderedDict[tuple[str, frozenset[str]], _Caller] = OrderedDict()

    @contextmanager
    def admitted(self, request: ApiRequest, operation: str) -> Iterator[None]:
        """Count a request as under way. Raises Failure (RATE_LIMIT_EXCEEDED) when it would exceed a quota."""
        caller = self._callers.get(_caller_key(request)) if self._callers else None
        counts = caller.counts_of(operation) if caller is not None else []
        now = self._now() if counts else 0.0
        for count in counts:
            if count.ends > now and count.left - count.under_way <= 0:
                raise _exceeded(ceil(count.ends - now), count.limit)
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
        if not is_limited and _NOTED_HEADERS.isdisjoint(headers):
            return
        now = self._now()
        stated = list(_stated(headers, now))
        hold = _hold(stated, headers, now) if is_limited else None
        if not stated and hold is None:
            return
        caller = self._caller(request)
        buckets: list[Hashable] = []
        for quota, count in stated:
            kind = (quota.name, quota.limit, quota.window)
            bucket = kind if quota.is_named else caller.unnamed_bucket(operation, kind, count)
            caller.remember(bucket, count)
            buckets.append(bucket)
        if buckets:
            caller.operations[operation] = tuple(buckets)
        if hold is not None:
            caller.remember(_WHOLE_API if _is_global(headers) else _held(operation), hold)

    def _caller(self, request: ApiRequest) -> _Caller:
        key = _caller_key(request)
        caller = self._callers.setdefault(key, _Caller())
        self._callers.move_to_end(key)
        while len(self._callers) > _MAX_CALLERS:
            self._callers.popitem(last=False)
        return caller


def _stated(headers: Mapping[str, str], now: float) -> Iterator[tuple[Quota, _Count]]:
    """Yield every quota in the headers of a response that has an end, with what is left of it."""
    if _NOTED_HEADERS.isdisjoint(headers):
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

    wait = retry_after(headers.get("retry-after", ""), now)
    if wait is None:
        return None
    ends = now + min(wait, _LONGEST_HOLD)
    spent = [count for _, count in stated if count.left <= 0]
    if not spent and len(stated) == 1:
        spent = [stated[0][1]]
    for count in spent:
        count.left, count.ends = 0, ends
    return None if spent else _Count(0, ends)


def _is_global(headers: Mapping[str, str]) -> bool:
    """Return True if a response 429 says that every operation is meant."""
    return headers.get(_GLOBAL, "").strip().lower() == "true" or headers.get(_SCOPE, "").strip().lower() == "global"


def _held(operation: str) -> Hashable:
    """Return the bucket of what a response 429 without a quota holds back."""
    return ("429", operation)


def _api_time(headers: Mapping[str, str], now: float) -> float:
    """Return the API's own time, so that clocks that differ do no harm."""
    from email.utils import parsedate_to_datetime

    try:
        return parsedate_to_datetime(headers["date"]).timestamp()
    except (KeyError, ValueError, TypeError, IndexError, OverflowError):
        return now


def _caller_key(request: ApiRequest) -> tuple[str, frozenset[str]]:
    scheme, _, rest = request.url.partition("://")
    return f"{scheme}://{rest.partition('/')[0].partition('?')[0]}", request.secrets


def _exceeded(seconds: int, limit: int) -> Failure:
    details: dict[str, Any] = {"retry_after_seconds": seconds, "remaining": 0, "sent": False}
    if limit:
        details["limit"] = limit
    message = f"API rate limit exceeded: nothing was sent, try again in {seconds} seconds"
    return Failure(Code.RATE_LIMIT_EXCEEDED, message, details)
