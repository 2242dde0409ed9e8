# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""What holds calls under the loop, and what lifts pauses (specification, 8.6.2, 8.6.4, 8.8.3; R-LOOP-2, R-LOOP-4)."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...exact_json import fingerprint
from ...session import current_caller
from .agents import Block, blocking
from .evaluation import STEP_LIMIT
from .executions import Approved, Pause
from .lookalikes import normalized
from .reports import blocked, not_reported, paused

if TYPE_CHECKING:
    from ...session import Session
    from .approvals import AgentApprovals
    from .executions import Execution, Executions
    from .kept import KeptExecutions
    from .reports import PlanReport
    from .verification import Verification

__all__ = ["Guard", "Use", "strict"]

_WAITED = 1.0


def strict(session: Session) -> bool:
    """Return True if all agents of these executions are of one client, so that the pause of one holds all of them.

    Without a session and without a known caller they are everybody's.
    """
    return session.id is not None or current_caller() is not None


@dataclass(frozen=True, slots=True)
class Use:
    """What lets one call run."""

    guard: Guard
    session: Session
    operation: str
    digest: str
    params: Mapping[str, Any]
    plan: PlanReport | None
    checked: float = field(default_factory=time.monotonic)

    async def spend(self) -> None:
        """Use it up. Raises Failure if another call has, or the agent was paused, and StoreAway."""
        if time.monotonic() - self.checked > _WAITED:  # a person was asked: an agent may be blocked by now
            await self.guard.check(self.session, self.operation, self.params, self.plan)
        if self.plan is not None and self.plan.execution is not None:
            return

        def spend(executions: Executions) -> Execution | None:
            return next((item for item in executions.all_running() if item.spend(self.operation, self.digest)), None)

        execution = await self.guard.kept.change(self.session, spend)
        if execution is None:
            raise not_reported(self.operation, self.params, None, spent=True)
        if self.plan is not None:
            self.plan.execution = execution.id


class Guard:
    """Checks calls against reports, pauses and blocks."""

    def __init__(self, kept: KeptExecutions, approvals: AgentApprovals, verification: Verification) -> None:
        self.kept = kept
        self._approvals = approvals
        self._verification = verification

    async def check(self, session: Session, operation: str, params: Mapping[str, Any], plan: PlanReport | None) -> Use:
        """Return what lets a call run. Raises Failure if nothing does, and StoreAway if that cannot be known."""
        caller, blocks = current_caller(), await self._verification.board.blocks()
        block = blocking(blocks, None, caller)
        if block is not None:
            raise blocked(operation, await self._verification.renewed(block))
        executions = await self._settled(session, blocks)
        name, digest = operation, ""
        if plan is not None:
            name, digest, params = plan.operation, plan.digest, plan.params
        else:
            digest = fingerprint(operation, params)
        running = [] if executions is None else list(executions.all_running())
        if executions is not None and strict(session):
            for held in executions.all_paused():
                raise paused(operation, held)
        execution = next((item for item in running if _lets_run(item, name, digest, plan)), None)
        agents = running if execution is None else [execution]
        for agent in agents:
            block = blocking(blocks, agent.agent, caller)
            if block is not None and (execution is not None or len(agents) == 1):
                raise blocked(operation, await self._verification.renewed(block))
            if agent.pause is not None and len(agents) == 1:
                raise paused(operation, agent)
        if execution is None:
            raise not_reported(name, params, running[0] if running else None)
        return Use(self, session, name, digest, params, plan)

    async def refuse_blocked(self, operation: str, agent: str | None, blocks: Sequence[Block]) -> None:
        """Raise Failure if an agent of the present caller is blocked."""
        block = blocking(blocks, agent, current_caller())
        if block is not None:
            raise blocked(operation, await self._verification.renewed(block))

    async def settle(self, session: Session) -> None:
        """Lift the pauses that have ended, or that a person has lifted elsewhere. Raises StoreAway."""
        await self._settled(session, None)

    async def _settled(self, session: Session, blocks: Sequence[Block] | None) -> Executions | None:
        """Return the executions as they are once their pauses are settled."""
        executions = await self.kept.read(session, anyone=True)
        held = [] if executions is None else executions.all_paused()
        if not held:
            return executions
        standing = await self._verification.board.blocks() if blocks is None else blocks
        lifted: dict[str, tuple[Pause, Approved | None]] = {}
        for execution in held:
            pause = execution.pause
            end = None if pause is None else await self._end_of(pause, standing)
            if pause is not None and end is not None:
                lifted[execution.id] = (pause, end[0])
        if not lifted:
            return executions

        def lift(executions: Executions) -> None:
            for execution in executions.all_paused():
                pause, approved = lifted.get(execution.id, (None, None))
                if pause is not None and execution.pause == pause:
                    unlimited = approved is not None and pause.reason == STEP_LIMIT
                    execution.resume(approved if execution.running else None, unlimited=unlimited)

        await self.kept.change(session, lift)
        return await self.kept.read(session, anyone=True)

    async def _end_of(self, pause: Pause, blocks: Sequence[Block]) -> tuple[Approved | None] | None:
        """Return what a pause ends with, an approved action or nothing; None while it goes on."""
        if pause.level == "confirm":
            by = await self._approvals.used(pause.id)
            return (_approved(pause, f"Confirmed by {by}", verified=False),) if by else None
        if await self._verification.take_verified(pause.id):
            return (_approved(pause, "Verified by a person", verified=True),)
        if pause.level == "verify":
            return (None,) if time.time() > pause.until else None
        return None if any(block.id == pause.id or not block.readable for block in blocks) else (None,)


def _approved(pause: Pause, factor: str, *, verified: bool) -> Approved:
    return Approved(normalized(pause.action), pause.digest, factor, verified)


def _lets_run(execution: Execution, operation: str, digest: str, plan: PlanReport | None) -> bool:
    """Return True if a call runs under an execution; further steps of a plan do under the one that reported it."""
    if plan is not None and plan.execution is not None:
        return plan.execution == execution.id
    return execution.granted(operation, digest) is not None
