# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The answer to one reported step in each mode (specification, 8.6.4, 8.6.7; Gatekeeper document, 7.3; R-LOOP-3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .directive import Notification, directive, now
from .evaluation import Verdict, evaluate, plain
from .executions import Book, Execution, Pause

__all__ = ["answer"]


def answer(mode: str, book: Book, execution: Execution | None, params: Mapping[str, Any]) -> dict[str, Any]:
    """Give the AutonomyDirective for a step, and note in the execution what follows from it."""
    if execution is not None:
        execution.reported += 1
    if mode == "logging":
        return directive(True, ["Logging: the step is recorded, not evaluated"])
    if execution is None:
        reason = f"No execution of agent '{params['element_name']}' is in progress: start one with execute_agent"
        return directive(mode != "enforcing", [reason], reason=reason)
    if mode == "monitoring":
        return _advice(book, execution, params)
    return _decision(book, execution, params)


def _advice(book: Book, execution: Execution, params: Mapping[str, Any]) -> dict[str, Any]:
    """Evaluate as enforcing would, and go on whatever comes out."""
    verdict = evaluate(params["nextActionHint"], params.get("outcome"), execution.taken, execution.profile)
    execution.taken += 1
    factors = verdict.factors if verdict.go else (f"Would pause: {verdict.reason}", *verdict.factors)
    return directive(True, factors, remaining=execution.remaining, notifications=book.waiting())


def _decision(book: Book, execution: Execution, params: Mapping[str, Any]) -> dict[str, Any]:
    """Pause where something waits for a person already; else go on with what a person confirmed; else evaluate."""
    waiting = book.waiting()
    if execution.pause is not None:
        return _still(execution, execution.pause, waiting)
    if waiting:
        factors = tuple(one.message for one in waiting)
        reason = f"Permission pending: {', '.join(one.operation for one in waiting)}"
        return directive(False, factors, reason=reason, remaining=execution.remaining, notifications=waiting)
    action = params["nextActionHint"]
    approved, execution.approved = execution.approved, None
    if approved is not None and approved[0] == plain(action):
        verdict = Verdict(True, (approved[1],))
    else:
        verdict = evaluate(action, params.get("outcome"), execution.taken, execution.profile)
    if verdict.go:
        execution.taken += 1
        return directive(True, verdict.factors, remaining=execution.remaining)
    execution.pause = _pause(execution, action, verdict)
    return directive(
        False,
        verdict.factors,
        reason=verdict.reason,
        remaining=execution.remaining,
        notifications=[execution.pause.notification],
    )


def _pause(execution: Execution, action: str, verdict: Verdict) -> Pause:
    reason = verdict.reason or "Paused"
    message = f"Agent '{execution.agent}' is paused: {reason}. A person confirms with confirm_operation."
    told = "; ".join(verdict.factors)
    note = Notification("autonomy_pause", message, "record_execution_step", told, "confirm", now())
    return Pause(action, reason, verdict.factors, note)


def _still(execution: Execution, pause: Pause, waiting: list[Notification]) -> dict[str, Any]:
    since = f"Paused since {pause.notification.timestamp}: nobody has confirmed '{pause.action}'"
    return directive(
        False,
        (since, *pause.factors),
        reason=pause.reason,
        remaining=execution.remaining,
        notifications=[pause.notification, *waiting],
    )
