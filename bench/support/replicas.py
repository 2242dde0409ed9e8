"""Adapter processes over HTTP that share a store, the API behind them, and a plain round-robin client."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import Any

from bench.support.documents import package_of
from bench.support.processes import environment, free_port, generate
from bench.support.stdio import META
from tests.runtime.redis_server import RedisServer, redis_server

__all__ = ["UNREACHED", "Api", "Fleet", "Replica", "fleet", "project_in", "store_at", "tokens", "working_folder"]

DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "Things", "version": "1"},
    "servers": [{"url": "https://things.example"}],
    "paths": {
        "/things/{id}": {
            "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}],
            "get": {"operationId": "getThing", "responses": {"200": {"description": "It"}}},
            "delete": {"operationId": "deleteThing", "responses": {"204": {"description": "Gone"}}},
        },
        "/things": {
            "get": {"operationId": "listThings", "responses": {"200": {"description": "Things"}}},
            "post": {
                "operationId": "createThing",
                "requestBody": {
                    "content": {
                        "application/json": {"schema": {"type": "object", "properties": {"name": {"type": "string"}}}}
                    }
                },
                "responses": {"201": {"description": "Made"}},
            },
        },
    },
}
UNREACHED = "unreached"
_MODERN = "2026-07-28"


def tokens(count: int) -> list[str]:
    """Return the tokens of so many callers."""
    return [f"token-of-caller-{number:08}" for number in range(count)]


def project_in(folder: Path) -> Path:
    """Generate the adapter in a folder and return its project."""
    document = folder / "things.json"
    document.write_text(json.dumps(DOCUMENT))
    generate(document, folder / "things")
    return folder / "things"


@contextmanager
def store_at(kind: str, folder: Path) -> Iterator[tuple[str, RedisServer | None]]:
    """Yield the URL of a store, and the server of Redis if it is one."""
    if kind == "sqlite":
        yield f"sqlite:///{folder}/state.sqlite3", None
        return
    (folder / "redis").mkdir(exist_ok=True)
    with redis_server(folder / "redis") as server:
        yield server.url, server


class Api:
    """The API: it counts its requests and how often each thing was deleted, and answers everything.

    Paths that begin with `hanging` are not answered, unless that is empty.
    """

    def __init__(self) -> None:
        self.deleted: Counter[int] = Counter()
        self.asked: Counter[str] = Counter()
        self.hanging = ""
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection."""
        with suppress(asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError, ValueError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                length = [line for line in head.split("\r\n") if line.lower().startswith("content-length:")]
                await reader.readexactly(int(length[0].partition(":")[2]) if length else 0)
                method, path = head.split(" ", 2)[:2]
                self.asked[method] += 1
                if self.hanging and path.startswith(self.hanging):
                    await asyncio.sleep(3600)
                if method == "DELETE":
                    self.deleted[int(path.rpartition("/")[2])] += 1
                    writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
                else:
                    body = b'{"id": 1, "name": "a thing"}'
                    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n")
                    writer.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
                await writer.drain()
        writer.close()


class Replica:
    """One adapter process on a port of its own, which it keeps when it is started again."""

    def __init__(self, command: Sequence[str], variables: Mapping[str, str], log: Path) -> None:
        self.port = free_port()
        self._command = [*command, "--transport", "http", "--port", str(self.port)]
        self._variables, self._log = dict(variables), log
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, without waiting for it."""
        with self._log.open("ab") as output:
            self._process = subprocess.Popen(
                self._command,
                stdout=output,
                stderr=output,
                stdin=subprocess.DEVNULL,
                env=environment(**self._variables),
            )

    def kill(self) -> None:
        """End it at once."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(20)
            self._process = None

    async def ready(self) -> None:
        """Wait until it listens. Raises RuntimeError with its log if it does not."""
        end = monotonic() + 120
        while monotonic() < end and self._process is not None and self._process.poll() is None:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", self.port)
            except OSError:
                await asyncio.sleep(0.02)
                continue
            writer.close()
            return
        raise RuntimeError(self._log.read_text("utf-8", "replace")[-4000:])


class Fleet:
    """Replicas behind plain round robin."""

    def __init__(self, replicas: Sequence[Replica], api: Api) -> None:
        self.replicas = replicas
        self.api = api
        self._next = 0
        self._connections: dict[int, list[tuple[asyncio.StreamReader, asyncio.StreamWriter]]] = {}

    async def call(self, token: str, family: str, operation: str, **params: Any) -> dict[str, Any] | None:
        """Call the next replica; None if the connection broke: what became of the call is unknown.

        The code is UNREACHED if the replica does not listen.
        """
        self._next += 1
        replica = self.replicas[self._next % len(self.replicas)]
        return await self.call_at(replica, token, family, operation, **params)

    async def call_at(
        self, replica: Replica, token: str, family: str, operation: str, **params: Any
    ) -> dict[str, Any] | None:
        """Call a replica; None if the connection broke."""
        name = f"mcp_aql_{family}"
        call = {"name": name, "arguments": {"operation": operation, "params": params}, "_meta": META}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}).encode()
        head = (
            f"POST /mcp HTTP/1.1\r\nHost: localhost:{replica.port}\r\nAuthorization: Bearer {token}\r\n"
            "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
            f"MCP-Protocol-Version: {_MODERN}\r\nMcp-Method: tools/call\r\nMcp-Name: {name}\r\n"
            f"Mcp-Param-Operation: {operation}\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        ).encode()
        pool = self._connections.setdefault(replica.port, [])
        try:
            reader, writer = pool.pop() if pool else await asyncio.open_connection("127.0.0.1", replica.port)
        except OSError:
            await asyncio.sleep(0.05)
            return {"success": False, "error": {"code": UNREACHED, "message": "nothing listens"}}
        try:
            writer.write(head + body)
            async with asyncio.timeout(30):
                answer = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                length = [line for line in answer.split("\r\n") if line.lower().startswith("content-length:")]
                content = await reader.readexactly(int(length[0].partition(":")[2]))
        except (OSError, asyncio.IncompleteReadError, TimeoutError, IndexError):
            writer.close()
            pool.clear()
            return None
        pool.append((reader, writer))
        try:
            envelope: dict[str, Any] = json.loads(content)["result"]["structuredContent"]
        except (ValueError, LookupError):
            raise RuntimeError(f"{answer}{content.decode()}") from None
        return envelope

    async def get_at(self, replica: Replica, path: str, host: str = "", token: str = "") -> tuple[int, str]:
        """Return the status and the body of a page of a replica."""
        reader, writer = await asyncio.open_connection("127.0.0.1", replica.port)
        bearer = f"Authorization: Bearer {token}\r\n" if token else ""
        writer.write(
            f"GET {path} HTTP/1.1\r\nHost: {host or 'localhost'}\r\n{bearer}Connection: close\r\n\r\n".encode()
        )
        answer = (await reader.read()).decode()
        writer.close()
        return int(answer.split(" ", 2)[1]), answer.partition("\r\n\r\n")[2]

    def close(self) -> None:
        """Close the connections."""
        for pool in self._connections.values():
            for _, writer in pool:
                writer.close()
        self._connections.clear()


@asynccontextmanager
async def fleet(project: Path, count: int, url: str, log: Path, callers: int, **settings: str) -> AsyncIterator[Fleet]:
    """Run an API and so many replicas over a store; settings are variables without `MCP_AQL_`."""
    api = Api()
    server = await asyncio.start_server(api.serve, "127.0.0.1", 0)
    api.port = server.sockets[0].getsockname()[1]
    variables = {
        "PYTHONPATH": f"{environment()['PYTHONPATH']}{os.pathsep}{project / 'src'}",
        "MCP_AQL_BASE_URL": f"http://127.0.0.1:{api.port}",
        "MCP_AQL_AUTH_ALLOW_HTTP": "true",
        "MCP_AQL_STATE_URL": url,
        "MCP_AQL_STATE_KEY": "a-key-of-the-bench-with-forty-characters",
        "MCP_AQL_HTTP_TOKEN": "\n".join(tokens(callers)),
        "MCP_AQL_CONFIRMATION_RATE": "10000",
        "MCP_AQL_AUDIT_PATH": os.devnull,
        "MCP_AQL_CONFIG": "",
        **{f"MCP_AQL_{name}": value for name, value in settings.items()},
    }
    command = [sys.executable, "-m", package_of(project).name]
    replicas = [Replica(command, variables, log) for _ in range(count)]
    running = Fleet(replicas, api)
    try:
        for replica in replicas:
            replica.start()
        for replica in replicas:
            await replica.ready()
        yield running
    finally:
        running.close()
        for replica in replicas:
            replica.kill()
        server.close()


def working_folder() -> tempfile.TemporaryDirectory[str]:
    """Return a folder that goes away again."""
    return tempfile.TemporaryDirectory(prefix="aqlgen-replicas-")
