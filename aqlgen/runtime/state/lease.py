# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""A lease: what one process holds for a while, so that others wait, and that ends by itself if the process dies."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import anyio

if TYPE_CHECKING:
    from .store import Store

__all__ = ["Lease"]

_SPACE = "lease"
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
        """Return True if the lease is held from now on; False while somebody else holds it."""
        return await self._store.add(_SPACE, self._key, self._holder, self._seconds)

    async def renew(self) -> bool:
        """Hold it for as long again; False if it was lost."""
        return await self._store.swap(_SPACE, self._key, self._holder, self._holder, self._seconds)

    async def give_back(self) -> None:
        """End it, also while the call is cancelled; one that was lost is left alone."""
        with anyio.CancelScope(shield=True), anyio.move_on_after(_PATIENCE):
            await self._store.swap(_SPACE, self._key, self._holder, None)
