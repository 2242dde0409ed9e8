"""Locks: turns within one process, and leases among all that share a store.

A turn is of the calls that change the same resource: none reads what another is about to write. A lease is what one
process holds for a while, so that others wait; it ends by itself if the process dies.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

import anyio

from . import StoreAway

if TYPE_CHECKING:
    from . import Store

_SPACE = "lease"
_WAIT = 0.1
_PATIENCE = 2.0
"""Seconds that giving a lease back may take while the call that held it is cancelled."""


class Lease:
    """A lease of so many seconds on a key of a store. Every method raises StoreAway."""

    def __init__(self, store: Store, key: str, seconds: float) -> None:
        self._store = store
        self._key = key
        self._seconds = seconds
        self._holder = secrets.token_hex(16)

    async def take(self) -> bool:
        """Return True if the lease is held from now on; False while somebody else holds it.

        Who is cancelled meanwhile holds nothing.
        """
        try:
            return await self._store.add(_SPACE, self._key, self._holder, self._seconds)
        except anyio.get_cancelled_exc_class():
            with suppress(StoreAway):
                await self.give_back()
            raise

    async def renew(self) -> bool:
        """Hold it for as long again; False if it was lost."""
        return await self._store.swap(_SPACE, self._key, self._holder, self._holder, self._seconds)

    @asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """Hold it after whoever has it. Raises TimeoutError if that takes longer than a lease lasts."""
        with anyio.fail_after(self._seconds):
            while not await self.take():
                await anyio.sleep(_WAIT)
        try:
            yield
        finally:
            with suppress(StoreAway):
                await self.give_back()

    async def give_back(self) -> None:
        """End it, also while the call is cancelled; one that was lost is left alone."""
        with anyio.CancelScope(shield=True), anyio.move_on_after(_PATIENCE):
            await self._store.swap(_SPACE, self._key, self._holder, None)


class _Turn:
    """The lock of one resource, and how many calls hold it or wait for it."""

    __slots__ = ("calls", "lock")

    def __init__(self) -> None:
        self.lock = anyio.Lock()
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
