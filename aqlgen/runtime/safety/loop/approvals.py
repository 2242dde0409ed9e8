"""Who lets an agent start, and go on: the person behind the client, or an operator, and never the agent (8.7.3).

A client that can ask a person asks (elicitation). Otherwise the question waits for an operator, and the agent
calls again once it is decided. With `approval = "client"` the owner states that the client has a person approve each
call of the execute tool, which is enough for the start and for the tier `confirm`; while a block of an unknown caller
stands, or another agent of the same caller is paused elsewhere, a person has to approve the start itself.
"""

from __future__ import annotations

import hashlib
import time
from typing import TYPE_CHECKING, Any

from ...session import current_caller
from ..question_texts import literal
from ..questions import Question, QuestionStore
from .lookalikes import agent_key
from .reports import refused

if TYPE_CHECKING:
    from ...protocol_operations import Person
    from ...session import Session
    from ...settings.config import Config
    from .executions import Execution, Pause

_START_SECONDS, _STEP_SECONDS = 900.0, 3600.0
_MOST_STARTS = 5
_ALONE = "An agent cannot confirm its own action, and this client has no way to ask a person"


class AgentApprovals:
    """Asks persons and operators; `operator` says where an operator looks, "" if there is none."""

    def __init__(self, config: Config, questions: QuestionStore, operator: str) -> None:
        self._config = config
        self._questions = questions
        self.operator = operator

    @property
    def _by_client(self) -> bool:
        return self._config.loop_approval == "client"

    async def start(self, agent: str, goal: str, session: Session, person: Person | None, *, held: bool = False) -> str:
        """Return who lets an agent start. Raises Failure if nobody does.

        `held` says that a block or a pause stands of which it is not known whether it concerns this agent.
        """
        if self._by_client and not held:
            return "the client's own approval"
        about = f" Its goal: {literal(goal)}" if goal else ""
        question = f"Let agent {literal(agent)} run under the safety loop?{about}"
        if held:
            question += " Another agent of this adapter is blocked or paused: this may be the same one, renamed."
        if person is not None and person.reachable:
            if not await person.ask(question):
                raise refused("the person who was asked does not let this agent start")
            return "a person"
        return await self._by_operator(agent, goal, question, session, held=held)

    async def _by_operator(self, agent: str, goal: str, question: str, session: Session, *, held: bool) -> str:
        """Return the operator who has let an agent start. Raises Failure if none has; one is asked then."""
        asker = (session.id or "", current_caller() or "")
        text = "\n".join([agent_key(agent), goal, *asker, str(held)])
        question_id = f"start_{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"
        known = await self._questions.question(question_id) if self.operator else None
        if known is not None and known.verdict == "denied":
            raise refused("an operator does not let this agent start")
        by = await self.used(question_id)
        if by:
            return by
        if not self.operator:
            owner = "a state.url which an operator can open"
            if not self._by_client:
                owner = f"MCP_AQL_SAFETY_LOOP_APPROVAL=client, or {owner}"
            raise refused(
                f"a person has to let {'this' if held else 'an'} agent start, and this client has no way to ask one. "
                f"Use a client with elicitation, or let the owner set {owner}."
            )
        questions = await self._questions.questions()
        waiting = [item for item in questions if item.kind == "start" and item.id != question_id]
        if sum((item.session, item.caller) == asker for item in waiting) >= _MOST_STARTS:
            raise refused(f"{_MOST_STARTS} starts wait for an operator already, {self.operator}: wait for one of them")
        await self._ask(question_id, "start", agent, question, session, _START_SECONDS)
        raise refused(
            f"a person must let an agent start: an operator is asked, {self.operator}. Send execute_agent again, "
            "unchanged, after the decision.",
            {"waits_for": "operator"},
        )

    async def resume(self, agent: str, pause: Pause, person: Person | None) -> str:
        """Return who confirms a paused action. Raises Failure when nobody does."""
        way = "Use a client with elicitation, or abort the execution."
        if self.operator:
            way = f"An operator is asked, {self.operator}: report the action again once it is decided."
        return await self._confirmed(self._about(agent, pause), person, way)

    async def token(self, question: str, person: Person | None) -> None:
        """Return if a person, or the client's approval, confirms what a token is for. Raises Failure otherwise."""
        await self._confirmed(question, person, "Use a client with elicitation, or abort the execution.")

    async def _confirmed(self, question: str, person: Person | None, way: str) -> str:
        if self._by_client:
            return "the client's own approval"
        if person is None or not person.reachable:
            raise refused(f"{_ALONE}. {way}")
        if not await person.ask(question):
            raise refused("the person who was asked said no, and nothing is confirmed")
        return "a person"

    async def wait(self, execution: Execution, pause: Pause, session: Session) -> None:
        """Ask an operator about a paused action, if there is one."""
        if self.operator and pause.level == "confirm":
            question = self._about(execution.agent, pause)
            factors, operation = pause.factors, pause.notification.operation
            await self._ask(pause.id, "step", execution.agent, question, session, _STEP_SECONDS, factors, operation)

    async def denied(self, pause: Pause) -> str:
        """Return the operator who has denied a paused action, "" for none."""
        question = await self._questions.question(pause.id) if self.operator and pause.level == "confirm" else None
        if question is None or question.verdict != "denied":
            return ""
        return f"Operator {literal(question.by)}" if question.by else "An operator"

    async def withdraw(self, pause: Pause) -> None:
        """Take back the question about a paused action: it was decided elsewhere."""
        if self.operator and pause.level == "confirm":
            await self._questions.withdraw(pause.id)

    def _about(self, agent: str, pause: Pause) -> str:
        question = f"Agent {literal(agent)} is paused: {pause.reason}. Let it go on with this? {literal(pause.action)}"
        return f"{question} It then calls {pause.reported}" if pause.reported else question

    async def used(self, question_id: str) -> str:
        """Use an operator's approval of a start or a step, and return who gave it; "" for none."""
        used = await self._questions.use(question_id, "") if self.operator else None
        if used is None:
            return ""
        return f"operator {literal(used.by)}" if used.by else "an operator"

    async def _ask(
        self,
        question_id: str,
        kind: Any,
        agent: str,
        question: str,
        session: Session,
        seconds: float,
        reasons: tuple[str, ...] = (),
        operation: str = "execute_agent",
    ) -> None:
        now = time.time()
        title = question.partition("?")[0][:200] + "?"
        await self._questions.ask(
            Question(
                id=question_id,
                kind=kind,
                title=title,
                question=question,
                operations=(operation,),
                danger="",
                asked=now,
                expires=now + seconds,
                reasons=reasons,
                agent=agent,
                caller=current_caller() or "",
                session=session.id or "",
            )
        )
