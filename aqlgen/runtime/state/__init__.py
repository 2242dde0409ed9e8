"""One small interface to what must be unique or counted, whether one process or many replicas answer (R-OPS-3).

Values are JSON under a space and a key, stored without end or for a number of seconds. Every method is one atomic step,
also between processes and replicas; the clock is the store's. Each outage of a watched store is reported once, when it
begins, and once more when it is over (R-OPS-4).
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..errors import Code, Failure


class StoreAway(Failure):
    """The store cannot be reached, or did not answer in time. What was asked for may or may not have been done.

    As an answer it says that the call cannot be made safely; the reason is for the owner alone.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(
            Code.INTERNAL_ERROR,
            "Internal error: the store of confirmations, blocks and counts is down. Nothing "
            "was sent. Reads still work; try again in a while, and tell the adapter's owner if it stays.",
            {"reason": "the store is down"},
        )
        self.args = (reason,)


class Counter(NamedTuple):
    """An amount to be counted under a key: within the present window of so many seconds, at most `limit`.

    Windows begin at multiples of their length, in UTC. Amounts are whole numbers of a unit that the user chooses. A
    store that counts less than `known` in the same window is wrong, and goes on from there.
    """

    key: str
    window: int
    amount: int
    limit: int | None = None
    known: Count | None = None

    def lost(self, stored: int, ends: float) -> int:
        """Return how much a count that is stored for the window with this end has lost."""
        known = 0 if self.known is None or self.known.ends != ends else self.known.used
        return max(0, known - stored)


class Count(NamedTuple):
    """What is counted in the present window, which ends at a time in seconds since the epoch.

    `lost` is what the store did not know of it any more.
    """

    used: int
    ends: float
    lost: int = 0


class Spent(NamedTuple):
    """The result of counting: the counts as they stand now, in order, and whether the amounts were added to them."""

    admitted: bool
    counts: tuple[Count, ...]


class Store:
    """Storage that all replicas share. Every method raises StoreAway when it cannot be reached.

    Each step is `_do` with its name and arguments, unless a store has a method of its own for it.
    """

    @property
    def shared(self) -> bool:
        """True if other processes may use it."""
        return True

    async def _do(self, step: str, *arguments: Any) -> Any:
        raise NotImplementedError

    async def get(self, space: str, key: str) -> Any:
        """Return the value, or None."""
        return await self._do("get", space, key)

    async def put(self, space: str, key: str, value: Any, seconds: float | None = None) -> None:
        """Store a value."""
        await self._do("put", space, key, value, seconds)

    async def add(self, space: str, key: str, value: Any, seconds: float | None = None) -> bool:
        """Store a value if there is none. Returns True if it was stored."""
        return bool(await self._do("add", space, key, value, seconds))

    async def take(self, space: str, key: str) -> Any:
        """Remove the value and return it; None if there is none."""
        return await self._do("take", space, key)

    async def swap(self, space: str, key: str, old: Any, new: Any, seconds: float | None = None) -> bool:
        """Store `new` if the value is `old`, where None is none, also as `new`. Returns True if it was stored."""
        return bool(await self._do("swap", space, key, old, new, seconds))

    async def drop(self, space: str, key: str) -> None:
        """Remove a value."""
        await self._do("drop", space, key)

    async def items(self, space: str) -> list[tuple[str, Any]]:
        """Return the keys and values of a space, by key."""
        return list(await self._do("items", space))

    async def spend(self, counters: Sequence[Counter]) -> Spent:
        """Add all amounts if none of them exceeds its limit, else none. An amount of 0 reads. No key stands twice."""
        spent: Spent = await self._do("spend", counters)
        return spent

    async def close(self) -> None:
        """Close the connections; a later use opens them again."""


def canonical(value: Any) -> str:
    """Return JSON of which equal values have the same text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def window_ends(now: float, seconds: int) -> int:
    """Return the time at which the window of so many seconds ends that a time is in."""
    return (int(now) // seconds + 1) * seconds


_MOST_COUNTS = 10_000


class WatchedStore(Store):
    """A store as it is; `report` is called with the reason when it goes away, and with None when it is back.

    `answered` is True once it has answered. No count of a window falls below what this process has seen of it, whoever
    lowers or removes it in the store; `lowered` is called then.
    """

    def __init__(
        self,
        store: Store,
        report: Callable[[StoreAway | None], None],
        lowered: Callable[[], None] | None = None,
    ) -> None:
        self.store = store
        self._report = report
        self._lowered = lowered
        self._counts: OrderedDict[tuple[str, int], Count] = OrderedDict()
        self._away = False
        self.answered = False

    @property
    def shared(self) -> bool:
        """True if other processes may use it."""
        return self.store.shared

    async def spend(self, counters: Sequence[Counter]) -> Spent:
        """Add all amounts if none of them exceeds its limit, else none."""
        known = [counter._replace(known=self._counts.get((counter.key, counter.window))) for counter in counters]
        spent = await super().spend(known)
        for counter, count in zip(counters, spent.counts, strict=True):
            self._remember((counter.key, counter.window), count)
        if self._lowered is not None and any(count.lost for count in spent.counts):
            self._lowered()
        return spent

    def _remember(self, key: tuple[str, int], count: Count) -> None:
        last = self._counts.pop(key, count)
        self._counts[key] = max(last, count, key=lambda other: (other.ends, other.used))
        if len(self._counts) > _MOST_COUNTS:
            self._counts.popitem(last=False)

    async def close(self) -> None:
        """Close the connections; a later use opens them again."""
        await self.store.close()

    async def _do(self, step: str, *arguments: Any) -> Any:
        try:
            value = await getattr(self.store, step)(*arguments)
        except StoreAway as problem:
            if not self._away:
                self._away = True
                self._report(problem)
            raise
        self.answered = True
        if self._away:
            self._away = False
            self._report(None)
        return value
