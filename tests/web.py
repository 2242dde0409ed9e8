"""A local web server that records its requests."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qsl


class Asked(NamedTuple):
    """A request as it arrived; header names are in lower case. `peer` is the name in the client's certificate."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    peer: str = ""

    @property
    def form(self) -> dict[str, str]:
        return dict(parse_qsl(self.body.decode()))


class Answer(NamedTuple):
    """An answer; `body` is JSON, or bytes as they stand."""

    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = {}


@dataclass
class Local:
    """The URL of the server, and the requests that it received."""

    url: str = ""
    asked: list[Asked] = field(default_factory=list)

    def at(self, path: str) -> list[Asked]:
        return [request for request in self.asked if request.path.partition("?")[0] == path]


class Server(ThreadingHTTPServer):
    """A server of many connections at a time: one that finds no room is tried again a second later."""

    request_queue_size = 128


@contextmanager
def serving(answer: Callable[[Asked], Answer], tls: ssl.SSLContext | None = None) -> Iterator[Local]:
    """Serve until the end of the block; `answer` is called concurrently, in threads of its own."""
    local = Local()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            request = Asked(self.command, self.path, headers, body, _peer(self.connection))
            local.asked.append(request)
            reply = answer(request)
            content = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
            self.send_response(reply.status)
            for name, value in {"Content-Type": "application/json", **reply.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    for method in ("POST", "PUT", "PATCH", "DELETE"):
        setattr(Handler, f"do_{method}", Handler.do_GET)
    server = Server(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.block_on_close = False
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    local.url = f"{'https' if tls else 'http'}://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield local
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _peer(connection: Any) -> str:
    certificate = connection.getpeercert() if isinstance(connection, ssl.SSLSocket) else None
    return dict(names[0] for names in certificate["subject"])["commonName"] if certificate else ""
