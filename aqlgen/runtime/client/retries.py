# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""When a request is sent again (R-RATE-2), and what a broken connection tells: whether anything was sent, and why not.

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
    from .quotas import QuotaMeter

__all__ = ["Backoff", "RetryBudget", "Timing", "is_tls", "is_unsent", "unreachable", "waited_for_turn"]

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


async def waited_for_turn(
    meter: QuotaMeter, request: ApiRequest, operation: str, patience: float, timing: Timing
) -> bool:
    """Wait for the turn of a request in the pace of its bucket. Returns True if it had to wait.

    Raises Failure if the turn does not come within `patience` (seconds).
    """
    waits = False
    while True:
        turn = meter.turn(request, operation, patience)
        if turn.seconds:
            waits = True
            await timing.pause(turn.seconds)
        if turn.reserved:
            break
        patience -= turn.seconds
    while wait := meter.go(request, operation):
        waits = True
        await timing.pause(wait)
    return waits


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
