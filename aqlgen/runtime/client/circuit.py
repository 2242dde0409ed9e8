# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Circuits: what keeps failing is not called for a while, and then by one request that finds out.

Failures are answers of status 500 or more, answers that do not come in time or break off, and connections that cannot
be made. Whatever the API answers below 500 shows that it works, and ends its row of failures.

- Of an operation as one caller calls it, so many failures in a row stop it for this caller. An operation that is
  broken, or that somebody calls with what breaks it, stops nothing else.
- Of a host, so many failures in a row over several operations stop those that have failed since, each by its first
  failure. What has not failed goes on, and its first good answer opens the way for all.
- So many connections in a row that cannot be made stop everything to that host.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from math import ceil
from typing import TYPE_CHECKING, Any, TypeAlias

from ..errors import NOT_PERFORMED, Code, Failure
from ..session import current_caller
from ..wire import ApiRequest, origin_of

if TYPE_CHECKING:
    from ..logs.observers import Observers

__all__ = ["Circuits"]

_MAX_HOSTS, _MAX_PAIRS = 256, 4096
_SEVERAL = 3
"""Operations that fail, from which on it is the host that fails."""
_LONGEST_PROBE = 60.0
"""Seconds after which a probe that has no end is forgotten."""
_NOT_FAILING = frozenset({501, 505})

_Pair: TypeAlias = "tuple[str, str | None]"


@dataclass(slots=True)
class _Circuit:
    """A row of failures; from `failures` on that are enough, nothing is sent before `until`."""

    failures: int = 0
    until: float = 0.0
    probing_until: float = 0.0
    opened: bool = False


@dataclass(slots=True)
class _Host:
    """What failed at a host since it last answered well, by operation and caller."""

    connections: _Circuit = field(default_factory=_Circuit)
    pairs: OrderedDict[_Pair, _Circuit] = field(default_factory=OrderedDict)
    in_row: int = 0
    failing: set[str] = field(default_factory=set)


class Circuits:
    """The circuits of all hosts. After `failures` in a row nothing is sent for `seconds`; 0 failures: never so."""

    def __init__(self, failures: int, seconds: float, now: Callable[[], float], observers: Observers) -> None:
        self._enough = failures
        self._seconds = seconds
        self._now = now
        self._observers = observers
        self._hosts: OrderedDict[str, _Host] = OrderedDict()

    def admit(self, request: ApiRequest, operation: str, *, changes: bool) -> None:
        """Let a request through, as a probe if it is time for one. Raises Failure while its circuit is open."""
        host = self._hosts.get(origin_of(request.url)) if self._hosts else None
        if host is None:
            return
        circuit = self._open_circuit(host, operation)
        if circuit is None:
            return
        now = self._now()
        wait = max(circuit.until, circuit.probing_until) - now
        if wait > 0:
            scope = "host" if circuit is host.connections else "operation"
            self._note("refused", scope, origin_of(request.url), operation)
            raise _refused(max(1, ceil(wait)), scope, operation, changes=changes)
        circuit.probing_until = now + _LONGEST_PROBE

    def is_open(self, request: ApiRequest, operation: str) -> bool:
        """Return True if a request would not be let through now, but perhaps as a probe."""
        host = self._hosts.get(origin_of(request.url))
        return host is not None and self._open_circuit(host, operation) is not None

    def answered(self, request: ApiRequest, operation: str, status: int) -> None:
        """Take note of the status of a response."""
        if status >= 500 and status not in _NOT_FAILING:
            self.failed(request, operation)
        elif self._hosts:
            host = self._hosts.get(origin_of(request.url))
            if host is not None:
                self._worked(host, (operation, current_caller()), origin_of(request.url))

    def failed(self, request: ApiRequest, operation: str, *, connection: bool = False) -> None:
        """Take note of a request without a response; `connection`: none could be made."""
        if not self._enough:
            return
        origin = origin_of(request.url)
        host = self._hosts.setdefault(origin, _Host())
        self._hosts.move_to_end(origin)
        while len(self._hosts) > _MAX_HOSTS:
            self._hosts.popitem(last=False)
        if connection:
            if self._fail(host.connections, self._enough):
                self._note("opened", "host", origin)
            return
        self._connected(host, origin)
        host.in_row += 1
        host.failing.add(operation)
        pair = (operation, current_caller())
        circuit = host.pairs.setdefault(pair, _Circuit())
        host.pairs.move_to_end(pair)
        while len(host.pairs) > _MAX_PAIRS:
            host.pairs.popitem(last=False)
        if self._fail(circuit, self._needed(host)):
            self._note("opened", "operation", origin, operation)

    def unreachable(self) -> list[str]:
        """Return the origins that no connection could be made to when it was last tried, so often that all stops."""
        return [origin for origin, host in self._hosts.items() if 0 < self._enough <= host.connections.failures]

    def withdrawn(self, request: ApiRequest, operation: str) -> None:
        """Take note that a request that was let through was not sent: it is no probe."""
        host = self._hosts.get(origin_of(request.url)) if self._hosts else None
        if host is not None:
            host.connections.probing_until = 0.0
            circuit = host.pairs.get((operation, current_caller()))
            if circuit is not None:
                circuit.probing_until = 0.0

    def _connected(self, host: _Host, origin: str) -> None:
        if host.connections.failures >= self._enough:
            self._note("closed", "host", origin)
        host.connections = _Circuit()

    def _worked(self, host: _Host, pair: _Pair, origin: str) -> None:
        self._connected(host, origin)
        circuit = host.pairs.pop(pair, None)
        if circuit is not None and circuit.opened:
            self._note("closed", "operation", origin, pair[0])
        host.in_row = 0
        host.failing.clear()
        for circuit in host.pairs.values():
            if circuit.failures < self._enough:
                circuit.until = 0.0
                circuit.opened = False

    def _fail(self, circuit: _Circuit, needed: int) -> bool:
        """Count a failure and return True if it is the one that opens the circuit."""
        circuit.failures += 1
        circuit.probing_until = 0.0
        if circuit.failures < needed:
            return False
        circuit.until = self._now() + self._seconds
        was_open, circuit.opened = circuit.opened, True
        return not was_open

    def _note(self, outcome: str, scope: str, origin: str, operation: str = "") -> None:
        self._observers.event("circuit", outcome=outcome, scope=scope, host=origin, operation=operation)

    def _needed(self, host: _Host) -> int:
        """Return how many failures of an operation are enough."""
        return 1 if host.in_row >= self._enough and len(host.failing) >= _SEVERAL else self._enough

    def _open_circuit(self, host: _Host, operation: str) -> _Circuit | None:
        """Return the circuit that holds a request back, or would do so until a probe."""
        if host.connections.failures >= self._enough:
            return host.connections
        circuit = host.pairs.get((operation, current_caller()))
        return circuit if circuit is not None and circuit.failures >= self._needed(host) else None


def _refused(seconds: int, scope: str, operation: str, *, changes: bool) -> Failure:
    details: dict[str, Any] = {"circuit": "open", "scope": scope, "retry_after_seconds": seconds, "sent": False}
    if changes:
        details["outcome"] = NOT_PERFORMED
    whose = "the API cannot be reached" if scope == "host" else f"the API keeps failing for '{operation}'"
    message = f"Internal error: {whose}, so nothing was sent; try again in {seconds} seconds"
    return Failure(Code.INTERNAL_ERROR, message, details)
