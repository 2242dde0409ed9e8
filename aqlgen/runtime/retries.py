# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""When a request is sent again, and after how long (R-RATE-2).

A safe method is repeated whatever happened, and so is a write that carries an idempotency key. An idempotent write is
repeated only when no connection was made, so that nothing can have been sent; any other write never.
"""

from __future__ import annotations

import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import anyio

from .wire import ApiRequest, ApiResponse

if TYPE_CHECKING:
    from .table import Row

__all__ = ["REPEATED", "Backoff", "Timing", "keyed", "retry_after"]

SAFE = frozenset({"GET", "HEAD", "OPTIONS", "QUERY", "TRACE"})
IDEMPOTENT = frozenset({"PUT", "DELETE"})
REPEATED = frozenset({429, 502, 503, 504})
_FIRST, _LONGEST = 0.25, 8.0
_LATE = 0.05
"""What is waited beyond Retry-After: a request that comes too early counts as another one."""


class Timing(NamedTuple):
    """The clock (seconds since the epoch), the pause, and the chance that retries go by; tests give their own."""

    now: Callable[[], float] = time.time
    pause: Callable[[float], Awaitable[None]] = anyio.sleep
    chance: Callable[[], float] = random.random


@dataclass(frozen=True, slots=True)
class Backoff:
    """How often and how patiently one request is repeated. `always`: whatever happened; else if nothing was sent."""

    most: int
    always: bool

    @classmethod
    def of(cls, request: ApiRequest, most: int, *, keyed: bool = False) -> Backoff:
        """Give what applies to a request; `keyed` says that it carries an idempotency key."""
        always = keyed or request.method in SAFE
        return cls(most if always or request.method in IDEMPOTENT else 0, always)

    def after_fault(self, tries: int, timing: Timing, *, unsent: bool) -> float | None:
        """Give the seconds to wait after a broken connection, None to give up; the first time hardly any."""
        if tries >= self.most or not (self.always or unsent):
            return None
        return self._delay(tries - 1, timing) if tries else 0.05 * timing.chance()

    def after_answer(self, tries: int, response: ApiResponse, timing: Timing) -> float | None:
        """Give the seconds to wait after an answer that puts the caller off, None when it is final."""
        if response.status not in REPEATED or tries >= self.most or not self.always:
            return None
        told = response.headers.get("retry-after")
        wait = None if told is None else retry_after(told, timing.now())
        if wait is not None:
            return wait + _LATE + 0.1 * timing.chance()
        return self._delay(tries, timing)

    @staticmethod
    def _delay(tries: int, timing: Timing) -> float:
        return min(_LONGEST, _FIRST * 2.0**tries) * (0.5 + 0.5 * timing.chance())


def keyed(request: ApiRequest, row: Row | None) -> tuple[ApiRequest, bool]:
    """Give the request with a new idempotency key where the API takes one, and whether it has one.

    A key that the caller gave stays.
    """
    wanted = None if row is None else row.idempotency
    header = wanted.get("header") if wanted else None
    if not isinstance(header, str) or not header or request.method in SAFE:
        return request, False
    if any(name.lower() == header.lower() for name, _ in request.headers):
        return request, True
    import uuid

    return replace(request, headers=(*request.headers, (header, str(uuid.uuid4())))), True


def retry_after(value: str, now: float) -> int | None:
    """Give the seconds of a Retry-After header, a number or a date (RFC 9110, 10.2.3); None when it is neither."""
    first = value.partition(",")[0].strip()
    if first.isascii() and first.isdigit() and len(first) < 10:
        return int(first)
    whole, _, fraction = first.partition(".")
    if whole.isdigit() and fraction.isdigit() and first.isascii() and len(whole) < 10:
        return int(whole) + 1
    from email.utils import parsedate_to_datetime

    try:
        return max(0, round(parsedate_to_datetime(value.strip()).timestamp() - now))
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
