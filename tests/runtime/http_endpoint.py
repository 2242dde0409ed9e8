"""The HTTP endpoint of a tiny adapter in this process, and raw requests to it. It imports nothing of pytest."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

from mcp.types import CLIENT_CAPABILITIES_META_KEY, PROTOCOL_VERSION_META_KEY

from aqlgen.runtime.dispatch.dispatcher import Dispatcher
from aqlgen.runtime.server.access import Access
from aqlgen.runtime.server.http import http_app
from aqlgen.runtime.server.mcp import build_server
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.settings.load import Variables
from aqlgen.runtime.settings.tables import HttpSettings
from aqlgen.runtime.table import Adapter, Table
from tests.runtime.stand_in import FakeApi

A, B = "token-of-anna-0123456789", "token-of-bert-0123456789"
TOKENS = {"MCP_AQL_HTTP_TOKEN": f"{A}\n{B}\n"}
WITH_TOKEN = HttpSettings(auth="token")
LEGACY, MODERN = "2025-11-25", "2026-07-28"
OPENING = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}


class Answer(NamedTuple):
    """What the endpoint answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as data."""
        return json.loads(self.body)

    @property
    def envelope(self) -> Any:
        """The adapter's own answer to a tool call."""
        return self.json["result"]["structuredContent"]


class Endpoint:
    """An endpoint with what a client needs to call it."""

    def __init__(self, app: Any, api: FakeApi) -> None:
        self.app = app
        self.api = api

    async def send(
        self,
        method: str = "POST",
        path: str = "/mcp",
        *,
        headers: Iterable[tuple[str, str]] = (),
        host: str | None = "localhost:8000",
        token: str | None = None,
        body: bytes = b"",
        client: str = "127.0.0.1",
        version: str = "1.1",
    ) -> Answer:
        """Send one request exactly as given."""
        pairs = [("host", host)] if host is not None else []
        pairs += [("authorization", f"Bearer {token}")] if token is not None else []
        pairs += headers
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": version,
            "method": method,
            "path": path,
            "raw_path": path.encode(),
            "root_path": "",
            "query_string": b"",
            "scheme": "http",
            "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in pairs],
            "client": (client, 1234),
            "server": ("127.0.0.1", 8000),
            "state": {},
        }
        requests = [{"type": "http.request", "body": body, "more_body": False}]
        messages: list[Any] = []

        async def receive() -> Any:
            if not requests:
                await asyncio.sleep(3600)
            return requests.pop()

        async def take(message: Any) -> None:
            messages.append(message)

        await self.app(scope, receive, take)
        start = messages[0]
        content = b"".join(message.get("body", b"") for message in messages[1:])
        return Answer(start["status"], {k.decode(): v.decode() for k, v in start["headers"]}, content)

    async def rpc(
        self, method: str, params: Mapping[str, Any], *, headers: Iterable[tuple[str, str]] = (), **how: Any
    ) -> Answer:
        """Send one JSON-RPC request."""
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        usual = [("content-type", "application/json"), ("accept", "application/json, text/event-stream")]
        return await self.send(body=body, headers=[*usual, *headers], **how)

    async def open(self, **how: Any) -> str:
        """Open a session and return its id, or the status of the refusal."""
        answer = await self.rpc("initialize", OPENING, **how)
        return answer.headers.get("mcp-session-id", f"status {answer.status}")

    async def ping(self, session: str, **how: Any) -> int:
        """Return the status of a ping in a session."""
        return (await self.rpc("ping", {}, headers=[("mcp-session-id", session)], **how)).status

    async def tool(
        self,
        name: str,
        operation: str,
        params: Mapping[str, Any],
        *,
        session: str | None = None,
        more: Mapping[str, Any] | None = None,
        headers: Iterable[tuple[str, str]] = (),
        **how: Any,
    ) -> Any:
        """Perform an operation by a tool, in a session or without one, and return the adapter's answer."""
        arguments = {"operation": operation, "params": params, **(more or {})}
        return await self.call(name, arguments, session=session, headers=headers, **how)

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        session: str | None = None,
        headers: Iterable[tuple[str, str]] = (),
        **how: Any,
    ) -> Any:
        """Call a tool with arguments, in a session or without one, and return the adapter's answer."""
        call: dict[str, Any] = {"name": f"mcp_aql_{name}", "arguments": arguments}
        if session is not None:
            pairs = [("mcp-session-id", session), ("mcp-protocol-version", LEGACY)]
        else:
            call["_meta"] = {PROTOCOL_VERSION_META_KEY: MODERN, CLIENT_CAPABILITIES_META_KEY: {}}
            pairs = [("mcp-protocol-version", MODERN), ("mcp-method", "tools/call"), ("mcp-name", call["name"])]
            if "operation" in arguments:
                pairs.append(("mcp-param-operation", str(arguments["operation"])))
        return (await self.rpc("tools/call", call, headers=[*pairs, *headers], **how)).envelope


def access_of(settings: HttpSettings, environ: Mapping[str, str] | None = None, address: str = "127.0.0.1") -> Access:
    """Return who may use an endpoint with these settings."""
    host = f"[{address}]" if ":" in address else address
    return Access.of(settings, Variables(environ or {}), address=address, listens_on=f"http://{host}:8000/mcp")


def dispatcher_of(package: Path, config: Config, api: FakeApi | None = None) -> Dispatcher:
    """Return what answers the calls of a tiny adapter."""
    return Dispatcher(Adapter.load(package), Table(package), api or FakeApi(), config)


@asynccontextmanager
async def endpoint(
    package: Path,
    http: HttpSettings | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    address: str = "127.0.0.1",
    access: Access | None = None,
    **settings: Any,
) -> AsyncIterator[Endpoint]:
    """Run an endpoint."""
    http = http or HttpSettings()
    config = Config(http=http, **settings)
    api = FakeApi()
    server = build_server(dispatcher_of(package, config, api))
    app = http_app(server, access or access_of(http, environ, address), config, max_body=100_000)
    started, stopping = asyncio.Event(), asyncio.Event()

    async def receive() -> Any:
        if not started.is_set():
            return {"type": "lifespan.startup"}
        await stopping.wait()
        return {"type": "lifespan.shutdown"}

    async def send(message: Any) -> None:
        assert not message["type"].endswith("failed"), message
        started.set()

    lifespan = asyncio.create_task(app({"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}, receive, send))
    await started.wait()
    try:
        yield Endpoint(app, api)
    finally:
        stopping.set()
        await lifespan
