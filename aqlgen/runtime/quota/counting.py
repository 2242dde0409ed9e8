"""The counts of the owner's quotas in the store, and the answer to query `quota_status` (rate limiting document, 6.2).

While the store is away nothing is counted: nothing is sent then, unless the owner has opened the quotas for that time.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from math import ceil
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from ..session import current_caller
from ..state import Count, Counter, StoreAway
from ..state.tickets import Tokens
from ..text import iso_time
from .limits import Limit, Limits

if TYPE_CHECKING:
    from ..logs.observers import Observers
    from ..settings.config import Config
    from ..state import Spent
    from ..state.custody import Custody

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

    @property
    def details(self) -> dict[str, Any]:
        """The details of every answer about it."""
        return {"metric": self.limit.metric, "current": self.window.used, **self.limit.label}

    @property
    def refused(self) -> dict[str, Any]:
        """The details of a refused request."""
        wait = max(1, ceil(self.window.ends - time.time()))
        times = {"resets_at": iso_time(self.window.ends), "retry_after_seconds": wait}
        return {**self.details, "hard_stop_threshold": self.limit.most, **times, "sent": False}


class Quotas:
    """The quotas of an adapter, and their counts in the store. One instance serves all calls."""

    def __init__(self, config: Config, adapter: str, custody: Custody, observers: Observers | None = None) -> None:
        self.limits = Limits(config.quota)
        self.config = config
        self.adapter = adapter
        self.custody = custody
        settings = config.confirmation
        self.tokens = Tokens(
            lambda _: custody,
            adapter,
            "quota_continue_",
            name="quota token",
            scope="another quota",
            advice="Nothing was sent. Call the operation again without _quota_continue to get a new one.",
            per_minute=settings.per_minute,
            skew=settings.skew,
        )
        self._observers = observers
        self._clock = monotonic
        self._away_until = 0.0

    @property
    def open_when_away(self) -> bool:
        """True if requests are sent that cannot be counted."""
        return self.config.quota.when_away == "open"

    async def spend(self, counters: Sequence[Counter]) -> Spent | None:
        """Count, or read with amounts of 0; None while the store is away.

        Where calls go on without it, it is asked once in a second then, so that they do not wait for it.
        """
        now = self._clock()
        if self.open_when_away and now < self._away_until:
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
        """Return the use of every limit, of those of callers by the present caller; None without the store."""
        caller = caller_id()
        limits = self.limits.all
        if not limits:
            return []
        spent = await self.spend([Counter(limit.key(caller), limit.window, 0) for limit in limits])
        return None if spent is None else [Use(*pair) for pair in zip(limits, spent.counts, strict=True)]


def caller_id() -> str:
    """Return an id of the caller for keys, "" for one who is not known; it tells nothing about them."""
    caller = current_caller()
    return "" if caller is None else hashlib.sha256(caller.encode("utf-8", "surrogatepass")).hexdigest()[:32]


async def quota_status(quotas: Quotas) -> dict[str, Any]:
    """Return the use of the owner's quotas."""
    uses = await quotas.uses()
    shown = [
        use.details
        | {"warn": use.limit.warn, "pause": use.limit.pause, "hard_stop": use.limit.most, "status": use.status}
        for use in uses or ()
    ]
    data: dict[str, Any] = {"adapter": quotas.adapter, "quotas": shown}
    if uses is None:
        effect = "calls go on and are not counted" if quotas.open_when_away else "limited requests are not sent"
        data["note"] = f"The store of the quotas cannot be reached: {effect} until it is back"
    elif uses:
        data["next_reset"] = iso_time(min(use.window.ends for use in uses))
    return data
