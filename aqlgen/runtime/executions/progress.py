# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Progress of a call that waits, told to the client that asked for it (MCP, progress; MCP integration, 5)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from typing import Any, TypeAlias

__all__ = ["REPORTER", "Progress", "Report"]

Report: TypeAlias = Callable[[float, float | None, str | None], Awaitable[None]]
"""Sends a notification: progress, total, message."""

REPORTER: ContextVar[Report | None] = ContextVar("progress", default=None)
"""What tells the client of the present call; None if it did not ask."""


class Progress:
    """The progress of one call, which only ever grows, as the protocol asks."""

    __slots__ = ("_last", "_report")

    def __init__(self) -> None:
        self._report = REPORTER.get()
        self._last = -1.0

    async def tell(self, execution: Mapping[str, Any]) -> None:
        """Report how far an execution is, in percent where that is known; a client out of reach goes without."""
        if self._report is None:
            return
        progress = execution.get("progress") or {}
        percentage, total = progress.get("percentage"), progress.get("total")
        if percentage is None and total:
            percentage = round(100 * progress["current"] / total, 2)
        value = self._last + 1 if percentage is None else float(percentage)
        if value <= self._last:
            return
        self._last = value
        message = progress.get("message") or execution["status"]
        try:
            await self._report(value, None if percentage is None else 100.0, message)
        except Exception:  # noqa: BLE001 - nothing may stop for it
            self._report = None
