# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""MCP over standard input and output, one JSON-RPC message per line.

It differs from the SDK's stdio in what a long-lived process needs: SIGINT and SIGTERM end it promptly and cleanly; once
the input ends, calls in flight are still answered; a line that is not JSON gets an answer, one that is too long ends
nothing; it reads and writes without threads. The SDK's own is used on Windows, whose pipes cannot be polled.
"""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server import Server
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCError, JSONRPCMessage, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from .framing import Lines, Refusal, parse

__all__ = ["serve_stdio"]

_QUEUE = 16
_LAST_WRITES_TIMEOUT = 2.0


def serve_stdio(server: Server[Any], *, max_line: int, grace: float) -> int:
    """Serve until the input ends or a signal arrives, and return the exit code.

    `max_line` bounds a message in bytes; `grace` the seconds that calls in flight may take after the end of input.
    """
    if sys.platform == "win32":
        anyio.run(_serve_by_sdk, server)
        return 0
    with _claimed_descriptors() as (source, sink):
        asyncio.run(_Connection(server, source, sink, max_line, grace).run())
    return 0


async def _serve_by_sdk(server: Server[Any]) -> None:
    from mcp.server.stdio import stdio_server

    async with stdio_server() as (read, write):
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
