# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""A record of each request over HTTP in the log, level info: what an access log holds, and who called (R-OPS-4)."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

from ..session import CALLER_KEY
from ..text import line
from .health import HEALTH, READY

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from ..logs.log import Logger

__all__ = ["RequestsLog", "note_caller"]

_LEVEL, _OF_PROBES = "info", "debug"
_LONGEST = 200
_WHO = "mcp_aql.who"


class RequestsLog:
    """An ASGI application around another; it writes no header, no query and nothing of a body."""

    def __init__(self, app: ASGIApp, logger: Logger) -> None:
        self._app = app
        self._logger = logger

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and write its record when it is answered."""
        level = _OF_PROBES if scope.get("path") in (HEALTH, READY) else _LEVEL
        if scope["type"] != "http" or not self._logger.wants(level):
            await self._app(scope, receive, send)
            return
        began, status, sent = perf_counter(), 0, 0

        async def watch(message: Message) -> None:
            nonlocal status, sent
            status = message.get("status", status)
            sent += len(message.get("body", b""))
            await send(message)

        who: dict[str, str | None] = {}
        try:
            await self._app({**scope, _WHO: who}, receive, watch)
        finally:
            self._logger.write(
                level,
                "request",
                logger="http",
                private=True,
                method=line(scope["method"], 20),
                path=line(scope["path"], _LONGEST),
                status=status,
                ms=round((perf_counter() - began) * 1000, 1),
                bytes=sent,
                client=(scope.get("client") or ("",))[0],
                caller=who.get("caller"),
            )


def note_caller(scope: Scope) -> None:
    """Add to the record of a request who calls, once that is known."""
    if _WHO in scope:
        scope[_WHO]["caller"] = scope.get(CALLER_KEY)
