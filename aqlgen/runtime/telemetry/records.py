# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Records of calls and of requests to the API in the log, for the operator alone (R-OPS-4)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .observer import OK, CallEnd, Exchange

if TYPE_CHECKING:
    from ..logs.log import Logger

__all__ = ["CallRecords"]

_HELD_BACK = ("PERMISSION_", "CONFIRMATION_", "TOKEN_", "RATE_LIMIT_")
"""Beginnings of the codes of calls that a guard or a limit held back."""


class CallRecords:
    """Writes a record of each call: info, notice if it was held back, warning if something failed inside or behind."""

    def __init__(self, logger: Logger) -> None:
        self._logger = logger

    def call_ended(self, call: CallEnd) -> None:
        """Write the record of a call, with its time in milliseconds."""
        held_back = call.outcome.startswith(_HELD_BACK)
        level = "notice" if held_back else "warning" if call.outcome == "INTERNAL_ERROR" else "info"
        if not self._logger.wants(level):
            return
        self._logger.write(
            level,
            "call" if call.outcome == OK else "call held back" if held_back else "call failed",
            logger="calls",
            session_id=call.session_id,
            private=True,
            operation=call.operation,
            family=call.family,
            outcome=call.outcome,
            ms=round(call.seconds * 1000, 1),
            request_id=call.request_id,
        )

    @contextmanager
    def exchanging(self, exchange: Exchange) -> Iterator[None]:
        """Write the record of a request to the API: debug, notice if it is sent again."""
        try:
            yield
        finally:
            level = "notice" if exchange.tries else "debug"
            if self._logger.wants(level):
                self._logger.write(
                    level,
                    "request to the API sent again" if exchange.tries else "request to the API",
                    logger="api",
                    private=True,
                    operation=exchange.operation,
                    method=exchange.request.method,
                    host=exchange.host,
                    status=exchange.status,
                    tries=exchange.tries + 1,
                    ms=round(exchange.seconds * 1000, 1),
                )
