# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Tokens in memory, renewed before they end, once for all the calls that wait for the same one."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field

import anyio

from .errors import Failure
from .oauth import Token, margin

__all__ = ["Tokens"]

_MOST = 1000


@dataclass(slots=True)
class _Slot:
    token: Token | None = None
    tries: int = 0
    failure: Failure | None = None
    lock: anyio.Lock = field(default_factory=anyio.Lock)


class Tokens:
    """Tokens by whom and what they are for; the longest unused are forgotten when there are a thousand."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._slots: OrderedDict[Hashable, _Slot] = OrderedDict()

    async def get(self, key: Hashable, make: Callable[[], Awaitable[Token]], refused: str = "") -> str:
        """Give the token of a key, made anew when there is none that lasts, or when it is the one that was refused.

        Raises the Failure of making it; those who wait for the same try fail with it.
        """
        slot = self._slots.setdefault(key, _Slot())
        self._slots.move_to_end(key)
        if len(self._slots) > _MOST:
            self._slots.popitem(last=False)
        found = self._good(slot, refused)
        if found is not None:
            return found
        tries = slot.tries
        async with slot.lock:
            found = self._good(slot, refused)
            if found is not None:
                return found
            if slot.tries != tries and slot.failure is not None:
                raise _again(slot.failure)
            return await self._renew(slot, make, refused)

    async def _renew(self, slot: _Slot, make: Callable[[], Awaitable[Token]], refused: str) -> str:
        slot.failure = None
        try:
            slot.token = await make()
        except Failure as failure:
            slot.failure = failure
            old = slot.token
            if old is None or old.value == refused or (old.expires is not None and old.expires <= self._clock()):
                raise
            return old.value  # it still lasts for a while, and the next call tries again
        finally:
            slot.tries += 1
        return slot.token.value

    def _good(self, slot: _Slot, refused: str) -> str | None:
        token = slot.token
        if token is None or token.value == refused:
            return None
        if token.expires is not None and self._clock() >= token.expires - margin(token):
            return None
        return token.value


def _again(failure: Failure) -> Failure:
    return Failure(failure.code, failure.message, failure.details)
