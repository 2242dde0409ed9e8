"""The answer to a reported step: evaluated, decided, recorded (specification, 8.6.4, 8.6.7, 8.7; R-LOOP-3).

`Parts` are those of the loop.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from ...errors import Code, Failure
from ...hooks import Hooks, Step, StepVerdict
from ...session import Session, current_caller
from ...state import StoreAway
from ...text import line
from ..audit import masked
from ..question_texts import literal
from ..questions import QuestionStore
from .agents import Block, blocking
from .approvals import AgentApprovals
from .evaluation import GRAVE, Past, evaluate, weigh, words_of
from .executions import AgentExecutions, Execution, Notification, Pause, StepApproval
from .guard import Guard, strict
from .kept import KeptExecutions
from .lookalikes import normalized
from .reports import Report, broadcast, denied, directive, of_block, of_pause, of_questions, pause_notification
from .verification import Verification

if TYPE_CHECKING:
    from ...settings.config import Config
    from ..asking import Asking
    from .reports import Reports


class Parts:
    """What the loop works with.

    `record` writes into the audit log. `asking` has calls confirmed. `reports` knows the operations of the adapter.
    """

    def __init__(
        self,
        config: Config,
        asking: Asking,
        record: Callable[[str, dict[str, Any]], None],
        hooks: Hooks,
        reports: Reports,
    ) -> None:
        state = asking.state
        questions = QuestionStore(state.shared)
        self.config = config
        self.mode = config.safety_loop
        self.enforcing = self.mode == "enforcing"
        self.hooks = hooks
        self.record = record
        self.operator = f"by `{asking.adapter}-adapter operator`" if state.shared.store.shared else ""
        """Where an operator decides, in words; "" if none can, since the state is in this process alone."""
        self.asking = asking
        self.reports = reports
        self.kept = KeptExecutions(config, state, record)
        self.approvals = AgentApprovals(config, questions, self.operator)
        self.verification = Verification(state.shared, questions, record, config.loop.challenge_ttl)
        self.guard = Guard(self.kept, self.approvals, self.verification)

    async def blocks(self) -> list[Block]:
        """Return the blocks that stand, none where nothing is enforced. Raises StoreAway."""
        return await self.verification.board.blocks() if self.enforcing else []


_MOST_TRIES = 50
_NEXT = "nextOperation"
_LONGEST_SHOWN = 4000


class _Open(NamedTuple):
    """A verdict that is not final: the owner's hook has a say, or a challenge comes first."""

    verdict: StepVerdict
    version: tuple[str, int]
    execution: Execution


class _Answer(NamedTuple):
    execution: Execution | None
    directive: dict[str, Any]
    verdict: StepVerdict | None = None


class StepReport:
    """One report of one agent."""

    def __init__(self, loop: Parts, params: dict[str, Any], session: Session) -> None:
        self._loop = loop
        self._params = params
        self._session = session
        self._agent: str = params["element_name"]
        self._action: str = params["nextActionHint"]
        self._unclear = ""
        self._report = self._reported()
        self._mentioned = loop.reports.named_in(words_of(self._action))
        self._decided: _Open | None = None
        self._pending: list[Notification] = []
        self._challenge: tuple[str, float] | None = None

    def _reported(self) -> Report | None:
        """Return the operation that is reported. Raises Failure, in mode enforcing, if it could not be called."""
        operation, params = self._params.get(_NEXT), self._params.get("nextParams")
        if operation is None and params is not None:
            raise Failure(
                Code.MISSING_PARAM,
                f"Missing required parameter '{_NEXT}': the operation to which 'nextParams' belong",
                {"param_name": _NEXT, "operation": "record_execution_step"},
            )
        if operation is None or self._loop.mode == "logging":
            return None
        try:
            return self._loop.reports.report(operation, params or {})
        except Failure as failure:
            if self._loop.enforcing:
                raise
            self._unclear = failure.message
            return None

    async def answer(self) -> dict[str, Any]:
        """Return the AutonomyDirective. Raises StoreAway in mode enforcing."""
        blocks = await self._loop.blocks()
        block = blocking(blocks, self._agent, current_caller())
        if block is not None:
            answer = await self._stopped(block)
        else:
            if self._loop.enforcing:
                await self._loop.guard.settle(self._session)
            answer = await self._decide(blocks)
        await self._record(answer)
        return answer.directive

    async def _stopped(self, block: Block) -> _Answer:
        """Answer the report of an agent that is blocked: it is rejected, and does not count."""
        block = await self._loop.verification.renewed(block)
        standing = await self._loop.blocks()
        shown = broadcast([block, *(other for other in standing if other.id != block.id)], current_caller())
        executions = await self._loop.kept.read(self._session, anyone=True)
        execution = None if executions is None else executions.running(self._agent)
        return _Answer(execution, of_block(block, shown))

    async def _decide(self, blocks: Sequence[Block]) -> _Answer:
        with nullcontext() if self._loop.enforcing else suppress(StoreAway):
            self._pending = of_questions(await self._loop.asking.questions.undecided(self._session.id))
        for _ in range(_MOST_TRIES):
            answer = await self._loop.kept.change(self._session, lambda executions: self._step(executions))
            if isinstance(answer, _Answer):
                return await self._after(answer, blocks)
            verdict = await self._loop.hooks.on_evaluation(answer.verdict, self._of(answer.execution))
            if self._loop.enforcing and verdict.outcome in ("verify", "block") and self._challenge is None:
                step = self._of(answer.execution)
                self._challenge = await self._loop.verification.begin(step, verdict, answer.execution, self._shown())
            self._decided = answer._replace(verdict=verdict)
        raise Failure(
            Code.RATE_LIMIT_EXCEEDED,
            "Too many reports of this agent together: send them one after the other",
            {"retry_after_seconds": 1},
        )

    async def _after(self, answer: _Answer, blocks: Sequence[Block]) -> _Answer:
        """Inform of a pause, and everybody of a block."""
        execution = answer.execution
        pause = None if execution is None else execution.pause
        if self._challenge is not None and (pause is None or pause.id != self._challenge[0]):
            # Another report was faster: the agent waits for another challenge, or its execution has ended.
            block = blocking(await self._loop.blocks(), self._agent, current_caller())
            if block is not None:
                return await self._stopped(block)
            await self._loop.verification.drop(self._challenge[0])
        if execution is not None and pause is not None and self._loop.enforcing:
            await self._loop.approvals.wait(execution, pause, self._session)
            by = await self._loop.approvals.denied(pause)
            if by:
                answer = answer._replace(directive=denied(answer.directive, by))
        if answer.directive.get("stopped"):
            blocks = await self._loop.blocks()
        shown = broadcast(blocks, current_caller())
        known = {note["metadata"].get("verificationId") for note in answer.directive.get("notifications", ())}
        more = [note.as_json() for note in shown if note.verification not in known]
        if more:
            notifications = [*answer.directive.get("notifications", ()), *more]
            return answer._replace(directive={**answer.directive, "notifications": notifications})
        return answer

    def _step(self, executions: AgentExecutions) -> _Answer | _Open:
        """Take the step in the executions, or leave them as they are while the verdict is open."""
        mode, execution = self._loop.mode, executions.running(self._agent)
        if mode == "logging":
            if execution is not None:
                execution.reported += 1
            return _Answer(execution, directive(True, ["Logging: the step is recorded, not evaluated"]))
        if execution is None:
            reason = f"No execution of agent '{self._agent}' is in progress: start one with execute_agent"
            return _Answer(None, directive(mode != "enforcing", [reason], reason=reason))
        waiting = self._waiting(executions, execution) if mode == "enforcing" else None
        if waiting is not None:
            execution.reported += 1
            return _Answer(execution, waiting)
        return self._evaluated(execution)

    def _waiting(self, executions: AgentExecutions, execution: Execution) -> dict[str, Any] | None:
        """Return the directive while something waits for a person; None if nothing does."""
        pending = self._pending
        if execution.pause is not None:
            return of_pause(execution, execution.pause, pending)
        if pending:
            factors = tuple(notification.message for notification in pending)
            reason = f"Permission pending: {', '.join(notification.operation for notification in pending)}"
            return directive(False, factors, reason=reason, remaining=execution.remaining, notifications=pending)
        others = executions.all_paused() if strict(self._session) else []
        if others and self._report is not None and self._report.changes:
            agent = line(others[0].agent, 100)
            reason = f"Agent '{agent}' of the same client is paused: nothing changes until a person lifts the pause"
            return directive(False, [reason], reason=reason, remaining=execution.remaining)
        return None

    def _evaluated(self, execution: Execution) -> _Answer | _Open:
        action = normalized(self._action)
        digest = "" if self._report is None else self._report.digest
        kind = self._report.operation if self._report is not None else "".join(c for c in action if not c.isdigit())
        past = Past(execution.taken, execution.actions.get(kind[:64], 0), execution.grave)
        approval = execution.approved
        if approval is not None and approval[:2] != (action, digest):
            approval = None
        step = self._of(execution)
        risk = weigh(step, self._mentioned, past)
        version = (execution.id, execution.reported)
        if self._decided is not None and (self._decided.version == version or self._challenge is not None):
            verdict = self._decided.verdict
        else:
            verdict = evaluate(step, risk, past, execution.profile, approval, self._mentioned)
            challenges = self._loop.enforcing and verdict.outcome in ("verify", "block")
            if challenges or self._loop.hooks.on_step is not None:
                return _Open(verdict, version, execution)
        execution.reported += 1
        execution.approved = None
        if not self._loop.enforcing:
            execution.take(kind[:64], grave=risk.base >= GRAVE)
            return self._advised(execution, verdict)
        if verdict.outcome == "continue":
            execution.take(kind[:64], grave=risk.base >= GRAVE)
            return self._let_through(execution, verdict)
        return self._held(execution, verdict, digest)

    def _advised(self, execution: Execution, verdict: StepVerdict) -> _Answer:
        """Go on whatever the verdict is."""
        factors = verdict.factors
        if verdict.outcome != "continue":
            would = {"confirm": "pause", "verify": "pause for a verification", "block": "block"}[verdict.outcome]
            factors = (f"Would {would}: {verdict.reason}", *factors)
        if self._unclear:
            factors = (*factors, f"The reported operation could not be called: {self._unclear}")
        remaining, pending = execution.remaining, self._pending
        answer = directive(True, factors, remaining=remaining, risk=verdict.tier, notifications=pending)
        return _Answer(execution, answer, verdict)

    def _let_through(self, execution: Execution, verdict: StepVerdict) -> _Answer:
        granted = None
        if self._report is not None and self._report.changes:
            until = time.time() + self._loop.config.loop.report_ttl
            granted = StepApproval(self._report.operation, self._report.digest, until)
            execution.approve(granted)
        answer = directive(True, verdict.factors, remaining=execution.remaining, risk=verdict.tier, granted=granted)
        return _Answer(execution, answer, verdict)

    def _held(self, execution: Execution, verdict: StepVerdict, digest: str) -> _Answer:
        """Pause the agent, or stop it; the challenge and the block are in the store by now."""
        level = {"confirm": "confirm", "verify": "verify", "block": "danger_zone"}[verdict.outcome]
        pause_id, until = self._challenge or (str(uuid.uuid4()), 0.0)
        reason = verdict.reason or "Paused"
        where = f"shown {self._loop.operator}" if self._loop.operator else "which nobody can be shown here"
        note = pause_notification(execution.agent, level, reason, verdict.factors, pause_id, where)
        note = note._replace(operation="record_execution_step" if self._report is None else self._report.operation)
        reported = self._shown()
        execution.hold(Pause(pause_id, level, self._action, digest, reason, verdict.factors, note, until, reported))
        if level != "confirm":
            reason = f"{reason}. Challenge {pause_id} waits for a person's code"
        answer = directive(
            False,
            verdict.factors,
            reason=reason,
            remaining=execution.remaining,
            stopped=level == "danger_zone",
            risk=verdict.tier,
            notifications=[note],
        )
        return _Answer(execution, answer, verdict)

    def _shown(self) -> str:
        """Return the operation that is reported as a person reads it, on one line; "" for none."""
        if self._report is None or not self._report.operations:
            return ""
        text = literal(self._report.shown)
        if len(text) > _LONGEST_SHOWN:
            text = f"{text[:_LONGEST_SHOWN]}... (cut, {len(text)} characters)"
        return f"{self._report.operation} {text}"

    def _of(self, execution: Execution) -> Step:
        report = self._report
        return Step(
            execution.agent,
            self._action,
            self._params.get("outcome"),
            self._params.get("stepDescription", ""),
            None if report is None else report.operation,
            self._params.get("nextParams") or {},
            () if report is None else report.operations,
            execution.id,
            self._session.id,
        )

    async def _record(self, answer: _Answer) -> None:
        execution, shown, verdict = answer.execution, answer.directive, answer.verdict
        params = masked("", self._params)
        if "nextParams" in params:
            params["nextParams"] = sorted(params["nextParams"]) if self._report is None else dict(self._report.shown)
        self._loop.record(
            "STEP_RECORDED",
            {
                "execution_id": None if execution is None else execution.id,
                "element_name": self._agent,
                "session_id": self._session.id,
                "params": params,
                "continue": shown["continue"],
                "stopped": shown.get("stopped"),
                "risk": None if verdict is None else verdict.risk,
                "factors": shown["factors"],
            },
        )
        if execution is not None and self._loop.enforcing:
            with suppress(StoreAway):
                await self._loop.verification.board.open(self._agent)
