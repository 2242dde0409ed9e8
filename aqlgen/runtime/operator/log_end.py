# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The end of an audit log, and whether all of it is there unchanged, for the page (R-SAFE-5, R-OPS-1)."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..safety.audit_chain import chained_files, verify
from ..text import counted, visible

__all__ = ["LogEnd"]

_MOST_LINES = 50
_MOST_BYTES = 64 * 1024
_MOST_VERIFIED = 32 * 1024 * 1024
_VERIFY_EVERY = 30.0
_LONGEST = 300
_SUBJECTS = ("operation", "element_name", "title", "operations", "reason")
_RESULTS = ("decision", "result", "error", "status")


class LogEnd:
    """The end of the log at `path`, None for one without a file. It is read again only when the file has changed."""

    def __init__(self, path: Path | None, clock: Callable[[], float] = time.monotonic) -> None:
        self.path = path
        self._clock = clock
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
        """Return whether the chain holds, followed anew at most twice a minute."""
        now = self._clock()
        if self._verified is not None:
            at, verified, state = self._verified
            if verified == version or now - at < _VERIFY_EVERY:
                return state
        if sum(file.stat().st_size for file in chained_files(path)) > _MOST_VERIFIED:
            state = {"state": "unchecked", "note": "It is long: check it with the command `audit verify`."}
        else:
            verdict = verify(path)
            state = (
                {"state": "broken", "note": visible(f"Not whole: {verdict.problem}")}
                if verdict.problem
                else {"state": "whole", "note": f"Whole and unchanged: {counted(verdict.entries, 'line')}."}
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
    return {
        "id": str(values.get("hash", ""))[:64],
        "at": _line(values.get("timestamp", "")),
        "event": _line(values.get("event", "")),
        "subject": _subject(next((values[name] for name in _SUBJECTS if values.get(name)), "")),
        "result": _line(next((values[name] for name in _RESULTS if values.get(name)), "")),
        "by": _line(values.get("operator") or values.get("caller") or ""),
        "all": visible(json.dumps(rest, ensure_ascii=False, default=str))[:4000],
    }


def _subject(value: Any) -> str:
    return _line(", ".join(map(str, value)) if isinstance(value, list) else value)


def _line(value: Any) -> str:
    text = visible(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str))
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
