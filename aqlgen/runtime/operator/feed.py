"""What every open page is told, as it changes: one poll of the stores for all of them (R-OPS-1).

The stores tell nobody of a change, so they are asked about once a second, and only while a page is open. A page gets
each section whole, the oldest items first, when it has changed since the page last got it: one that reads slowly gets
the last state of things, and nothing is kept for it.

A section is the end of the audit log, and whether all of the log is there unchanged (R-SAFE-5).
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

from ..safety.audit import chained_files, verify
from ..state import StoreAway, canonical
from ..text import counted, visible
from .reading import SECTIONS, Item, Reading, read, read_quotas

if TYPE_CHECKING:
    from .reading import Source

_EVERY = 1.0
_SLOWLY = 5.0
"""Seconds between two looks at what changes slowly: quotas and the audit log."""

_HEARTBEAT = 5.0


class Feed:
    """The state of an adapter, read at most once in an interval, and only while somebody follows it."""

    def __init__(self, source: Source, report: Callable[[str, Exception], None], *, interval: float = _EVERY) -> None:
        self.source = source
        self._report = report
        self._interval = interval
        self._sections: dict[str, tuple[str, Any]] = {}
        self._reading = asyncio.Lock()
        self._until = self._slow_until = 0.0
        self._wanted = asyncio.Event()
        self._log_end = LogEnd(source.audit.path)
        self._log: dict[str, Any] = {}
        self._quotas: list[Item] = []
        self._last = Reading()
        self._stopped = False
        self.followers = 0

    async def follow(self) -> AsyncGenerator[dict[str, Any], None]:
        """Yield the state, then its changes, and a sign of life every five seconds: `{now, sections}`."""
        self.followers += 1
        self.refresh()
        seen: dict[str, str] = {}
        last = 0.0
        try:
            while not self._stopped:
                wanted, sections = self._wanted, await self._current()
                news = {name: data for name, (text, data) in sections.items() if seen.get(name) != text}
                seen.update({name: sections[name][0] for name in news})
                if news or time.monotonic() - last >= _HEARTBEAT:
                    last = time.monotonic()
                    yield {"now": time.time(), "sections": news}
                with anyio.move_on_after(self._interval):
                    await wanted.wait()
        finally:
            self.followers -= 1

    def refresh(self) -> None:
        """Look at once: something was decided."""
        self._until = self._slow_until = 0.0
        self._wanted.set()
        self._wanted = asyncio.Event()

    def stop(self) -> None:
        """End every stream."""
        self._stopped = True
        self.refresh()

    async def _current(self) -> dict[str, tuple[str, Any]]:
        """Return the sections, each with its text to compare it by; all who follow share one look at the stores."""
        async with self._reading:
            if time.monotonic() >= self._until:
                self._until = time.monotonic() + self._interval
                try:
                    await self.look()
                except Exception as error:  # noqa: BLE001 - the next look may work
                    self._report("the operator's page cannot look at the stores", error)
        return self._sections

    async def look(self) -> None:
        """Read the store, and now and then the quotas and the audit log."""
        if time.monotonic() >= self._slow_until:
            self._slow_until = time.monotonic() + _SLOWLY
            with suppress(StoreAway):
                self._quotas = await read_quotas(self.source)
            self._log = await anyio.to_thread.run_sync(self._log_end.read)
        reading = self._remembered(await read(self.source))
        data: dict[str, Any] = {
            name: sorted(reading.sections.get(name, ()), key=lambda item: (item["asked"], item["id"]))
            for name in SECTIONS
        }
        data["adapter"] = {"name": self.source.name, "problem": reading.problem}
        data |= {"quotas": self._quotas, "log": self._log}
        self._sections = {name: (canonical(items), items) for name, items in data.items()}

    def _remembered(self, reading: Reading) -> Reading:
        """Return a reading, with what was read last if nothing can be read now: it is not gone by that."""
        if reading.sections:
            self._last = reading
            return reading
        note = " The page shows the earlier state." if self._last.sections else ""
        return replace(self._last, problem=f"{reading.problem}{note}")


_MOST_LINES, _MOST_BYTES = 50, 64 * 1024
_MOST_VERIFIED = 32 * 1024 * 1024
_VERIFY_EVERY, _LONGEST = 30.0, 300
_SUBJECTS = ("operation", "element_name", "title", "operations", "reason")
_RESULTS = ("decision", "result", "error", "status")
_ASKED = ("CONFIRMATION_REQUIRED", "TOKEN_ISSUED")  # the log calls them denied until somebody confirms


class LogEnd:
    """The end of the log at `path`, None for one without a file. It is read again only when the file has changed."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._known: tuple[tuple[int, int, int], dict[str, Any]] | None = None
        self._verified: tuple[float, tuple[int, int, int], dict[str, Any]] | None = None

    def read(self) -> dict[str, Any]:
        """Return its last entries, the newest first, and the state of the chain. It blocks, and raises nothing."""
        if self.path is None:
            return {"entries": [], "state": "none", "note": "It has no file: its entries are records of the log."}
        try:
            status = os.stat(self.path)
            version = (status.st_mtime_ns, status.st_size, status.st_ino)
            if self._known is None or self._known[0] != version:
                self._known = version, {"entries": _entries(self.path, status.st_size)}
            return {**self._known[1], **self._chain(self.path, version)}
        except FileNotFoundError:
            return {"entries": [], "state": "none", "note": "Nothing has been written yet."}
        except OSError as problem:
            return {"entries": [], "state": "broken", "note": f"It cannot be read: {problem.strerror}."}

    def _chain(self, path: Path, version: tuple[int, int, int]) -> dict[str, Any]:
        """Return whether the chain holds; it is verified at most twice a minute."""
        now = time.monotonic()
        if self._verified is not None:
            at, verified, state = self._verified
            if verified == version or now - at < _VERIFY_EVERY:
                return state
        if sum(file.stat().st_size for file in chained_files(path)) > _MOST_VERIFIED:
            state = {"state": "unchecked", "note": "It is long: check it with the command `audit verify`."}
        else:
            verdict = verify(path)
            state = (
                {"state": "broken", "note": visible(f"Changed or incomplete: {verdict.problem}")}
                if verdict.problem
                else {"state": "whole", "note": f"Complete and unchanged: {counted(verdict.entries, 'line')}."}
            )
        self._verified = now, version, state
        return state


def _entries(path: Path, size: int) -> list[dict[str, Any]]:
    with path.open("rb") as file:
        file.seek(max(0, size - _MOST_BYTES))
        lines = file.read(_MOST_BYTES).splitlines()
    if size > _MOST_BYTES:
        lines = lines[1:]
    return [_entry(line) for line in reversed(lines[-_MOST_LINES:])]


def _entry(line: bytes) -> dict[str, Any]:
    """Return an entry as it is shown: when, what, about what, with what result, by whom, and all of it."""
    text = line.decode("utf-8", "backslashreplace")
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        return {"at": "", "event": "unreadable", "subject": _line(text), "result": "", "by": "", "all": ""}
    rest = {name: value for name, value in values.items() if name not in ("previous", "hash", "timestamp", "event")}
    subject = next((values[name] for name in _SUBJECTS if values.get(name)), "")
    results = () if values.get("event") in _ASKED else _RESULTS
    return {
        "id": str(values.get("hash", ""))[:64],
        "at": _line(values.get("timestamp", "")),
        "event": _line(values.get("event", "")),
        "subject": _line(", ".join(map(str, subject)) if isinstance(subject, list) else subject),
        "result": _line(next((values[name] for name in results if values.get(name)), "")),
        "by": _line(values.get("operator") or values.get("caller") or ""),
        "all": visible(json.dumps(rest, ensure_ascii=False, default=str))[:4000],
    }


def _line(value: Any) -> str:
    text = visible(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str))
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
