"""Who calls: the caller and the headers of the HTTP request that a call came in, and what the session is.

Specification, 2.3. What is issued to a caller is good for that caller alone, within the session if there is one.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp.server import ServerRequestContext

TERMINAL = "terminal"
"""The session of calls that are typed as commands: what is approved is good for the same command typed again."""
CALLER_KEY = "mcp_aql.caller"
"""The key of an ASGI scope under which the HTTP server writes who calls."""

_HEADERS: ContextVar[Mapping[str, str] | None] = ContextVar("headers", default=None)
_CALLER: ContextVar[str | None] = ContextVar("caller", default=None)
_SESSION_ID: ContextVar[str | None] = ContextVar("session_id", default=None)
_REQUEST_ID: ContextVar[str | None] = ContextVar("request_id", default=None)
_SECRETS: ContextVar[set[str] | None] = ContextVar("secrets", default=None)


def caller_headers() -> Mapping[str, str] | None:
    """Return the headers that the call came with; None over standard input and output."""
    return _HEADERS.get()


def current_caller() -> str | None:
    """Return the id of who makes the call; None over standard input and output, and for anyone over HTTP."""
    return _CALLER.get()


def current_session() -> str | None:
    """Return the id of the session whose call is being answered; None if it has none, and outside of calls."""
    return _SESSION_ID.get()


def current_request() -> str | None:
    """Return the id of the request that is being answered; None outside of requests."""
    return _REQUEST_ID.get()


def request_secrets() -> set[str]:
    """Return the secrets of the request that is being answered, to which its threads and tasks add theirs."""
    secrets = _SECRETS.get()
    if secrets is None:
        _SECRETS.set(secrets := set())
    return secrets


@contextmanager
def with_request(request_id: str) -> Iterator[None]:
    """Set the id of a request, and begin its secrets, while it is answered."""
    tokens = _REQUEST_ID.set(request_id), _SECRETS.set(set(_SECRETS.get() or ()))
    try:
        yield
    finally:
        _REQUEST_ID.reset(tokens[0])
        _SECRETS.reset(tokens[1])


def audience() -> str | None:
    """Return the id of the session whose call is being answered over HTTP, "" if it has none; None otherwise.

    What is said on behalf of such a call concerns no other session.
    """
    return None if _HEADERS.get() is None else _SESSION_ID.get() or ""


@contextmanager
def with_caller(
    headers: Mapping[str, str] | None, caller: str | None = None, session_id: str | None = None
) -> Iterator[None]:
    """Set the headers and the id of the caller, and the session, while a call is answered."""
    tokens = _HEADERS.set(headers), _CALLER.set(caller), _SESSION_ID.set(session_id)
    try:
        yield
    finally:
        _HEADERS.reset(tokens[0])
        _CALLER.reset(tokens[1])
        _SESSION_ID.reset(tokens[2])


_FIRST_SESSIONLESS = "2026"
_MOST_HELD = 1000


class Session:
    """State that ends with the session, for whatever reason. `id` is None when there is no session."""

    __slots__ = ("_closed", "callbacks", "id", "state")

    def __init__(self, id: str | None = None) -> None:
        self.id = id
        self.state: dict[str, Any] = {}
        self.callbacks: list[Callable[[], None]] = []
        self._closed = False

    @classmethod
    def new(cls) -> Session:
        """Return a new session with an id of its own."""
        return cls(f"session_{secrets.token_hex(8)}")

    def on_close(self, callback: Callable[[], None]) -> None:
        """Call `callback` once when the session ends."""
        self.callbacks.append(callback)

    def hold(self, kind: str, item: Any, at_end: Callable[[set[Any]], None]) -> None:
        """Keep an item of a kind until the session ends; `at_end` gets those that are held then, at most a thousand."""
        if self.id is None:
            return
        if kind not in self.state:
            self.state[kind] = items = set[Any]()
            self.on_close(lambda: at_end(items))
        if len(self.state[kind]) < _MOST_HELD:
            self.state[kind].add(item)

    def close(self) -> None:
        """End the session: run the callbacks, the last first, and clear the state. A second call does nothing."""
        if self._closed:
            return
        self._closed = True
        while self.callbacks:
            with suppress(Exception):
                self.callbacks.pop()()
        self.state.clear()


class Sessions:
    """The sessions of one run of the server; it is the server's lifespan state."""

    def __init__(self) -> None:
        self._connection = Session.new()
        self._http: dict[str, Session] = {}

    def of(self, context: ServerRequestContext[Any, Any]) -> Session:
        """Return the session that a request belongs to."""
        request = context.request
        if request is None:
            return self._connection
        handle = request.headers.get("mcp-session-id")
        if handle is None or context.protocol_version >= _FIRST_SESSIONLESS:
            return Session()
        session = self._http.get(handle)
        if session is None:
            session = self._http[handle] = Session.new()
            self._close_with(context, handle, session)
        return session

    def _close_with(self, context: ServerRequestContext[Any, Any], handle: str, session: Session) -> None:
        """Close the session with its connection; mcp 2.3 gives a request's connection no public name."""

        def close() -> None:
            self._http.pop(handle, None)
            session.close()

        connection = getattr(context.session, "_connection", None)
        if connection is not None:
            connection.exit_stack.callback(close)

    def release(self, session: Session) -> None:
        """End a session that belongs to a single request, once that is answered."""
        if session.id is None:
            session.close()

    def close(self) -> None:
        """End every session."""
        for session in [*self._http.values(), self._connection]:
            session.close()
        self._http.clear()
