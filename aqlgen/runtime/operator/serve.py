"""The page as an ASGI application behind its guard, and its start on loopback (R-OPS-1).

It has the page's files, its stream of changes and its actions. Its address is shown at the terminal alone.

Everything that a request can reach stands in `guard.ROUTES`. The files hold no data, and are given to whoever opens the
address; all that is known of adapters comes by the stream, to a session alone.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import socket
import sys
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uvicorn
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from ..logs import Logger
from ..server.access import respond
from ..server.http import BindError, bind, uvicorn_config
from ..settings.tables import HttpSettings
from .actions import Actions, Refused
from .feed import Feed
from .guard import Admission, Guard
from .reading import home_source, operator_name

if TYPE_CHECKING:
    from types import FrameType

    from starlette.types import ASGIApp, Receive, Scope, Send

_ASSETS = files(__package__) / "assets"  # also within an archive
_FILES = {
    "/": ("operator.html", "text/html; charset=utf-8"),
    "/operator.css": ("operator.css", "text/css; charset=utf-8"),
    "/operator.js": ("operator.js", "text/javascript; charset=utf-8"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
}
_TOKEN = "x-operator-token"  # noqa: S105 - the name of a header
_MOST_STREAMS = 16


class Page:
    """The page of one operator. `port` makes the name of its cookie, which all ports of a machine share, its own."""

    def __init__(self, admission: Admission, feed: Feed, actions: Actions, port: int) -> None:
        self._admission = admission
        self._feed = feed
        self._actions = actions
        self._cookie = f"operator_{port}"
        self._contents = {path: ((_ASSETS / name).read_bytes(), kind) for path, (name, kind) in _FILES.items()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that the guard has let through."""
        path, request = scope["path"], Request(scope)
        if path in self._contents:
            content, kind = self._contents[path]
            await Response(content, media_type=kind)(scope, receive, send)
            return
        try:
            response = await self._answer(path, request, _json(scope["operator.body"]))
        except Refused as refusal:
            await respond(send, refusal.status, refusal.code, str(refusal))
            return
        await response(scope, receive, send)

    async def _answer(self, path: str, request: Request, body: Any) -> Response:
        if path == "/api/enter":
            return self._enter(body)
        cookies, token = self._secrets(request)
        if not self._admission.admits(cookies, token, use=path != "/api/events"):
            raise Refused(
                401, "no_session", "Open the address that the terminal shows. Enter in the terminal makes a new one."
            )
        if path == "/api/events":
            return self._events(cookies, token)
        if path == "/api/leave":
            self._admission.leave(cookies, token)
            self._feed.refresh()
            return _answer({"message": "You have left."})
        answer = await self._actions.act(body)
        self._feed.refresh()
        return _answer(answer)

    def _enter(self, body: Any) -> Response:
        entry = self._admission.enter(body.get("key") if isinstance(body, dict) else None)
        if entry is None:
            message = "This address was used, or is too old. Press Enter in the terminal for a new one."
            raise Refused(401, "key_refused", message)
        response = _answer({"token": entry.token, "operator": self._actions.by})
        response.set_cookie(self._cookie, entry.cookie, path="/", httponly=True, samesite="strict")
        return response

    def _events(self, cookies: list[str], token: str) -> Response:
        if self._feed.followers >= _MOST_STREAMS:
            raise Refused(503, "too_many_pages", f"{_MOST_STREAMS} pages are open. Close one of them.")

        async def stream() -> AsyncIterator[str]:
            news = self._feed.follow()
            try:
                async for state in news:
                    if not self._admission.admits(cookies, token):
                        yield "event: end\ndata: {}\n\n"
                        return
                    yield f"event: state\ndata: {json.dumps({**state, 'operator': self._actions.by})}\n\n"
            finally:
                await news.aclose()

        return StreamingResponse(stream(), media_type="text/event-stream")

    def _secrets(self, request: Request) -> tuple[list[str], str]:
        """Return every cookie of the page's name, since servers on other ports can set one, too, and the token."""
        pairs = (pair.strip().partition("=") for text in request.headers.getlist("cookie") for pair in text.split(";"))
        cookies = [value for name, _, value in pairs if name == self._cookie]
        tokens = request.headers.getlist(_TOKEN)
        return cookies[:8], tokens[0] if len(tokens) == 1 else ""


def _json(body: bytes) -> Any:
    """Read a body. Raises Refused."""
    if not body:
        return None
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise Refused(400, "invalid_request", "The body is not JSON.") from None


def _answer(values: dict[str, Any]) -> Response:
    return Response(json.dumps(values), media_type="application/json")


_HOST = "127.0.0.1"
_SETTINGS = HttpSettings(max_connections=64, head_timeout=10.0, body_timeout=10.0, stop_timeout=2.0)
_BACKLOG = 64


class NoTerminal(Exception):
    """There is no terminal that the address could be shown on; the message is a sentence."""


def serve_page(
    folder: Path, environ: Mapping[str, str], *, port: int = 0, address_file: Path | None = None, name: str = ""
) -> int:
    """Serve the page of an operator until a signal arrives. Returns the exit code. `name` is by default the user's.

    The address goes to the terminal, or to `address_file`, which only its owner can read and which goes when the page
    does. Raises ConfigError for settings, NoTerminal, and BindError for a port that is taken.
    """
    streams = (stream for stream in (sys.stderr, sys.stdout) if stream is not None)
    terminal = next((stream for stream in streams if stream.isatty()), None)  # agents may see a client's log
    if terminal is None and address_file is None:
        raise NoTerminal(
            "the page's address allows approvals, so it is shown only on a terminal: run the command in one, or "
            "name a file for the address with --address-file"
        )
    source = home_source(folder, environ)
    feed = Feed(source, Logger("error").exception)
    admission, actions = Admission(), Actions(source, operator_name(name))
    listeners = _listeners(port)
    names = [listener.getsockname()[:2] for listener in listeners]
    bound_port = names[0][1]
    hosts = tuple(f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host, port in names)
    app = Guard(Page(admission, feed, actions, bound_port), hosts)

    def show() -> None:
        address = f"http://{hosts[0]}/#{admission.new_key()}"
        if address_file is not None:
            try:
                _write(address_file, address)
            except FileExistsError:
                reason = "is there already: another page may be running; else remove the file"
                raise FileExistsError(f"{address_file} {reason}") from None
            atexit.register(address_file.unlink, missing_ok=True)
        elif terminal is not None:
            terminal.write(f"Open this address; it is good once, within 15 minutes:\n\n  {address}\n\n")
            terminal.flush()

    try:
        show()
        if terminal is not None and address_file is None:
            terminal.write("Enter shows a new address, Ctrl-C ends the page.\n")
            terminal.flush()
            _on_enter(show)
        _run(app, listeners, feed)
    finally:
        for listener in listeners:
            listener.close()
    return 0


class _Server(uvicorn.Server):
    """A server that ends the streams of its pages before it waits for its connections."""

    feed: Feed

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to stop."""
        self.feed.stop()
        super().handle_exit(sig, frame)


def _run(app: ASGIApp, listeners: list[socket.socket], feed: Feed) -> None:
    server = _Server(uvicorn_config(app, _SETTINGS))
    server.feed = feed
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, server.handle_exit)  # before uvicorn listens; it raises its own again at its end
    server.run(sockets=listeners)


def _listeners(port: int) -> list[socket.socket]:
    """Return listeners on the loopback addresses, that of IPv6 where it is to be had. Raises BindError."""
    listeners = [bind(_HOST, port)]
    with suppress(BindError):
        listeners.append(bind("::1", listeners[0].getsockname()[1]))
    for listener in listeners:
        listener.listen(_BACKLOG)
    return listeners


def _on_enter(show: Callable[[], None]) -> None:
    """Show a new address at each Enter on the terminal."""
    if sys.stdin is None or not sys.stdin.isatty():
        return

    def listen() -> None:
        for _ in sys.stdin:
            show()

    threading.Thread(target=listen, daemon=True).start()


def _write(file: Path, address: str) -> None:
    """Write the address into a new file that its owner alone can read. Raises OSError for one that is there."""
    number = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
    with os.fdopen(number, "w", encoding="utf-8") as stream:
        stream.write(f"{address}\n")
