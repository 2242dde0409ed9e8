# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The counts of the owner's quotas in the store; while that is away nothing is counted."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from math import ceil
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from ..session import current_caller
from ..state.store import Count, Counter, StoreAway
from .limits import CALLER, Limit, Limits

if TYPE_CHECKING:
    from ..settings.config import Config
    from ..state.custody import Custody
    from ..state.store import Spent
    from ..telemetry.observer import Observers

__all__ = ["Quotas", "Use", "caller_id", "scope_text", "seconds_until"]

_RETRY_STORE = 1.0
"""Seconds without the store until a call asks it again."""


class Use(NamedTuple):
    """What is used of a limit in its present window."""

    limit: Limit
    window: Count

    @property
    def status(self) -> str:
        """The status (rate limiting document, 6.3)."""
        used = self.window.used
        if used >= self.limit.most:
            return "exhausted"
        return "paused" if used >= self.limit.pause else "warn" if used >= self.limit.warn else "ok"


class Quotas:
    """The quotas of an adapter, and their counts in the store. One instance serves all calls."""

    def __init__(
        self,
        limits: Limits,
        config: Config,
        adapter: str,
        custody: Custody,
        observers: Observers | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.limits = limits
        self.config = config
        self.adapter = adapter
        self.custody = custody
        self._observers = observers
        self._clock = clock
        self._away_until = 0.0

    @classmethod
    def of(cls, config: Config, adapter: str, custody: Custody, observers: Observers | None = None) -> Quotas | None:
        """Return the quotas of the settings; None if there are none."""
        limits = Limits(config.quota)
        return cls(limits, config, adapter, custody, observers) if limits else None

    def key(self, limit: Limit, caller: str) -> str:
        """Return the key of a limit's count; several adapters may share a store."""
        return f"{self.adapter} {limit.key(caller)}"

    async def spend(self, counters: Sequence[Counter]) -> Spent | None:
        """Count, or read with amounts of 0; None while the store is away, which is asked once in a second then."""
        now = self._clock()
        if now < self._away_until:
            return None
        try:
            return await self.custody.store.spend(counters)
        except StoreAway:
            self._away_until = now + _RETRY_STORE
            return None

    def note(self, outcome: str, limit: Limit | None = None) -> None:
        """Inform those who watch the adapter of what came of a request."""
        if self._observers is not None:
            metric, scope = ("", "") if limit is None else (limit.metric, limit.scope)
            self._observers.event("quota", outcome=outcome, metric=metric, scope=scope)

    async def uses(self) -> list[Use] | None:
        """Return what is used of every limit, of those of callers what the present caller used; None without it."""
        caller = caller_id()
        limits = self.limits.all
        spent = await self.spend([Counter(self.key(limit, caller), limit.window, 0) for limit in limits])
        return None if spent is None else [Use(*pair) for pair in zip(limits, spent.counts, strict=True)]


def scope_text(limit: Limit) -> str:
    """Return what a limit is about, in words."""
    if limit.scope == CALLER:
        return " for each caller"
    return f" for {limit.scope}" if limit.scope else ""


def seconds_until(ends: float) -> int:
    """Return the seconds until a window ends, at least one."""
    return max(1, ceil(ends - time.time()))


def caller_id() -> str:
    """Return an id of the caller for keys, "" for one who is not known; it tells nothing about them."""
    caller = current_caller()
    return "" if caller is None else hashlib.sha256(caller.encode("utf-8", "surrogatepass")).hexdigest()[:32]
