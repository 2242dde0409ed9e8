# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""Log records as every reader gets them, and as a line of JSON (R-OPS-4)."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from ..redaction import redact
from . import LEVELS, NUMBERS

__all__ = ["JsonFormatter", "Record", "redacted_excerpt"]

_MAX_LENGTH = 4000
for _level in ("notice", "alert", "emergency"):
    logging.addLevelName(NUMBERS[_level], _level.upper())


class Record(logging.LogRecord):
    """A diagnostic. `session_id` is None when it concerns no session more than another.

    `data` is for everyone who may read it; `trace`, and all of a `private` record, is for the owner alone: it names
    places in the code and may quote anything.
    """

    def __init__(
        self,
        level: str,
        logger: str,
        message: str,
        *,
        session_id: str | None = None,
        data: Mapping[str, Any] | None = None,
        trace: Mapping[str, Any] | None = None,
        private: bool = False,
    ) -> None:
        super().__init__(logger, NUMBERS[level], "", 0, message, None, None)
        self.level = level
        self.message = message
        self.session_id = session_id
        self.data = data or {}
        self.trace = trace or {}
        self.private = private

    def as_json(self, *, whole: bool) -> dict[str, Any]:
        """Return what a reader gets, with the trace if `whole`; keys without a value are left out."""
        time = datetime.fromtimestamp(self.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        shown: dict[str, Any] = {"timestamp": time, "level": self.level, "logger": self.name, "message": self.message}
        if self.session_id is not None:
            shown["session_id"] = self.session_id
        data = {**self.data, **self.trace} if whole else self.data
        if data:
            shown["data"] = dict(data)
        return shown


class JsonFormatter(logging.Formatter):
    """A record as one line of JSON, for the owner. Records of libraries, which may say anything, are redacted first."""

    def __init__(self, secrets: Callable[[], Iterable[str]] = tuple) -> None:
        super().__init__()
        self._secrets = secrets

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        diagnostic = record if isinstance(record, Record) else self._of_library(record)
        return json.dumps(diagnostic.as_json(whole=True), default=str)

    def _of_library(self, record: logging.LogRecord) -> Record:
        level = next((level for level in reversed(LEVELS) if record.levelno >= NUMBERS[level]), LEVELS[0])
        try:
            message = record.getMessage()
        except (TypeError, ValueError):  # its arguments do not fit its message
            message = str(record.msg)
        secrets = self._secrets()
        error = record.exc_info[1] if record.exc_info else None
        trace = None if error is None else {"error": redacted_excerpt(f"{type(error).__name__}: {error}", secrets)}
        return Record(level, record.name, redacted_excerpt(message, secrets), trace=trace)


def redacted_excerpt(text: str, secrets: Iterable[str]) -> str:
    """Cut a text, once its secrets are masked: a part of one is not found any more."""
    return redact(text, filter(None, secrets))[:_MAX_LENGTH]
