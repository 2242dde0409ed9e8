"""Who watches an adapter at work: each learns of its calls, its requests to the API, and other events.

No observer gets a parameter, a header or a text of the API: others may keep its output for years.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from ..session import current_session

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from ..wire import ApiRequest
    from . import Logger

OK = "OK"
"""The outcome of a call that succeeded; of another one it is the code of its error."""


EVENTS = {
    "quota": ("Outcomes of requests by the owner's quotas.", ("outcome", "metric", "scope")),
    "confirmation": ("Confirmations that were asked for, given and refused.", ("outcome", "by")),
    "store": ("Outages of the store, their ends, and counts that it lost.", ("outcome",)),
}
"""The events, each with its text and with the labels that it is counted by; further labels are for the log alone."""


class CallEnd(NamedTuple):
    """A call that was answered. `operation` is a name of the adapter's, "unknown" for any other."""

    operation: str
    family: str
    outcome: str
    seconds: float
    request_id: str = ""
    session_id: str | None = None


class Exchange:
    """A request to the API; `status` is 0 until there is an answer. An observer may add headers to `request`."""

    __slots__ = ("began", "operation", "request", "seconds", "status", "tries")

    def __init__(self, request: ApiRequest, operation: str, tries: int) -> None:
        self.request = request
        self.operation = operation
        self.tries = tries
        self.status = 0
        self.began = perf_counter()
        self.seconds = 0.0

    @property
    def host(self) -> str:
        """The host of the API."""
        return urlsplit(self.request.url).hostname or ""

    @property
    def port(self) -> int:
        """The port of the API."""
        parts = urlsplit(self.request.url)
        return parts.port or (443 if parts.scheme == "https" else 80)


class Observer:
    """What is told; an observer overrides what it wants to know. None of the methods waits or raises."""

    def call_ended(self, call: CallEnd) -> None:
        """Note a call that was answered."""

    def wants_exchange(self, tries: int) -> bool:  # noqa: ARG002
        """Return True if a request to the API is to be told, which is sent again after so many tries."""
        return True

    def exchanging(self, exchange: Exchange) -> AbstractContextManager[object]:
        """Return a context that a request to the API is made in; at its end `status` and `seconds` are known."""
        raise NotImplementedError

    def event(self, name: str, labels: Mapping[str, str]) -> None:
        """Note an event, one of EVENTS."""


class Observers:
    """All who watch an adapter."""

    def __init__(self) -> None:
        self._observers: list[Observer] = []

    def __bool__(self) -> bool:
        return bool(self._observers)

    def add(self, observer: Observer) -> None:
        """Inform another observer from now on."""
        self._observers.append(observer)

    def call_ended(self, call: CallEnd) -> None:
        """Inform the observers of a call."""
        for observer in self._observers:
            observer.call_ended(call)

    def event(self, name: str, **labels: str) -> None:
        """Inform all observers of an event, one of EVENTS."""
        for observer in self._observers:
            observer.event(name, labels)

    def exchange(self, request: ApiRequest, operation: str, tries: int) -> AbstractContextManager[Exchange]:
        """Inform all observers of a request to the API, which is to be sent as `Exchange.request` stands then."""
        exchange = Exchange(request, operation, tries)
        watching = [observer for observer in self._observers if observer.wants_exchange(tries)]
        return _watched(exchange, watching) if watching else nullcontext(exchange)


@contextmanager
def _watched(exchange: Exchange, observers: Sequence[Observer]) -> Iterator[Exchange]:
    with ExitStack() as contexts:
        for observer in observers:
            contexts.enter_context(observer.exchanging(exchange))
        try:
            yield exchange
        finally:
            exchange.seconds = perf_counter() - exchange.began


_HELD_BACK = ("PERMISSION_", "CONFIRMATION_", "TOKEN_", "RATE_LIMIT_")
"""Beginnings of the codes of calls that a guard or a limit held back."""

_RECORDED = {
    ("quota", "reached_warn"): ("notice", "a quota nears its end"),
    ("quota", "reached_pause"): ("warning", "a quota is nearly used up"),
    ("quota", "continued"): ("notice", "a call continues after the pause of a quota"),
    ("confirmation", "confirmed"): ("notice", "a call is confirmed"),
    ("store", "lowered"): ("error", "the store's count went down: counting continues from this process's count"),
}
"""Levels and messages of events by their outcome; of others there is a record already, such as that of their call."""
_QUIET = 60.0
"""Seconds for which an event is not written again with the same labels."""
_MOST_QUIET = 1000


class CallRecords(Observer):
    """Writes a record of each call: info, notice if it was held back, warning if something failed inside or behind.

    Events are recorded, too, the same one of a session once a minute.
    """

    def __init__(self, logger: Logger) -> None:
        self._logger = logger
        self._written: dict[tuple[str, ...], float] = {}

    def call_ended(self, call: CallEnd) -> None:
        """Write the record of a call, with its time in milliseconds."""
        level, message = _record_of(call.outcome)
        self._logger.write(
            level,
            message,
            logger="calls",
            session_id=call.session_id,
            of_call=True,
            operation=call.operation,
            family=call.family,
            outcome=call.outcome,
            ms=round(call.seconds * 1000, 1),
            request_id=call.request_id,
        )

    def event(self, name: str, labels: Mapping[str, str]) -> None:
        """Write the record of an event that has one, unless it was written within the minute."""
        level, message = _RECORDED.get((name, labels.get("outcome", "")), ("", ""))
        if not level or not self._logger.wants(level):
            return
        key, now = (name, current_session() or "", *labels.values()), monotonic()
        if now - self._written.get(key, -_QUIET) < _QUIET:
            return
        if len(self._written) >= _MOST_QUIET:
            self._written.clear()
        self._written[key] = now
        shown: dict[str, Any] = {label: value for label, value in labels.items() if value}
        host = {label: shown.pop(label) for label in ("host",) if label in shown}
        self._logger.write(level, message, logger=name, of_call=True, trace=host, **shown)

    def wants_exchange(self, tries: int) -> bool:
        """Return True if a record of it is to be written."""
        return self._logger.wants("notice" if tries else "debug")

    @contextmanager
    def exchanging(self, exchange: Exchange) -> Iterator[None]:
        """Write the record of a request to the API: debug, notice if it is sent again."""
        try:
            yield
        finally:
            self._logger.write(
                "notice" if exchange.tries else "debug",
                "request to the API sent again" if exchange.tries else "request to the API",
                logger="api",
                of_call=True,
                trace={"host": exchange.host},
                operation=exchange.operation,
                method=exchange.request.method,
                status=exchange.status,
                tries=exchange.tries + 1,
                ms=round(exchange.seconds * 1000, 1),
            )


def _record_of(outcome: str) -> tuple[str, str]:
    """Return the level and the message of the record of a call."""
    if outcome == OK:
        return "info", "call"
    if outcome.startswith(_HELD_BACK):
        return "notice", "call held back"
    return "warning" if outcome == "INTERNAL_ERROR" else "info", "call failed"
