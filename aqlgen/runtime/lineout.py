# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Lines to standard error that nobody has to wait for, however slow or dead their reader is (R-OPS-4)."""

from __future__ import annotations

import atexit
import json
import os
import sys
import threading
from collections import deque
from contextlib import suppress
from datetime import UTC, datetime

__all__ = ["LineOut"]

_MOST = 1000
_LAST_WRITES = 0.5


class LineOut:
    """A bounded queue of lines, and a thread of its own that writes them. Any thread may put.

    Where standard error is no descriptor (a test, an embedding program) nothing can block: it is written to as it is.
    """

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._lines: deque[bytes] = deque()
        self._changed = threading.Condition()
        self._lost = 0
        self._busy = False
        self._thread: threading.Thread | None = None

    def put(self, line: str) -> None:
        """Take a line to be written; where there is no room for it, it is counted as lost."""
        stream = sys.stderr
        try:
            stream.fileno()
        except (OSError, ValueError, AttributeError):
            with suppress(Exception):
                stream.write(line + "\n")
            return
        with self._changed:
            if len(self._lines) >= self._most:
                self._lost += 1
                return
            self._lines.append(line.encode("utf-8", "backslashreplace") + b"\n")
            if self._thread is None:
                self._thread = threading.Thread(target=self._write, name="log", daemon=True)
                self._thread.start()
                atexit.register(self.flush, _LAST_WRITES)
            self._changed.notify_all()

    def flush(self, seconds: float) -> bool:
        """Wait until all is written, but no longer than that; whether it is."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._lines and not self._busy, seconds)

    def _write(self) -> None:
        while True:
            with self._changed:
                self._busy = False
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._lines)
                self._busy = True
                data = self._lines.popleft()
                lost, self._lost = self._lost, 0
            if lost:
                data += _lost(lost)
            with suppress(OSError, ValueError, AttributeError):
                self._whole(sys.stderr.fileno(), data)

    @staticmethod
    def _whole(descriptor: int, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[os.write(descriptor, rest) :]
            except BlockingIOError:  # someone made it non-blocking
                threading.Event().wait(0.05)


def _lost(count: int) -> bytes:
    record = {
        "timestamp": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "level": "warning",
        "logger": "mcp-aql",
        "message": "log records were lost, since nobody read them",
        "data": {"count": count},
    }
    return json.dumps(record).encode() + b"\n"
