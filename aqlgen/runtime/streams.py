# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Answers that are streams of events or values: server-sent events, JSON lines, JSON text sequences.

(WHATWG HTML, 9.2; ndjson.org; RFC 7464.)
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from .sound import sound

__all__ = ["Watch", "form_of", "values"]

_EVENTS = frozenset({"text/event-stream"})
_LINES = re.compile(r"(?:.*[/+.])?(?:x-)?(?:ndjson|jsonl|json-?lines|json-stream|ldjson)|application/stream\+json")
_SEQUENCE = re.compile(r"application/(?:.+\+)?json-seq")
_RECORD = b"\x1e"
_DONE = re.compile(rb"(?:^|[\r\n])(?:data:\s*)?\[DONE\]\s*[\r\n]")
_BLANK = re.compile(rb"\r\n\r\n|\n\n|\r\r")
_TAIL = 24


def form_of(kind: str) -> str | None:
    """Give the form of a media type that is a stream: events, lines or sequence; None for any other."""
    if kind in _EVENTS:
        return "events"
    if _SEQUENCE.fullmatch(kind):
        return "sequence"
    return "lines" if _LINES.fullmatch(kind) else None


class Watch:
    """Counts what has come of a stream, to say when it is enough."""

    def __init__(self, form: str, most: int) -> None:
        self._form = form
        self._left = most
        self._tail = b""

    def enough(self, chunk: bytes) -> str | None:
        """Take the next bytes; give "events" when there are enough of them, "" when the stream says that it ended."""
        seen = self._tail + chunk
        if b"[DONE]" in seen and _DONE.search(seen):
            return ""
        if self._form == "events":
            self._left -= len(_BLANK.findall(seen)) - len(_BLANK.findall(self._tail))
        else:
            self._left -= chunk.count(_RECORD if self._form == "sequence" else b"\n")
        self._tail = seen[-_TAIL:]
        return "events" if self._left <= 0 else None


def values(text: str, form: str, *, whole: bool) -> list[Any]:
    """Give the values of a stream; one that is no JSON where it should be is given as its text.

    `whole` says that its last value is complete, even if nothing follows it.
    """
    read = {"events": _events, "lines": _lines, "sequence": _sequence}[form]
    return list(read(text.removeprefix("\ufeff"), whole))


def _json(text: str) -> Any:
    try:
        return sound(json.loads(text, parse_constant=lambda _: None), text.encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return text.strip()


def _lines(text: str, whole: bool) -> Iterator[Any]:
    lines = text.split("\n")
    if not whole:
        lines.pop()  # what stands behind the last line break is not complete
    for line in lines:
        line = line.strip()
        if line and line != "[DONE]":
            yield _json(line)


def _sequence(text: str, whole: bool) -> Iterator[Any]:
    records = text.split("\x1e")[1:]
    if records and not whole and not records[-1].endswith("\n"):
        records.pop()
    for record in records:
        if record.strip():
            yield _json(record)


def _events(text: str, whole: bool) -> Iterator[Any]:
    lines = re.split(r"\r\n|\n|\r", text)
    event: dict[str, Any] = {}
    data: list[str] = []
    for line in (*lines, "") if whole else lines[:-1]:
        if not line:
            if data:
                said = "\n".join(data)
                if said.strip() == "[DONE]":
                    return
                yield {**event, "data": _data(said)}
            event, data = {}, []
            continue
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            data.append(value)
        elif name in ("event", "id") and value:
            event[name] = value


def _data(said: str) -> Any:
    """Give the data of an event: JSON where it is an object, an array or a string in quotes, else the text itself."""
    if not said.lstrip().startswith(("{", "[", '"')):
        return said
    return _json(said)
