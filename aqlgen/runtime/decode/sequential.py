"""Contents that are several values: server-sent events, JSON lines, JSON text sequences, the parts of a multipart body.

(OpenAPI 3.2, Sequential Media Types; WHATWG HTML, 9.2; ndjson.org; RFC 7464; RFC 2046, 5.1; RFC 7578.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..errors import Failure
from ..wire import StreamForm, media_type
from .body import JSON_DECODER, read_body, sanitize
from .files import disposition_name

_DONE = re.compile(rb"(?:^|[\r\n])(?:data:\s*)?\[DONE\]\s*[\r\n]")
_LINE_BREAK = re.compile(rb"\r\n|\n|\r")
_LONGEST_MARK = 24
"""Bytes that are kept of an unfinished line, since a mark may be divided between two chunks."""
_BOUNDARY = re.compile(r'\bboundary\s*=\s*(?:"([^"]{1,200})"|([^\s;,"]{1,200}))', re.IGNORECASE)
_NAME = re.compile(r'(?:^|;)\s*name\s*=\s*(?:"([^"]*)"|([^;\s]+))', re.IGNORECASE)
_MAX_PARTS = 1000


class StreamWatch:
    """A counter of the values in a stream, which tells when they are enough. It skips comments and blank lines."""

    def __init__(self, form: StreamForm, limit: int) -> None:
        self._form = form
        self._left = limit
        self._tail = b""
        self._has_data = False

    def feed(self, chunk: bytes) -> str | None:
        """Take the next bytes; return "events" when there are enough of them, "" when the stream says that it ended."""
        seen = self._tail + chunk
        if b"[DONE]" in seen and _DONE.search(seen):
            return ""
        whole = seen.removesuffix(b"\r")  # a line feed may follow
        *lines, rest = whole.split(b"\n") if self._form == "lines" else _LINE_BREAK.split(whole)
        self._tail = rest[:_LONGEST_MARK] + seen[len(whole) :]
        if self._form == "sequence":
            self._left -= chunk.count(b"\x1e")
        elif self._form == "lines":
            self._left -= sum(map(bool, map(bytes.strip, lines)))
        elif self._has_data or b"data" in seen:  # of signs of life there may be many
            self._left -= sum(map(self._ends_event, lines))
        return "events" if self._left <= 0 else None

    def _ends_event(self, text: bytes) -> bool:
        """Return True for the blank line behind an event with data."""
        if text:
            self._has_data = self._has_data or text.partition(b":")[0] == b"data"
            return False
        had_data, self._has_data = self._has_data, False
        return had_data


def stream_values(text: str, form: StreamForm, *, complete: bool) -> list[Any]:
    """Return the values of a stream; one that should be JSON and is not comes as its text.

    `complete` says that its last value is whole, even if nothing follows it.
    """
    text = text.removeprefix("\ufeff")
    if form == "events":
        return list(_read_events(text, complete))
    pieces = text.split("\n" if form == "lines" else "\x1e")
    if not complete and not (form == "sequence" and text.endswith("\n")):
        del pieces[-1:]  # the text behind the last line break
    return [_read_json(piece) for piece in pieces if piece and piece.strip() not in ("", "[DONE]")]


def _read_json(text: str) -> Any:
    try:
        return sanitize(JSON_DECODER.decode(text.strip()), text.encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return text.strip()


def _read_events(text: str, complete: bool) -> Iterator[Any]:
    events = re.sub(r"\r\n?", "\n", text).split("\n\n")
    for event in events if complete else events[:-1]:
        if "data" not in event:
            continue
        pairs = (line.partition(":") for line in event.split("\n"))
        fields = [(name, value.removeprefix(" ")) for name, _, value in pairs]
        lines = [value for name, value in fields if name == "data"]
        data = "\n".join(lines)
        if data.strip() == "[DONE]":
            return
        if lines:
            labels = {name: value for name, value in fields if name in ("event", "id") and value}
            yield {**labels, "data": (_read_json(data) if data.lstrip().startswith(("{", "[", '"')) else data)}


def read_multipart(content: bytes, content_type: str) -> list[dict[str, Any]] | None:
    """Return the parts, each as name, filename, content_type and data, as far as it has them; None without parts."""
    match = _BOUNDARY.search(content_type)
    if match is None:
        return None
    delimiter = b"--" + (match[1] or match[2]).encode("utf-8", "replace")
    pieces = re.split(rb"(?:^|\r?\n)" + re.escape(delimiter) + rb"(?=--|[ \t]*\r?\n)", content)
    if len(pieces) < 2:
        return None
    parts: list[dict[str, Any]] = []
    for piece in pieces[1:]:
        if piece.startswith(b"--") or len(parts) == _MAX_PARTS:
            break
        head, body = _divide(piece.lstrip(b" \t"))
        parts.append(_read_part(_part_headers(head), body))
    return parts


def _divide(piece: bytes) -> tuple[bytes, bytes]:
    """Divide a part, which begins with the line break behind its delimiter, into its headers and its body."""
    without_headers = re.match(rb"\r?\n\r?\n", piece)
    if without_headers is not None:
        return b"", piece[without_headers.end() :]
    end = re.search(rb"\r?\n\r?\n", piece)
    return (piece, b"") if end is None else (piece[: end.start()], piece[end.end() :])


def _part_headers(head: bytes) -> Mapping[str, str]:
    text = re.sub(r"\r?\n[ \t]+", " ", head.decode("utf-8", "replace"))
    pairs = (line.partition(":") for line in text.splitlines())
    return {name.strip().lower(): value.strip() for name, colon, value in pairs if colon}


def _read_part(headers: Mapping[str, str], body: bytes) -> dict[str, Any]:
    disposition = headers.get("content-disposition", "")
    content_type = headers.get("content-type", "")
    name = _NAME.search(disposition)
    part: dict[str, Any] = {
        "name": None if name is None else name[2] if name[1] is None else name[1],
        "filename": disposition_name(disposition) or None,
        **{key.replace("-", "_"): headers.get(key) for key in ("content-id", "content-location", "content-range")},
        "content_type": media_type(content_type) or None,
    }
    part = {key: value for key, value in part.items() if value is not None}
    try:
        part["data"] = read_body(body, content_type or "text/plain")
    except Failure:
        part["data"] = body.decode("utf-8", "replace")
    return part
