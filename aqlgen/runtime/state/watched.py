# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""A store of which each outage is reported once, when it begins, and once more when it is over (R-OPS-3, R-OPS-4)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from .store import Counter, Spent, Store, StoreAway

__all__ = ["WatchedStore"]

Value = TypeVar("Value")


class WatchedStore:
    """A store as it is; `report` is called with the reason when it goes away, and with None when it is back."""

    def __init__(self, store: Store, report: Callable[[StoreAway | None], None]) -> None:
        self.store = store
        self._report = report
        self._away = False

    @property
    def shared(self) -> bool:
        """True if other processes may use it."""
        return self.store.shared

    async def get(self, space: str, key: str) -> Any:
        """Return the value, or None."""
        return await self._watched(self.store.get(space, key))

    async def put(self, space: str, key: str, value: Any, seconds: float | None = None) -> None:
        """Store a value."""
        await self._watched(self.store.put(space, key, value, seconds))

    async def add(self, space: str, key: str, value: Any, seconds: float | None = None) -> bool:
        """Store a value if there is none."""
        return await self._watched(self.store.add(space, key, value, seconds))

    async def take(self, space: str, key: str) -> Any:
        """Remove the value and return it."""
        return await self._watched(self.store.take(space, key))

    async def swap(self, space: str, key: str, old: Any, new: Any, seconds: float | None = None) -> bool:
        """Store `new` if the value is `old`."""
        return await self._watched(self.store.swap(space, key, old, new, seconds))

    async def drop(self, space: str, key: str) -> None:
        """Remove a value."""
        await self._watched(self.store.drop(space, key))

    async def items(self, space: str) -> list[tuple[str, Any]]:
        """Return the keys and values of a space, by key."""
        return await self._watched(self.store.items(space))

    async def spend(self, counters: Sequence[Counter]) -> Spent:
        """Add all amounts if none of them exceeds its limit, else none."""
        return await self._watched(self.store.spend(counters))

    async def close(self) -> None:
        """Close the connections; a later use opens them again."""
        await self.store.close()

    async def _watched(self, step: Awaitable[Value]) -> Value:
        try:
            value = await step
        except StoreAway as problem:
            if not self._away:
                self._away = True
                self._report(problem)
            raise
        if self._away:
            self._away = False
            self._report(None)
        return value
