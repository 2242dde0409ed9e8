# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The handler of standard error: JSON lines that nobody waits for, however slow or dead their reader is (R-OPS-4).

`QueueHandler` and `QueueListener` do it, except for what a dead reader forbids. A full queue counts what it loses. The
thread writes to the descriptor: the lock of `sys.stderr`, or of a handler behind the listener, would be held for ever,
and the interpreter would wait for it when it ends. `flush` waits half a second at most.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from contextlib import suppress
from logging.handlers import QueueHandler, QueueListener
from queue import Full, Queue
from typing import Any

from .record import JsonFormatter, Record

__all__ = ["StderrHandler"]

_MOST = 1000
_LAST_WRITES = 0.5


class StderrHandler(QueueHandler):
    """Puts each record, as a line, into a bounded queue; a thread writes the lines. Any thread may log.

    Where standard error is no descriptor (a test, an embedding program) nothing can block: it is written to directly.
    """

    def __init__(self, level: int, formatter: JsonFormatter) -> None:
        self._lines: Queue[Any] = Queue(_MOST)
        super().__init__(self._lines)
        self.setLevel(level)
        self.setFormatter(formatter)
        self._writer: _Writer | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Queue a record, or write it where that cannot block."""
        stream = sys.stderr
        try:
            stream.fileno()
        except (OSError, ValueError, AttributeError):
            with suppress(Exception):
                stream.write(self.format(record) + "\n")
        else:
            super().emit(record)

    def prepare(self, record: logging.LogRecord) -> str:
        """Return the line of a record, formatted before its data can change."""
        return self.format(record)

    def enqueue(self, record: Any) -> None:
        """Queue a line; where there is no room for it, it is counted as lost."""
        if self._writer is None:
            self._writer = _Writer(self._lines)
            self._writer.start()
        try:
            self._lines.put_nowait(record)
        except Full:
            self._writer.count_lost()

    def flush(self) -> None:
        """Wait until all is written, but not for long. `logging` calls it when the process ends."""
        lines = self._lines
        with lines.all_tasks_done:
            lines.all_tasks_done.wait_for(lambda: not lines.unfinished_tasks, _LAST_WRITES)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """Write nothing: the standard handler would write to standard error."""


class _Writer(QueueListener):
    """The thread that writes lines to the descriptor of standard error."""

    def __init__(self, lines: Queue[Any]) -> None:
        super().__init__(lines)
        self._lost = 0
        self._lock = threading.Lock()

    def count_lost(self) -> None:
        with self._lock:
            self._lost += 1

    def handle(self, record: Any) -> None:
        """Write a line, and behind it how many were lost."""
        with self._lock:
            lost, self._lost = self._lost, 0
        text = f"{record}\n"
        if lost:
            message = "log records were lost, since nobody read them"
            text += f"{JsonFormatter().format(Record('warning', 'mcp-aql', message, data={'count': lost}))}\n"
        with suppress(OSError, ValueError, AttributeError):
            _write_all(sys.stderr.fileno(), text.encode("utf-8", "backslashreplace"))


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(descriptor, rest) :]
        except BlockingIOError:  # someone made it non-blocking
            threading.Event().wait(0.05)
