"""Tests of HTTP around MCP: who may connect, and from where."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import anyio
import anyio.to_thread

from aqlgen.check.connection import command_result, connect, served_over_http
from aqlgen.check.results import Category, Result
from aqlgen.check.run import Setup, check

_LEGACY = "2025-11-25"
_TOKEN = "check-token-0123456789abcdef"  # noqa: S105 - of the adapter under test, for as long as it runs
_OTHER_TOKEN = "check-token-of-somebody-else"  # noqa: S105
_EVERYWHERE = ("--transport", "http", "--host", "0.0.0.0", "--port", "0")  # noqa: S104 - which must be refused
_REFUSED = 60.0
_INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": _LEGACY, "capabilities": {}, "clientInfo": {"name": "check", "version": "1"}},
}


_USUAL = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


async def _status(url: str, body: Any = _INITIALIZE, method: str = "POST", **headers: str) -> tuple[int, bytes]:
    return await anyio.to_thread.run_sync(lambda: _exchange(url, body, method, headers))


def _exchange(url: str, body: Any, method: str, headers: Mapping[str, str]) -> tuple[int, bytes]:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=30)
    try:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        connection.request(
            method, parts.path, content, {**_USUAL, **{k.replace("_", "-"): v for k, v in headers.items()}}
        )
        answer = connection.getresponse()
        return answer.status, answer.read(100_000)
    finally:
        connection.close()


@check("TR-4", "Other sites and other names of this machine cannot use the adapter", Category.TRANSPORT, "R-TRUST-3",
      where="alone")  # fmt: skip
async def hosts_and_origins(setup: Setup, result: Result) -> None:
    """Send requests as a browser would for a hostile page."""
    async with served_over_http(setup.launch) as (url, _):
        result.expect((await _status(url))[0] == 200, "loopback", "is refused")
        for headers in (
            {"Host": "evil.example"},
            {"Host": "127.0.0.1.evil.example"},
            {"Origin": "https://evil.example"},
            {"Origin": "null"},
        ):
            status, body = await _status(url, **headers)
            result.expect(status in (400, 403, 421), str(headers), f"is answered with {status}", body.decode("latin-1"))
        for method in ("PUT", "PATCH", "TRACE"):
            result.expect((await _status(url, method=method))[0] in (404, 405, 501), method, "is answered")
        for content in (b"", b"{", b"[]" * 10, b"\xff\xfe"):
            status, body = await _status(url, content)
            result.expect(400 <= status < 500, repr(content[:10]), f"is answered with {status}")
            result.expect(b"Traceback" not in body, repr(content[:10]), "shows the inside")
        code, output = await command_result(setup.launch, *_EVERYWHERE, seconds=_REFUSED)
        names_setting = "MCP_AQL_HTTP_AUTH" in output
        result.expect(
            code not in (0, None) and names_setting, _EVERYWHERE[3], f"is served without a token: {code}", output[-300:]
        )
        health = (await _status(url.replace("/mcp", "/healthz"), b"", "GET"))[0]
        result.expect(health == 200, "/healthz", f"answers {health}")


@check("TR-5", "With a token nobody connects without it", Category.TRANSPORT, "R-TRUST-3", where="alone")
async def tokens(setup: Setup, result: Result) -> None:
    """Connect with a token, without one, and with a wrong one."""
    launch = setup.launch.with_variables(MCP_AQL_HTTP_AUTH="token", MCP_AQL_HTTP_TOKEN=f"{_TOKEN}\n{_OTHER_TOKEN}")
    async with served_over_http(launch) as (url, log):
        right, _ = await _status(url, Authorization=f"Bearer {_TOKEN}")
        await _sessions(url, result)
        result.expect(right == 200, "the token", f"is answered with {right}")
        for name, value in {"none": "", "wrong": "Bearer wrong-token-0123456789", "case": f"Bearer {_TOKEN.upper()}",
                            "part": f"Bearer {_TOKEN[:-1]}", "basic": f"Basic {_TOKEN}"}.items():  # fmt: skip
            status, body = await _status(url, **({"Authorization": value} if value else {}))
            result.expect(status == 401, name, f"is answered with {status}", body.decode("latin-1"))
        result.expect(_TOKEN not in log(), "the token", "is in the log")


async def _sessions(url: str, result: Result) -> None:
    """Use the session of one caller as another one."""
    session = await anyio.to_thread.run_sync(lambda: _opened(url))
    if not result.expect(bool(session), "a session", "is not opened"):
        return
    more = {"Mcp_Session_Id": session, "Mcp_Protocol_Version": _LEGACY}
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    status, body = await _status(url, ping, Authorization=f"Bearer {_OTHER_TOKEN}", **more)
    result.expect(status == 404, "another caller's session", f"is answered with {status}", body.decode("latin-1"))
    status, body = await _status(url, ping, Authorization=f"Bearer {_TOKEN}", **more)
    result.expect(status == 200, "the caller's own session", f"is answered with {status}", body.decode("latin-1"))


def _opened(url: str) -> str:
    """Open a session and return its id, "" if there is none."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=30)
    try:
        headers = {**_USUAL, "Authorization": f"Bearer {_TOKEN}"}
        connection.request("POST", parts.path, json.dumps(_INITIALIZE).encode(), headers)
        answer = connection.getresponse()
        answer.read(100_000)
        return answer.headers.get("mcp-session-id") or ""
    finally:
        connection.close()


@check("TR-6", "Requests beyond the limits are refused, and the next one is answered", Category.TRANSPORT, "R-REQ-9",
      where="alone")  # fmt: skip
async def limits(setup: Setup, result: Result) -> None:
    """Send what is too large, too deep and too long."""
    launch = setup.launch.with_variables(MCP_AQL_MAX_STRING_LENGTH=str(64 * 1024))
    async with connect(launch, _LEGACY) as adapter:
        deep: Any = 1
        for _ in range(80):
            deep = {"a": deep}
        text = "y" * 100_000
        cases = {"too large": [text] * 12, "too deep": deep, "too many": list(range(20_000)), "too long": text}
        for name, value in cases.items():
            envelope = await adapter.call("read", "introspect", {"query": "operations", "search": value})
            code = envelope.code
            result.expect(
                code == "VALIDATION_PAYLOAD_TOO_LARGE", name, f"is answered with {code}", {"error": str(envelope)[:300]}
            )
        item = {"operation": "introspect", "params": {"query": "operations", "first": 1}}
        batch = await adapter.send(adapter.tool("read"), {"operations": [item] * 51})
        code = batch.code
        result.expect(code == "VALIDATION_PAYLOAD_TOO_LARGE", "51 operations", f"are answered with {code}")
        after = await adapter.introspect(query="operations")
        result.expect(after.ok, "introspect", "fails after a large request", after)
