"""Reports of operations under the loop, the directives that answer them, and refusals of calls (R-LOOP-2, R-LOOP-4).

A report is of an operation as it would run. An AutonomyDirective is the answer to a reported step (specification,
8.7.1, 8.7.3). A refusal says what is wrong, and which call comes next.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ...errors import Code, Failure, permission_denied
from ...text import iso_time, line
from .agents import Block
from .executions import Execution, Notification, Pause, StepApproval

if TYPE_CHECKING:
    from ..questions import Question

FILES = "\0files"
"""The key of the digest of files, beside the parameters; no parameter has this name."""


class Report(NamedTuple):
    """An operation that is reported. `digest` is of it with its valid parameters, however they were spelled.

    `operations` are the names and dangers of all that would run. `changes` is False for what needs no report. `shown`
    are the parameters as they may be recorded.
    """

    operation: str
    digest: str
    operations: tuple[tuple[str, str], ...]
    changes: bool
    shown: Mapping[str, Any] = {}


@dataclass(slots=True)
class PlanReport:
    """The report under which the steps of one plan run: it is used up by the first, and good for the others.

    `execution` is the id of the execution that reported it, once it is used.
    """

    operation: str
    digest: str
    params: Mapping[str, Any]
    execution: str | None = None


class Reports(Protocol):
    """The dispatcher's knowledge of operations."""

    def report(self, operation: str, params: Mapping[str, Any]) -> Report:
        """Return the report of a call of an operation. Raises Failure for an invalid call."""

    def named_in(self, words: Sequence[str]) -> list[tuple[str, str]]:
        """Return the names and dangers of the operations that words name."""


_LONGEST = 4000
_NAME = "the name of the agent"


def refused(reason: str, details: Mapping[str, Any] | None = None) -> Failure:
    """Return a refusal with its reason."""
    return permission_denied(reason, reason=reason, **details or {})


def not_found(reason: str, agent: str) -> Failure:
    """Return the failure of an execution that is not there."""
    details = {"resource_type": "execution", "resource_id": agent}
    return Failure(Code.NOT_FOUND_RESOURCE, f"Resource 'execution' not found: {reason}", details)


def paused(operation: str, execution: Execution) -> Failure:
    """Return the refusal of a call while an agent is paused."""
    reason = "" if execution.pause is None else execution.pause.reason
    details: dict[str, Any] = {
        "operation": operation,
        "reason": reason,
        "element_name": execution.agent,
        "execution_id": execution.id,
    }
    ends = "confirms its reported action"
    if execution.pause is not None and execution.pause.level != "confirm":
        ends = "verifies it with a code"
        details["verificationId"] = execution.pause.id
    message = f"Permission denied: the agent's execution is paused until a person {ends}"
    return Failure(Code.PERMISSION_DENIED, message, details)


def blocked(operation: str, block: Block) -> Failure:
    """Return the refusal of a call of a blocked agent or caller."""
    agent = f"agent '{line(block.agent, 100)}'" if block.readable else "every agent"
    return permission_denied(
        f"{agent} is blocked until a person gives the code of the challenge to verify_challenge, or "
        "an operator lifts the block. No new execution, no other name and no restart lifts it.",
        operation=operation,
        reason=block.reason,
        verificationId=block.verification,
    )


def not_reported(
    operation: str, params: Mapping[str, Any], execution: Execution | None, *, spent: bool = False
) -> Failure:
    """Return the refusal of a call that nothing lets run, with the requests that do."""
    agent = _NAME if execution is None else execution.agent
    report = {"element_name": agent, "nextActionHint": f"calling {operation}, and why", "nextOperation": operation}
    details: dict[str, Any] = {
        "operation": operation,
        "reason": "used by another call" if spent else "not reported",
        "report": {"operation": "record_execution_step", "params": {**report, "nextParams": _shown(params)}},
    }
    first = ""
    if execution is None:
        first = "Start an execution with execute_agent, then report"
        details["start"] = {"operation": "execute_agent", "params": {"element_name": agent}}
    why = "the report of this call was used by another one" if spent else "it was not reported, or not with this call"
    return permission_denied(
        f"'{operation}' changes something, and {why}. {first or 'Report'} it with "
        f"record_execution_step, nextOperation '{operation}' and nextParams as in the call; on `continue: true`, "
        "call it once. details.report is the request.",
        **details,
    )


def _shown(params: Mapping[str, Any]) -> Any:
    """Return parameters as they are to be reported, or what to put in their place if they are long."""
    params = {name: value for name, value in params.items() if name != FILES}
    try:
        return params if len(json.dumps(params, default=str)) <= _LONGEST else "the params of the call"
    except (TypeError, ValueError):
        return "the params of the call"


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
