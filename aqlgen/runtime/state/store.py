# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""One small interface to what must be unique or counted, whether one process or many replicas answer (R-OPS-3).

Values are JSON under a space and a key, stored for ever or for a number of seconds. Every method is one atomic step,
also between processes and replicas; the clock is the store's.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from ..errors import Code, Failure

__all__ = ["Count", "Counter", "Spent", "Store", "StoreAway", "canonical", "window_ends"]


class StoreAway(Failure):
    """The store cannot be reached, or did not answer in time. What was asked for may or may not have been done.

    As an answer it says that the call cannot be made safely; the reason is for the owner alone.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(
            Code.INTERNAL_ERROR,
            "Internal error: the store in which the adapter keeps what it confirms, blocks and counts is away. Nothing "
            "was sent. Reads still work; try again in a while, and tell the adapter's owner if it stays.",
            {"reason": "the store is away"},
        )
        self.args = (reason,)


class Counter(NamedTuple):
    """An amount to be counted under a key: within the present window of so many seconds, at most `limit`.

    Windows begin at multiples of their length, in UTC. Amounts are whole numbers of a unit that the user chooses.
    """

    key: str
    window: int
    amount: int
    limit: int | None = None


class Count(NamedTuple):
    """What is counted in the present window, which ends at a time in seconds since the epoch."""

    used: int
    ends: float


class Spent(NamedTuple):
    """The result of counting: the counts as they stand now, in order, and whether the amounts were added to them."""

    admitted: bool
    counts: tuple[Count, ...]


class Store(Protocol):
    """Storage that all replicas share. Every method raises StoreAway when it cannot be reached."""

    @property
    def shared(self) -> bool:
        """True if other processes may use it."""
        ...

    async def get(self, space: str, key: str) -> Any:
        """Return the value, or None."""
        ...

    async def put(self, space: str, key: str, value: Any, seconds: float | None = None) -> None:
        """Store a value."""
        ...

    async def add(self, space: str, key: str, value: Any, seconds: float | None = None) -> bool:
        """Store a value if there is none. Returns True if it was stored."""
        ...

    async def take(self, space: str, key: str) -> Any:
        """Remove the value and return it; None if there is none."""
        ...

    async def swap(self, space: str, key: str, old: Any, new: Any, seconds: float | None = None) -> bool:
        """Store `new` if the value is `old`, where None is none, also as `new`. Returns True if it was stored."""
        ...

    async def drop(self, space: str, key: str) -> None:
        """Remove a value."""
        ...

    async def items(self, space: str) -> list[tuple[str, Any]]:
        """Return the keys and values of a space, by key."""
        ...

    async def spend(self, counters: Sequence[Counter]) -> Spent:
        """Add all amounts if none of them exceeds its limit, else none. An amount of 0 reads. No key stands twice."""
        ...

    async def close(self) -> None:
        """Close the connections; a later use opens them again."""
        ...


def canonical(value: Any) -> str:
    """Return JSON of which equal values have the same text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def window_ends(now: float, seconds: int) -> int:
    """Return the time at which the window of so many seconds ends that a time is in."""
    return (int(now) // seconds + 1) * seconds
