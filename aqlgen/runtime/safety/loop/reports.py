# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Reports of operations under the loop, and the refusals of calls, reported or not (R-LOOP-2, R-LOOP-4).

A report is of an operation as it would run. A refusal says what is wrong, and which call comes next.
"""

from __future__ import annotations

import json
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ...errors import Code, Failure
from ...text import line

if TYPE_CHECKING:
    from ...steps.plan import Plan
    from .agents import Block
    from .executions import Execution

__all__ = [
    "FILES",
    "PlanReport",
    "Report",
    "Reports",
    "blocked",
    "not_found",
    "not_reported",
    "paused",
    "refused",
]

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

    def as_kept(self) -> list[Any]:
        """Return it as it is kept with a plan that halted."""
        return [self.operation, self.digest, dict(self.params), self.execution]


class Reports(Protocol):
    """The dispatcher's knowledge of operations."""

    def report(self, operation: str, params: Mapping[str, Any]) -> Report:
        """Return what an operation with these parameters would run. Raises Failure if it could not be called."""
        ...

    def named_in(self, words: Sequence[str]) -> list[tuple[str, str]]:
        """Return the names and dangers of the operations that words name."""
        ...

    def plan_report(
        self,
        operation: str,
        params: Mapping[str, Any],
        plan: Plan,
        kept: Sequence[Any] | None = None,
        inputs: Container[str] = (),
    ) -> PlanReport:
        """Return the report that the steps of a plan need; `kept` is that of a plan that goes on."""
        ...


_LONGEST = 4000
_NAME = "the name of the agent"


def refused(reason: str, details: Mapping[str, Any] | None = None) -> Failure:
    """Return a refusal with its reason."""
    return Failure(Code.PERMISSION_DENIED, f"Permission denied: {reason}", {"reason": reason, **(details or {})})


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
    return Failure(
        Code.PERMISSION_DENIED,
        f"Permission denied: {agent} is blocked until a person gives the code of the challenge to verify_challenge, or "
        "an operator lifts the block. No new execution, no other name and no restart lifts it.",
        {"operation": operation, "reason": block.reason, "verificationId": block.verification},
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
    return Failure(
        Code.PERMISSION_DENIED,
        f"Permission denied: '{operation}' changes something, and {why}. {first or 'Report'} it with "
        f"record_execution_step, nextOperation '{operation}' and nextParams as in the call; on `continue: true`, "
        "call it once. details.report is the request.",
        details,
    )


def _shown(params: Mapping[str, Any]) -> Any:
    """Return parameters as they are to be reported, or what to put in their place if they are long."""
    params = {name: value for name, value in params.items() if name != FILES}
    try:
        return params if len(json.dumps(params, default=str)) <= _LONGEST else "the params of the call"
    except (TypeError, ValueError):
        return "the params of the call"
