# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The bounds of connections: how many there are, and how long each may take to send a request or to read an answer.

uvicorn bounds the time of idle connections and the size of a request's head; a request that is sent a byte at a time,
or never to its end, would hold its connection for ever.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from ..settings.tables import HttpSettings

__all__ = ["BoundedProtocol", "bounded_protocol"]

_WRITE_TIMEOUT = 60.0
_TOO_SLOW = b"The request did not arrive in time.\n"


class BoundedProtocol(H11Protocol):
    """HTTP/1.1 with a deadline for each part of a request, which no further byte puts off."""

    max_connections: ClassVar[int]
    head_timeout: ClassVar[float]
    body_timeout: ClassVar[float]

    _awaited: tuple[object, object] | None = None
    _deadline: asyncio.TimerHandle | None = None
    _write_deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request, or close what is one connection too many."""
        super().connection_made(transport)
        if len(self.connections) > self.max_connections:
            transport.abort()
        else:
            self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more."""
        self._await(None)
        self._stop_write_deadline()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read a part of a request."""
        if not self.transport.is_closing():
            super().data_received(data)
            self._watch()

    def on_response_complete(self) -> None:
        """Begin to wait for the next request, or for the client to read the last answer."""
        super().on_response_complete()
        if self.transport.is_closing():
            self._start_write_deadline()
        else:
            self._watch()

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection."""
        super().timeout_keep_alive_handler()
        self._start_write_deadline()

    def pause_writing(self) -> None:
        """Limit the time in which the client must read what it was sent."""
        super().pause_writing()
        self._start_write_deadline()

    def resume_writing(self) -> None:
        """Go on writing: the client reads."""
        self._stop_write_deadline()
        super().resume_writing()

    def _watch(self) -> None:
        """Set the deadline of what the client has to send next."""
        state = self.conn.their_state
        self._await(state if state in (h11.IDLE, h11.SEND_BODY) else None)

    def _await(self, state: object) -> None:
        awaited = None if state is None else (state, self.cycle)
        if awaited == self._awaited:
            return
        self._awaited = awaited
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        if state is not None:
            seconds = self.head_timeout if state is h11.IDLE else self.body_timeout
            self._deadline = self.loop.call_later(seconds, self._expire)

    def _expire(self) -> None:
        """Answer 408 if there is no answer yet (RFC 9110, 15.5.9), and close the connection."""
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            headers = [("content-type", "text/plain"), ("connection", "close"), ("content-length", str(len(_TOO_SLOW)))]
            with suppress(h11.LocalProtocolError):
                for event in (
                    h11.Response(status_code=408, headers=headers, reason=b"Request Timeout"),
                    h11.Data(data=_TOO_SLOW),
                    h11.EndOfMessage(),
                ):
                    self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
        self._start_write_deadline()

    def _start_write_deadline(self) -> None:
        if self._write_deadline is None:
            self._write_deadline = self.loop.call_later(_WRITE_TIMEOUT, self.transport.abort)

    def _stop_write_deadline(self) -> None:
        if self._write_deadline is not None:
            self._write_deadline.cancel()
            self._write_deadline = None


def bounded_protocol(settings: HttpSettings) -> type[BoundedProtocol]:
    """Return the protocol with the bounds of the settings."""
    bounds = {name: getattr(settings, name) for name in ("max_connections", "head_timeout", "body_timeout")}
    return type("BoundedProtocol", (BoundedProtocol,), bounds)
