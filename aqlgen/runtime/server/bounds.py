"""The callers of the HTTP endpoint, and the bounds of their sessions, for protocols before 2026-07-28, which have any.

To a caller belong sessions, confirmations, executions and budgets.

A session belongs to who opened it: for anyone else it does not exist. Each caller has a share, and for one more session
than that the caller's own oldest idle one ends; nobody ends another's. The SDK ends idle sessions and holds the bound
of all.

Connections are bounded, too: their number, and the time that each may take to send a request or to read an answer.
uvicorn bounds the time of idle connections and the size of a request's head; a request that is sent a byte at a time,
or never to its end, would hold its connection without end.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import secrets
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, ClassVar

import h11
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import principal_components
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS
from uvicorn.protocols.http.h11_impl import H11Protocol

from ..session import CALLER_KEY
from ..settings.config import Config
from ..settings.tables import HttpSettings
from ..text import line
from .access import respond

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


_PROCESS_KEY = secrets.token_bytes(32)


def principal_of(scope: Scope) -> str | None:
    """Return who is authenticated: the digest of a token, or issuer, client and subject; None for nobody."""
    user = scope.get("user")
    if not isinstance(user, AuthenticatedUser):
        return None
    client, issuer, subject = principal_components(user.access_token)
    if issuer is None:
        return client
    digest = hashlib.sha256(json.dumps([client, issuer, subject]).encode()).hexdigest()[:16]
    return f"oauth:{line(subject or client, 60)}:{digest}"


def caller_of(scope: Scope, headers: Sequence[str]) -> str | None:
    """Return the caller: the principal and, where that is not a person, the credentials that they bring for the API.

    The digest of credentials holds for this process alone, so that nobody finds them by it in a log.
    """
    principal = principal_of(scope)
    if principal is not None and principal.startswith("oauth:"):
        return principal
    names = [name for name in headers if principal is None or name != "authorization"]
    brought = [(key, value) for key, value in scope["headers"] if key.decode("latin-1").lower() in names]
    if not brought:
        return principal
    text = repr(sorted(brought)).encode()
    digest = hmac.new(_PROCESS_KEY, text, hashlib.sha256).hexdigest()[:16]
    return f"{principal or 'anyone'}:credential:{digest}"


_SESSION = b"mcp-session-id"
_VERSION = b"mcp-protocol-version"


@dataclass(slots=True)
class _Session:
    """An open session: who opened it, when it was last in use, and the requests that it is answering."""

    caller: str | None
    owner: str
    last: float
    calls: int = 0
    streams: int = 0


class SessionBounds:
    """An ASGI application between authentication and the SDK's endpoint; it also writes the caller into the scope."""

    def __init__(self, app: ASGIApp, config: Config) -> None:
        self._app = app
        self._settings = config.http
        self._headers = tuple(header.lower() for header, _ in config.forward_header)
        self._sessions: dict[str, _Session] = {}
        self._opening: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request for a session of another caller, or for one too many; pass the others on."""
        headers = [pair for pair in scope["headers"] if pair[0] != b"last-event-id"]  # no event is kept
        scope = {**scope, "headers": headers, CALLER_KEY: caller_of(scope, self._headers)}
        version, handle = _header(scope, _VERSION), _header(scope, _SESSION)
        if version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS:
            await self._app(scope, receive, send)
        elif handle is None:
            await self._open(scope, receive, send)
        else:
            await self._use(handle, scope, receive, send)

    async def _use(self, handle: str, scope: Scope, receive: Receive, send: Send) -> None:
        session = self._sessions.get(handle)
        if session is None:
            await self._app(scope, receive, send)  # the SDK does not know it either
            return
        if session.caller != scope[CALLER_KEY]:
            body = json.dumps(
                {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "Session not found"}},
                separators=(",", ":"),
            ).encode()
            headers = [(b"content-length", str(len(body)).encode()), (b"content-type", b"application/json")]
            await send({"type": "http.response.start", "status": 404, "headers": headers})
            await send({"type": "http.response.body", "body": body})
            return
        is_stream, status = scope["method"] == "GET", 0

        async def watch(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        session.streams += is_stream
        session.calls += not is_stream
        try:
            await self._app(scope, receive, watch)
        finally:
            session.streams -= is_stream
            session.calls -= not is_stream
            session.last = monotonic()
            if status == 404 or (scope["method"] == "DELETE" and status < 400):
                self._sessions.pop(handle, None)

    async def _open(self, scope: Scope, receive: Receive, send: Send) -> None:
        owner = principal_of(scope) or f"address:{(scope.get('client') or ('',))[0]}"
        self._forget_ended()
        self._opening[owner] += 1
        is_opening = True

        def settle() -> None:
            nonlocal is_opening
            self._opening[owner] -= is_opening
            is_opening = False
            if not self._opening[owner]:
                del self._opening[owner]

        async def watch(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] < 400:
                handle = _header(message, _SESSION)
                if handle is not None:
                    self._sessions[handle] = _Session(scope[CALLER_KEY], owner, monotonic())
                    settle()
            await send(message)

        try:
            if await self._make_room(owner, scope):
                await self._app(scope, receive, watch)
            else:
                message = "Too many of your sessions are in use. End one (DELETE), or wait until one is idle."
                await respond(send, 503, "too_many_sessions", message)
        finally:
            settle()

    async def _make_room(self, owner: str, scope: Scope) -> bool:
        """End the owner's oldest idle sessions until there is room for one more; return False if there are none."""
        while self._has_full_share(owner) or len(self._sessions) + self._opening.total() > self._settings.max_sessions:
            idle = [
                (session.last, handle)
                for handle, session in self._sessions.items()
                if session.owner == owner and not session.calls
            ]
            if not idle:
                return not self._has_full_share(owner)  # the SDK refuses what is beyond the bound of all
            handle = min(idle)[1]
            del self._sessions[handle]
            await self._end(handle, scope)
        return True

    def _has_full_share(self, owner: str) -> bool:
        held = sum(1 for session in self._sessions.values() if session.owner == owner)
        return held + self._opening[owner] > self._settings.sessions_per_caller

    async def _end(self, handle: str, scope: Scope) -> None:
        """End a session as its caller would, by DELETE."""
        headers = [(key, value) for key, value in scope["headers"] if key not in (_SESSION, b"content-length")]

        async def nothing() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def ignore(_: Message) -> None:
            return None

        ending = {**scope, "method": "DELETE", "headers": [*headers, (_SESSION, handle.encode("latin-1"))]}
        await self._app(ending, nothing, ignore)

    def _forget_ended(self) -> None:
        """Forget the sessions that the SDK has ended, because nobody used them."""
        limit = monotonic() - self._settings.session_idle
        for handle, session in list(self._sessions.items()):
            if session.last < limit and not session.calls and not session.streams:
                del self._sessions[handle]


def _header(message: Scope | Message, name: bytes) -> str | None:
    return next((value.decode("latin-1") for key, value in message.get("headers", ()) if key.lower() == name), None)


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
