# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""When a request is sent, held back, or sent again (R-RATE-2).

Retries: a safe method is repeated whatever happened, and so is a write that carries an idempotency key. An idempotent
write is repeated only when no connection was made, so that nothing can have been sent; any other write never.

Quotas: a request that would exceed one of the API's own limits is refused before it is sent. A quota in the headers of
a response counts for the origin and the credential of the request. APIs may have several quotas: an operation whose
responses name one goes by that, any other goes by the only one that is known.
"""

from __future__ import annotations

import random
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

import anyio

from ..errors import Code, Failure
from ..wire import QUOTA_HEADERS, ApiRequest, ApiResponse

if TYPE_CHECKING:
    from ..table import Row

__all__ = ["Backoff", "QuotaMeter", "Timing", "with_idempotency_key"]

_SAFE = frozenset({"GET", "HEAD", "OPTIONS", "QUERY", "TRACE"})
_IDEMPOTENT = frozenset({"PUT", "DELETE"})
_REPEATED_STATUSES = frozenset({429, 502, 503, 504})
_FIRST_DELAY, _LONGEST_DELAY = 0.25, 8.0
_MARGIN = 0.05
"""Seconds that are waited beyond Retry-After: a request that comes too early counts as another one."""
_UNNAMED = ""
"""The quota of a response 429 that names none."""
_MAX_CALLERS = 256
_LONGEST_HOLD = 3600.0
"""However far the end of a quota is, after these seconds one request finds out whether it still holds."""
_NOTED_HEADERS = frozenset({"ratelimit", *QUOTA_HEADERS})


class Timing(NamedTuple):
    """The clock (seconds since the epoch), the pause, and the chance that retries go by; tests pass their own."""

    now: Callable[[], float] = time.time
    pause: Callable[[float], Awaitable[None]] = anyio.sleep
    chance: Callable[[], float] = random.random


@dataclass(frozen=True, slots=True)
class Backoff:
    """How often and how patiently a request is repeated. `always`: whatever happened; else only if nothing was sent."""

    limit: int
    always: bool

    @classmethod
    def of(cls, request: ApiRequest, limit: int, *, keyed: bool = False) -> Backoff:
        """Return what applies to a request; `keyed` says that it carries an idempotency key."""
        always = keyed or request.method in _SAFE
        return cls(limit if always or request.method in _IDEMPOTENT else 0, always)

    def after_fault(self, tries: int, timing: Timing, *, unsent: bool) -> float | None:
        """Return the seconds to wait after a broken connection, None to give up; the first time hardly any."""
        if tries >= self.limit or not (self.always or unsent):
            return None
        return self._delay(tries - 1, timing) if tries else 0.05 * timing.chance()

    def after_response(self, tries: int, response: ApiResponse, timing: Timing) -> float | None:
        """Return the seconds to wait after a response that puts the caller off, None when it is final."""
        if response.status not in _REPEATED_STATUSES or tries >= self.limit or not self.always:
            return None
        if "retry-after" in response.headers:
            from ..decode.headers import retry_after

            wait = retry_after(response.headers["retry-after"], timing.now())
            if wait is not None:
                return wait + _MARGIN + 0.1 * timing.chance()
        return self._delay(tries, timing)

    @staticmethod
    def _delay(tries: int, timing: Timing) -> float:
        return min(_LONGEST_DELAY, _FIRST_DELAY * 2.0**tries) * (0.5 + 0.5 * timing.chance())


def with_idempotency_key(request: ApiRequest, row: Row | None) -> tuple[ApiRequest, bool]:
    """Return the request with a new idempotency key where the API takes one, and whether it has one.

    A key in the call itself stays.
    """
    wanted = None if row is None else row.idempotency
    header = None if wanted is None else wanted.header
    if not header or request.method in _SAFE:
        return request, False
    if any(name.lower() == header.lower() for name, _ in request.headers):
        return request, True
    import uuid

    return replace(request, headers=(*request.headers, (header, str(uuid.uuid4())))), True


@dataclass(slots=True)
class _Quota:
    """What is left until `ends`, as the API last said; `under_way` are requests without a response yet."""

    left: int
    ends: float
    limit: int = 0
    under_way: int = 0


@dataclass(slots=True)
class _Caller:
    """The quotas of one origin and credential by name, and by operation the names of those in its responses."""

    quotas: dict[str, _Quota] = field(default_factory=dict)
    operations: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def quotas_of(self, operation: str) -> list[_Quota]:
        """Return the quotas that an operation counts against."""
        names = self.operations.get(operation)
        if names is None:
            names = tuple(self.quotas) if len(self.quotas) == 1 else ()
        named = [self.quotas[name] for name in names if name in self.quotas]
        unnamed = self.quotas.get(_UNNAMED)
        return named if unnamed is None or unnamed in named else [*named, unnamed]


class QuotaMeter:
    """The API's quotas, by what its responses say of them. `now` returns seconds since the epoch."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._callers: OrderedDict[tuple[str, frozenset[str]], _Caller] = OrderedDict()

    @contextmanager
    def admitted(self, request: ApiRequest, operation: str) -> Iterator[None]:
        """Count a request as under way. Raises Failure (RATE_LIMIT_EXCEEDED) when it would exceed a quota."""
        caller = self._callers.get(_caller_key(request))
        quotas = caller.quotas_of(operation) if caller is not None else []
        now = self._now()
        for quota in quotas:
            if quota.ends > now and quota.left - quota.under_way <= 0:
                raise _exceeded(ceil(quota.ends - now), quota.limit)
        for quota in quotas:
            quota.under_way += 1
        try:
            yield
        finally:
            for quota in quotas:
                quota.under_way -= 1

    def note(self, request: ApiRequest, operation: str, response: ApiResponse) -> None:
        """Remember the quotas in a response."""
        headers = response.headers
        is_limited = response.status == 429
        if not is_limited and _NOTED_HEADERS.isdisjoint(headers):
            return
        now = self._now()
        quotas = dict(_quotas_by_name(headers, now))
        if is_limited:
            _exhaust(quotas, headers, now)
        if not quotas:
            return
        key = _caller_key(request)
        caller = self._callers.setdefault(key, _Caller())
        self._callers.move_to_end(key)
        while len(self._callers) > _MAX_CALLERS:
            self._callers.popitem(last=False)
        for name, quota in quotas.items():
            known = caller.quotas.setdefault(name, quota)  # the same object, which requests under way count on
            known.left, known.ends, known.limit = quota.left, quota.ends, quota.limit
        names = tuple(name for name in quotas if name != _UNNAMED)
        if names:
            caller.operations[operation] = names


def _exhaust(quotas: dict[str, _Quota], headers: Mapping[str, str], now: float) -> None:
    """Take a response 429: nothing is left of the quota that it names, or of all."""
    from ..decode.headers import retry_after

    wait = retry_after(headers.get("retry-after", ""), now)
    if wait is None:
        return
    spent = [quota for quota in quotas.values() if quota.left <= 0]
    if not spent and len(quotas) == 1:
        spent = list(quotas.values())
    for quota in spent:
        quota.left, quota.ends = 0, now + min(wait, _LONGEST_HOLD)
    if not spent:
        quotas[_UNNAMED] = _Quota(0, now + min(wait, _LONGEST_HOLD))


def _quotas_by_name(headers: Mapping[str, str], now: float) -> Iterator[tuple[str, _Quota]]:
    """Yield every quota that has an end, by a name that no other has."""
    if _NOTED_HEADERS.isdisjoint(headers):
        return
    from ..decode.headers import quotas, seconds_until_reset

    for quota in quotas(headers):
        seconds = seconds_until_reset(quota.reset, _api_time(headers, now)) if quota.reset else None
        if seconds is not None:
            name = f"{quota.name}/{quota.limit}/{quota.window or ''}"
            yield name, _Quota(quota.remaining, now + min(seconds, _LONGEST_HOLD), quota.limit)


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
