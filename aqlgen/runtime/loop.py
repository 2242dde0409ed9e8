# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The safety loop: an agent reports what it is about to do, and learns whether it may (R-LOOP-2, R-LOOP-3).

Enforcing: a directive of `continue: false` stands until a person confirms the action. Monitoring: the same
evaluation, told in the factors, and `continue` is always true. Logging: steps are recorded, not evaluated. Disabled:
nothing of it (specification, 8.6 and 8.7).

An agent never confirms its own actions (8.7.3). A confirmation comes from a person whom the client asks (elicitation);
where the client cannot ask, it is refused, unless the owner has set `approval = "client"`, which states that the
client itself lets a person approve each call of the execute tool. The same holds for starting, except that a client
which cannot ask is taken to have approved the call as its users want it: starting puts an agent under watch and frees
nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from .config import Config
from .directive import Notification, now
from .errors import Code, Failure
from .executions import IDLE, Book, Execution
from .loop_operations import active_operations
from .profiles import profile
from .registry import Handler, Person, Registry
from .session import Session
from .table import Adapter, Row

__all__ = ["Gate", "Loop"]

_STATE = "safety_loop"
_CONFIRMABLE = 300.0
_ALONE = "An agent cannot confirm its own action, and this client has no way to ask a person"


class Gate(Protocol):
    """What the loop needs of the gatekeeper."""

    def question(self, token: str, session: Session) -> str:
        """Say what the token would confirm, as a question to a person. Raises Failure for a token of no use."""
        ...

    def confirm(self, token: str, session: Session) -> dict[str, Any]:
        """Mark the token's operation as confirmed. Raises Failure for a token of no use."""
        ...


class Loop:
    """One for the adapter; what belongs to a session is kept in the session."""

    def __init__(self, config: Config, record: Callable[[str, dict[str, Any]], None] | None = None) -> None:
        self.mode = config.safety_loop
        self._config = config
        self._gate: Gate | None = None
        self._record = record or _unrecorded
        self._shared = Book(self._cancelled, idle=IDLE)

    @property
    def enforcing(self) -> bool:
        """Whether directives bind."""
        return self.mode == "enforcing"

    def bind(self, gate: Gate) -> None:
        """Let confirm_operation reach the gatekeeper."""
        self._gate = gate

    def registry(self, adapter: Adapter) -> Registry:
        """Give the protocol operations that are active, with what performs them."""
        handlers: dict[str, Handler] = {
            "execute_agent": self.execute_agent,
            "record_execution_step": self.record_execution_step,
            "complete_execution": self.complete_execution,
            "abort_execution": self.abort_execution,
            "confirm_operation": self.confirm_operation,
        }
        return Registry((one, handlers[one.name]) for one in active_operations(adapter, self._config))

    # What the gatekeeper tells and asks

    def pending(self, session: Session, row: Row, reason: str, seconds: float = _CONFIRMABLE) -> None:
        """Note that an operation was denied until it is confirmed; agents of the session learn it with their next step.

        `seconds` is for how long it can be confirmed: afterwards nothing waits any more. Without a session nobody knows
        whose call it was, and nothing is noted.
        """
        book = self._known(session)
        if book is None:
            return
        message = f"Operation '{row.name}' requires confirmation"
        note = Notification("permission_pending", message, row.name, reason, "CONFIRM_SINGLE_USE", now())
        book.wait(note, seconds)

    def confirmed(self, session: Session, row: Row) -> None:
        """Note that it was confirmed."""
        book = self._known(session)
        if book is not None:
            book.confirmed(row.name)

    def guards(self, session: Session) -> bool:
        """Whether an agent runs here, so that a token which it sends back by itself confirms nothing (8.7.3).

        Without a session any agent without one counts, since nobody knows whose call it is.
        """
        book = self._known(session) if session.id is not None else self._shared
        return (
            book is not None
            and self.enforcing
            and self._config.loop_approval == "person"
            and next(book.all_running(), None) is not None
        )

    def hold(self, session: Session, row: Row) -> None:
        """Hold back what is no READ while an agent of the session is paused (8.6.4). Raises Failure."""
        book = self._known(session)
        if book is None or not self.enforcing or row.family == "read":
            return
        for execution in book.all_running():
            if execution.pause is not None:
                raise Failure(
                    Code.PERMISSION_DENIED,
                    "Permission denied: the agent's execution is paused until a person confirms its reported action",
                    {
                        "operation": row.name,
                        "reason": execution.pause.reason,
                        "element_name": execution.agent,
                        "execution_id": execution.id,
                    },
                )

    # The operations

    async def execute_agent(self, params: dict[str, Any], session: Session, person: Person | None) -> Any:
        """Start an execution; a person is asked first where the client can ask one."""
        agent = params["element_name"]
        book = self._book(session)
        if book.running(agent) is not None:
            book.start(agent, profile(self._config, agent), approved=False)  # refused
        asked = self.enforcing and self._config.loop_approval == "person" and person is not None and person.reachable
        if asked and person is not None:
            goal = f" Its goal: {params['goal']}" if params.get("goal") else ""
            if not await person.ask(f"Let agent '{agent}' run under the safety loop?{goal}"):
                raise _refused("the person who was asked does not let this agent start")
        execution = book.start(agent, profile(self._config, agent), approved=asked)
        self._record("EXECUTION_STARTED", {**_about(execution, session), "approved_by_person": asked})
        message = {
            "enforcing": "Report every action with record_execution_step, and act only if `continue` is true",
            "monitoring": "Report every action with record_execution_step; its answers are advice",
        }.get(self.mode, "Report every action with record_execution_step; it is recorded, not evaluated")
        return execution.as_json(message)

    async def record_execution_step(self, params: dict[str, Any], session: Session, _: Person | None) -> Any:
        """Evaluate a step; the answer is an AutonomyDirective, always."""
        from .steps import answer  # here, since most adapters run without the loop

        agent = params["element_name"]
        book = self._book(session)
        execution = book.running(agent)
        made = answer(self.mode, book, execution, params)
        self._record(
            "STEP_RECORDED",
            {
                "execution_id": None if execution is None else execution.id,
                "element_name": agent,
                "session_id": session.id,
                "params": params,
                "continue": made["continue"],
                "factors": made["factors"],
            },
        )
        return made

    async def complete_execution(self, params: dict[str, Any], session: Session, _: Person | None) -> Any:
        """End an execution normally."""
        return self._ended(params, session, "completed", "Completed")

    async def abort_execution(self, params: dict[str, Any], session: Session, _: Person | None) -> Any:
        """End an execution before its end."""
        return self._ended(params, session, "cancelled", "Aborted")

    def _ended(self, params: dict[str, Any], session: Session, status: str, message: str) -> dict[str, Any]:
        execution = self._book(session).running(params["element_name"])
        if execution is None:
            raise _nothing("no execution of this agent is in progress", params["element_name"])
        execution.end(status)
        self._record(f"EXECUTION_{status.upper()}", {**_about(execution, session), "params": params})
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
        if token is not None and self._gate is not None:
            if self.guards(session):
                await self._approve(person, self._gate.question(token, session))
            return self._gate.confirm(token, session)
        if agent is None:
            raise Failure(
                Code.MISSING_PARAM,
                "Missing required parameter 'confirmation_token', or 'element_name' for an agent's paused action",
                {"param_name": "confirmation_token", "operation": "confirm_operation"},
            )
        return await self._resumed(agent, session, person)

    async def _resumed(self, agent: str, session: Session, person: Person | None) -> dict[str, Any]:
        from .evaluation import STEP_LIMIT, plain

        execution = self._book(session).running(agent)
        pause = None if execution is None else execution.pause
        if execution is None or pause is None:
            raise _nothing("nothing of this agent waits for a confirmation", agent)
        by = await self._approve(
            person, f"Agent '{agent}' is paused: {pause.reason}. Let it go on with this? {pause.action}"
        )
        if not execution.running or execution.pause is not pause:
            raise _nothing("the paused action has changed in the meantime", agent)
        execution.pause = None
        execution.approved = (plain(pause.action), f"Confirmed by {by}")
        if pause.reason == STEP_LIMIT:
            execution.taken = 0
        self._record("PAUSE_CONFIRMED", {**_about(execution, session), "action": pause.action, "by": by})
        return {
            "element_name": agent,
            "execution_id": execution.id,
            "nextActionHint": pause.action,
            "message": "Report this action again with record_execution_step: once, it is let through as it stands here",
        }

    async def _approve(self, person: Person | None, question: str) -> str:
        """Give who approved. Raises Failure when nobody may, or a person says no."""
        if self._config.loop_approval == "client":
            return "the client's own approval"
        if person is None or not person.reachable:
            raise _refused(f"{_ALONE}. Use a client with elicitation, or abort the execution.")
        if not await person.ask(question):
            raise _refused("the person who was asked said no, and nothing is confirmed")
        return "a person"

    # Sessions

    def _known(self, session: Session) -> Book | None:
        """Give the session's book if something of it was ever used; a call without the loop pays one look-up."""
        return session.state.get(_STATE)

    def _book(self, session: Session) -> Book:
        if session.id is None:
            return self._shared
        book: Book | None = session.state.get(_STATE)
        if book is None:
            book = session.state[_STATE] = Book(self._cancelled)
            session.on_close(book.close)
        return book

    def _cancelled(self, execution: Execution) -> None:
        self._record("EXECUTION_CANCELLED", {"execution_id": execution.id, "element_name": execution.agent})


def _unrecorded(_: str, __: dict[str, Any]) -> None:
    """Stand in for the audit log."""


def _about(execution: Execution, session: Session) -> dict[str, Any]:
    return {"execution_id": execution.id, "element_name": execution.agent, "session_id": session.id}


def _refused(reason: str) -> Failure:
    return Failure(Code.PERMISSION_DENIED, f"Permission denied: {reason}", {"reason": reason})


def _nothing(reason: str, agent: str) -> Failure:
    details = {"resource_type": "execution", "resource_id": agent}
    return Failure(Code.NOT_FOUND_RESOURCE, f"Resource 'execution' not found: {reason}", details)
