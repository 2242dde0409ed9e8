"""What holds calls under the loop, and what lifts pauses (specification, 8.6.2, 8.6.4, 8.8.3; R-LOOP-2, R-LOOP-4)."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...exact_json import fingerprint
from ...session import current_caller
from .agents import Block, blocking
from .evaluation import STEP_LIMIT
from .executions import Pause, StepApproval
from .lookalikes import normalized
from .reports import blocked, not_reported, paused

if TYPE_CHECKING:
    from ...session import Session
    from .approvals import AgentApprovals
    from .executions import AgentExecutions, Execution
    from .kept import KeptExecutions
    from .reports import PlanReport
    from .verification import Verification


def strict(session: Session) -> bool:
    """Return True if all agents of these executions are of one client, so that the pause of one holds all of them.

    Without a session and without a known caller they are everybody's.
    """
    return session.id is not None or current_caller() is not None


class Guard:
    """Checks calls against reports, pauses and blocks."""

    def __init__(self, kept: KeptExecutions, approvals: AgentApprovals, verification: Verification) -> None:
        self.kept = kept
        self._approvals = approvals
        self._verification = verification

    async def check(
        self,
        session: Session,
        operation: str,
        params: Mapping[str, Any],
        plan: PlanReport | None,
        *,
        again: bool = False,
    ) -> tuple[str, str]:
        """Return the operation and the digest of the report that lets a call run; `again` right before it is sent.

        Raises Failure if nothing lets it run, and StoreAway if that cannot be known.
        """
        blocks = await self._verification.board.blocks()
        await self.refuse_blocked(operation, None, blocks)
        executions = await self._settled(session, blocks)
        if executions is not None and strict(session):
            for held in executions.all_paused():
                raise paused(operation, held)
        if plan is None:
            name, digest = operation, fingerprint(operation, params)
        else:
            name, digest, params = plan.operation, plan.digest, plan.params
        running = [] if executions is None else list(executions.all_running())
        reporting = [item for item in running if _lets_run(item, name, digest, plan)][:1]
        agents = reporting or running
        if len(agents) == 1:  # of several it is not known which one calls
            await self.refuse_blocked(operation, agents[0].agent, blocks)
            if agents[0].pause is not None:
                raise paused(operation, agents[0])
        if not reporting:
            raise not_reported(name, params, running[0] if running else None, spent=again)
        return name, digest

    async def use(self, session: Session, operation: str, params: Mapping[str, Any], plan: PlanReport | None) -> None:
        """Use up the report that lets a call run. Raises as `check` does, and where another call has used it.

        A person may have been asked meanwhile: an agent may be blocked or paused by now.
        """
        name, digest = await self.check(session, operation, params, plan, again=True)
        if plan is not None and plan.execution is not None:
            return

        def use(executions: AgentExecutions) -> Execution | None:
            return next((item for item in executions.all_running() if item.use(name, digest)), None)

        execution = await self.kept.change(session, use)
        if execution is None:
            raise not_reported(name, params if plan is None else plan.params, None, spent=True)
        if plan is not None:
            plan.execution = execution.id

    async def refuse_blocked(self, operation: str, agent: str | None, blocks: Sequence[Block]) -> None:
        """Raise Failure if an agent of the present caller is blocked."""
        block = blocking(blocks, agent, current_caller())
        if block is not None:
            raise blocked(operation, await self._verification.renewed(block))

    async def settle(self, session: Session) -> None:
        """Lift the pauses that have ended, or that a person has lifted elsewhere. Raises StoreAway."""
        await self._settled(session, None)

    async def _settled(self, session: Session, blocks: Sequence[Block] | None) -> AgentExecutions | None:
        """Return the executions as they are once their pauses are settled."""
        executions = await self.kept.read(session, anyone=True)
        held = [] if executions is None else executions.all_paused()
        if not held:
            return executions
        standing = await self._verification.board.blocks() if blocks is None else blocks
        lifted: dict[str, tuple[Pause, StepApproval | None]] = {}
        for execution in held:
            pause = execution.pause
            end = None if pause is None else await self._end_of(pause, standing)
            if pause is not None and end is not None:
                lifted[execution.id] = (pause, end[0])
        if not lifted:
            return executions

        def lift(executions: AgentExecutions) -> None:
            for execution in executions.all_paused():
                pause, approved = lifted.get(execution.id, (None, None))
                if pause is not None and execution.pause == pause:
                    unlimited = approved is not None and pause.reason == STEP_LIMIT
                    execution.resume(approved if execution.running else None, unlimited=unlimited)

        await self.kept.change(session, lift)
        return await self.kept.read(session, anyone=True)

    async def _end_of(self, pause: Pause, blocks: Sequence[Block]) -> tuple[StepApproval | None] | None:
        """Return the end of a pause, with the approved action or None; None while it goes on."""
        if pause.level == "confirm":
            by = await self._approvals.used(pause.id)
            return (_approved(pause, f"Confirmed by {by}", verified=False),) if by else None
        if await self._verification.take_verified(pause.id):
            return (_approved(pause, "Verified by a person", verified=True),)
        if pause.level == "verify":
            return (None,) if time.time() > pause.until else None
        return None if any(block.id == pause.id or not block.readable for block in blocks) else (None,)


def _approved(pause: Pause, by: str, *, verified: bool) -> StepApproval:
    return StepApproval(normalized(pause.action), pause.digest, by=by, verified=verified)


def _lets_run(execution: Execution, operation: str, digest: str, plan: PlanReport | None) -> bool:
    """Return True if a call runs under an execution; further steps of a plan do under the one that reported it."""
    if plan is not None and plan.execution is not None:
        return plan.execution == execution.id
    return execution.approval(operation, digest) is not None
