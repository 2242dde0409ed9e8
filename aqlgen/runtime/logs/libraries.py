# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Records of libraries: in the adapter's log, and without values of calls unless its level is debug."""

from __future__ import annotations

import logging
import sys
from types import FrameType
from typing import Any

from .log import Logger, Record, trace_of

__all__ = ["adopt_libraries"]

_WITHHELD = "a text that only log_level debug shows"


def adopt_libraries(logger: Logger) -> logging.Handler:
    """Send the records of every library to the logger's standard error. Returns the handler; close it to end this.

    Left alone, libraries would write to standard error by themselves: not as JSON, and waiting for whoever reads it.
    Unless the owner's level is debug, no handler, also of the owner's, gets the values that a library puts into a text.
    """
    return _LibraryHandler(logger)


class _LibraryHandler(logging.Handler):
    def __init__(self, logger: Logger) -> None:
        super().__init__(logger.handler.level)
        self._target = logger.handler
        self._own = f"{logger.name}."
        self._factory = logging.getLogRecordFactory()
        if not logger.tells_all:
            logging.setLogRecordFactory(self._made)
        logging.captureWarnings(True)
        root = logging.getLogger()
        root.addHandler(self)
        root.setLevel(self.level)

    def emit(self, record: logging.LogRecord) -> None:
        if not f"{record.name}.".startswith(self._own) and not isinstance(record, Record):  # ours have been there
            self._target.handle(record)

    def close(self) -> None:
        """Leave libraries alone."""
        logging.getLogger().removeHandler(self)
        logging.captureWarnings(False)
        logging.setLogRecordFactory(self._factory)
        super().close()

    def _made(self, name: str, level: int, path: str, number: int, message: Any, *more: Any, **also: Any) -> Any:
        """Return a record: of a library the text that stands in its code, without the values that it was given."""
        record = self._factory(name, level, path, number, message, *more, **also)
        if not f"{name}.".startswith(self._own):
            error = record.exc_info[1] if record.exc_info else None
            record.msg, record.args, record.exc_info = _code_text(record), (), None
            if error is not None:
                record.trace = trace_of(error, (), whole=False)
        return record


def _code_text(record: logging.LogRecord) -> str:
    """Return the text of a record as the code has it that logs it; of a Python warning the place and the category."""
    if record.name == "py.warnings":
        return ":".join(record.getMessage().split(":", 3)[:3])
    frame: FrameType | None = sys._getframe()
    while frame is not None and (frame.f_code.co_filename, frame.f_code.co_name) != (record.pathname, record.funcName):
        frame = frame.f_back
    is_literal = frame is not None and isinstance(record.msg, str) and record.msg in frame.f_code.co_consts
    return record.msg if is_literal else f"{_WITHHELD} ({record.module}:{record.lineno})"
