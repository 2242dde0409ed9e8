# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Records of calls, requests to the API and events in the log: for their caller, hosts for the owner (R-OPS-4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any

from ..session import current_session
from .observer import OK, CallEnd, Exchange

if TYPE_CHECKING:
    from ..logs.log import Logger

__all__ = ["CallRecords"]

_HELD_BACK = ("PERMISSION_", "CONFIRMATION_", "TOKEN_", "RATE_LIMIT_")
"""Beginnings of the codes of calls that a guard or a limit held back."""

_EVENTS = {
    ("quota", "reached_warn"): ("notice", "a quota nears its end"),
    ("quota", "reached_pause"): ("warning", "a quota is nearly used up"),
    ("quota", "continued"): ("notice", "a call goes on over the pause of a quota"),
    ("circuit", "opened"): ("warning", "the API keeps failing: a circuit is open"),
    ("circuit", "closed"): ("notice", "the API works again: a circuit is closed"),
    ("retry", "refused"): ("notice", "requests are not sent again, since the retry budget is used up"),
    ("confirmation", "confirmed"): ("notice", "a call is confirmed"),
    ("store", "lowered"): ("error", "the store counts less than it did: counting goes on from what this process knows"),
    ("pace", "waited"): ("debug", "a request waited for its turn in the pace of the API"),
}
"""Levels and messages of events by their outcome; of others there is a record already, such as that of their call."""
_QUIET = 60.0
"""Seconds for which an event is not written again with the same labels."""
_MOST_QUIET = 1000


class CallRecords:
    """Writes a record of each call: info, notice if it was held back, warning if something failed inside or behind.

    Events are recorded, too, the same one of a session once a minute.
    """

    def __init__(self, logger: Logger, clock: Callable[[], float] = monotonic) -> None:
        self._logger = logger
        self._clock = clock
        self._written: dict[tuple[str, ...], float] = {}

    def wants_call(self, outcome: str) -> bool:
        """Return True if a record of it is to be written."""
        return self._logger.wants(_record_of(outcome)[0])

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
        level, message = _EVENTS.get((name, labels.get("outcome", "")), ("", ""))
        if not level or not self._logger.wants(level):
            return
        key, now = (name, current_session() or "", *labels.values()), self._clock()
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
