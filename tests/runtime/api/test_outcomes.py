"""Writes whose answer never comes, over real sockets: what is known of them, and how to find out the rest (R-ERR-2)."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from collections.abc import Awaitable, Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from aqlgen.runtime.client.transport import HttpTransport
from aqlgen.runtime.settings.config import Config
from tests.cases import side_by_side, without_ids

from . import shop

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
OK = b"HTTP/1.1 201 Created\r\nContent-Type: application/json\r\n"
BODY = b'{"orderId": "1", "note": "x"}'
TIMEOUT, PATIENT = 0.8, 20.0
"""The time-out where the server is silent, and where it answers: it must not end what a busy machine is slow to do."""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = shop.generated(tmp_path_factory.mktemp("shop"))
    Exchange(folder, sending(b""), "create_order", {"note": "x"})  # imports what would take of the time of a call
    return folder


async def read_request(reader: asyncio.StreamReader) -> None:
    """Read a request with its body."""
    head = await reader.readuntil(b"\r\n\r\n")
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            await reader.readexactly(int(line.partition(b":")[2]))


def sending(content: bytes, *, reset: bool = False, hang: bool = False) -> Handler:
    """Read the request, send this, and close, reset or stay silent."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(content)
        await writer.drain()
        if hang:
            await asyncio.sleep(20)
        if reset:
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()

    return handle


async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Accept the connection and read nothing."""
    await asyncio.sleep(20)


async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer a greeting of TLS without TLS."""
    await reader.read(1)
    writer.write(b"no TLS here")
    await writer.drain()


def timeout_of(name: str) -> float:
    return TIMEOUT if name.startswith("hung") else PATIENT


class Exchange:
    """The envelope of one call to a server that behaves like this, and how many connections it got."""

    def __init__(self, package: Path, handler: Handler, operation: str, params: Any, **options: Any) -> None:
        self.connections = 0
        self.envelope = asyncio.run(self._run(package, handler, operation, params, **options))

    async def _run(
        self,
        package: Path,
        handler: Handler,
        operation: str,
        params: Any,
        *,
        scheme: str = "http",
        timeout: float = PATIENT,
    ) -> dict[str, Any]:
        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self.connections += 1
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
                await handler(reader, writer)
            writer.close()

        server = await asyncio.start_server(handle, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        try:
            return await called(package, f"{scheme}://127.0.0.1:{port}", operation, params, timeout)
        finally:
            server.close()


async def called(package: Path, url: str, operation: str, params: Any, timeout: float = PATIENT) -> dict[str, Any]:
    transport = HttpTransport(Config(timeout=timeout, max_response_size=10_000))
    try:
        return await shop.dispatcher(package, transport, url).handle(None, {"operation": operation, "params": params})
    finally:
        await transport.aclose()


WRITES: dict[str, tuple[dict[str, Any], Any]] = {
    "create_order": ({"note": "x"}, {"operation": "list_orders", "params": {}}),
    "update_order": (
        {"order_id": "7", "input": {"note": "x"}},
        {"operation": "get_order", "params": {"order_id": "7"}},
    ),
    "delete_order": ({"order_id": "7"}, {"operation": "get_order", "params": {"order_id": "7"}}),
    "cancel_order": ({"order_id": "7"}, {"operation": "get_order", "params": {"order_id": "7"}}),
    "create_report": ({}, None),
}
BREAKS: dict[str, Handler] = {
    "hung": sending(b"", hang=True),
    "hung in the headers": sending(b"HTTP/1.1 201 Created\r\nX-", hang=True),
    "closed": sending(b""),
    "reset": sending(b"", reset=True),
    "closed in the headers": sending(b"HTTP/1.1 201 Created\r\nX-"),
    "no HTTP": sending(b"SSH-2.0-OpenSSH\r\n\r\n"),
}


def test_a_write_without_an_answer_may_have_been_carried_out(package: Path) -> None:
    """R-ERR-2."""

    def write(operation: str, name: str) -> None:
        params, question = WRITES[operation]
        exchange = Exchange(package, BREAKS[name], operation, params, timeout=timeout_of(name))
        error = exchange.envelope["error"]
        assert error["code"] == "INTERNAL_ERROR"
        assert without_ids(error["details"]) == {"sent": True, "outcome": "unknown", "find_out": question}
        assert "may have been carried out" in error["message"]
        assert exchange.connections == 1  # never by itself a second time

    side_by_side(write, product(("create_order", "delete_order"), BREAKS))


@pytest.mark.parametrize("operation", WRITES)
def test_the_operation_to_find_out_with_is_told_with_its_parameters(package: Path, operation: str) -> None:
    """R-ERR-2."""
    params, question = WRITES[operation]
    error = Exchange(package, BREAKS["closed"], operation, params).envelope["error"]
    assert error["details"].get("find_out") == question
    assert question is None or f"'{question['operation']}'" in error["message"]


def refused_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.mark.parametrize("url", ["http://127.0.0.1:{port}", "https://127.0.0.1:{port}", "http://nowhere.invalid"])
@pytest.mark.parametrize("operation", ["create_order", "delete_order"])
def test_where_no_connection_was_made_nothing_was_sent(package: Path, operation: str, url: str) -> None:
    """R-ERR-2."""
    params, _ = WRITES[operation]
    error = asyncio.run(called(package, url.format(port=refused_port()), operation, params))["error"]
    assert error["code"] == "INTERNAL_ERROR"
    assert without_ids(error["details"]) == {"sent": False, "outcome": "not_performed"}
    assert error["message"].endswith("Nothing was sent: the call was not carried out.")


def test_where_no_tls_connection_was_made_nothing_was_sent(package: Path) -> None:
    """R-ERR-2."""

    def write(name: str, handler: Handler) -> None:
        exchange = Exchange(package, handler, "create_order", {"note": "x"}, scheme="https", timeout=timeout_of(name))
        error = exchange.envelope["error"]
        assert ("TLS" in error["message"]) is (name == "no TLS")
        assert without_ids(error["details"]) == {"sent": False, "outcome": "not_performed"}

    side_by_side(write, [("no TLS", plain), ("hung", silent)])


CUT: dict[str, tuple[Handler, Any, str | None]] = {
    "closed in the body": (sending(OK + b"Content-Length: 100\r\n\r\n" + BODY[:9]), '{"orderId', "connection broke"),
    "reset in the body": (sending(OK + b"Content-Length: 100\r\n\r\n", reset=True), None, "connection broke"),
    "hung in the body": (
        sending(OK + b"Content-Length: 100\r\n\r\n" + BODY[:9], hang=True),
        '{"orderId',
        "time for the call",
    ),
    "hung in a chunk": (
        sending(OK + b"Transfer-Encoding: chunked\r\n\r\n9\r\n" + BODY[:9] + b"\r\n", hang=True),
        '{"orderId',
        "time for the call",
    ),
    "whole and then broken": (
        sending(OK + b"Content-Length: 100\r\n\r\n" + BODY),
        {"order_id": "1", "note": "x"},
        "connection broke",
    ),
    "no gzip": (sending(OK + b"Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\nabcd"), None, "decompressed"),
    "too long": (sending(OK + b"Content-Length: 99000000000\r\n\r\n{"), None, "longer than an answer may be"),
    "whole": (sending(OK + b"Content-Length: 29\r\n\r\n" + BODY), {"order_id": "1", "note": "x"}, None),
    "closed by its end": (sending(OK + b"Connection: close\r\n\r\n" + BODY), {"order_id": "1", "note": "x"}, None),
}


def test_a_write_whose_success_broke_off_is_a_success(package: Path) -> None:
    """R-ERR-2."""

    def write(name: str) -> None:
        handler, data, words = CUT[name]
        exchange = Exchange(package, handler, "create_order", {"note": "x"}, timeout=timeout_of(name))
        envelope = exchange.envelope
        assert envelope["success"] is True, envelope
        assert envelope["data"] == data
        assert exchange.connections == 1
        warnings = [warning for warning in envelope.get("warnings", ()) if warning["code"].startswith("VALIDATION_")]
        messages = [warning["message"] for warning in warnings]
        assert len(messages) == (words is not None)
        if words is not None:
            assert words in messages[0]
            assert "was carried out" in messages[0]

    side_by_side(write, ([name] for name in CUT))


def test_what_was_done_counts_where_the_redirect_behind_it_leads_to_silence(package: Path) -> None:
    """R-ERR-2."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n")
        await asyncio.sleep(20 if head.startswith(b"GET") else 0)
        writer.write(b"HTTP/1.1 303 See Other\r\nLocation: /orders/1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        await writer.drain()

    envelope = Exchange(package, handle, "create_order", {"note": "x"}, timeout=TIMEOUT).envelope
    assert envelope["success"] is True
    assert envelope["data"] == {"location": "/orders/1"}
