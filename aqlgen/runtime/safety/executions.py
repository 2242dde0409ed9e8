# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The executions of a session: which agents run, how far they are, and what waits for a person (8.4, 8.7.3).

They end with the session: those that still run become cancelled (R-OPS-2). Where there is no session (HTTP with
protocol 2026-07-28) they belong to the caller and are in the store, which all replicas share. Requests of callers who
are not known, because nobody authenticates, share one set of executions, in which only `element_name` identifies an
agent, so agents there need distinct names. An execution without a session and without a report for an hour is
cancelled.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from ..errors import Code, Failure
from ..settings.config import Config
from ..text import iso_time

__all__ = ["IDLE", "Execution", "Executions", "Notification", "Pause", "Profile", "profile_of", "timestamp"]

MOST = 100
IDLE = 3600.0


def timestamp() -> str:
    """Return the current time in ISO 8601."""
    return iso_time(time.time(), "milliseconds")


class Profile(NamedTuple):
    """How the steps of one agent are evaluated (8.7.4; R-LOOP-3).

    The patterns are globs over the whole of `nextActionHint`; case is ignored.
    """

    max_autonomous_steps: int = 10
    requires_approval: tuple[str, ...] = ()
    auto_approve: tuple[str, ...] = ()


def profile_of(config: Config, agent: str | None = None) -> Profile:
    """Return the profile of an agent, or the adapter's; what an agent's settings leave out is the adapter's."""
    default = Profile(config.max_autonomous_steps, config.requires_approval, config.auto_approve)
    return default if agent is None else default._replace(**config.loop_agents.get(agent, {}))


class Notification(NamedTuple):
    """An event that waits for a person: `permission_pending` or `autonomy_pause` (8.7.3)."""

    type: str
    message: str
    operation: str
    reason: str
    level: str
    timestamp: str

    def as_json(self) -> dict[str, Any]:
        """Return the notification as the directive shows it."""
        return {
            "type": self.type,
            "message": self.message,
            "metadata": {"operation": self.operation, "reason": self.reason, "level": self.level},
            "timestamp": self.timestamp,
        }


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
        self.started_at = timestamp()
        self.finished_at: str | None = None
        self.reported = 0
        self.taken = 0
        self.pause: Pause | None = None
        self.approved: tuple[str, str] | None = None
        self.last = time.time()

    @property
    def running(self) -> bool:
        """True until it ends."""
        return self.status == "running"

    @property
    def remaining(self) -> int:
        """The number of steps that the agent may still take without a person."""
        return max(0, self.profile.max_autonomous_steps - self.taken)

    def end(self, status: str) -> None:
        """Set a terminal state, which never changes again (8.4.2)."""
        if self.running:
            self.status = status
            self.finished_at = timestamp()

    def stored(self) -> dict[str, Any]:
        """Return it as it is stored."""
        values = {name: getattr(self, name) for name in self.__slots__ if name not in ("agent", "profile")}
        return {**values, "approved": self.approved and list(self.approved), "pause": self.pause and list(self.pause)}

    @classmethod
    def restored(cls, agent: str, profile: Profile, values: Mapping[str, Any]) -> Execution:
        """Return it as it was stored; how its steps are evaluated is set anew."""
        execution = cls(agent, profile)
        for name in values.keys() & set(cls.__slots__):
            setattr(execution, name, values[name])
        if execution.pause is not None:
            action, reason, factors, notification = execution.pause
            execution.pause = Pause(action, reason, tuple(factors), Notification(*notification))
        if execution.approved is not None:
            action, factor = execution.approved
            execution.approved = (action, factor)
        return execution

    def as_json(self, message: str) -> dict[str, Any]:
        """Return its state (8.4.3)."""
        state: dict[str, Any] = {"execution_id": self.id, "status": self.status, "started_at": self.started_at}
        if self.finished_at is not None:
            state["finished_at"] = self.finished_at
        state["progress"] = {"current": self.reported, "message": message}
        return state


class Executions:
    """The last execution of each agent of a session, and the operations that wait for a confirmation."""

    def __init__(self, on_cancel: Callable[[Execution], None], *, idle: float | None = None) -> None:
        self._executions: dict[str, Execution] = {}
        self._pending: dict[str, tuple[Notification, float]] = {}
        self._on_cancel = on_cancel
        self._idle = idle

    def stored(self) -> dict[str, Any]:
        """Return them as they are stored."""
        pending = {operation: [list(notification), end] for operation, (notification, end) in self._pending.items()}
        executions = {agent: execution.stored() for agent, execution in self._executions.items()}
        return {"executions": executions, "pending": pending}

    @classmethod
    def restored(
        cls, values: Mapping[str, Any] | None, profile: Callable[[str], Profile], on_cancel: Callable[[Execution], None]
    ) -> Executions:
        """Return them as they were stored, none for None. They end when they are idle."""
        executions = cls(on_cancel, idle=IDLE)
        if values is not None:
            for agent, stored in values["executions"].items():
                executions._executions[agent] = Execution.restored(agent, profile(agent), stored)
            for operation, (notification, end) in values["pending"].items():
                executions._pending[operation] = (Notification(*notification), end)
        return executions

    def running(self, agent: str) -> Execution | None:
        """Return the running execution of an agent, and record that it is in use."""
        execution = self._executions.get(agent)
        if execution is None or not self._alive(execution):
            return None
        execution.last = time.time()
        return execution

    def all_running(self) -> Iterator[Execution]:
        """Yield every running execution."""
        return (execution for execution in list(self._executions.values()) if self._alive(execution))

    def _alive(self, execution: Execution) -> bool:
        if execution.running and self._idle is not None and time.time() - execution.last > self._idle:
            self._cancel(execution)
        return execution.running

    def start(self, agent: str, profile: Profile, *, approved: bool) -> Execution:
        """Start an execution. If the last one ended while paused, its pause continues, unless a person approved.

        Raises Failure when the agent has a running execution, or when too many run.
        """
        self.check_free(agent)
        last = self._executions.get(agent)
        self._make_room(agent)
        execution = self._executions[agent] = Execution(agent, profile)
        if last is not None and not approved:
            execution.pause = last.pause
        return execution

    def check_free(self, agent: str) -> None:
        """Raise Failure if the agent has a running execution."""
        running = self.running(agent)
        if running is not None:
            raise Failure(
                Code.ALREADY_EXISTS,
                "Conflict: this agent has an execution in progress. Complete or abort it first.",
                {"resource_type": "execution", "resource_id": running.id},
            )

    def _make_room(self, agent: str) -> None:
        """Forget ended executions, those without a pause first. Raises Failure when too many run."""
        if len(self._executions) < MOST or agent in self._executions:
            return
        for name, execution in list(self._executions.items()):
            if not execution.running and (execution.pause is None or len(self._executions) >= 2 * MOST):
                del self._executions[name]
        if sum(1 for _ in self.all_running()) >= MOST:
            raise Failure(
                Code.RATE_LIMIT_EXCEEDED,
                f"Too many executions in progress: {MOST} is the most. Complete or abort one first.",
                {"limit": MOST, "retry_after_seconds": 60},
            )

    def add_pending(self, notification: Notification, seconds: float) -> None:
        """Record an operation that waits for a confirmation, which can be given for so many seconds."""
        if next(self.all_running(), None) is not None:
            self._pending[notification.operation] = (notification, time.time() + seconds)

    def remove_pending(self, operation: str) -> None:
        """Record that an operation does not wait any more."""
        self._pending.pop(operation, None)

    def pending(self) -> list[Notification]:
        """Return the operations that wait; those whose confirmation can no longer be given are forgotten."""
        if not self._pending:
            return []
        now = time.time()
        self._pending = {operation: entry for operation, entry in self._pending.items() if entry[1] > now}
        return [notification for notification, _ in self._pending.values()]

    def close(self) -> None:
        """Cancel what still runs."""
        for execution in self.all_running():
            self._cancel(execution)
        self._pending.clear()

    def _cancel(self, execution: Execution) -> None:
        execution.end("cancelled")
        self._on_cancel(execution)
