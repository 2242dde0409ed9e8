# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The AutonomyDirective: what an agent learns of a step that it reports (specification, 8.7.1, 8.7.3)."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...text import iso_time, line
from .agents import Block
from .executions import Execution, Notification, Pause, StepApproval

if TYPE_CHECKING:
    from ..questions import Question

__all__ = ["broadcast", "denied", "directive", "of_block", "of_pause", "of_questions", "pause_notification"]

_MOST_BROADCAST = 20


def directive(
    go: bool,
    factors: Sequence[str],
    *,
    reason: str | None = None,
    remaining: int | None = None,
    risk: str | None = None,
    stopped: bool = False,
    notifications: Iterable[Notification] = (),
    granted: StepApproval | None = None,
) -> dict[str, Any]:
    """Build an AutonomyDirective: always `continue` and `factors`, the rest if it has a value."""
    answer: dict[str, Any] = {"continue": go, "factors": list(factors)}
    if stopped:
        answer["stopped"] = True
    if reason is not None and not go:
        answer["reason"] = reason
    if remaining is not None:
        answer["stepsRemaining"] = remaining
    if risk is not None:
        answer["nextStepRisk"] = risk
    shown = [notification.as_json() for notification in notifications]
    if shown:
        answer["notifications"] = shown
    if granted is not None:
        until = iso_time(granted.until, "milliseconds")
        answer["granted"] = {"operation": granted.subject, "digest": granted.digest, "expires_at": until}
    return answer


def of_questions(questions: Iterable[Question]) -> list[Notification]:
    """Return a notification of each operation whose calls wait for a confirmation."""
    return [
        Notification(
            "permission_pending",
            f"Operation '{operation}' requires confirmation",
            operation,
            "; ".join(question.reasons),
            "CONFIRM_SINGLE_USE",
            iso_time(question.asked, "milliseconds"),
        )
        for operation, question in {name: question for question in questions for name in question.operations}.items()
    ]


def pause_notification(
    agent: str, level: str, reason: str, factors: Sequence[str], challenge_id: str, where: str
) -> Notification:
    """Return the notification of a pause; `where` says where an operator shows the code."""
    asks = "A person confirms with confirm_operation."
    verification = ""
    if level != "confirm":
        asks = f"A person gives verify_challenge the code, {where}."
        verification = challenge_id
    kind = "danger_zone" if level == "danger_zone" else "autonomy_pause"
    state = "blocked" if level == "danger_zone" else "paused"
    message = f"Agent '{line(agent, 100)}' is {state}: {reason}. {asks}"
    now = iso_time(time.time(), "milliseconds")
    return Notification(kind, message, "record_execution_step", "; ".join(factors), level, now, verification)


def broadcast(blocks: Sequence[Block], caller: str | None) -> list[Notification]:
    """Return a notification of each block, without what another caller's agent was about to do."""
    return [_of_block(block, caller) for block in blocks[:_MOST_BROADCAST]]


def _of_block(block: Block, caller: str | None) -> Notification:
    since = iso_time(block.since, "milliseconds")
    if block.caller != (caller or ""):
        message = "An agent of another caller of this adapter is blocked until a person verifies it"
        return Notification("danger_zone", message, "", "", "danger_zone", since, block.verification)
    message = f"Agent '{line(block.agent, 100)}' is blocked until a person verifies it: {block.reason}"
    factors = "; ".join(block.factors)
    return Notification("danger_zone", message, block.operation, factors, "danger_zone", since, block.verification)


def of_pause(execution: Execution, pause: Pause, notifications: Iterable[Notification] = ()) -> dict[str, Any]:
    """Return the directive for a report while the agent is paused."""
    since = f"Paused since {pause.notification.timestamp}: waiting for a confirmation of '{line(pause.action, 300)}'"
    reason = pause.reason
    if pause.level != "confirm":
        since = since.replace("confirmed", "verified")
        reason = f"{reason}. Challenge {pause.id} waits for a person's code"
    return directive(
        False,
        (since, *pause.factors),
        reason=reason,
        remaining=execution.remaining,
        stopped=pause.level == "danger_zone",
        risk=pause.level if pause.level != "confirm" else None,
        notifications=[pause.notification, *notifications],
    )


def denied(answer: Mapping[str, Any], by: str) -> dict[str, Any]:
    """Return the directive of a paused agent whose action an operator has denied."""
    denial = f"{by} has denied this action, and the agent stays paused"
    return {**answer, "factors": [denial, *answer["factors"]], "reason": f"{answer.get('reason', 'Paused')}. {denial}"}


def of_block(block: Block, notifications: Iterable[Notification]) -> dict[str, Any]:
    """Return the directive for a report of a blocked agent: it is stopped, and the step does not count."""
    since = iso_time(block.since, "milliseconds")
    reason = f"{block.reason}. Challenge {block.verification} waits for a person's code"
    factors = (f"Blocked since {since}", *block.factors)
    return directive(False, factors, reason=reason, stopped=True, risk="danger_zone", notifications=notifications)
