# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Turns of the calls that change the same resource: within one process none reads what another is about to write."""

from __future__ import annotations

from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager

from anyio import Lock

__all__ = ["Turns"]


class _Turn:
    """The lock of one resource, and how many calls hold it or wait for it."""

    __slots__ = ("calls", "lock")

    def __init__(self) -> None:
        self.lock = Lock()
        self.calls = 0


class Turns:
    """The resources that are being changed; one that nobody waits for takes no memory."""

    def __init__(self) -> None:
        self._turns: dict[Hashable, _Turn] = {}

    @asynccontextmanager
    async def of(self, resource: Hashable) -> AsyncIterator[None]:
        """Hold a resource, after the calls that asked for it before."""
        turn = self._turns.setdefault(resource, _Turn())
        turn.calls += 1
        try:
            async with turn.lock:
                yield
        finally:
            turn.calls -= 1
            if not turn.calls:
                del self._turns[resource]
