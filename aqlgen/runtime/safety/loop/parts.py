# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The parts of the safety loop, made when the loop is on and they are first needed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ...session import current_caller
from ...state.store import StoreAway

if TYPE_CHECKING:
    from ...hooks import Hooks
    from ...session import Session
    from ...settings.config import Config
    from ...state.custody import State
    from .agents import Block
    from .approvals import Approvals
    from .executions import Execution
    from .guard import Guard
    from .kept import KeptExecutions
    from .reports import ConfirmationGate, Reports
    from .verification import Verification

__all__ = ["Parts"]


class Parts:
    """What the loop works with. `record` writes into the audit log; `adapter` is the adapter's name."""

    def __init__(
        self,
        config: Config,
        state: State,
        record: Callable[[str, dict[str, Any]], None],
        hooks: Hooks,
        adapter: str,
    ) -> None:
        self.config = config
        self.mode = config.safety_loop
        self.hooks = hooks
        self.record = record
        self.custody = state.shared
        self._state = state
        self.reports: Reports | None = None
        self.asking: Callable[[], ConfirmationGate] | None = None
        self.adapter = adapter
        self._kept: KeptExecutions | None = None
        self._made_parts: tuple[Approvals, Verification, Guard] | None = None

    @property
    def kept(self) -> KeptExecutions:
        """The executions."""
        if self._kept is None:
            from .kept import KeptExecutions

            self._kept = KeptExecutions(self.config, self._state, self.record)
        return self._kept

    @property
    def enforcing(self) -> bool:
        """True if directives are binding."""
        return self.mode == "enforcing"

    @property
    def operator(self) -> str:
        """Where an operator decides, in words; "" if none can, since the state is in this process alone."""
        return f"by `{self.adapter}-adapter operator`" if self.custody.store.shared else ""

    def _made(self) -> tuple[Approvals, Verification, Guard]:
        """Return the parts that only a loop that is on needs."""
        if self._made_parts is None:
            from ..questions import QuestionStore
            from .approvals import Approvals
            from .guard import Guard
            from .verification import Verification

            questions = QuestionStore(self.custody)
            approvals = Approvals(self.config, questions, self.operator)
            verification = Verification(self.custody, questions, self.record, self.config.loop.challenge_ttl)
            self._made_parts = approvals, verification, Guard(self.kept, approvals, verification)
        return self._made_parts

    @property
    def approvals(self) -> Approvals:
        """Those who let agents start and go on."""
        return self._made()[0]

    @property
    def verification(self) -> Verification:
        """The challenges and blocks."""
        return self._made()[1]

    @property
    def guard(self) -> Guard:
        """The check of calls, and the end of pauses."""
        return self._made()[2]

    # For the operator

    async def publish(self, execution: Execution, session: Session, step: Any = None, *, goal: str = "") -> None:
        """Show an execution on the board, with a step that was decided; while the store is away it is not shown."""
        from .agents import Agent

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
