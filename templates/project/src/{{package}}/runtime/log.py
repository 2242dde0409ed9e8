"""Diagnostics on standard error, one JSON line each: the channel that always works (R-OPS-4)."""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

__all__ = ["LEVELS", "Logger"]

LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
"""The eight levels of RFC 5424, the least severe first."""

_MASK = "***"


class Logger:
    """Writes records of `level` and above."""

    def __init__(self, level: str = "warning") -> None:
        self._least = LEVELS.index(level)

    def write(self, level: str, message: str, *, secrets: Iterable[str] = (), **data: Any) -> None:
        """Write one record; every occurrence of a secret in it is masked. Never raises."""
        if LEVELS.index(level) < self._least:
            return
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        record = {"timestamp": now, "level": level, "message": message, **data}
        line = json.dumps(record, default=str)
        for secret in secrets:
            if secret:
                line = line.replace(json.dumps(secret)[1:-1], _MASK)
        try:
            sys.stderr.write(line + "\n")
            sys.stderr.flush()
        except (OSError, ValueError):
            return

    def exception(self, message: str, error: BaseException, **data: Any) -> None:
        """Write an unexpected exception with the places that it came through, the innermost last."""
        frames = [f"{frame.name}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)[-8:]]
        self.write("error", message, error=f"{type(error).__name__}: {error}", frames=frames, **data)
