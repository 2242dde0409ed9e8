# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The start of the page: its listeners on loopback, and its address, for the eyes of whoever sits at the terminal."""

from __future__ import annotations

import atexit
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import uvicorn

from ..logs import Logger
from ..server.http import BindError, bind, uvicorn_config
from ..settings.tables import HttpSettings
from .actions import Actions
from .admission import Admission
from .app import Page, page_app
from .feed import Feed
from .sources import home_source, operator_name

if TYPE_CHECKING:
    from types import FrameType

    from starlette.types import ASGIApp

__all__ = ["NoTerminal", "serve_page"]

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
    terminal = _terminal()
    if terminal is None and address_file is None:
        raise NoTerminal(
            "the page's address allows approvals, so it is shown only on a terminal: run the command in one, or "
            "name a file for the address with --address-file"
        )
    source = home_source(folder, environ)
    feed = Feed(source, Logger("error").exception)
    admission, actions = Admission(), Actions(source, operator_name(name))
    listeners = _listeners(port)
    bound_port = listeners[0].getsockname()[1]
    hosts = tuple(_authority(listener) for listener in listeners)
    app = page_app(Page(admission, feed, actions, bound_port), hosts)

    def show() -> None:
        address = f"http://{hosts[0]}/#{admission.new_key()}"
        if address_file is not None:
            _write(address_file, address)
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


def _authority(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _terminal() -> TextIO | None:
    """Return the stream that a person reads: the log of an MCP client, which agents may see, is none."""
    streams = (stream for stream in (sys.stderr, sys.stdout) if stream is not None)
    return next((stream for stream in streams if stream.isatty()), None)


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
