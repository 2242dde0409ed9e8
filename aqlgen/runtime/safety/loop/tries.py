# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The limit of failed verifications: ten a minute of an agent, then a lockout that doubles (8.8.5; R-LOOP-5).

A try is counted before its code is looked at, so that of many at once no more than ten are. What is counted is in the
store, and survives a restart. A day without a failure ends it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ...state.custody import Custody

__all__ = ["Tries"]

_KIND = "loop.tries"
_MOST, _WINDOW = 10, 60.0
_LONGEST, _DAY = 6 * 3600.0, 86_400.0


class Tries:
    """The tries of each agent. Every method raises StoreAway when the store cannot be reached."""

    def __init__(self, custody: Custody, clock: Callable[[], float] = time.time) -> None:
        self._custody = custody
        self._clock = clock

    async def locked(self, key: str) -> float:
        """Return for how many seconds no try is taken; 0 for none."""
        values = await self._custody.kept(_KIND, key)
        return 0.0 if values is None else max(0.0, float(values["locked"]) - self._clock())

    async def begin(self, key: str) -> float:
        """Count a try as failed, and return 0; if none is taken now, return for how many seconds."""
        wait = 0.0

        def count(values: dict[str, Any] | None) -> tuple[dict[str, Any], float] | None:
            nonlocal wait
            now = self._clock()
            values = values or {"failed": [], "locked": 0.0, "level": 0}
            wait = max(0.0, float(values["locked"]) - now)
            if wait > 0:
                return None
            failed = [moment for moment in values["failed"] if now - moment < _WINDOW] + [now]
            level, locked = int(values["level"]), 0.0
            if len(failed) >= _MOST:
                locked, level, failed = now + min(_LONGEST, _WINDOW * 2**level), level + 1, []
            return {"failed": failed, "locked": locked, "level": level}, _DAY

        await self._custody.change(_KIND, key, count)
        return wait

    async def succeeded(self, key: str) -> None:
        """Forget the failures: a person has given the right code."""
        await self._custody.remove(_KIND, key)
