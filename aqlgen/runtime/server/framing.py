# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""Framing: bounded lines of standard input as JSON-RPC messages, and a refusal for each line that is not one."""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import AsyncIterator
from typing import Any, NamedTuple

from mcp.types import INVALID_REQUEST, PARSE_ERROR, JSONRPCError, JSONRPCMessage, jsonrpc_message_adapter

__all__ = ["Lines", "Refusal", "parse"]

_CHUNK = 1 << 18
_EDGE = 2048
_ID = rb'"id"\s*:\s*("(?:[^"\\]|\\.){0,200}"|-?[0-9]{1,18})'
_ID_AT_START = re.compile(rb"\s*\{[^{}]*?" + _ID)
_ID_AT_END = re.compile(rb"[}\],]\s*,?\s*" + _ID + rb"\s*(?:,[^{}]*)?\}\s*\Z")


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
        match = _ID_AT_START.match(head) or _ID_AT_END.search(tail)
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


def parse(line: bytes) -> JSONRPCMessage | Refusal:
    """Read a message, or refuse a line that is not one.

    A message whose text is not valid Unicode still goes on, with lone surrogates in place of the fault, so that a tool
    call gets VALIDATION_INVALID_ENCODING from the limits and not a broken connection (R-REQ-10).
    """
    try:
        return jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        pass
    try:
        raw = json.loads(line.decode("utf-8", "surrogateescape"), parse_constant=_refuse_constant)
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


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _refusal(code: int, message: str, id: str | int | None) -> Refusal:
    error = {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}
    return Refusal(JSONRPCError.model_validate(error))
