"""A client of MCP in either era that reads and writes JSON-RPC as it is: an adapter's answers pass no SDK."""

from __future__ import annotations

import asyncio
import http.client
import json
from collections.abc import Callable, Iterator, Mapping
from itertools import count, takewhile
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

import anyio
import anyio.to_thread

LEGACY, MODERN = "2025-11-25", "2026-07-28"
"""The eras of the protocol."""
INITIALIZE: Final[dict[str, Any]] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": LEGACY,
        "capabilities": {},
        "clientInfo": {"name": "aqlgen check", "version": "1"},
    },
}
_SECONDS = 20
"""Seconds within which messages come."""
_USUAL = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
_HEADER = "x-mcp-header"
LONGEST = 1 << 26
"""Bytes of a message from an adapter."""
Person = Callable[[str], str]
"""The answer of a person to a question: accept, decline or cancel."""


class OverStdio:
    """The connection with a process by its standard streams, a message a line."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def send(self, message: Mapping[str, Any], headers: Mapping[str, str]) -> None:  # noqa: ARG002
        """Write a line."""
        self.write(json.dumps(message).encode())

    def write(self, line: bytes) -> None:
        """Write a line as it is."""
        self._writer.write(line + b"\n")

    async def receive(self) -> dict[str, Any]:
        """Read a line. Raises ConnectionError if none comes any more, ValueError for one that is no JSON."""
        return _message(await self._reader.readline())


class OverHttp:
    """The connection with the server at a URL, in one session. Each request has some headers more."""

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        self._url, self._headers = url, headers
        self.session = ""
        self._lines: list[bytes] = []

    async def send(self, message: Mapping[str, Any], headers: Mapping[str, str]) -> None:
        """Post a message, and keep what comes back: a message, or a stream of them."""
        session = {"Mcp-Session-Id": self.session} if self.session else {}
        _, body, shown = await post(self._url, message, **{**self._headers, **headers, **session})
        self.session = shown.get("mcp-session-id", self.session)
        lines = [line.removeprefix(b"data: ") for line in body.splitlines() if line.startswith((b"data: {", b"{"))]
        self._lines = [body] if body[:1] == b"{" else lines

    async def receive(self) -> dict[str, Any]:
        """Take the next message. Raises as `OverStdio.receive` does."""
        return _message(self._lines.pop(0) if self._lines else b"")


def _message(line: bytes) -> dict[str, Any]:
    if not line:
        raise ConnectionError("the adapter ended")
    message: dict[str, Any] = json.loads(line, parse_constant=_no_number)
    return message


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


class Client:
    """A client that sends one request after the other. Without a person it says that it can ask nobody."""

    def __init__(self, era: str, connection: OverStdio | OverHttp, person: Person | None = None) -> None:
        self._era, self._connection, self._person, self._numbers = era, connection, person, count(1)
        self._introduction: dict[str, Any] = {
            **INITIALIZE["params"],
            "capabilities": {"elicitation": {"form": {}}} if person else {},
        }
        self._headers_of: dict[str, dict[str, str]] = {}
        self.introduced: dict[str, Any] = {}
        """The answer to the handshake."""
        self.notices: list[dict[str, Any]] = []
        """The notifications that have come."""

    async def begin(self) -> None:
        """Shake hands, in the era that does."""
        if self._era == LEGACY:
            self.introduced = await self.request("initialize", **self._introduction)
            await self._connection.send(
                {"jsonrpc": "2.0", "method": "notifications/initialized"}, {"Mcp-Protocol-Version": LEGACY}
            )

    async def request(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request, and return its result. Raises ConnectionError for an error of the protocol."""
        result = await self._answered(method, params)
        while result.get("resultType") == "input_required":
            answers = {key: self._asked(question["params"]) for key, question in result["inputRequests"].items()}
            result = await self._answered(
                method, {**params, "inputResponses": answers, "requestState": result.get("requestState")}
            )
        if method == "tools/list":
            self._headers_of = {tool["name"]: dict(_headers_of(tool)) for tool in result["tools"]}
        return result

    @property
    def session(self) -> str:
        """The id of the session over HTTP, "" where there is none."""
        return self._connection.session if isinstance(self._connection, OverHttp) else ""

    async def exchange(self, line: str, count: int) -> list[dict[str, Any]]:
        """Write a line to the standard input of an adapter, and return that many messages."""
        if isinstance(self._connection, OverStdio):
            self._connection.write(line.encode())
        messages: list[dict[str, Any]] = []
        with anyio.move_on_after(_SECONDS):
            while len(messages) < count:
                messages.append(await self._connection.receive())
        return messages

    async def _answered(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        number, headers, meta = next(self._numbers), {"Mcp-Protocol-Version": self._era}, dict[str, Any]()
        if self._era == MODERN:
            headers |= {"Mcp-Method": method, **self._headers(params)}
            meta = {"_meta": {f"io.modelcontextprotocol/{name}": value for name, value in (
                ("protocolVersion", MODERN), ("clientInfo", self._introduction["clientInfo"]),
                ("clientCapabilities", self._introduction["capabilities"]))}}  # fmt: skip
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": {**params, **meta}}
        await self._connection.send(message, headers if method != "initialize" else {})
        while True:
            answer = await self._connection.receive()
            if answer.get("method") == "elicitation/create":
                reply = {"jsonrpc": "2.0", "id": answer["id"], "result": self._asked(answer["params"])}
                await self._connection.send(reply, headers)
            elif answer.get("id") == number and "method" not in answer:
                if "error" in answer:
                    raise ConnectionError(str(answer["error"]))
                result: dict[str, Any] = answer["result"]
                return result
            else:
                self.notices.append(answer)

    def _asked(self, question: Mapping[str, Any]) -> dict[str, Any]:
        return {"action": self._person(question["message"]) if self._person else "cancel", "content": {}}

    def _headers(self, params: Mapping[str, Any]) -> dict[str, str]:
        """Return the headers that repeat the name of a tool, and those of its arguments that it wants there."""
        names = self._headers_of.get(str(params.get("name")), {}).items()
        values = {f"Mcp-Param-{header}": params["arguments"].get(name) for name, header in names}
        return {name: value for name, value in {"Mcp-Name": params.get("name"), **values}.items() if value is not None}


def _headers_of(tool: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, schema in tool["inputSchema"].get("properties", {}).items():
        if _HEADER in schema:
            yield name, schema[_HEADER]


def text_of(result: Mapping[str, Any]) -> str:
    """Return the text of the result of a call, "" without one."""
    content = result.get("content")
    return str(content[0].get("text", "")) if content else ""


class Posted(NamedTuple):
    """An answer over HTTP; the names of its headers are in lower case."""

    status: int
    body: bytes
    headers: dict[str, str]


async def post(url: str, body: Any = INITIALIZE, method: str = "POST", **headers: str) -> Posted:
    """Send a request; returns the first event of a stream. Raises ConnectionError for too long a body."""
    parts = urlsplit(url)
    content = body if isinstance(body, bytes | None) else json.dumps(body).encode()

    def exchange() -> Posted:
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=30)
        try:
            more = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, parts.path, content, {**_USUAL, **more})
            answer = connection.getresponse()
            is_stream = method == "GET" and answer.headers.get_content_type() == "text/event-stream"
            event = takewhile(lambda line: line not in (b"\n", b"\r\n"), iter(answer.readline, b""))
            body = b"".join(event) if is_stream else answer.read(LONGEST + 1)
            if len(body) > LONGEST:
                raise ConnectionError(f"the adapter answers more than {LONGEST:,} bytes")
            return Posted(answer.status, body, {name.lower(): value for name, value in answer.headers.items()})
        finally:
            connection.close()

    return await anyio.to_thread.run_sync(exchange)
