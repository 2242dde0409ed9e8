# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Takes what libraries say through Python's `logging` and `warnings` into the adapter's own log (R-OPS-4).

Left alone, they would write to standard error by themselves: not as JSON, and waiting for whoever reads it.
"""

from __future__ import annotations

import logging

from .log import LEVELS, Logger

__all__ = ["adopt"]

_FLOORS = ((50, "critical"), (40, "error"), (30, "warning"), (20, "info"))


def adopt(logger: Logger) -> logging.Handler:
    """Hand the records of every library to the logger, from its own level on. Give the handler, to take it away."""
    handler = _Handler(logger)
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(next((number for number, level in reversed(_FLOORS) if logger.wants(level)), 50))
    logging.captureWarnings(True)
    return handler


class _Handler(logging.Handler):
    def __init__(self, logger: Logger) -> None:
        super().__init__()
        self._logger = logger

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record for the owner alone: a library may say anything."""
        level = next((level for floor, level in _FLOORS if record.levelno >= floor), LEVELS[0])
        try:
            message = record.getMessage()
        except (TypeError, ValueError):  # what it says does not fit its own form
            message = str(record.msg)
        error = record.exc_info[1] if record.exc_info else None
        told = {} if error is None else {"error": self._logger.short(f"{type(error).__name__}: {error}")}
        self._logger.write(level, self._logger.short(message), logger=record.name, private=True, trace=told)
