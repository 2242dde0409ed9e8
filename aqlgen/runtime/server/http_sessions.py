# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The callers of the HTTP endpoint, and the bounds of their sessions, for protocols before 2026-07-28, which have any.

To a caller belong sessions, confirmations, executions and budgets.

A session belongs to who opened it: for anyone else it does not exist. Each caller has a share, and for one more session
than that the caller's own oldest idle one ends; nobody ends another's. The SDK ends idle sessions and holds the bound
of all.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections import Counter
from collections.abc import Callable, Sequence
from time import monotonic
from typing import TYPE_CHECKING

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import principal_components
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS

from ..session import CALLER_KEY
from ..settings.config import Config
from ..text import line
from .access import respond

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["SessionBounds", "credential_headers"]

_PROCESS_KEY = secrets.token_bytes(32)


def credential_headers(config: Config) -> tuple[str, ...]:
    """Return the headers in which callers bring credentials of their own for the API."""
    return tuple(header.lower() for header, _ in config.forward_header)


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


class _Session:
    """An open session: who opened it, when it was last in use, and the requests that it is answering."""

    __slots__ = ("caller", "calls", "last", "owner", "streams")

    def __init__(self, caller: str | None, owner: str, now: float) -> None:
        self.caller = caller
        self.owner = owner
        self.last = now
        self.calls = 0
        self.streams = 0


class SessionBounds:
    """An ASGI application between authentication and the SDK's endpoint; it also writes the caller into the scope."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        most: int,
        per_caller: int,
        idle: float,
        headers: Sequence[str] = (),
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._app = app
        self._most = most
        self._per_caller = per_caller
        self._idle = idle
        self._headers = headers
        self._clock = clock
        self._sessions: dict[str, _Session] = {}
        self._opening: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request for a session of another caller, or for one too many; pass the others on."""
        scope = {**scope, CALLER_KEY: caller_of(scope, self._headers)}
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
            await _not_found(send)
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
            session.last = self._clock()
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
                    self._sessions[handle] = _Session(scope[CALLER_KEY], owner, self._clock())
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
        while self._is_full(owner):
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

    def _is_full(self, owner: str) -> bool:
        return self._has_full_share(owner) or len(self._sessions) + self._opening.total() > self._most

    def _has_full_share(self, owner: str) -> bool:
        held = sum(1 for session in self._sessions.values() if session.owner == owner)
        return held + self._opening[owner] > self._per_caller

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
        limit = self._clock() - self._idle
        for handle, session in list(self._sessions.items()):
            if session.last < limit and not session.calls and not session.streams:
                del self._sessions[handle]


def _header(message: Scope | Message, name: bytes) -> str | None:
    return next((value.decode("latin-1") for key, value in message.get("headers", ()) if key.lower() == name), None)


async def _not_found(send: Send) -> None:
    """Answer exactly as for a session that does not exist."""
    body = json.dumps(
        {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "Session not found"}},
        separators=(",", ":"),
    ).encode()
    headers = [(b"content-length", str(len(body)).encode()), (b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": 404, "headers": headers})
    await send({"type": "http.response.body", "body": body})
