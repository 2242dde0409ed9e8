# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""The adapter's logger: records for standard error, for clients that ask, and for the owner's handlers (R-OPS-4).

It stands on Python's `logging`: the owner's handlers go to `logging.getLogger("<package>")` or to the root logger. Our
records reach them without secrets, as `Record`. Records of libraries go to standard error as JSON lines, too.
"""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

from ..redaction import redact, redacted
from . import NUMBERS
from .record import JsonFormatter, Record, redacted_excerpt
from .stderr import StderrHandler

__all__ = ["Logger", "adopt_libraries"]

Listener = Callable[[Record], None]


class Logger:
    """Writes records of `level` and above on standard error; listeners get those of their own level and above.

    `name` is that of the logger in `logging`; `secrets` returns the values that no record may show.
    """

    def __init__(
        self, level: str = "warning", name: str = "mcp-aql", *, secrets: Callable[[], Iterable[str]] = tuple
    ) -> None:
        self._logger = logging.getLogger(name)
        self._secrets = secrets
        self._listeners: dict[Listener, _ListenerHandler] = {}
        self.handler = StderrHandler(NUMBERS[level], JsonFormatter(secrets))
        earlier = tuple(self._logger.handlers)
        for handler in earlier:
            self._logger.removeHandler(handler)
        self._logger.addHandler(self.handler)  # before the owner's, which may raise
        for handler in earlier:
            if not isinstance(handler, StderrHandler):  # of an earlier adapter in this process
                self._logger.addHandler(handler)
        self._set_level()

    def wants(self, level: str) -> bool:
        """Return True if anyone reads records of this level: ask before making one costs much."""
        return self._logger.isEnabledFor(NUMBERS[level])

    def listen(self, listener: Listener, level: str | None) -> None:
        """Pass records of `level` and above to a function that returns at once; None ends it."""
        known = self._listeners.pop(listener, None)
        if known is not None:
            self._logger.removeHandler(known)
        if level is not None:
            handler = self._listeners[listener] = _ListenerHandler(listener, NUMBERS[level])
            self._logger.addHandler(handler)
        self._set_level()

    def write(
        self,
        level: str,
        message: str,
        *,
        logger: str | None = None,
        session_id: str | None = None,
        secrets: Iterable[str] = (),
        trace: Mapping[str, Any] | None = None,
        private: bool = False,
        **data: Any,
    ) -> None:
        """Write one record; every occurrence of a secret in it is masked. Never raises, never waits.

        `logger` names the part that it comes from; `trace`, and all of a `private` record, is for the owner alone.
        """
        if not self.wants(level):
            return
        masked = [secret for secret in (*secrets, *self._secrets()) if secret]
        record = Record(
            level,
            logger or self._logger.name,
            redact(message, masked) if masked else message,
            session_id=session_id,
            data=redacted(_plain(data), masked),
            trace=redacted(_plain(trace or {}), masked),
            private=private,
        )
        with suppress(Exception):  # a handler of the owner's may raise
            self._logger.handle(record)

    def exception(self, message: str, error: BaseException, *, session_id: str | None = None, **data: Any) -> None:
        """Write an unexpected exception; the places that it came through, the innermost last, are the owner's alone."""
        frames = [f"{frame.name}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)[-8:]]
        text = redacted_excerpt(f"{type(error).__name__}: {error}", self._secrets())
        self.write("error", message, session_id=session_id, trace={"error": text, "frames": frames}, **data)

    def _set_level(self) -> None:
        self._logger.setLevel(min(handler.level for handler in (self.handler, *self._listeners.values())))


class _ListenerHandler(logging.Handler):
    def __init__(self, listener: Listener, level: int) -> None:
        super().__init__(level)
        self._listener = listener

    def emit(self, record: logging.LogRecord) -> None:
        if isinstance(record, Record) and not record.private:
            self._listener(record)


def adopt_libraries(logger: Logger) -> logging.Handler:
    """Send the records of every library to the logger's standard error. Returns the handler, to take it away.

    Left alone, libraries would write to standard error by themselves: not as JSON, and waiting for whoever reads it.
    """
    handler = _LibraryHandler(logger.handler)
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logger.handler.level)
    logging.captureWarnings(True)
    return handler


class _LibraryHandler(logging.Handler):
    def __init__(self, target: logging.Handler) -> None:
        super().__init__(target.level)
        self._target = target

    def emit(self, record: logging.LogRecord) -> None:
        if not isinstance(record, Record):  # ours have been there
            self._target.handle(record)


def _plain(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the value as nothing but JSON."""
    try:
        plain: dict[str, Any] = json.loads(json.dumps(value, default=str))
    except (ValueError, TypeError, RecursionError):
        return {"unwritable": sorted(value)}
    return plain
