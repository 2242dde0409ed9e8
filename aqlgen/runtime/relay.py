# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
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
from typing import Any, cast

import anyio
from mcp.server import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.types import LOG_LEVEL_META_KEY, LoggingLevel, LoggingMessageNotification, LoggingMessageNotificationParams

from .log import LEVELS, RANKS, Logger, Record
from .session import Session

__all__ = ["Relay", "asked_level"]

_MOST = 200
_PATIENCE = 10.0
_LAST_WORDS = 1.0
_FIRST_SESSIONLESS = "2026"

_request: ContextVar[object] = ContextVar("request", default=None)


def asked_level(context: ServerRequestContext[Any, Any]) -> LoggingLevel | None:
    """Give the level that a request of protocol 2026-07-28 asks log messages of, if it does."""
    if not context.meta or context.protocol_version < _FIRST_SESSIONLESS:
        return None
    level = context.meta.get(LOG_LEVEL_META_KEY)
    return cast("LoggingLevel", level) if level in RANKS else None


class Relay:
    """Hands the records of a logger to the clients of one run of the server."""

    def __init__(self, logger: Logger) -> None:
        self._logger = logger
        self._loop = asyncio.get_running_loop()
        self._subscribers: dict[Session, _Subscriber] = {}

    def subscribe(self, context: ServerRequestContext[Any, Any], session: Session, level: LoggingLevel) -> None:
        """Send the client of a session what is recorded from now on, of this level and above."""
        known = self._subscribers.get(session)
        if known is None:
            known = self._subscribers[session] = _Subscriber(context.session, session.id)
            session.on_close(lambda: self._drop(session))
            known.start()
        known.least = RANKS[level]
        self._listen()

    def close(self) -> None:
        """Send nothing more to anyone; what is not sent yet is lost."""
        for session in tuple(self._subscribers):
            self._drop(session)

    @asynccontextmanager
    async def during(self, context: ServerRequestContext[Any, Any], level: LoggingLevel) -> AsyncIterator[None]:
        """Send the client what is recorded on behalf of one request, before its answer."""
        mine = object()
        kept: deque[Record] = deque(maxlen=_MOST)

        def listener(record: Record) -> None:
            if _request.get() is mine:
                kept.append(record)

        token = _request.set(mine)
        self._logger.listen(listener, level)
        try:
            yield
        finally:
            self._logger.listen(listener, None)
            _request.reset(token)
            with anyio.move_on_after(_LAST_WORDS):
                for record in kept:
                    await _send(context.session, record, context.request_id)

    def hand(self, record: Record) -> None:
        """Take a record, from any thread."""
        try:
            here = asyncio.get_running_loop() is self._loop
        except RuntimeError:
            here = False
        if here:
            self._distribute(record)
        elif not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._distribute, record)

    def _distribute(self, record: Record) -> None:
        rank = RANKS[record.level]
        for one in self._subscribers.values():
            if rank >= one.least and record.session_id in (None, one.session_id):
                one.put(record)

    def _drop(self, session: Session) -> None:
        gone = self._subscribers.pop(session, None)
        if gone is not None:
            gone.end()
            self._listen()

    def _listen(self) -> None:
        least = min((one.least for one in self._subscribers.values()), default=None)
        self._logger.listen(self.hand, None if least is None else LEVELS[least])


class _Subscriber:
    """A client that wants records, and those that it has not been sent yet."""

    def __init__(self, client: ServerSession, session_id: str | None) -> None:
        self.session_id = session_id
        self.least = len(LEVELS)
        self._client = client
        self._records: deque[Record] = deque()
        self._changed = asyncio.Event()
        self._lost = 0
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to send what is queued."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    def put(self, record: Record) -> None:
        """Queue a record, or count it as lost."""
        if len(self._records) >= _MOST:
            self._lost += 1
            return
        self._records.append(record)
        self._changed.set()

    def end(self) -> None:
        """Send nothing more."""
        if self._task is not None:
            self._task.cancel()

    async def _run(self) -> None:
        while True:
            if not self._records:
                self._changed.clear()
                await self._changed.wait()
                continue
            record = self._records.popleft()
            with anyio.move_on_after(_PATIENCE) as scope:
                await _send(self._client, record, None)
            if scope.cancelled_caught:
                self._lost += 1
            elif self._lost:
                lost, self._lost = self._lost, 0
                said = "log records were lost, since the client did not read them"
                self.put(record._replace(level="warning", message=said, data={"count": lost}, trace={}))


async def _send(client: ServerSession, record: Record, request_id: str | int | None) -> None:
    shown = record.shown(whole=False)
    notification = LoggingMessageNotification(
        params=LoggingMessageNotificationParams(level=shown.pop("level"), logger=shown.pop("logger"), data=shown)
    )
    try:
        await client.send_notification(notification, related_request_id=request_id)
    except Exception:  # noqa: BLE001 - a client that cannot be told goes without; nothing may stop for it
        return
