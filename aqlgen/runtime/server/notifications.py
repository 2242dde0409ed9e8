"""Log notifications: diagnostics for the clients that asked for them (R-OPS-4; MCP, logging).

- Protocols up to 2025-11-25: a client sets a level by `logging/setLevel`, and gets `notifications/message` of that
  level and above from then on, outside of any answer. A record that concerns one session goes to that session alone.
- Protocol 2026-07-28: a request asks for itself, by a level in its `_meta`, and gets what is recorded on its behalf.

Purely informational: they are sent beside the answers, from a bounded queue for each client; for a client that does not
read, they are lost and counted, and no answer waits for them.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Any

import anyio
from mcp.server import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.types import LoggingLevel, LoggingMessageNotification, LoggingMessageNotificationParams

from ..logs import LEVELS, NUMBERS, Logger, Record
from ..session import Session

_MAX_QUEUED = 200
_SEND_TIMEOUT = 10.0
_LAST_RECORDS_TIMEOUT = 1.0

_request: ContextVar[object] = ContextVar("request", default=None)


class Relay:
    """Passes the records of a logger to the clients of one run of the server."""

    def __init__(self, logger: Logger) -> None:
        self._logger = logger
        self._loop = asyncio.get_running_loop()
        self._subscribers: dict[Session, _Subscriber] = {}

    def subscribe(self, context: ServerRequestContext[Any, Any], session: Session, level: LoggingLevel) -> None:
        """Send the client of a session what is recorded from now on, of this level and above."""
        subscriber = self._subscribers.get(session)
        if subscriber is None:
            subscriber = self._subscribers[session] = _Subscriber(context.session, session.id)
            session.on_close(lambda: self._drop(session))
        subscriber.level = NUMBERS[level]
        self._listen()

    def close(self) -> None:
        """Send nothing more to anyone; what is not sent yet is lost."""
        for session in tuple(self._subscribers):
            self._drop(session)

    @asynccontextmanager
    async def during(self, context: ServerRequestContext[Any, Any], level: LoggingLevel) -> AsyncIterator[None]:
        """Send the client what is recorded on behalf of a request, before its answer."""
        request = object()
        records: deque[Record] = deque(maxlen=_MAX_QUEUED)

        def listener(record: Record) -> None:
            if _request.get() is request:
                records.append(record)

        token = _request.set(request)
        self._logger.listen(listener, level)
        try:
            yield
        finally:
            self._logger.listen(listener, None)
            _request.reset(token)
            with anyio.move_on_after(_LAST_RECORDS_TIMEOUT):
                for record in records:
                    await _send(context.session, record, context.request_id)

    def pass_on(self, record: Record) -> None:
        """Pass a record on, from any thread."""
        try:
            is_own_thread = asyncio.get_running_loop() is self._loop
        except RuntimeError:
            is_own_thread = False
        if is_own_thread:
            self._distribute(record)
        elif not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._distribute, record)

    def _distribute(self, record: Record) -> None:
        for subscriber in self._subscribers.values():
            if record.levelno >= subscriber.level and record.audience in (None, subscriber.session_id):
                subscriber.put(record)

    def _drop(self, session: Session) -> None:
        subscriber = self._subscribers.pop(session, None)
        if subscriber is not None:
            subscriber.end()
            self._listen()

    def _listen(self) -> None:
        level = min((subscriber.level for subscriber in self._subscribers.values()), default=None)
        self._logger.listen(self.pass_on, next((name for name in LEVELS if NUMBERS[name] == level), None))


class _Subscriber:
    """A client that wants records, and those that it has not been sent yet."""

    def __init__(self, client: ServerSession, session_id: str | None) -> None:
        self.session_id = session_id
        self.level = NUMBERS[LEVELS[-1]]
        self._client = client
        self._records: asyncio.Queue[Record] = asyncio.Queue(_MAX_QUEUED)
        self._lost = 0
        self._task = asyncio.get_running_loop().create_task(self._run())

    def put(self, record: Record) -> None:
        """Queue a record, or count it as lost."""
        try:
            self._records.put_nowait(record)
        except asyncio.QueueFull:
            self._lost += 1

    def end(self) -> None:
        """Send nothing more."""
        self._task.cancel()

    async def _run(self) -> None:
        while True:
            record = await self._records.get()
            with anyio.move_on_after(_SEND_TIMEOUT) as scope:
                await _send(self._client, record, None)
            if scope.cancelled_caught:
                self._lost += 1
            elif self._lost:
                lost, self._lost = self._lost, 0
                message = "log records were lost, since the client did not read them"
                data = {"count": lost}
                self.put(Record("warning", record.name, message, session_id=record.session_id, data=data))


async def _send(client: ServerSession, record: Record, request_id: str | int | None) -> None:
    shown = record.as_json(whole=False)
    notification = LoggingMessageNotification(
        params=LoggingMessageNotificationParams(level=shown.pop("level"), logger=shown.pop("logger"), data=shown)
    )
    try:
        await client.send_notification(notification, related_request_id=request_id)
    except Exception:  # noqa: BLE001 - a client that cannot be told goes without; nothing may stop for it
        return
