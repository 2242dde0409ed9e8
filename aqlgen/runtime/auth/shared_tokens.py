# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Access tokens that replicas share: one of them asks for a new one at a time, the others wait and read it (R-OPS-3).

They are in the store, sealed. While it is away, each replica asks for itself.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Awaitable, Callable, Hashable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import anyio

from ..state.locks import Lease
from ..state.store import StoreAway
from .tokens import Token, margin

if TYPE_CHECKING:
    from ..state.custody import Custody

__all__ = ["SharedTokens"]

_TOKEN, _ROTATED = "oauth", "oauth-refresh"
_LEASE_SECONDS = 15.0
"""Seconds that others wait at most, if whoever has the lease dies."""
_WAIT = 0.1
_UNSTATED = 3600.0
"""Seconds for which a token is shared whose server did not say how long it lasts."""


class SharedTokens:
    """The access tokens of all replicas. `clock` is monotonic, as in `Token.expires`; `now` is the time of day."""

    def __init__(
        self, custody: Custody, *, clock: Callable[[], float] = time.monotonic, now: Callable[[], float] = time.time
    ) -> None:
        self._custody = custody
        self._clock = clock
        self._now = now

    async def renew(self, key: Hashable, make: Callable[[], Awaitable[Token]], refused: str = "") -> Token:
        """Return a token of a key that lasts and is not `refused`: another replica's, or a new one that `make` gets."""
        name = hashlib.sha256(repr(key).encode("utf-8", "surrogatepass")).hexdigest()
        lease = Lease(self._custody.store, f"oauth {name}", _LEASE_SECONDS)
        until = self._clock() + _LEASE_SECONDS
        try:
            while True:
                token = await self._kept(name, refused)
                if token is not None:
                    return token
                if await lease.take():
                    break
                if self._clock() > until:
                    return await make()
                await anyio.sleep(_WAIT)
            token = await self._kept(name, refused)  # whoever had the lease just before may have got one
        except StoreAway:
            return await make()
        try:
            if token is None:
                token = await make()
                with suppress(StoreAway):
                    await self._keep(name, token)
        finally:
            with suppress(StoreAway):
                await lease.give_back()
        return token

    async def rotated(self, scheme: str, first: str) -> str | None:
        """Return what has replaced the owner's refresh token, None if nothing has, or the store is away."""
        with suppress(StoreAway):
            return _text_or_none(await self._custody.kept(_ROTATED, f"{scheme} {_short(first)}"))
        return None

    async def keep_rotated(self, scheme: str, first: str, refresh: str) -> None:
        """Store what replaces the owner's refresh token."""
        with suppress(StoreAway):
            await self._custody.keep(_ROTATED, f"{scheme} {_short(first)}", refresh, 365 * 86_400.0)

    async def _kept(self, name: str, refused: str) -> Token | None:
        value = await self._custody.kept(_TOKEN, name)
        if value is None or value["value"] == refused:
            return None
        expires = None if value["expires"] is None else self._clock() + value["expires"] - self._now()
        token = Token(value["value"], expires, value["lifetime"])
        lasts = expires is None or self._clock() < expires - margin(token)
        return token if lasts else None

    async def _keep(self, name: str, token: Token) -> None:
        left = _UNSTATED if token.expires is None else token.expires - self._clock()
        expires = None if token.expires is None else self._now() + left
        if left > 0:
            value = {"value": token.value, "expires": expires, "lifetime": token.lifetime}
            await self._custody.keep(_TOKEN, name, value, left)


def _short(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) else None
