# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""When a request is sent, and sent again (R-RATE-2), and what a broken connection tells: if it was sent, and why not.

A safe method is repeated whatever happened, and so is a write that carries an idempotency key. An idempotent write is
repeated only when no connection was made, so that nothing can have been sent; any other write never. Pauses are
random between 0 and a bound that doubles (full jitter), so that callers do not come back together.
"""

from __future__ import annotations

import random
import ssl
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import NamedTuple

import anyio

from ..wire import ApiRequest, ApiResponse

__all__ = ["Backoff", "Timing", "is_tls", "is_unsent", "unreachable"]

_SAFE = frozenset({"GET", "HEAD", "OPTIONS", "QUERY", "TRACE"})
_IDEMPOTENT = frozenset({"PUT", "DELETE"})
_REPEATED_STATUSES = frozenset({429, 502, 503, 504})
_FIRST_DELAY, _LONGEST_DELAY = 0.25, 8.0
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
