# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Who lets an agent start, and go on: the person behind the client, or an operator, and never the agent (8.7.3).

A client that can ask a person asks (elicitation). Otherwise the question is put on the operator's desk, and the agent
calls again once it is decided. With `approval = "client"` the owner states that the client has a person approve each
call of the execute tool, which is enough for the start and for the tier `confirm`; while a block of an unknown caller
stands, or another agent of the same caller is paused elsewhere, a person has to approve the start itself.
"""

from __future__ import annotations

import hashlib
import time
from typing import TYPE_CHECKING, Any

from ...session import current_caller
from ..desk import Desk, Matter
from ..literals import literal
from .lookalikes import agent_key
from .reports import refused

if TYPE_CHECKING:
    from ...protocol_operations import Person
    from ...session import Session
    from ...settings.config import Config
    from .executions import Execution, Pause

__all__ = ["Approvals"]

_START_SECONDS, _STEP_SECONDS = 900.0, 3600.0
_MOST_STARTS = 5
_ALONE = "An agent cannot confirm its own action, and this client has no way to ask a person"


class Approvals:
    """Asks persons and operators; `operator` says where an operator looks, "" if there is none."""

    def __init__(self, config: Config, desk: Desk, operator: str) -> None:
        self._config = config
        self._desk = desk
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
        text = "\n".join([agent_key(agent), goal, session.id or "", current_caller() or "", str(held)])
        matter_id = f"start_{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"
        by = await self._decided(matter_id, "an operator does not let this agent start")
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
        waiting = [matter for matter in await self._desk.matters() if matter.kind == "start" and matter.id != matter_id]
        if sum((m.session, m.caller) == (session.id or "", current_caller() or "") for m in waiting) >= _MOST_STARTS:
            raise refused(f"{_MOST_STARTS} starts wait for an operator already, {self.operator}: wait for one of them")
        await self._ask(matter_id, "start", agent, question, session, _START_SECONDS)
        raise refused(
            f"a person has to let an agent start: an operator is asked, {self.operator}. Send execute_agent again, "
            "as it is, once it is decided.",
            {"waits_for": "operator"},
        )

    async def resume(self, agent: str, pause: Pause, person: Person | None) -> str:
        """Return who confirms a paused action. Raises Failure when nobody does."""
        if self._by_client:
            return "the client's own approval"
        if person is not None and person.reachable:
            if not await person.ask(self._about(agent, pause)):
                raise refused("the person who was asked said no, and nothing is confirmed")
            return "a person"
        if self.operator:
            raise refused(
                f"{_ALONE}. An operator is asked, {self.operator}: report the action again once it is decided."
            )
        raise refused(f"{_ALONE}. Use a client with elicitation, or abort the execution.")

    async def token(self, question: str, person: Person | None) -> None:
        """Return if a person, or the client's approval, confirms what a token is for. Raises Failure otherwise."""
        if self._by_client:
            return
        if person is None or not person.reachable:
            raise refused(f"{_ALONE}. Use a client with elicitation, or abort the execution.")
        if not await person.ask(question):
            raise refused("the person who was asked said no, and nothing is confirmed")

    async def wait(self, execution: Execution, pause: Pause, session: Session) -> None:
        """Put a paused action on the operator's desk, if there is an operator."""
        if self.operator and pause.level == "confirm":
            question = self._about(execution.agent, pause)
            factors, operation = pause.factors, pause.notification.operation
            await self._ask(pause.id, "step", execution.agent, question, session, _STEP_SECONDS, factors, operation)

    async def confirmed(self, pause: Pause) -> str:
        """Return the operator who has confirmed a paused action, "" for none. It is used up."""
        matter = await self._desk.matter(pause.id) if self.operator else None
        if matter is None or matter.verdict != "approved" or not await self._desk.withdraw(pause.id):
            return ""
        return f"operator {literal(matter.by)}" if matter.by else "an operator"

    async def denied(self, pause: Pause) -> str:
        """Return the operator who has denied a paused action, "" for none."""
        matter = await self._desk.matter(pause.id) if self.operator and pause.level == "confirm" else None
        if matter is None or matter.verdict != "denied":
            return ""
        return f"Operator {literal(matter.by)}" if matter.by else "An operator"

    async def withdraw(self, pause: Pause) -> None:
        """Take a paused action off the desk: it was decided elsewhere."""
        if self.operator and pause.level == "confirm":
            await self._desk.withdraw(pause.id)

    def _about(self, agent: str, pause: Pause) -> str:
        question = f"Agent {literal(agent)} is paused: {pause.reason}. Let it go on with this? {literal(pause.action)}"
        return f"{question} It then calls {pause.reported}" if pause.reported else question

    async def _decided(self, matter_id: str, denial: str) -> str:
        """Return the operator who has approved a matter, "" for none. Raises Failure if one has denied it."""
        matter = await self._desk.matter(matter_id) if self.operator else None
        if matter is None or not matter.verdict:
            return ""
        if matter.verdict == "denied":
            raise refused(denial)
        if not await self._desk.withdraw(matter_id):
            return ""
        return f"operator {literal(matter.by)}" if matter.by else "an operator"

    async def _ask(
        self,
        matter_id: str,
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
        await self._desk.ask(
            Matter(
                matter_id,
                kind,
                title,
                question,
                (operation,),
                "",
                now,
                now + seconds,
                reasons,
                agent,
                current_caller() or "",
                session.id or "",
            )
        )
