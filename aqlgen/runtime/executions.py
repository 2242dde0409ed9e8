# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The executions of a session: which agents run, how far they are, and what waits for a person (8.4, 8.7.3).

They die with the session: those that still run become cancelled (R-OPS-2). Where there is no session (HTTP with
protocol 2026-07-28) all requests share one book in which an agent is known by `element_name` alone, so agents there
need names of their own; an execution that nobody reported to for an hour is cancelled.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from time import monotonic
from typing import Any, NamedTuple

from .directive import Notification, now
from .errors import Code, Failure
from .profiles import Profile

__all__ = ["Book", "Execution", "Pause"]

MOST = 100
IDLE = 3600.0


class Pause(NamedTuple):
    """An action that waits until a person confirms it."""

    action: str
    reason: str
    factors: tuple[str, ...]
    notification: Notification


class Execution:
    """One run of an agent. `taken` counts the steps since a person last lifted the step limit."""

    __slots__ = (
        "agent", "approved", "finished_at", "id", "last", "pause", "profile", "reported", "started_at", "status",
        "taken",
    )  # fmt: skip

    def __init__(self, agent: str, profile: Profile) -> None:
        self.id = f"exec_{secrets.token_hex(8)}"
        self.agent = agent
        self.profile = profile
        self.status = "running"
        self.started_at = now()
        self.finished_at: str | None = None
        self.reported = 0
        self.taken = 0
        self.pause: Pause | None = None
        self.approved: tuple[str, str] | None = None
        self.last = monotonic()

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self.status == "running"

    @property
    def remaining(self) -> int:
        """How many steps the agent may still take by itself."""
        return max(0, self.profile.max_autonomous_steps - self.taken)

    def end(self, status: str) -> None:
        """Bring it to a terminal state, which it never leaves (8.4.2)."""
        if self.running:
            self.status = status
            self.finished_at = now()

    def as_json(self, message: str) -> dict[str, Any]:
        """Give its state (8.4.3)."""
        state: dict[str, Any] = {"execution_id": self.id, "status": self.status, "started_at": self.started_at}
        if self.finished_at is not None:
            state["finished_at"] = self.finished_at
        state["progress"] = {"current": self.reported, "message": message}
        return state


class Book:
    """The executions of one session by agent, the last of each, and the operations that wait for a confirmation."""

    def __init__(self, on_cancel: Callable[[Execution], None], *, idle: float | None = None) -> None:
        self._executions: dict[str, Execution] = {}
        self._pending: dict[str, tuple[Notification, float]] = {}
        self._on_cancel = on_cancel
        self._idle = idle

    def running(self, agent: str) -> Execution | None:
        """Give the running execution of an agent, and note that somebody asked for it."""
        execution = self._executions.get(agent)
        if execution is None or not self._alive(execution):
            return None
        execution.last = monotonic()
        return execution

    def all_running(self) -> Iterator[Execution]:
        """Give every running execution."""
        return (one for one in list(self._executions.values()) if self._alive(one))

    def _alive(self, execution: Execution) -> bool:
        if execution.running and self._idle is not None and monotonic() - execution.last > self._idle:
            self._cancel(execution)
        return execution.running

    def start(self, agent: str, profile: Profile, *, approved: bool) -> Execution:
        """Start an execution. One that ended while paused leaves its pause to the next, unless a person approved it.

        Raises Failure when the agent has one that runs, or when too many run.
        """
        before = self._executions.get(agent)
        if self.running(agent) is not None and before is not None:
            raise Failure(
                Code.ALREADY_EXISTS,
                "Conflict: this agent has an execution in progress. Complete or abort it first.",
                {"resource_type": "execution", "resource_id": before.id},
            )
        self._forget(agent)
        execution = self._executions[agent] = Execution(agent, profile)
        if before is not None and not approved:
            execution.pause = before.pause
        return execution

    def _forget(self, agent: str) -> None:
        """Make room: the ended ones that hold no pause go first. Raises Failure when too many run."""
        if len(self._executions) < MOST or agent in self._executions:
            return
        for name, one in list(self._executions.items()):
            if not one.running and (one.pause is None or len(self._executions) >= 2 * MOST):
                del self._executions[name]
        if sum(1 for _ in self.all_running()) >= MOST:
            raise Failure(
                Code.RATE_LIMIT_EXCEEDED,
                f"Too many executions in progress: {MOST} is the most. Complete or abort one first.",
                {"limit": MOST, "retry_after_seconds": 60},
            )

    def wait(self, notification: Notification, seconds: float) -> None:
        """Note an operation that waits for a confirmation which can be given for so many seconds."""
        if next(self.all_running(), None) is not None:
            self._pending[notification.operation] = (notification, monotonic() + seconds)

    def confirmed(self, operation: str) -> None:
        """Forget it."""
        self._pending.pop(operation, None)

    def waiting(self) -> list[Notification]:
        """Give the operations that wait; one whose confirmation can no longer be given is forgotten."""
        if not self._pending:
            return []
        at = monotonic()
        self._pending = {key: one for key, one in self._pending.items() if one[1] > at}
        return [notification for notification, _ in self._pending.values()]

    def close(self) -> None:
        """Cancel what still runs."""
        for one in self.all_running():
            self._cancel(one)
        self._pending.clear()

    def _cancel(self, execution: Execution) -> None:
        execution.end("cancelled")
        self._on_cancel(execution)
