"""The safety loop: an agent reports what it is about to do, and learns whether it may (R-LOOP-2 to 5).

Enforcing: an operation that changes something runs only as it was reported, once, and only if the report was let
through; a pause holds until a person lifts it, and a block until a person verifies the agent. Monitoring: the same
evaluation, shown in the factors, and `continue` is always true. Logging: steps are recorded, not evaluated. Disabled:
none of this (specification, 8.6 to 8.8).

An agent never confirms its own actions (8.7.3), and never starts by itself: `approvals.py` says who does.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ...errors import Code, Failure, invalid
from ...protocol_operations import Handler, Person
from ...session import Session, current_caller
from ...state import StoreAway
from ..audit import masked
from .evaluation import STEP_LIMIT
from .executions import AgentExecutions, Execution, StepApproval, profile_of
from .lookalikes import normalized
from .reports import not_found, refused
from .steps import Parts, StepReport

if TYPE_CHECKING:
    from ...table import Row
    from .reports import PlanReport


class SafetyLoop(Parts):
    """The operations of the loop; one instance for the adapter."""

    @property
    def handlers(self) -> dict[str, Handler]:
        """The answers to the operations of the loop."""
        return {
            "execute_agent": self.execute_agent,
            "record_execution_step": self.record_execution_step,
            "complete_execution": self.complete_execution,
            "abort_execution": self.abort_execution,
            "confirm_operation": self.confirm_operation,
            "verify_challenge": self.verify_challenge,
        }

    async def needs(
        self, session: Session, row: Row, params: Mapping[str, Any], plan: PlanReport | None = None
    ) -> bool:
        """Return True for a call that runs as it was reported, False for one that needs no report.

        Raises Failure for any other call, and while the agent is paused or blocked; StoreAway if that cannot be known.
        """
        if not self.enforcing or not needs_report(row):
            return False
        await self.guard.check(session, row.name, params, plan)
        return True

    # The operations

    async def execute_agent(self, params: dict[str, Any], session: Session, person: Person | None) -> Any:
        """Start an execution, if somebody lets the agent start."""
        agent, goal = params["element_name"], params.get("goal", "")
        blocks = await self.blocks()
        if self.enforcing:
            await self.guard.refuse_blocked("execute_agent", agent, blocks)
        executions = await self.kept.read(session, anyone=True)
        if executions is not None:
            executions.check_free(agent)  # before a person is asked
        by = ""
        if self.enforcing:
            held = current_caller() is None and bool(blocks)
            held = held or self.kept.pauses_beside(agent, session, executions)
            by = await self.approvals.start(agent, goal, session, person, held=held)
            await self.guard.settle(session)
        profile = profile_of(self.config)
        inherited = self.kept.inherited(agent) if self.enforcing else None
        execution = await self.kept.change(session, lambda executions: executions.start(agent, profile, inherited))
        self.kept.forget(agent)
        self.record(
            "EXECUTION_STARTED", {**_about(execution, session), "approved_by_person": by == "a person", "by": by}
        )
        if self.enforcing:
            with suppress(StoreAway):
                await self.verification.board.open(agent)
        message = {
            "enforcing": "Report every action with record_execution_step, and act only if `continue` is true",
            "monitoring": "Report every action with record_execution_step; its answers are advice",
        }.get(self.mode, "Report every action with record_execution_step; it is recorded, not evaluated")
        return execution.as_json(message)

    async def record_execution_step(self, params: dict[str, Any], session: Session, _: Person | None) -> Any:
        """Evaluate a step; the answer is always an AutonomyDirective."""
        return await StepReport(self, params, session).answer()

    async def complete_execution(self, params: dict[str, Any], session: Session, _: Person | None) -> Any:
        """End an execution normally; a pause or a block of the agent stays."""
        return await self._end(params, session, "completed", "Completed")

    async def abort_execution(self, params: dict[str, Any], session: Session, _: Person | None) -> Any:
        """End an execution early; a pause or a block of the agent stays."""
        return await self._end(params, session, "cancelled", "Aborted")

    async def _end(self, params: dict[str, Any], session: Session, status: str, message: str) -> dict[str, Any]:
        def end(executions: AgentExecutions) -> Execution:
            execution = executions.running(params["element_name"])
            if execution is None:
                raise not_found("no execution of this agent is in progress", params["element_name"])
            execution.end(status)
            return execution

        execution = await self.kept.change(session, end)
        self.record(f"EXECUTION_{status.upper()}", {**_about(execution, session), "params": masked("", params)})
        if execution.pause is not None:
            message += ". The pause stays: another execution of this agent begins with it"
        return execution.as_json(message)

    async def confirm_operation(self, params: dict[str, Any], session: Session, person: Person | None) -> Any:
        """Confirm a blocked operation by its token, or the paused action of an agent; never by the agent itself."""
        token, agent = params.get("confirmation_token"), params.get("element_name")
        if token is not None and agent is not None:
            raise invalid(
                "element_name", "Parameter 'element_name' excludes 'confirmation_token': confirm one thing in a call"
            )
        if self.enforcing:
            await self.guard.refuse_blocked("confirm_operation", agent, await self.blocks())
        if token is not None:
            if self.enforcing and self.config.loop_approval == "person":
                await self.approvals.token(await self.asking.question(token, session), person)
            return await self.asking.confirm(token, session)
        if agent is None:
            raise Failure(
                Code.MISSING_PARAM,
                "Missing required parameter 'confirmation_token', or 'element_name' for an agent's paused action",
                {"param_name": "confirmation_token", "operation": "confirm_operation"},
            )
        return await self._resume(agent, session, person)

    async def _resume(self, agent: str, session: Session, person: Person | None) -> dict[str, Any]:
        executions = await self.kept.read(session, anyone=True)
        held = None if executions is None else executions.last(agent)
        pause = None if held is None else held.pause
        if held is None or pause is None:
            raise not_found("nothing of this agent waits for a confirmation", agent)
        if pause.level != "confirm":
            raise refused(
                "this pause is lifted by verify_challenge, with a code for a person, and not by a confirmation",
                {"verificationId": pause.id, "element_name": agent},
            )
        by = await self.approvals.resume(held.agent, pause, person)

        def resume(executions: AgentExecutions) -> Execution:
            execution = executions.last(agent)
            if execution is None or (execution.id, execution.pause) != (held.id, pause):
                raise not_found("the paused action has changed in the meantime", agent)
            approved = StepApproval(normalized(pause.action), pause.digest, by=f"Confirmed by {by}")
            execution.resume(approved if execution.running else None, unlimited=pause.reason == STEP_LIMIT)
            return execution

        execution = await self.kept.change(session, resume)
        await self.approvals.withdraw(pause)
        self.record("PAUSE_CONFIRMED", {**_about(execution, session), "action": pause.action, "by": by})
        return {
            "element_name": agent,
            "execution_id": execution.id,
            "nextActionHint": pause.action,
            "message": "Report this action again with record_execution_step: it may run once, as reported here",
        }

    async def verify_challenge(self, params: dict[str, Any], session: Session, person: Person | None) -> Any:
        """Take the code of a challenge from a person, and unblock its agent if it is right."""
        if not self.enforcing:
            raise refused(f"nothing is verified in mode {self.mode}")
        return await self.verification.verify(params, session, person)


def needs_report(row: Row) -> bool:
    """Return True for an operation that runs only as it was reported: all but safe reads."""
    return row.family != "read" or row.danger != "safe"


def _about(execution: Execution, session: Session) -> dict[str, Any]:
    return {"execution_id": execution.id, "element_name": execution.agent, "session_id": session.id}
