"""A stand-in for the API behind an adapter: it records what arrives, and can misbehave.

It is made from the project's operation table. What it answers is what mock mode would: the document's examples, or
samples of its schemas.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Collection, Coroutine, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socket import SHUT_RDWR
from time import monotonic
from typing import Any, ClassVar
from urllib.parse import parse_qsl, urlsplit

from aqlgen.check.envelope import HOSTILE
from aqlgen.runtime.client.mock import MockTransport
from aqlgen.runtime.table import FAMILIES, Adapter, Row, Table
from aqlgen.runtime.wire import ApiRequest, ApiResponse
from aqlgen.runtime.witness import Request

_LONGEST_BODY = 16 << 20
_API = "/~"
"""The beginning of the paths of one of several APIs, before its name."""


@dataclass(frozen=True)
class Arrived:
    """A request as it arrived. `query` holds the decoded pairs in order, `path` is as it was sent."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...]
    headers: Mapping[str, str]
    body: bytes
    base: str = ""
    """The API's address, without a slash at its end."""
    api: str = ""
    """The API that it is for, where the adapter has several."""
    raw_query: str = ""
    """The query as it was sent."""
    seconds: float = field(default_factory=monotonic)
    """The time of its arrival."""

    @property
    def as_seen(self) -> Request:
        """The request as the witness judges it."""
        url = f"{self.base}{self.path}{'?' if self.raw_query else ''}{self.raw_query}"
        return Request(self.method, url, tuple(self.headers.items()), self.body)

    @property
    def without_headers(self) -> tuple[str, str, str, bytes]:
        """The request without its headers."""
        return self.method, self.path, self.raw_query, self.body

    @property
    def data(self) -> Any:
        """The body as JSON data; None for anything else."""
        return data_of(self.body)


@dataclass(frozen=True)
class Reply:
    """An answer of the API."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def data(self) -> Any:
        """The body as JSON data; None for anything else."""
        return data_of(self.body)

    @classmethod
    def of(cls, status: int, data: Any, **headers: str) -> Reply:
        """Return an answer with data as JSON."""
        return cls(status, json.dumps(data).encode(), {"Content-Type": "application/json", **headers})

    @classmethod
    def failures(cls, status: int) -> tuple[Reply, ...]:
        """Return a failure in the forms that APIs give it, each with the same hostile words."""
        later = {"Retry-After": "0"} if status in (429, 503) else {}
        error = {"code": HOSTILE, "message": HOSTILE, "field": HOSTILE}
        return (
            cls.of(status, {"message": HOSTILE, "errors": [error], "error": error}, **later),
            cls.of(status, {"title": HOSTILE, "detail": HOSTILE, "error": HOSTILE}, **later),
            cls(status, HOSTILE.encode(), {"Content-Type": "text/plain", **later}),
        )


class StandIn:
    """The API. `arrived` holds the requests since the last `forget`."""

    def __init__(self, package: Path) -> None:
        self.package = package
        self.table = Table(package)
        self.arrived: list[Arrived] = []
        self.misbehaviour: Callable[[Arrived], Reply | None] | None = None
        self._mock = MockTransport(self.table, package)
        self._shapes: dict[str, Reply] = {}

    def forget(self) -> None:
        """Forget what arrived, and behave."""
        self.arrived, self.misbehaviour = [], None

    @contextmanager
    def behaving(self, reply: Reply | Callable[[Arrived], Reply | None], method: str = "") -> Iterator[list[Arrived]]:
        """Answer the requests of a method with one reply, or by a function; yields what arrives meanwhile."""

        def behave(request: Arrived) -> Reply | None:
            if method not in ("", request.method):
                return None
            return reply(request) if callable(reply) else reply

        self.arrived, self.misbehaviour = [], behave
        try:
            yield self.arrived
        finally:
            self.misbehaviour = None

    @cached_property
    def _rows(self) -> list[tuple[str, re.Pattern[str], Row]]:
        entries = []
        for family in FAMILIES:
            for name in self.table.raw(family):
                row = self.table.find(name, family)
                if row is not None:
                    path = row.path.partition("#")[0].partition("?")[0]
                    entries.append((row.method, re.compile(re.sub(r"\\\{[^{}]*\\\}", "[^/]+", re.escape(path))), row))
        return sorted(entries, key=lambda entry: entry[2].path.count("{"))

    def row_of(self, method: str, path: str, api: str = "", wanted: Collection[str | None] = ()) -> Row | None:
        """Return the operation of a request to an API, of several one of its own or that with the most literal path.

        Paths that only a fragment tells apart, which is not sent, fit the same request.
        """
        fitting = [row for known, pattern, row in self._rows if known == method and pattern.fullmatch(path)]
        rows = [row for row in fitting if row.api == api]
        return next((row for row in rows if row.name in wanted), next(iter(rows), None))

    def answer(self, request: Arrived) -> Reply:
        """Return the answer to a request."""
        if self.misbehaviour is not None:
            reply = self.misbehaviour(request)
            if reply is not None:
                return reply
        row = self.row_of(request.method, request.path, request.api)
        if row is None:
            return Reply.of(404, {"message": "there is nothing here"})
        return self.shape(row)

    def shape(self, row: Row) -> Reply:
        """Return the reply to an operation where nothing was written."""
        if row.name not in self._shapes:
            response = _ended(self._mock.send(ApiRequest(row.method, "", (), None), row))
            self._shapes[row.name] = Reply(response.status, response.content, dict(response.headers))
        return self._shapes[row.name]

    def data_of(self, row: Row) -> Any:
        """Return the data that an operation is answered; None if they are no JSON."""
        return self.shape(row).data


def data_of(body: bytes | str) -> Any:
    """Return JSON data; None for anything else."""
    try:
        return json.loads(body)
    except ValueError:
        return None


def _ended(call: Coroutine[Any, Any, ApiResponse]) -> ApiResponse:
    """Return the response of a call that waits for nothing, whatever runs in this thread."""
    try:
        call.send(None)
    except StopIteration as end:
        response: ApiResponse = end.value
        return response
    call.close()
    raise RuntimeError("the mock transport waits")


class _Server(ThreadingHTTPServer):
    """A server with room for all connections that an adapter opens at once."""

    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Write nothing: adapters may hang up."""


class _Handler(BaseHTTPRequestHandler):
    """Gives the requests of one port to a stand-in."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # the body would wait 40 ms for the client to acknowledge the head
    api: ClassVar[StandIn]
    prefix: ClassVar[str]

    def _handle(self) -> None:
        size = min(int(self.headers.get("content-length") or 0), _LONGEST_BODY)
        body = self.rfile.read(size)
        parts = urlsplit(self.path)
        path = parts.path.removeprefix(self.prefix) or "/"
        api, prefix = "", self.prefix
        if path.startswith(_API):
            api, slash, path = path.removeprefix(_API).partition("/")
            path, prefix = f"{slash}{path}" or "/", f"{prefix}{_API}{api}"
        query = tuple(parse_qsl(parts.query, keep_blank_values=True))
        headers = {name.lower(): value for name, value in self.headers.items()}
        base = f"http://{headers.get('host', '')}{prefix}"
        request = Arrived(self.command, path, query, headers, body, base, api, parts.query)
        self.api.arrived.append(request)
        reply = self.api.answer(request)
        with suppress(ConnectionError):
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                if name.lower() not in ("content-length", "transfer-encoding"):
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            if self.command != "HEAD" and reply.status not in (204, 304):
                self.wfile.write(reply.body)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = do_TRACE = _handle  # noqa: N815

    def log_message(self, format: str, *args: Any) -> None:
        """Write nothing."""


def base_urls(adapter: Adapter, base: str) -> str | dict[str, str]:
    """Return the address that each of several APIs has at a stand-in, or that of the only one."""
    return {name: f"{base}{_API}{name}" for name in adapter.apis} if adapter.apis else base


def base_url(adapter: Adapter, base: str) -> str:
    """Return the setting that leads the adapter to a stand-in."""
    urls = base_urls(adapter, base)
    return urls if isinstance(urls, str) else ",".join(f"{name}={url}" for name, url in urls.items())


@contextmanager
def serve(api: StandIn, prefix: str = "") -> Iterator[str]:
    """Serve an API on a free port of the loopback interface; yields its base URL, which ends with `prefix`."""
    handler = type("Handler", (_Handler,), {"api": api, "prefix": prefix})
    server = _Server(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}{prefix}"
    finally:
        with suppress(OSError):  # else it looks for its end twice a second
            server.socket.shutdown(SHUT_RDWR)
        server.shutdown()
        server.server_close()
        thread.join()
