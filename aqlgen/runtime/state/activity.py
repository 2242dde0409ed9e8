"""The refused callers and the long work of a process, in one sealed row that operators read (R-OPS-1).

The row decides nothing. It is bounded, and written at most once a second, so no caller can fill or hold the store.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from ..session import current_caller
from . import StoreAway
from .custody import row_name

if TYPE_CHECKING:
    from .custody import Custody

_KIND = "activity"
_REFUSALS = ("RATE_LIMIT_", "PERMISSION_")
"""Beginnings of the codes of calls that a limit, the policy or the API refuses; questions have cards of their own."""
_KEPT = 900.0
"""Seconds for which a refusal or a count is shown after its last change."""
_MOST = 50
_EVERY = 1.0


class Activity:
    """The report of one process to operators."""

    def __init__(self, custody: Custody) -> None:
        self._custody = custody
        self._id = secrets.token_hex(8)
        self._rows: OrderedDict[str, dict[str, Any]] = OrderedDict()
        self._task: asyncio.Task[None] | None = None
        self._is_changed = False

    def refused(self, operation: str, error: Mapping[str, Any], session: str | None) -> None:
        """Count a failed call if a limit, the policy or the API refused it, for its caller and the same reason.

        `by` says who refused by evidence: the API answered with a status, or a credential was not to be had.
        """
        code, details, caller = error["code"], error.get("details", {}), current_caller() or ""
        if not code.startswith(_REFUSALS):
            return
        limit = " ".join(str(details[name]) for name in ("metric", "scope") if name in details)
        status = details.get("upstream", {}).get("status")
        by = "credential" if "missing" in details else f"HTTP {status}" if status else ""
        key = f"refusals {caller} {code} {limit} {by}"
        now, row = time.time(), self._rows.get(key, {"seen": 0})
        if row["seen"] <= now - _KEPT:
            row = {"asked": now, "count": 0}
        until = now + details.get("retry_after_seconds", 0)
        named = {"operation": operation, "caller": caller, "session": session or "", "code": code, "limit": limit}
        self._put(key, {**row, **named, "by": by, "count": row["count"] + 1, "until": until})

    def work(self, id: str, operation: str, status: str, progress: Mapping[str, Any]) -> None:
        """Report how far a piece of work is: `current` of `total`, or a `percentage`, where that is known."""
        key = f"work {id}"
        row = self._rows.get(key, {"asked": time.time(), "caller": current_caller() or ""})
        counts = {name: progress[name] for name in ("current", "total", "percentage") if name in progress}
        self._put(key, {**row, "operation": operation, "status": status, "counts": counts})

    def ended(self, id: str) -> None:
        """Forget a piece of work that has ended."""
        if self._rows.pop(f"work {id}", None):
            self._write_soon()

    def _put(self, key: str, values: dict[str, Any]) -> None:
        self._rows[key] = {**values, "seen": time.time()}
        self._rows.move_to_end(key)
        if len(self._rows) > _MOST:
            self._rows.popitem(last=False)
        self._write_soon()

    def _write_soon(self) -> None:
        self._is_changed = True
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._write())

    async def _write(self) -> None:
        while self._is_changed:
            self._is_changed = False
            with suppress(StoreAway):
                await self._custody.keep(_KIND, self._id, [self._id, list(self._rows.items())], _KEPT)
            await asyncio.sleep(_EVERY)


class Row(NamedTuple):
    """A refusal or a piece of work."""

    id: str
    values: Mapping[str, Any]


async def activity_of(custody: Custody, now: float) -> dict[str, list[Row]]:
    """Return the `refusals` and the `work` of all processes. Raises StoreAway."""
    sections: dict[str, list[Row]] = {"refusals": [], "work": []}
    for process, rows in await custody.all_kept(_KIND):
        for key, values in rows:
            if values["seen"] > now - _KEPT:
                sections[key.partition(" ")[0]].append(Row(row_name(f"{process} {key}"), values))
    return sections
