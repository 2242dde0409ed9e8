# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The safety loop: an agent reports what it is about to do, and learns whether it may (R-LOOP-2 to 5).

Enforcing: an operation that changes something runs only as it was reported, once, and only if the report was let
through; a pause holds until a person lifts it, and a block until a person verifies the agent. Monitoring: the same
evaluation, shown in the factors, and `continue` is always true. Logging: steps are recorded, not evaluated. Disabled:
none of this (specification, 8.6 to 8.8).

An agent never confirms its own actions (8.7.3), and never starts by itself: `approvals.py` says who does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ...errors import Code, Failure
from ...hooks import Hooks
from ...protocol_operations import Handler, Person
from ...session import Session, current_caller
from ...settings.config import Config
from ...state.custody import State
from .parts import Parts
from .profiles import profile_of

if TYPE_CHECKING:
    from ...table import Row
    from .executions import Execution, Executions
    from .guard import Use
    from .reports import ConfirmationGate, PlanReport, Reports

__all__ = ["SafetyLoop", "needs_report"]


class SafetyLoop:
    """The operations of the loop; one instance for the adapter."""

    def __init__(
        self,
        config: Config,
        state: State | None = None,
        record: Callable[[str, dict[str, Any]], None] | None = None,
        hooks: Hooks | None = None,
        adapter: str = "",
    ) -> None:
        self.config = config
        self._parts = Parts(config, state or State(), record or _ignore, Hooks() if hooks is None else hooks, adapter)

    @property
    def enforcing(self) -> bool:
        """True if directives are binding."""
        return self._parts.enforcing

    @property
    def is_forgetful(self) -> bool:
        """True if blocks last no longer than this process, and no operator can see a challenge."""
        return self.enforcing and not self._parts.custody.store.shared

    def bind(self, asking: Callable[[], ConfirmationGate], reports: Reports | None = None) -> None:
        """Connect confirm_operation with the gatekeeper, and reports with the operations."""
        self._parts.asking = asking
        self._parts.reports = reports

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

    # For the gatekeeper and the dispatcher

    @property
    def is_guarding(self) -> bool:
        """True if a token that an agent sends back itself confirms nothing (8.7.3).

        This does not depend on what runs: an agent would end its execution, confirm, and start again.
        """
        return self.enforcing and self.config.loop_approval == "person"

    async def check(
        self, session: Session, row: Row, params: Mapping[str, Any], plan: PlanReport | None = None
    ) -> Use | None:
        """Return what lets a call run, to be used right before it is sent; None for one that needs no report.

        Raises Failure for a call that was not reported as it is, and while the agent is paused or blocked; StoreAway
        if that cannot be known.
        """
        if not self.enforcing or not needs_report(row):
            return None
        return await self._parts.guard.check(session, row.name, params, plan)

    # The operations

    async def execute_agent(self, params: dict[str, Any], session: Session, person: Person | None) -> Any:
        """Start an execution, if somebody lets the agent start."""
        agent, goal = params["element_name"], params.get("goal", "")
        blocks = await self._parts.blocks()
        if self.enforcing:
            await self._parts.guard.refuse_blocked("execute_agent", agent, blocks)
        executions = await self._parts.kept.read(session, anyone=True)
        if executions is not None:
            executions.check_free(agent)  # before a person is asked
        by = ""
        if self.enforcing:
            held = current_caller() is None and bool(blocks)
            held = held or self._parts.kept.pauses_beside(agent, session, executions)
            by = await self._parts.approvals.start(agent, goal, session, person, held=held)
            await self._parts.guard.settle(session)
        profile = profile_of(self.config, agent)
        inherited = self._parts.kept.inherited(agent) if self.enforcing else None
        execution = await self._parts.kept.change(
            session, lambda executions: executions.start(agent, profile, inherited)
        )
        self._parts.kept.forget(agent)
        self._parts.record(
            "EXECUTION_STARTED", {**_about(execution, session), "approved_by_person": by == "a person", "by": by}
        )
        await self._parts.publish(execution, session, goal=goal)
        message = {
            "enforcing": "Report every action with record_execution_step, and act only if `continue` is true",
            "monitoring": "Report every action with record_execution_step; its answers are advice",
        }.get(self._parts.mode, "Report every action with record_execution_step; it is recorded, not evaluated")
        return execution.as_json(message)

    async def record_execution_step(self, params: dict[str, Any], session: Session, _: Person | None) -> Any:
        """Evaluate a step; the answer is always an AutonomyDirective."""
        from .steps import StepReport  # here, since most adapters run without the loop

        return await StepReport(self._parts, params, session).answer()

    async def complete_execution(self, params: dict[str, Any], session: Session, _: Person | None) -> Any:
        """End an execution normally; a pause or a block of the agent stays."""
        return await self._end(params, session, "completed", "Completed")

    async def abort_execution(self, params: dict[str, Any], session: Session, _: Person | None) -> Any:
        """End an execution early; a pause or a block of the agent stays."""
        return await self._end(params, session, "cancelled", "Aborted")

    async def _end(self, params: dict[str, Any], session: Session, status: str, message: str) -> dict[str, Any]:
        def end(executions: Executions) -> Execution:
            execution = executions.running(params["element_name"])
            if execution is None:
                from .reports import not_found

                raise not_found("no execution of this agent is in progress", params["element_name"])
            execution.end(status)
            return execution

        execution = await self._parts.kept.change(session, end)
        self._parts.record(f"EXECUTION_{status.upper()}", {**_about(execution, session), "params": params})
        await self._parts.publish(execution, session)
        if execution.pause is not None:
            message += ". The pause stays: another execution of this agent begins with it"
        return execution.as_json(message)

    async def confirm_operation(self, params: dict[str, Any], session: Session, person: Person | None) -> Any:
        """Confirm a blocked operation by its token, or the paused action of an agent; never by the agent itself."""
        token, agent = params.get("confirmation_token"), params.get("element_name")
        if token is not None and agent is not None:
            raise Failure(
                Code.INVALID_VALUE,
                "Parameter 'element_name' excludes 'confirmation_token': confirm one thing in a call",
                {"param_name": "element_name"},
            )
        if self.enforcing:
            await self._parts.guard.refuse_blocked("confirm_operation", agent, await self._parts.blocks())
        asking = self._parts.asking
        if token is not None and asking is not None:
            if self.is_guarding:
                await self._parts.approvals.token(await asking().question(token, session), person)
            return await asking().confirm(token, session)
        if agent is None:
            raise Failure(
                Code.MISSING_PARAM,
                "Missing required parameter 'confirmation_token', or 'element_name' for an agent's paused action",
                {"param_name": "confirmation_token", "operation": "confirm_operation"},
            )
        return await self._resume(agent, session, person)

    async def _resume(self, agent: str, session: Session, person: Person | None) -> dict[str, Any]:
        from .evaluation import STEP_LIMIT
        from .executions import Approved
        from .lookalikes import normalized
        from .reports import not_found, refused

        executions = await self._parts.kept.read(session, anyone=True)
        held = None if executions is None else executions.last(agent)
        pause = None if held is None else held.pause
        if held is None or pause is None:
            raise not_found("nothing of this agent waits for a confirmation", agent)
        if pause.level != "confirm":
            raise refused(
                "this pause is lifted by verify_challenge, with a code for a person, and not by a confirmation",
                {"verificationId": pause.id, "element_name": agent},
            )
        by = await self._parts.approvals.resume(held.agent, pause, person)

        def resume(executions: Executions) -> Execution:
            execution = executions.last(agent)
            if execution is None or (execution.id, execution.pause) != (held.id, pause):
                raise not_found("the paused action has changed in the meantime", agent)
            approved = Approved(normalized(pause.action), pause.digest, f"Confirmed by {by}")
            execution.resume(approved if execution.running else None, unlimited=pause.reason == STEP_LIMIT)
            return execution

        execution = await self._parts.kept.change(session, resume)
        await self._parts.approvals.withdraw(pause)
        self._parts.record("PAUSE_CONFIRMED", {**_about(execution, session), "action": pause.action, "by": by})
        await self._parts.publish(execution, session)
        return {
            "element_name": agent,
            "execution_id": execution.id,
            "nextActionHint": pause.action,
            "message": "Report this action again with record_execution_step: once, it is let through as it stands here",
        }

    async def verify_challenge(self, params: dict[str, Any], session: Session, person: Person | None) -> Any:
        """Take the code of a challenge from a person, and unblock its agent if it is right."""
        if not self.enforcing:
            from .reports import refused

            raise refused(f"nothing is verified in mode {self._parts.mode}")
        return await self._parts.verification.verify(params, session, person)


def needs_report(row: Row) -> bool:
    """Return True for an operation that runs only as it was reported: all but safe reads."""
    return row.family != "read" or row.danger != "safe"


def _ignore(_: str, __: dict[str, Any]) -> None:
    """Do nothing: without an audit log nothing is recorded."""


def _about(execution: Execution, session: Session) -> dict[str, Any]:
    return {"execution_id": execution.id, "element_name": execution.agent, "session_id": session.id}
