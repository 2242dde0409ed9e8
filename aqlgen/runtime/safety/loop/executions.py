"""The executions of a session: which agents run, how far they are, and what waits for a person (8.4, 8.7.3).

An execution carries pauses, approvals, operations that may run, and notifications.

Executions end with the session: those that still run become cancelled (R-OPS-2). Where there is no session (HTTP with
protocol 2026-07-28) they belong to the caller and are in the store, which all replicas share. Requests of callers who
are not known, because nobody authenticates, share one set of executions, in which only `element_name` identifies an
agent, so agents there need distinct names. An execution without a session and without a report for an hour is
cancelled.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ...errors import Code, Failure
from ...settings.config import Config
from ...text import iso_time
from .lookalikes import agent_key


def timestamp() -> str:
    """Return the current time in ISO 8601."""
    return iso_time(time.time(), "milliseconds")


class Notification(NamedTuple):
    """An event that waits for a person: `permission_pending`, `autonomy_pause` or `danger_zone` (8.7.3)."""

    type: str
    message: str
    operation: str
    reason: str
    level: str
    timestamp: str
    verification: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the notification as the directive shows it."""
        metadata = {"operation": self.operation, "reason": self.reason, "level": self.level}
        if self.verification:
            metadata["verificationId"] = self.verification
        return {
            "type": self.type,
            "message": self.message,
            "metadata": {key: value for key, value in metadata.items() if value},
            "timestamp": self.timestamp,
        }


class Pause(NamedTuple):
    """An action that waits for a person.

    `level` says what lifts the pause: a confirmation (confirm), a code (verify), or a code or an operator for the block
    that is in the store (danger_zone). `id` is that of the challenge where there is one. `digest` is of the operation
    that was reported, "" for none, and `reported` shows it with its parameters. A pause of level verify ends at
    `until`, in seconds since the epoch.
    """

    id: str
    level: str
    action: str
    digest: str
    reason: str
    factors: tuple[str, ...]
    notification: Notification
    until: float = 0.0
    reported: str = ""

    @classmethod
    def restored(cls, values: list[Any]) -> Pause:
        """Return it as it was stored."""
        pause = cls(*values)
        return pause._replace(factors=tuple(pause.factors), notification=Notification(*pause.notification))


class StepApproval(NamedTuple):
    """The approval of one step: a reported operation that may run, or an action that a person let through.

    `subject` is the operation, or the hint of the action as patterns match it; `digest` is of what is reported, with
    its parameters. It ends `until`, in seconds since the epoch, 0 for never. `by` says which person approved, and
    `verified` that a code was given.
    """

    subject: str
    digest: str
    until: float = 0.0
    by: str = ""
    verified: bool = False


THRESHOLDS: Mapping[str, int] = {"conservative": 25, "moderate": 50, "aggressive": 75}
"""The risk above which an action pauses, by tolerance (8.7.2, stage 5)."""


class Profile(NamedTuple):
    """The rules by which steps of agents are evaluated.

    The patterns are globs over the whole of `nextActionHint`, and over the names of operations; case is ignored.
    """

    max_autonomous_steps: int = 10
    requires_approval: tuple[str, ...] = ()
    auto_approve: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    risk_tolerance: str = "moderate"


def profile_of(config: Config) -> Profile:
    """Return the adapter's profile."""
    return Profile(
        config.max_autonomous_steps,
        config.requires_approval,
        config.auto_approve,
        config.loop.deny,
        config.loop.risk_tolerance,
    )


MOST = 100
IDLE = 3600.0
_MOST_APPROVALS = 50
_MOST_ACTIONS = 100


@dataclass(slots=True)
class Execution:
    """One run of an agent. `taken` counts the steps since a person last lifted the step limit.

    `actions` counts the steps that were let through, by what they do; `grave` those of a grave risk.
    """

    agent: str
    profile: Profile
    id: str = field(default_factory=lambda: f"exec_{secrets.token_hex(8)}")
    status: str = "running"
    started_at: str = field(default_factory=timestamp)
    finished_at: str | None = None
    reported: int = 0
    taken: int = 0
    grave: int = 0
    actions: dict[str, int] = field(default_factory=dict)
    pause: Pause | None = None
    approved: StepApproval | None = None
    """The paused action that a person let through."""
    approvals: list[StepApproval] = field(default_factory=list)
    """The operations that were reported and may run."""
    last: float = field(default_factory=lambda: time.time())

    @property
    def running(self) -> bool:
        """True until it ends."""
        return self.status == "running"

    @property
    def remaining(self) -> int:
        """The number of steps that the agent may still take without a person."""
        return max(0, self.profile.max_autonomous_steps - self.taken)

    def end(self, status: str) -> None:
        """Set a terminal state, which never changes again (8.4.2). What was let through runs no more."""
        if self.running:
            self.status = status
            self.finished_at = timestamp()
        self.approvals = []

    def hold(self, pause: Pause) -> None:
        """Pause it: what was let through before runs no more."""
        self.pause = pause
        self.approvals = []

    def resume(self, approved: StepApproval | None, *, unlimited: bool = False) -> None:
        """Lift the pause, with an action that was approved, if one was; `unlimited` resets the step limit."""
        self.pause = None
        self.approved = approved
        if unlimited:
            self.taken = 0

    def take(self, action: str, *, grave: bool) -> None:
        """Count a step that is let through."""
        self.taken += 1
        self.grave += grave
        if action in self.actions or len(self.actions) < _MOST_ACTIONS:
            self.actions[action] = self.actions.get(action, 0) + 1

    def approve(self, approval: StepApproval) -> None:
        """Let an operation run once."""
        now = time.time()
        self.approvals = [*(item for item in self.approvals if item.until > now), approval][-_MOST_APPROVALS:]

    def approval(self, operation: str, digest: str) -> StepApproval | None:
        """Return the approval of an operation, None without one."""
        now = time.time()
        return next(
            (item for item in self.approvals if item[:2] == (operation, digest) and item.until > now),
            None,
        )

    def use(self, operation: str, digest: str) -> bool:
        """Use up what lets an operation run; False if nothing does."""
        approval = None if self.pause is not None or not self.running else self.approval(operation, digest)
        if approval is None:
            return False
        self.approvals.remove(approval)
        return True

    def stored(self) -> dict[str, Any]:
        """Return it as it is stored."""
        values = {name: getattr(self, name) for name in self.__slots__ if name != "profile"}
        more = {"approved": self.approved and list(self.approved), "pause": self.pause and list(self.pause)}
        return {**values, **more, "approvals": list(map(list, self.approvals))}

    @classmethod
    def restored(cls, profile: Profile, values: Mapping[str, Any]) -> Execution:
        """Return the execution as it was stored, with the current evaluation of its steps."""
        execution = cls(values["agent"], profile)
        for name in values.keys() & set(cls.__slots__):
            setattr(execution, name, values[name])
        if values.get("pause") is not None:
            execution.pause = Pause.restored(values["pause"])
        approved = values.get("approved")
        execution.approved = None if approved is None else StepApproval(*approved)
        execution.approvals = [StepApproval(*stored) for stored in values.get("approvals", ())]
        execution.actions = dict(values.get("actions", {}))
        return execution

    def as_json(self, message: str) -> dict[str, Any]:
        """Return its state (8.4.3)."""
        state: dict[str, Any] = {"execution_id": self.id, "status": self.status, "started_at": self.started_at}
        if self.finished_at is not None:
            state["finished_at"] = self.finished_at
        state["progress"] = {"current": self.reported, "message": message}
        return state


class AgentExecutions:
    """The last execution of each agent of a session.

    An agent is known by its name in any spelling.
    """

    def __init__(self, on_cancel: Callable[[Execution], None], *, idle: float | None = None) -> None:
        self._executions: dict[str, Execution] = {}
        self._on_cancel = on_cancel
        self._idle = idle

    def stored(self) -> dict[str, Any]:
        """Return them as they are stored."""
        return {key: execution.stored() for key, execution in self._executions.items()}

    @classmethod
    def restored(
        cls, values: Mapping[str, Any] | None, profile: Profile, on_cancel: Callable[[Execution], None]
    ) -> AgentExecutions:
        """Return them as they were stored, none for None. They end when they are idle."""
        executions = cls(on_cancel, idle=IDLE)
        if values is not None:
            for key, stored in values.items():
                executions._executions[key] = Execution.restored(profile, stored)
        return executions

    def running(self, agent: str) -> Execution | None:
        """Return the running execution of an agent, and record that it is in use."""
        execution = self.last(agent)
        if execution is None or not self._alive(execution):
            return None
        execution.last = time.time()
        return execution

    def last(self, agent: str) -> Execution | None:
        """Return the last execution of an agent, running or not."""
        return self._executions.get(agent_key(agent))

    def all_running(self) -> Iterator[Execution]:
        """Yield every running execution."""
        return (execution for execution in list(self._executions.values()) if self._alive(execution))

    def all_paused(self) -> list[Execution]:
        """Return the executions with a pause that nobody has lifted, also those that have ended."""
        return [execution for execution in self._executions.values() if execution.pause is not None]

    def _alive(self, execution: Execution) -> bool:
        if execution.running and self._idle is not None and time.time() - execution.last > self._idle:
            self._cancel(execution)
        return execution.running

    def start(self, agent: str, profile: Profile, inherited: Pause | None = None) -> Execution:
        """Start an execution. If the last one ended while paused, its pause continues, or else the one that is given.

        Raises Failure when the agent has a running execution, or when too many run.
        """
        self.check_free(agent)
        last = self.last(agent)
        self._make_room(agent)
        execution = self._executions[agent_key(agent)] = Execution(agent, profile)
        execution.pause = inherited if last is None or last.pause is None else last.pause
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
        """Forget ended executions without a pause. Raises Failure when too many run, or are paused."""
        if len(self._executions) < MOST or agent_key(agent) in self._executions:
            return
        for key, execution in list(self._executions.items()):
            if not execution.running and execution.pause is None:
                del self._executions[key]
        if len(self._executions) >= MOST:
            raise Failure(
                Code.RATE_LIMIT_EXCEEDED,
                f"Too many executions in progress or paused: {MOST} is the most. Complete or confirm one first.",
                {"limit": MOST, "retry_after_seconds": 60},
            )

    def close(self) -> None:
        """Cancel what still runs."""
        for execution in self.all_running():
            self._cancel(execution)

    def _cancel(self, execution: Execution) -> None:
        execution.end("cancelled")
        self._on_cancel(execution)
