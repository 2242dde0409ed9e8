# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The evaluation of a reported step, and the answer to it (specification, 8.6.4, 8.6.7, 8.7.1 to 8.7.3; R-LOOP-3).

The stages are the step limit, the previous outcome and the patterns, in this order; the first that pauses ends the
evaluation. The safety tiers and the risk tolerance (stages 4 and 5) are optional and come with out-of-band
verification. What each mode does with the result is in the Gatekeeper document, 7.3.
"""

from __future__ import annotations

import fnmatch
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from .executions import Execution, Executions, Notification, Pause, Profile, timestamp

__all__ = ["STEP_LIMIT", "Verdict", "answer_step", "evaluate", "normalized"]

STEP_LIMIT = "Step limit exceeded"


class Verdict(NamedTuple):
    """Whether the agent may go on, the factors of the decision and, when it may not, the reason in a few words."""

    go: bool
    factors: tuple[str, ...]
    reason: str | None = None


def evaluate(action: str, outcome: str | None, taken: int, profile: Profile) -> Verdict:
    """Evaluate an action that the agent is about to take; `taken` counts its steps without a person so far."""
    most = profile.max_autonomous_steps
    if taken >= most:
        return Verdict(False, (f"Step limit: {taken} of {most} steps were taken without a person",), STEP_LIMIT)
    factors = [f"Step limit: step {taken + 1} of {most}"]
    if outcome == "failure":
        return Verdict(False, (*factors, "Previous outcome: failure"), "The previous step failed")
    if outcome is not None:
        factors.append(f"Previous outcome: {outcome}")
    text = normalized(action)
    pattern = _first_match(text, profile.requires_approval)
    if pattern is not None:
        return Verdict(False, (*factors, f"Pattern match: '{pattern}' requires approval"), "Action requires approval")
    pattern = _first_match(text, profile.auto_approve)
    factors.append(f"Pattern match: '{pattern}' is approved" if pattern is not None else "Pattern match: none")
    return Verdict(True, tuple(factors))


def normalized(action: str) -> str:
    """Return an action as patterns match it: case, width and spaces make no difference."""
    return " ".join(unicodedata.normalize("NFKC", action).casefold().split())


def _first_match(text: str, patterns: tuple[str, ...]) -> str | None:
    return next((pattern for pattern in patterns if _compiled(pattern).fullmatch(text) is not None), None)


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(fnmatch.translate(normalized(pattern)))


def answer_step(
    mode: str, executions: Executions, execution: Execution | None, params: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the AutonomyDirective for a reported step, and record its consequences in the execution."""
    if execution is not None:
        execution.reported += 1
    if mode == "logging":
        return _directive(True, ["Logging: the step is recorded, not evaluated"])
    if execution is None:
        reason = f"No execution of agent '{params['element_name']}' is in progress: start one with execute_agent"
        return _directive(mode != "enforcing", [reason], reason=reason)
    if mode == "monitoring":
        return _advise(executions, execution, params)
    return _decide(executions, execution, params)


def _advise(executions: Executions, execution: Execution, params: Mapping[str, Any]) -> dict[str, Any]:
    """Evaluate as in mode enforcing, and go on whatever the verdict is."""
    verdict = evaluate(params["nextActionHint"], params.get("outcome"), execution.taken, execution.profile)
    execution.taken += 1
    factors = verdict.factors if verdict.go else (f"Would pause: {verdict.reason}", *verdict.factors)
    return _directive(True, factors, remaining=execution.remaining, notifications=executions.pending())


def _decide(executions: Executions, execution: Execution, params: Mapping[str, Any]) -> dict[str, Any]:
    """Pause if something already waits for a person; else go on with a confirmed action; else evaluate."""
    pending = executions.pending()
    if execution.pause is not None:
        return _still_paused(execution, execution.pause, pending)
    if pending:
        factors = tuple(notification.message for notification in pending)
        reason = f"Permission pending: {', '.join(notification.operation for notification in pending)}"
        return _directive(False, factors, reason=reason, remaining=execution.remaining, notifications=pending)
    action = params["nextActionHint"]
    approved, execution.approved = execution.approved, None
    if approved is not None and approved[0] == normalized(action):
        verdict = Verdict(True, (approved[1],))
    else:
        verdict = evaluate(action, params.get("outcome"), execution.taken, execution.profile)
    if verdict.go:
        execution.taken += 1
        return _directive(True, verdict.factors, remaining=execution.remaining)
    execution.pause = _pause(execution, action, verdict)
    return _directive(
        False,
        verdict.factors,
        reason=verdict.reason,
        remaining=execution.remaining,
        notifications=[execution.pause.notification],
    )


def _pause(execution: Execution, action: str, verdict: Verdict) -> Pause:
    reason = verdict.reason or "Paused"
    message = f"Agent '{execution.agent}' is paused: {reason}. A person confirms with confirm_operation."
    factors = "; ".join(verdict.factors)
    notification = Notification("autonomy_pause", message, "record_execution_step", factors, "confirm", timestamp())
    return Pause(action, reason, verdict.factors, notification)


def _still_paused(execution: Execution, pause: Pause, pending: list[Notification]) -> dict[str, Any]:
    since = f"Paused since {pause.notification.timestamp}: nobody has confirmed '{pause.action}'"
    return _directive(
        False,
        (since, *pause.factors),
        reason=pause.reason,
        remaining=execution.remaining,
        notifications=[pause.notification, *pending],
    )


def _directive(
    go: bool,
    factors: Sequence[str],
    *,
    reason: str | None = None,
    remaining: int | None = None,
    notifications: Iterable[Notification] = (),
) -> dict[str, Any]:
    """Build an AutonomyDirective: always `continue` and `factors`, the rest if it has a value.

    `stopped` is never set: it belongs to hard blocks, which need out-of-band verification.
    """
    directive: dict[str, Any] = {"continue": go, "factors": list(factors)}
    if reason is not None and not go:
        directive["reason"] = reason
    if remaining is not None:
        directive["stepsRemaining"] = remaining
    shown = [notification.as_json() for notification in notifications]
    if shown:
        directive["notifications"] = shown
    return directive
