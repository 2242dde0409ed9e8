"""An execution as its caller has it: a handle to ask about it, and notifications of its progress while a call waits.

A handle, the `execution_id`, holds, sealed, what is needed to ask the API about the work (R-LOOP-1). Nothing is stored.
A handle survives the adapter's process, any replica that has the key opens it, and it is good for the caller whose call
began the work, and for a time. The work itself is the API's: it does not end with a session.

Progress is told to a client that asked for it (MCP, progress; MCP integration, 5).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from ..errors import Code, Failure
from ..session import current_caller

if TYPE_CHECKING:
    from ..state.custody import Custody

_KIND = "execution"
_PREFIX = "exec_"
LIFETIME = 30 * 86_400
"""Seconds for which a handle is good."""
_LONGEST = 6000
"""Characters of the longest handle that is given out."""


class Handle(NamedTuple):
    """What a handle holds: the operation that began the work, when, and what is asked about it.

    Asked is the operation `monitor` with parameters, or else the address `url`. Times are seconds since the epoch.
    """

    operation: str
    started: int
    monitor: str = ""
    params: Mapping[str, Any] = {}
    url: str = ""


class Handles:
    """Writes and reads the handles of an adapter."""

    def __init__(self, seals: Custody) -> None:
        self._seals = seals

    async def write(self, handle: Handle) -> str | None:
        """Return the text of a handle; None if it would be too long."""
        await self._seals.prepare()
        content = [handle.operation, handle.started, handle.monitor, dict(handle.params), handle.url]
        while content and not content[-1]:
            content.pop()
        text = _PREFIX + self._seals.spare_sealer().seal(_KIND, content, LIFETIME, current_caller() or "")
        return text if len(text) <= _LONGEST else None

    async def read(self, text: str, now: float) -> Handle:
        """Return the content of a handle. Raises Failure for one of another caller or adapter, or that has expired."""
        await self._seals.prepare()
        opened = None
        if text.startswith(_PREFIX) and len(text) <= _LONGEST:
            sealed = text.removeprefix(_PREFIX)
            opened = self._seals.spare_sealer().open(_KIND, sealed, current_caller() or "")
        if opened is None:
            raise Failure(
                Code.NOT_FOUND_RESOURCE,
                "Unknown execution: give the complete execution_id as returned. Only its own caller can use it.",
                {"param_name": "execution_id"},
            )
        if opened.expires < now:
            raise Failure(
                Code.TOKEN_EXPIRED,
                f"The execution_id has expired: it is good for {LIFETIME // 86_400} days. Ask the API's own operations "
                "how the work ended.",
                {"param_name": "execution_id"},
            )
        return Handle(*opened.value)


Report: TypeAlias = Callable[[float, float | None, str | None], Awaitable[None]]
"""Sends a notification: progress, total, message."""

REPORTER: ContextVar[Report | None] = ContextVar("progress", default=None)
"""The report to the client of the present call; None if it did not ask."""


BEGUN: ContextVar[list[Mapping[str, Any]] | None] = ContextVar("begun", default=None)
"""Takes the executions that the present call begins; None if nobody asks for them."""


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
