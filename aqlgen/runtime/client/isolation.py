# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""What fails or hangs is kept from everything else: circuits, and shares of the connections to the API.

Failures are answers of status 500 or more, answers that do not come in time or break off, and connections that cannot
be made. Whatever the API answers below 500 shows that it works, and ends a row of failures. So many in a row of an
operation, as one caller calls it, stop it for this caller alone; so many connections in a row that cannot be made stop
everything to that host. After a while one request finds out, and the next one after the same time.

An operation, as one caller calls it, holds no more connections than are free: one alone gets half of them, two a third
each, and for whoever comes next there is one left. The others of its calls wait.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any, TypeAlias

import anyio

from ..errors import NOT_PERFORMED, Code, Failure
from ..session import current_caller
from ..wire import ApiRequest, origin_of

if TYPE_CHECKING:
    from ..logs.observers import Observers

__all__ = ["CONNECTIONS", "Circuits", "Shares"]

_MAX_CIRCUITS = 4096
_NOT_FAILING = frozenset({501, 505})

_Pair: TypeAlias = "tuple[str, str | None]"
_Key: TypeAlias = "tuple[str, _Pair | None]"
"""An origin with an operation and its caller, or with None for the connections to it."""


@dataclass(slots=True)
class _Circuit:
    """A row of failures. When it is long enough nothing is sent before `until`; one request after that moves it on."""

    failures: int = 0
    until: float = 0.0


class Circuits:
    """The circuits of all hosts. After `failures` in a row nothing is sent for `seconds`; 0 failures: never so."""

    def __init__(self, failures: int, seconds: float, now: Callable[[], float], observers: Observers) -> None:
        self._enough = failures
        self._seconds = seconds
        self._now = now
        self._observers = observers
        self._circuits: OrderedDict[_Key, _Circuit] = OrderedDict()

    def admit(self, request: ApiRequest, operation: str, *, changes: bool) -> None:
        """Let a request through, as a probe if it is time for one. Raises Failure while a circuit is open."""
        now = self._now()
        for key, circuit in self._open(request, operation):
            if circuit.until > now:
                self._note("refused", key, operation)
                raise _circuit_open(max(1, ceil(circuit.until - now)), _scope(key), operation, changes=changes)
            circuit.until = now + self._seconds

    def is_open(self, request: ApiRequest, operation: str) -> bool:
        """Return True if a request would not be let through now, but perhaps as a probe."""
        return next(self._open(request, operation), None) is not None

    def answered(self, request: ApiRequest, operation: str, status: int) -> None:
        """Take note of the status of a response."""
        if status >= 500 and status not in _NOT_FAILING:
            self.failed(request, operation)
        elif self._circuits:
            for key in _keys(request, operation):
                self._close(key, operation)

    def failed(self, request: ApiRequest, operation: str, *, connection: bool = False) -> None:
        """Take note of a request without a response; `connection`: none could be made."""
        if not self._enough:
            return
        host, pair = _keys(request, operation)
        if not connection:
            self._close(host, operation)
        key = host if connection else pair
        circuit = self._circuits.setdefault(key, _Circuit())
        self._circuits.move_to_end(key)
        while len(self._circuits) > _MAX_CIRCUITS:
            self._circuits.popitem(last=False)
        circuit.failures += 1
        circuit.until = self._now() + self._seconds
        if circuit.failures == self._enough:
            self._note("opened", key, operation)

    def unreachable(self) -> list[str]:
        """Return the origins that no connection could be made to when it was last tried, so often that all stops."""
        circuits = self._circuits.items()
        return [key[0] for key, circuit in circuits if key[1] is None and circuit.failures >= self._enough]

    def _open(self, request: ApiRequest, operation: str) -> Iterator[tuple[_Key, _Circuit]]:
        for key in _keys(request, operation) if self._circuits else ():
            circuit = self._circuits.get(key)
            if circuit is not None and circuit.failures >= self._enough:
                yield key, circuit

    def _close(self, key: _Key, operation: str) -> None:
        circuit = self._circuits.pop(key, None)
        if circuit is not None and circuit.failures >= self._enough:
            self._note("closed", key, operation)

    def _note(self, outcome: str, key: _Key, operation: str) -> None:
        scope = _scope(key)
        named = operation if scope == "operation" else ""
        self._observers.event("circuit", outcome=outcome, scope=scope, host=key[0], operation=named)


def _keys(request: ApiRequest, operation: str) -> tuple[_Key, _Key]:
    """Return the circuit of the host and that of the operation for its caller."""
    origin = origin_of(request.url)
    return (origin, None), (origin, (operation, current_caller()))


def _scope(key: _Key) -> str:
    return "host" if key[1] is None else "operation"


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


def _circuit_open(seconds: int, scope: str, operation: str, *, changes: bool) -> Failure:
    details: dict[str, Any] = {"circuit": "open", "scope": scope, "retry_after_seconds": seconds, "sent": False}
    if changes:
        details["outcome"] = NOT_PERFORMED
    whose = "the API cannot be reached" if scope == "host" else f"the API keeps failing for '{operation}'"
    message = f"Internal error: {whose}, so nothing was sent; try again in {seconds} seconds"
    return Failure(Code.INTERNAL_ERROR, message, details)
