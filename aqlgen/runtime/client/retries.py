# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""When a request is sent, and sent again (R-RATE-2), and what a broken connection tells: if it was sent, and why not.

A safe method is repeated whatever happened, and so is a write that carries an idempotency key. An idempotent write is
repeated only when no connection was made, so that nothing can have been sent; any other write never. Pauses are
random between 0 and a bound that doubles (full jitter), so that callers do not come back together. All retries to a
host have one budget, so that an outage does not multiply its load.
"""

from __future__ import annotations

import random
import ssl
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import anyio

from ..wire import ApiRequest, ApiResponse, origin_of

if TYPE_CHECKING:
    from ..logs.observers import Observers

__all__ = ["Backoff", "Pace", "RetryBudget", "Timing", "is_tls", "is_unsent", "unreachable"]

_SAFE = frozenset({"GET", "HEAD", "OPTIONS", "QUERY", "TRACE"})
_IDEMPOTENT = frozenset({"PUT", "DELETE"})
_REPEATED_STATUSES = frozenset({429, 502, 503, 504})
_FIRST_DELAY, _LONGEST_DELAY = 0.25, 8.0
_MAX_HOSTS = 256
_RESERVE = 10.0
"""The most retries that a host's budget holds, with which it begins."""
_PER_SECOND = 1.0
_MARGIN = 0.05
"""Seconds that are waited beyond Retry-After: a request that comes too early counts as another one."""
_RAISE, _LOWER, _BELOW = 1.3, 0.7, 0.92
"""By how much a rate is raised and lowered, and the part of a measured one that is asked for."""
_SOON, _LATE = 1.0, 60.0
"""Seconds without a refusal after which the rate is raised, where it was refused seldom and often."""
_LEARNING, _FORGOTTEN = 5.0, 600.0
"""Seconds for which a second refusal is waited for, and without a request that forget a rate."""
_POLL = 0.02
"""Seconds until a request looks again whether the one before it is answered."""


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
    def of(cls, request: ApiRequest, limit: int) -> Backoff:
        """Return what applies to a request."""
        always = bool(request.idempotency_key) or request.method in _SAFE
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
        return min(_LONGEST_DELAY, _FIRST_DELAY * 2.0**tries) * timing.chance()


class RetryBudget:
    """What may be repeated: of the requests to a host so many per cent, and one in a second."""

    def __init__(self, percent: int, now: Callable[[], float], observers: Observers) -> None:
        self._share = percent / 100
        self._now = now
        self._observers = observers
        self._hosts: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def requested(self, request: ApiRequest) -> None:
        """Take note of a request that is no retry."""
        self._add(origin_of(request.url), self._share)

    def spend(self, request: ApiRequest, operation: str = "") -> bool:
        """Return True if a request may be repeated, which is counted."""
        origin = origin_of(request.url)
        if self._add(origin, 0.0) < 1.0:
            self._observers.event("retry", outcome="refused", host=origin, operation=operation)
            return False
        self._add(origin, -1.0)
        return True

    def _add(self, origin: str, amount: float) -> float:
        now = self._now()
        left, since = self._hosts.get(origin, (_RESERVE, now))
        left = min(_RESERVE, left + max(0.0, now - since) * _PER_SECOND + amount)
        self._hosts[origin] = left, now
        self._hosts.move_to_end(origin)
        if len(self._hosts) > _MAX_HOSTS:
            self._hosts.popitem(last=False)
        return left


class Pace:
    """The rate of requests to a bucket whose size the API does not tell, measured between two of its refusals (429).

    What the API let through between the first two is what it always lets through, or more. Until the second refusal one
    request goes at a time, for a few seconds. Then each refusal lowers the rate, and it is raised after some seconds
    without one: twice as many after each refusal, half as many when two rises held. A refusal with nothing let through
    before it measures nothing. Times are in seconds since the epoch, rates in requests a second.
    """

    __slots__ = ("_accepted", "_calm", "_next", "_raise_at", "_raises", "_refused_at", "_resumes", "_used_at", "rate")

    def __init__(self) -> None:
        self.rate: float | None = None
        self._accepted = self._raises = 0
        self._calm = _SOON
        self._next = self._raise_at = self._refused_at = self._resumes = self._used_at = 0.0

    def is_forgotten(self, now: float) -> bool:
        """Return True if the refusals were so long ago that they say nothing any more."""
        if self.rate is None:
            return now > self._resumes + _LEARNING
        return now > max(self._used_at, self._resumes) + _FORGOTTEN

    def seconds_until_turn(self, now: float, under_way: int) -> float:
        """Return the seconds after which a request may ask again, 0 if it may go."""
        if self.rate is None:
            return _POLL if under_way else 0.0
        return max(0.0, self._next - now)

    def go(self, now: float) -> None:
        """Take the turn of a request."""
        self._used_at = now
        if self.rate is not None:
            self._next = now + 1 / self.rate

    def accepted(self, now: float) -> None:
        """Take note of a response that is no refusal."""
        self._accepted += 1
        if self.rate is not None and now >= self._raise_at:
            self.rate *= _RAISE
            self._raises += 1
            if self._raises > 2:
                self._calm = max(_SOON, self._calm / 2)
            self._raise_at = now + self._calm

    def refused(self, now: float, seconds: float, sent_at: float) -> None:
        """Take note of a refusal that demands to wait so long; one sent before the last refusal tells nothing new."""
        if sent_at <= self._refused_at:
            return
        if self._accepted and self._refused_at:
            if self.rate is None:
                rate = _BELOW * self._accepted / (now - self._refused_at)
            else:
                rate, self._calm = _LOWER * self.rate, min(_LATE, 2 * self._calm)
            self.rate = max(rate, 1 / max(0.1, seconds))
        self._accepted = self._raises = 0
        self._refused_at, self._resumes = now, now + seconds
        self._next, self._raise_at = self._resumes, self._resumes + self._calm


def is_unsent(error: Exception) -> bool:
    """Return True if an error came before anything was sent to the API."""
    import httpx2

    before = (
        httpx2.ConnectError,
        httpx2.ConnectTimeout,
        httpx2.PoolTimeout,
        httpx2.ProxyError,
        httpx2.UnsupportedProtocol,
        httpx2.InvalidURL,
    )
    return isinstance(error, before)


def is_tls(error: BaseException) -> bool:
    """Return True if an error came from TLS."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            return True
        cause = cause.__cause__ or cause.__context__
    return False


def unreachable(error: BaseException, request: ApiRequest) -> str:
    """Return why no connection could be made, as an agent reads it."""
    host = request.url.partition("://")[2].partition("/")[0].partition("?")[0].rpartition("@")[2]
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"the TLS certificate of '{host}' is not valid"
        if isinstance(cause, ssl.SSLError):
            return f"no TLS connection could be made with '{host}'"
        if isinstance(cause, ConnectionRefusedError):
            return f"the connection to '{host}' was refused"
        cause = cause.__cause__ or cause.__context__
    return f"no connection could be made to '{host}'"
