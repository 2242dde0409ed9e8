# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The safety loop: an agent reports what it is about to do, and learns whether it may (R-LOOP-2, R-LOOP-3).

Enforcing: a directive of `continue: false` holds until a person confirms the action. Monitoring: the same evaluation,
shown in the factors, and `continue` is always true. Logging: steps are recorded, not evaluated. Disabled: none of this
(specification, 8.6 and 8.7).

An agent never confirms its own actions (8.7.3). A confirmation comes from a person whom the client asks (elicitation).
A client that cannot ask confirms nothing, unless the owner has set `approval = "client"`, which states that the client
itself lets a person approve each call of the execute tool. The same holds for starting, with one exception: a client
that cannot ask may start an execution, because that restricts the agent and permits nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from ..errors import Code, Failure
from ..protocol_operations import Handler, Person, ProtocolOperation, Registry
from ..session import Session
from ..settings.config import Config
from ..state.custody import State
from ..table import Adapter, Row
from .executions import Execution, Executions, Notification, profile_of, timestamp
from .kept_executions import KeptExecutions
from .loop_operations import active_operations

__all__ = ["ConfirmationGate", "SafetyLoop"]

_CONFIRMABLE = 300.0
_ALONE = "An agent cannot confirm its own action, and this client has no way to ask a person"


class ConfirmationGate(Protocol):
    """The part of the gatekeeper that confirm_operation needs."""

    async def question(self, token: str, session: Session) -> str:
        """Return what the token would confirm, as a question to a person. Raises Failure for an unusable token."""
        ...

    async def confirm(self, token: str, session: Session) -> dict[str, Any]:
        """Let the call of a token run once. Raises Failure for an unusable token."""
        ...


class SafetyLoop:
    """The operations of the loop; one instance for the adapter."""

    def __init__(
        self, config: Config, state: State | None = None, record: Callable[[str, dict[str, Any]], None] | None = None
    ) -> None:
        self.mode = config.safety_loop
        self._config = config
        self._gate: ConfirmationGate | None = None
        self._record = record or _ignore
        self._kept = KeptExecutions(config, state or State(), self._record)

    @property
    def enforcing(self) -> bool:
        """True if directives are binding."""
        return self.mode == "enforcing"

    def bind(self, gate: ConfirmationGate) -> None:
        """Connect confirm_operation with the gatekeeper."""
        self._gate = gate

    def registry(
        self, adapter: Adapter, others: Mapping[str, Handler], more: Iterable[tuple[ProtocolOperation, Handler]] = ()
    ) -> Registry:
        """Return the active protocol operations with their handlers; `others` are of those that are not the loop's.

        `more` are further operations that every adapter may have or not.
        """
        handlers: dict[str, Handler] = {
            **others,
            "execute_agent": self.execute_agent,
            "record_execution_step": self.record_execution_step,
            "complete_execution": self.complete_execution,
            "abort_execution": self.abort_execution,
            "confirm_operation": self.confirm_operation,
        }
        active = active_operations(adapter, self._config)
        return Registry([*((operation, handlers[operation.name]) for operation in active), *more])

    # For the gatekeeper and the dispatcher

    async def add_pending(self, session: Session, row: Row, reason: str, seconds: float = _CONFIRMABLE) -> None:
        """Record that an operation waits for confirmation; agents of the session learn it with their next step.

        `seconds` is how long it can be confirmed: afterwards it does not wait any more. With neither a session nor a
        known caller the owner of the call is unknown, and nothing is recorded.
        """
        executions = await self._kept.read(session)
        if executions is None or next(executions.all_running(), None) is None:
            return
        message = f"Operation '{row.name}' requires confirmation"
        notification = Notification("permission_pending", message, row.name, reason, "CONFIRM_SINGLE_USE", timestamp())
        await self._kept.change(session, lambda executions: executions.add_pending(notification, seconds))

    async def remove_pending(self, session: Session, operations: Sequence[str]) -> None:
        """Record that operations were confirmed."""
        executions = await self._kept.read(session)
        waiting = {notification.operation for notification in executions.pending()} if executions is not None else ()

        def remove(executions: Executions) -> None:
            for operation in operations:
                executions.remove_pending(operation)

        if any(operation in waiting for operation in operations):
            await self._kept.change(session, remove)

    async def is_guarding(self, session: Session) -> bool:
        """Return True if an agent runs here, so that a token which it sends back itself confirms nothing (8.7.3).

        With neither a session nor a known caller every agent of such calls counts, because their owner is unknown.
        """
        if not self.enforcing or self._config.loop_approval != "person":
            return False
        executions = await self._kept.read(session, anyone=True)
        return executions is not None and next(executions.all_running(), None) is not None

    async def hold(self, session: Session, row: Row) -> None:
        """Raise Failure for every operation but a READ while an agent of the session is paused (8.6.4).

        Raises StoreAway if that cannot be known.
        """
        if not self.enforcing or row.family == "read":
            return
        executions = await self._kept.read(session)
        for execution in executions.all_running() if executions is not None else ():
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
        """Start an execution; a person is asked first if the client can ask one."""
        agent = params["element_name"]
        profile = profile_of(self._config, agent)
        executions = await self._kept.read(session, anyone=True)
        if executions is not None:
            executions.check_free(agent)  # before a person is asked
        asks = self.enforcing and self._config.loop_approval == "person" and person is not None and person.reachable
        if asks and person is not None:
            goal = f" Its goal: {_quoted(params['goal'])}" if params.get("goal") else ""
            if not await person.ask(f"Let agent {_quoted(agent)} run under the safety loop?{goal}"):
                raise _refused("the person who was asked does not let this agent start")
        execution = await self._kept.change(session, lambda executions: executions.start(agent, profile, approved=asks))
        self._record("EXECUTION_STARTED", {**_about(execution, session), "approved_by_person": asks})
        message = {
            "enforcing": "Report every action with record_execution_step, and act only if `continue` is true",
            "monitoring": "Report every action with record_execution_step; its answers are advice",
        }.get(self.mode, "Report every action with record_execution_step; it is recorded, not evaluated")
        return execution.as_json(message)

    async def record_execution_step(self, params: dict[str, Any], session: Session, _: Person | None) -> Any:
        """Evaluate a step; the answer is always an AutonomyDirective."""
        from .evaluation import answer_step  # here, since most adapters run without the loop

        agent = params["element_name"]

        def answer(executions: Executions) -> tuple[Execution | None, dict[str, Any]]:
            execution = executions.running(agent)
            return execution, answer_step(self.mode, executions, execution, params)

        execution, directive = await self._kept.change(session, answer)
        self._record(
            "STEP_RECORDED",
            {
                "execution_id": None if execution is None else execution.id,
                "element_name": agent,
                "session_id": session.id,
                "params": params,
                "continue": directive["continue"],
                "factors": directive["factors"],
            },
        )
        return directive

    async def complete_execution(self, params: dict[str, Any], session: Session, _: Person | None) -> Any:
        """End an execution normally."""
        return await self._end(params, session, "completed", "Completed")

    async def abort_execution(self, params: dict[str, Any], session: Session, _: Person | None) -> Any:
        """End an execution early."""
        return await self._end(params, session, "cancelled", "Aborted")

    async def _end(self, params: dict[str, Any], session: Session, status: str, message: str) -> dict[str, Any]:
        def end(executions: Executions) -> Execution:
            execution = executions.running(params["element_name"])
            if execution is None:
                raise _not_found("no execution of this agent is in progress", params["element_name"])
            execution.end(status)
            return execution

        execution = await self._kept.change(session, end)
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
            if await self.is_guarding(session):
                await self._approve(person, await self._gate.question(token, session))
            return await self._gate.confirm(token, session)
        if agent is None:
            raise Failure(
                Code.MISSING_PARAM,
                "Missing required parameter 'confirmation_token', or 'element_name' for an agent's paused action",
                {"param_name": "confirmation_token", "operation": "confirm_operation"},
            )
        return await self._resume(agent, session, person)

    async def _resume(self, agent: str, session: Session, person: Person | None) -> dict[str, Any]:
        from .evaluation import STEP_LIMIT, normalized

        executions = await self._kept.read(session, anyone=True)
        paused = None if executions is None else executions.running(agent)
        pause = None if paused is None else paused.pause
        if paused is None or pause is None:
            raise _not_found("nothing of this agent waits for a confirmation", agent)
        by = await self._approve(
            person, f"Agent {_quoted(agent)} is paused: {pause.reason}. Let it go on with this? {_quoted(pause.action)}"
        )

        def resume(executions: Executions) -> Execution:
            execution = executions.running(agent)
            if execution is None or (execution.id, execution.pause) != (paused.id, pause):
                raise _not_found("the paused action has changed in the meantime", agent)
            execution.pause = None
            execution.approved = (normalized(pause.action), f"Confirmed by {by}")
            if pause.reason == STEP_LIMIT:
                execution.taken = 0
            return execution

        execution = await self._kept.change(session, resume)
        self._record("PAUSE_CONFIRMED", {**_about(execution, session), "action": pause.action, "by": by})
        return {
            "element_name": agent,
            "execution_id": execution.id,
            "nextActionHint": pause.action,
            "message": "Report this action again with record_execution_step: once, it is let through as it stands here",
        }

    async def _approve(self, person: Person | None, question: str) -> str:
        """Return who approved. Raises Failure when nobody can, or a person says no."""
        if self._config.loop_approval == "client":
            return "the client's own approval"
        if person is None or not person.reachable:
            raise _refused(f"{_ALONE}. Use a client with elicitation, or abort the execution.")
        if not await person.ask(question):
            raise _refused("the person who was asked said no, and nothing is confirmed")
        return "a person"


def _ignore(_: str, __: dict[str, Any]) -> None:
    """Do nothing, in place of the audit log."""


def _about(execution: Execution, session: Session) -> dict[str, Any]:
    return {"execution_id": execution.id, "element_name": execution.agent, "session_id": session.id}


def _quoted(text: str) -> str:
    """Return an agent's text so that it cannot imitate the question that it stands in."""
    from .literals import literal

    return literal(text)


def _refused(reason: str) -> Failure:
    return Failure(Code.PERMISSION_DENIED, f"Permission denied: {reason}", {"reason": reason})


def _not_found(reason: str, agent: str) -> Failure:
    details = {"resource_type": "execution", "resource_id": agent}
    return Failure(Code.NOT_FOUND_RESOURCE, f"Resource 'execution' not found: {reason}", details)
