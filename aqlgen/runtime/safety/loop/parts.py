# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The parts of the safety loop, and what operators see of it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ...hooks import Hooks
from ...session import Session, current_caller
from ...state import StoreAway
from ...state.custody import State
from ..questions import QuestionStore
from .agents import Agent, Block
from .approvals import AgentApprovals
from .guard import Guard
from .kept import KeptExecutions
from .verification import Verification

if TYPE_CHECKING:
    from ...settings.config import Config
    from ..asking import Asking
    from .executions import Execution
    from .reports import Reports

__all__ = ["Parts"]


class Parts:
    """What the loop works with.

    `record` writes into the audit log. `asking` returns the part of the gatekeeper that asks, and `reports` knows the
    operations of the adapter.
    """

    def __init__(
        self,
        config: Config,
        state: State | None = None,
        record: Callable[[str, dict[str, Any]], None] = lambda *_: None,
        hooks: Hooks | None = None,
        adapter: str = "",
        asking: Callable[[], Asking] | None = None,
        reports: Reports | None = None,
    ) -> None:
        state = state or State()
        questions = QuestionStore(state.shared)
        self.config = config
        self.mode = config.safety_loop
        self.enforcing = self.mode == "enforcing"
        self.hooks = Hooks() if hooks is None else hooks
        self.record = record
        self.operator = f"by `{adapter}-adapter operator`" if state.shared.store.shared else ""
        """Where an operator decides, in words; "" if none can, since the state is in this process alone."""
        self.asking = asking
        self.reports = reports
        self.kept = KeptExecutions(config, state, record)
        self.approvals = AgentApprovals(config, questions, self.operator)
        self.verification = Verification(state.shared, questions, record, config.loop.challenge_ttl)
        self.guard = Guard(self.kept, self.approvals, self.verification)

    # For operators

    async def publish(self, execution: Execution, session: Session, step: Any = None, *, goal: str = "") -> None:
        """Show an execution on the board, with a step that was decided; while the store is away it is not shown."""
        pause = execution.pause
        shown = Agent(
            execution=execution.id,
            name=execution.agent,
            caller=current_caller() or "",
            session=session.id or "",
            status=execution.status,
            mode=self.mode,
            started=execution.started_at,
            seen=execution.last,
            goal=goal,
            paused="" if pause is None else pause.reason,
            verification="" if pause is None or pause.level == "confirm" else pause.id,
            number=execution.reported,
        )
        with suppress(StoreAway):
            await self.verification.board.open()
            await self.verification.board.publish(shown, step)

    async def blocks(self) -> list[Block]:
        """Return the blocks that stand, none where nothing is enforced. Raises StoreAway."""
        return await self.verification.board.blocks() if self.enforcing else []
