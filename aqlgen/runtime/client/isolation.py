"""Shares of the connections to the API, so that calls which hang hold none of another operation or caller.

An operation, as one caller calls it, holds no more connections than are free: one alone gets half of them, two a third
each, and for whoever comes next there is one left. The others of its calls wait.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeAlias

import anyio

from ..errors import NOT_PERFORMED, Code, Failure
from ..session import current_caller

_Pair: TypeAlias = "tuple[str, str | None]"

CONNECTIONS = 100
"""The most connections to an API at a time."""

_MARGIN = 0.25
"""Seconds of its time that a call which got no connection has left, so that it can say so."""


class Shares:
    """Who holds how many connections, by operation and caller, and who waits for one."""

    def __init__(self, connections: int = CONNECTIONS) -> None:
        self._free = connections
        self._held: Counter[_Pair] = Counter()
        self._waiting: dict[_Pair, deque[anyio.Event]] = {}

    @asynccontextmanager
    async def of(self, operation: str, seconds_left: float, *, changes: bool) -> AsyncIterator[None]:
        """Hold a connection for the present caller. Raises Failure when none is free in time."""
        pair = operation, current_caller()
        if self._has_room(pair):
            self._take(pair)
        elif not await self._waited(pair, seconds_left - _MARGIN):
            raise _no_connection(operation, self._held[pair], changes=changes)
        try:
            yield
        finally:
            self._give_back(pair)

    async def _waited(self, pair: _Pair, patience: float) -> bool:
        """Wait for a connection, after the calls that did so before; whoever gives one back takes it for this call."""
        event, queue = anyio.Event(), self._waiting.setdefault(pair, deque())
        queue.append(event)
        try:
            with anyio.move_on_after(patience):
                await event.wait()
        except BaseException:
            if event.is_set():
                self._give_back(pair)
            raise
        finally:
            if event in queue:
                queue.remove(event)
            if not queue and self._waiting.get(pair) is queue:
                del self._waiting[pair]
        return event.is_set()

    def _has_room(self, pair: _Pair) -> bool:
        return self._held[pair] < self._free

    def _take(self, pair: _Pair) -> None:
        self._held[pair] += 1
        self._free -= 1

    def _give_back(self, pair: _Pair) -> None:
        """Pass connections on to those who wait, first to whom holds the fewest."""
        self._held[pair] -= 1
        self._free += 1
        if not self._held[pair]:
            del self._held[pair]
        while waiting := [other for other, queue in self._waiting.items() if queue]:
            first = min(waiting, key=self._held.__getitem__)
            if not self._has_room(first):
                return
            self._take(first)
            self._waiting[first].popleft().set()


def _no_connection(operation: str, held: int, *, changes: bool) -> Failure:
    text = (
        f"Too many calls of '{operation}' together: the API has not answered {held} of them, and no connection came "
        "free for another. Nothing was sent; wait until some are answered, and try again."
    )
    outcome = {"outcome": NOT_PERFORMED} if changes else {}
    return Failure(Code.RATE_LIMIT_EXCEEDED, text, {"retry_after_seconds": 1, "sent": False, **outcome})
