"""MCP over standard input and output: JSON-RPC messages, one a line, bounded; a refusal for each line that is none."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import stat
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from typing import Any, NamedTuple

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server import Server
from mcp.shared.message import SessionMessage
from mcp.types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)

from ..exact_json import loses_digits, read_json

_CHUNK = 1 << 18
_EDGE = 2048
_ID = rb'"id"\s*:\s*("(?:[^"\\]|\\.){0,200}"|-?[0-9]{1,18})'
_ID_AT_START = re.compile(rb"\s*\{[^{}]*?" + _ID)
_ID_AT_END = re.compile(rb"[}\],]\s*+(?:,\s*+)?" + _ID + rb"\s*+(?=,|\Z)")


class Refusal(NamedTuple):
    """The answer to a line that is not a message."""

    answer: JSONRPCError


class Lines:
    """The lines of a file descriptor, each of at most `max_line` bytes. Asynchronous, without threads."""

    def __init__(self, source: int, max_line: int) -> None:
        self._source = source
        self._max_line = max_line

    async def __aiter__(self) -> AsyncIterator[bytes | Refusal]:
        """Yield each line that is not blank; in place of one that is too long, its refusal."""
        kept = bytearray()
        start_of_long: bytes | None = None
        while True:
            chunk = await self._chunk()
            start = 0
            while (end := chunk.find(b"\n", start)) >= 0:
                piece = chunk[start:end]
                start = end + 1
                if start_of_long is not None:
                    yield self._too_long(start_of_long, (bytes(kept) + piece)[-_EDGE:])
                    start_of_long = None
                elif len(kept) + len(piece) > self._max_line:
                    whole = bytes(kept) + piece
                    yield self._too_long(whole[:_EDGE], whole[-_EDGE:])
                else:
                    line = bytes(kept) + piece if kept else piece
                    if line.strip():
                        yield line
                kept.clear()
            kept += chunk[start:]
            if len(kept) > self._max_line:
                start_of_long = bytes(kept[:_EDGE]) if start_of_long is None else start_of_long
            if start_of_long is not None:
                del kept[:-_EDGE]
            if not chunk:
                if start_of_long is not None:
                    yield self._too_long(start_of_long, bytes(kept))
                elif kept.strip():
                    yield bytes(kept)
                return

    def _too_long(self, head: bytes, tail: bytes) -> Refusal:
        match = _ID_AT_START.match(head) or _ID_AT_END.search(_last_members(tail))
        text = f"Payload exceeds request_size limit of {self._max_line} bytes"
        try:
            return _refusal(INVALID_REQUEST, text, json.loads(match.group(1)) if match else None)
        except ValueError:  # an id that is not Unicode
            return _refusal(INVALID_REQUEST, text, None)

    async def _chunk(self) -> bytes:
        """Wait for input and return it; empty at its end."""
        while True:
            await self._readable()
            try:
                return os.read(self._source, _CHUNK)
            except BlockingIOError:
                continue
            except OSError:
                return b""

    async def _readable(self) -> None:
        loop = asyncio.get_running_loop()
        ready = asyncio.Event()
        try:
            loop.add_reader(self._source, ready.set)
        except OSError:  # a regular file or the null device: reading never waits
            await asyncio.sleep(0)
            return
        try:
            await ready.wait()
        finally:
            loop.remove_reader(self._source)


def _last_members(tail: bytes) -> bytes:
    """Return the bytes after the last inner brace of an object, up to its own, with that inner brace."""
    tail = tail.rstrip()
    inside = tail[:-1] if tail.endswith(b"}") else b""
    return inside[max(inside.rfind(b"{"), inside.rfind(b"}"), 0) :]


def parse(line: bytes) -> JSONRPCMessage | Refusal:
    """Read a message, or refuse a line that is not one.

    A message whose text is not valid Unicode still goes on, with lone surrogates in place of the fault, so that a tool
    call gets VALIDATION_INVALID_ENCODING from the limits and not a broken connection (R-REQ-10).
    """
    if not loses_digits(line):
        try:
            return jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValueError:
            pass
    try:
        text = line.decode("utf-8", "surrogateescape")
        raw = read_json(text)
    except (ValueError, RecursionError):
        return _refusal(PARSE_ERROR, "Parse error: a message is one line of JSON", None)
    try:
        return jsonrpc_message_adapter.validate_python(raw, by_name=False)
    except ValueError:
        message_id = raw.get("id") if isinstance(raw, dict) else None
        known_id = message_id if _is_valid(message_id) else None
        return _refusal(INVALID_REQUEST, "Invalid Request: not a JSON-RPC 2.0 message", known_id)


def _is_valid(id: Any) -> bool:
    if isinstance(id, str):
        return not any("\ud800" <= char <= "\udfff" for char in id)
    return isinstance(id, int) and not isinstance(id, bool)


def _refusal(code: int, message: str, id: str | int | None) -> Refusal:
    error = {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}
    return Refusal(JSONRPCError.model_validate(error))


_QUEUE = 16
_LAST_WRITES_TIMEOUT = 2.0


def serve_stdio(server: Server[Any], *, max_line: int, grace: float) -> int:
    """Serve until the input ends or a signal arrives, and return the exit code.

    `max_line` bounds a message in bytes; `grace` the seconds that calls in flight may take after the end of input.
    """
    if sys.platform == "win32":
        anyio.run(_serve_by_sdk, server)
        return 0
    with _claimed_descriptors() as (source, sink), redirect_stdout(sys.stderr):
        asyncio.run(_Connection(server, source, sink, max_line, grace).run())
    return 0


async def _serve_by_sdk(server: Server[Any]) -> None:
    from mcp.server.stdio import stdio_server

    async with stdio_server() as (read, write):
        with redirect_stdout(sys.stderr):
            await server.run(read, write, server.create_initialization_options())


@contextmanager
def _claimed_descriptors() -> Iterator[tuple[int, int]]:
    """Take descriptors 0 and 1 for the protocol alone: other readers get nothing, other output goes to 2."""
    source, sink = os.dup(0), os.dup(1)
    blocking = os.get_blocking(sink)
    null = os.open(os.devnull, os.O_RDWR)
    try:
        os.dup2(null, 0)
        try:
            os.dup2(2, 1)
        except OSError:
            os.dup2(null, 1)
        mode = os.fstat(sink).st_mode
        if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
            os.set_blocking(sink, False)
        yield source, sink
    finally:
        with suppress(OSError):
            os.set_blocking(sink, blocking)
        os.dup2(source, 0)
        os.dup2(sink, 1)
        for descriptor in (source, sink, null):
            os.close(descriptor)


class _Connection:
    def __init__(self, server: Server[Any], source: int, sink: int, max_line: int, grace: float) -> None:
        self._server = server
        self._source = source
        self._sink = sink
        self._max_line = max_line
        self._grace = grace
        self._pending: set[str | int] = set()
        self._answered = asyncio.Event()
        self._ended = anyio.Event()

    async def run(self) -> None:
        """Serve the connection until it ends."""
        into, read = anyio.create_memory_object_stream[SessionMessage | Exception](_QUEUE)
        write, out = anyio.create_memory_object_stream[SessionMessage](_QUEUE)
        answers = write.clone()
        loop = asyncio.get_running_loop()
        async with anyio.create_task_group() as group:
            with anyio.CancelScope() as serving:
                for number in (signal.SIGINT, signal.SIGTERM):
                    loop.add_signal_handler(number, serving.cancel)
                group.start_soon(self._write, out, serving)
                group.start_soon(self._read, into, answers)
                await self._server.run(read, write, self._server.create_initialization_options())
            # Answers that are on their way are still written; a reader that has gone away may not delay the end.
            answers.close()
            with anyio.move_on_after(_LAST_WRITES_TIMEOUT):
                await self._ended.wait()
            group.cancel_scope.cancel()

    async def _read(
        self, into: MemoryObjectSendStream[SessionMessage | Exception], answers: MemoryObjectSendStream[SessionMessage]
    ) -> None:
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            async with into:
                async for line in Lines(self._source, self._max_line):
                    message = parse(line) if isinstance(line, bytes) else line
                    if isinstance(message, Refusal):
                        await answers.send(SessionMessage(message.answer))
                        continue
                    self._note(message)
                    await into.send(SessionMessage(message))
                with anyio.move_on_after(self._grace):
                    while self._pending:
                        self._answered.clear()
                        await self._answered.wait()

    def _note(self, message: JSONRPCMessage) -> None:
        """Remember a request until it is answered, or until the client cancels it."""
        if isinstance(message, JSONRPCRequest):
            self._pending.add(message.id)
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            self._settle((message.params or {}).get("requestId"))

    def _settle(self, id: Any) -> None:
        if isinstance(id, (str, int)):
            self._pending.discard(id)
            self._answered.set()

    async def _write(self, out: MemoryObjectReceiveStream[SessionMessage], serving: anyio.CancelScope) -> None:
        try:
            async with out:
                async for session_message in out:
                    message = session_message.message
                    await self._put(message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
                    if isinstance(message, (JSONRPCResponse, JSONRPCError)):
                        self._settle(message.id)
        except OSError:  # the reader has gone away, so that nobody is left to serve
            serving.cancel()
        finally:
            self._ended.set()

    async def _put(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[os.write(self._sink, rest) :]
            except BlockingIOError:
                await self._writable()

    async def _writable(self) -> None:
        loop = asyncio.get_running_loop()
        ready = asyncio.Event()
        loop.add_writer(self._sink, ready.set)
        try:
            await ready.wait()
        finally:
            loop.remove_writer(self._sink)
