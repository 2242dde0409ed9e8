"""Where executions are: a session's in the session, those of a caller without one in the store (R-OPS-2, 3).

In the store they are changed by compare and set, so that of two replicas none undoes what the other did. They are
sealed: whoever can write there, but has no key, lets nothing run. What cannot be opened is as if it were not there, so
that every agent starts again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from ...errors import too_large
from ...session import current_caller
from .executions import IDLE, AgentExecutions, Execution, profile_of
from .lookalikes import agent_key

if TYPE_CHECKING:
    from ...session import Session
    from ...settings.config import Config
    from ...state.custody import State
    from .executions import Pause

Result = TypeVar("Result")

_SESSION = "safety_loop"
_SPACE = "loop"
_LARGEST = 1_000_000
_DAYS = 30
"""After so many without a change, what a caller's agents did is forgotten."""
_MOST_LEFT = 10_000


class KeptExecutions:
    """The executions of every session and caller."""

    def __init__(self, config: Config, state: State, record: Callable[[str, dict[str, Any]], None]) -> None:
        self._profile = profile_of(config)
        self._state = state
        self._record = record
        self._used = config.safety_loop != "disabled"
        self._open: dict[str, tuple[str | None, AgentExecutions]] = {}
        self._left: dict[tuple[str | None, str], tuple[Pause, float]] = {}

    async def read(self, session: Session, *, anyone: bool = False) -> AgentExecutions | None:
        """Return the executions of the session, or of the caller where there is none, as they are now; None for none.

        `anyone`: also those of callers who are not known, together. Nothing that is done to them lasts.
        Raises StoreAway.
        """
        if not self._used:
            return None
        if session.id is not None:
            return session.state.get(_SESSION)
        if current_caller() is None and not anyone:
            return None
        values = await self._state.shared.kept(_SPACE, _key())
        return None if values is None else AgentExecutions.restored(values, self._profile, lambda _: None)

    async def change(self, session: Session, step: Callable[[AgentExecutions], Result]) -> Result:
        """Return the result of a step that changes the executions; it may be taken several times, and counts once.

        Raises Failure, also for executions that are too large, and StoreAway.
        """
        if session.id is not None:
            return step(self._of_session(session))
        results: list[Result] = []
        cancelled: list[Execution] = []

        def write(values: dict[str, Any] | None) -> tuple[dict[str, Any], float]:
            cancelled.clear()
            executions = AgentExecutions.restored(values, self._profile, cancelled.append)
            results[:] = [step(executions)]
            new = executions.stored()
            if len(json.dumps(new)) > _LARGEST:
                message = "The agents of this caller have reported too much"
                raise too_large(message, "executions", _LARGEST, "bytes")
            return new, _DAYS * 86_400

        await self._state.shared.change(_SPACE, _key(), write)
        for execution in cancelled:
            self._record_cancelled(execution)
        return results[0]

    def _of_session(self, session: Session) -> AgentExecutions:
        executions: AgentExecutions | None = session.state.get(_SESSION)
        if executions is None:
            executions = session.state[_SESSION] = AgentExecutions(self._record_cancelled)
            caller = current_caller()
            self._open[session.id or ""] = (caller, executions)
            session.on_close(lambda: self._close(session.id or "", executions, caller))
        return executions

    def inherited(self, agent: str) -> Pause | None:
        """Return the pause of an agent of this caller in another session: one that is open, or ended an hour ago."""
        caller = current_caller()
        for other, executions in self._open.values():
            last = executions.last(agent) if other == caller else None
            if last is not None and last.pause is not None:
                return last.pause
        pause, end = self._left.get((caller, agent_key(agent)), (None, 0.0))
        return pause if end > time.time() else None

    def pauses_beside(self, agent: str, session: Session, executions: AgentExecutions | None) -> bool:
        """Return True if an agent of this caller is paused that this one may be under another name.

        A pause in the session itself holds whatever the new agent would do.
        """
        caller, key, now = current_caller(), agent_key(agent), time.time()
        if session.id is None and executions is not None:
            return caller is None and any(agent_key(held.agent) != key for held in executions.all_paused())
        beside = (other for other_id, other in self._open.items() if other_id != session.id)
        paused = (executions.all_paused() for other, executions in beside if other == caller)
        left = {name for (other, name), (_, end) in self._left.items() if other == caller and end > now}
        return bool(left.union(agent_key(held.agent) for each in paused for held in each) - {key})

    def forget(self, agent: str) -> None:
        """Forget the pause that an agent has taken over from a session that ended."""
        self._left.pop((current_caller(), agent_key(agent)), None)

    def _close(self, session_id: str, executions: AgentExecutions, caller: str | None) -> None:
        """End the executions of a session; their pauses stay for a while."""
        self._open.pop(session_id, None)
        now = time.time()
        self._left = {key: value for key, value in self._left.items() if value[1] > now}
        for execution in executions.all_paused():
            if execution.pause is not None and len(self._left) < _MOST_LEFT:
                self._left[caller, agent_key(execution.agent)] = (execution.pause, now + IDLE)
        executions.close()

    def _record_cancelled(self, execution: Execution) -> None:
        self._record("EXECUTION_CANCELLED", {"execution_id": execution.id, "element_name": execution.agent})


def _key() -> str:
    """Return the key of the caller's executions; callers who are not known share one."""
    caller = current_caller()
    return "anyone" if caller is None else f"caller {caller}"
