"""The operations as the steps of a plan see and call them: each call takes the path that it takes alone (R-STEP-2)."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..calls.selection import Selection
from ..decode.outcome import with_key
from ..envelope import CallWarning
from ..errors import Code, Failure
from ..safety.approvals import Approvals, HeldCall, fitting
from ..safety.audit import holds_secret
from ..schema import union_of
from ..state import StoreAway
from ..steps.plan import Plan, Step
from ..text import folded
from ..warnings import Warnings
from ..warnings.rules import repeated_by
from . import ToolCall
from .arguments import TOKEN, Request

if TYPE_CHECKING:
    from ..envelope import Envelope
    from ..schema import Types
    from ..table import Row
    from . import Calls

_MOST_WARNINGS = 20
_INTERMEDIATE = 20
"""How many times the tokens of an answer a step may hand to the next ones; what the plan shows is cut at its end."""


class StepCalls:
    """The operations as a plan's steps see and call them; with `reads`, those that only read."""

    def __init__(
        self, calls: Calls, call: ToolCall, plan: Plan, written: Mapping[str, Any], approvals: Approvals, *, reads: bool
    ) -> None:
        self.rows: Mapping[int, Row] = {}
        self.token: str | None = None
        self.later: Iterable[str] = ()
        self.warnings = Warnings()
        self.shown_warnings: list[dict[str, Any]] = []
        self.budget = calls.config.max_request_size
        self.asks_person = call.person is not None and call.person.reachable
        self._calls = calls
        self._family = "read" if reads else None  # a tool that only reads offers no plan that does anything else
        self._plan = plan
        self._written = written
        self._stamp, self._session, self._person = call.stamp, call.session, call.person
        self._approvals = approvals
        self._selection = Selection(calls.table)

    # What is known before

    def agent_path(self, step: Step, path: str) -> str:
        """Return a path of a step's answers in the agent's names."""
        return self._selection.agent_path(self.rows[step.number], path)

    def find(self, operation: str) -> Row:
        """Return the row of an operation that a step may perform. Raises Failure for any other."""
        if operation == "introspect" or self._calls.registry.find(operation) is not None:
            raise Failure(
                Code.INVALID_VALUE,
                f"Operation '{operation}' is the adapter's own, and no step of a plan: call it alone",
                {"operation": operation},
            )
        row = self._calls.find(self._family, operation, self._session, self._stamp)
        refusal = self._calls.gatekeeper.refuses(row)
        if refusal is not None:
            raise refusal
        return row

    def problem(self, row: Row, params: Mapping[str, Any], open_params: frozenset[str]) -> Failure | None:
        """Return the problems of parameters that no value of their references can solve; None without any."""
        known = {name: value for name, value in params.items() if name not in open_params}
        unknown = _unknown(row, open_params, self._calls.table.types)
        if unknown:
            from ..validation.problems import failure as failure_of
            from ..validation.problems import unknown_problem

            return failure_of([unknown_problem(row, unknown)])
        try:
            checking = self._calls.checking
            checking.validated(row, checking.given(Request(row.name, known, {}), row), [])
        except Failure as failure:
            return failure if not open_params else _sure(failure, known, open_params)
        return None

    # Calls

    def is_safe_read(self, name: str) -> bool:
        """Return True for an operation that changes nothing and tells nothing grave."""
        return self._calls.is_safe_read(name, self._family)

    async def perform(self, operation: str, params: Mapping[str, Any]) -> Envelope:
        """Perform a call as if it came alone."""
        self._calls.limits.check({"params": params})
        if not self.is_safe_read(operation):
            await self.claim()
        envelope: Envelope = self._calls.masked(await self._calls.answer(self._call(operation, params), self.warnings))
        if self._person is not None and not self.is_safe_read(operation):
            self._person.batched = True  # from here on the question cannot be the result of all of it
        return envelope

    async def foresee(self, operation: str, params: Mapping[str, Any], thing: Any = None) -> HeldCall | None:
        """Return the confirmation that a call will need, if any; `thing` is its resource, as read."""
        try:
            self._calls.limits.check({"params": params})
        except Failure:
            return None
        held = await self._calls.foresee(self._call(operation, params))
        if held is None or thing is None:
            return held
        from ..safety.question_texts import name_of

        return replace(held, name=name_of(thing))

    async def foresee_first_use(self, operation: str) -> HeldCall | None:
        """Return the confirmation that all calls of an operation will need together, if any."""
        return await self._calls.foresee_first_use(self._call(operation, {}))

    async def confirm(self, calls: Sequence[HeldCall], unknown: Container[int]) -> int:
        """Have calls confirmed together, and return how many of them were. Raises Failure if they are not.

        Calls of steps at `unknown` positions, and those that do not fit, may be asked about later.
        """
        chosen = fitting(calls)
        later = [self.rows[step.number] for step in self._plan.steps if step.number - 1 in unknown]
        names = [row.name for row in later if self._calls.gatekeeper.asks(row)]
        covered = {call.row.name for call in chosen if call.any}
        self.later = sorted({*names, *(call.row.name for call in calls[len(chosen) :])} - covered)
        asking, token = self._calls.gatekeeper.asking, self._approvals.take_token()
        await asking.confirm_calls(chosen, token, self._session, self._person)
        self._approvals.confirm(chosen)
        return len(chosen)

    async def preview(self, operation: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the request of a call without sending it. Raises Failure for an invalid call."""
        self._calls.limits.check({"params": params})
        row, call = self._calls.find(self._family, operation, self._session, self._stamp), self._call(operation, params)
        checking = self._calls.checking
        call.row, call.params = row, valid = await checking.checked(row, checking.given(call.request, row))
        if "dry_run" in row.adapter_parameters:
            valid.pop("dry_run", None)
        shown = await checking.dry_run(call)
        return {key: value for key, value in shown.items() if key != "dry_run"}

    def _call(self, operation: str, params: Mapping[str, Any]) -> ToolCall:
        """Return a call of a step. A read gives all of its answer: the next steps may need what is not shown."""
        number = next(step.number for step in self._plan.steps if step.operation == operation)
        name = repeated_by(self.rows[number])
        if name and name not in params:
            params = {**params, name: "full"}
        request = Request(operation, params, {}, self._approvals, self._calls.config.max_answer_tokens * _INTERMEDIATE)
        return ToolCall(self._family, request, self._stamp, self._session, self._person)

    def declares(self, step: Step, field: str) -> bool:
        """Return True if the document declares a field of the things that a step answers with."""
        return self._selection.declares(self.rows[step.number], field)

    def with_key(self, step: Step, params: Mapping[str, Any], key: str) -> dict[str, Any]:
        """Return the parameters of a call that is made again, with the idempotency key that it had."""
        return with_key(self.rows[step.number], params, key)

    def shown(self, step: Step, data: Any) -> Any:
        """Return the part of a call's data for the answer: the step's fields, or the operation's default ones."""
        row = self.rows[step.number]
        fields = step.fields
        if fields is None:
            name = repeated_by(row)
            if not name or name in step.params:
                return data
            fields = row.default_fields
        paged = row.paging is not None and isinstance(data, dict)
        return self._selection.select(data, row, fields, "items" if paged else None).whole()

    def add_warnings(self, warnings: Sequence[Mapping[str, Any]], step: int) -> None:
        """Add the warnings of a call."""
        for warning in warnings[: max(0, _MOST_WARNINGS - len(self.shown_warnings))]:
            self.shown_warnings.append({**warning, "details": {**warning.get("details", {}), "step": step}})

    def warn(self, warning: CallWarning, step: int) -> None:
        """Add a warning of the plan itself."""
        warnings = self._calls.rules.remember(self._plan.steps[step - 1].operation, [warning], self._session)
        self.add_warnings([shown.as_json() for shown in warnings], step)

    # The plan itself

    def report(self, step: Step, done: int, all_calls: int) -> None:
        """Report to operators how many calls of a step are done."""
        if self._calls.activity is not None:
            counts = {} if step.foreach is None else {"current": done, "total": all_calls}
            status = f"step {step.number} of {len(self._plan.steps)}"
            self._calls.activity.work(self._stamp.request_id, step.operation, status, counts)

    def report_end(self) -> None:
        """Report to operators that the plan has ended, or halted."""
        if self._calls.activity is not None:
            self._calls.activity.ended(self._stamp.request_id)

    async def check_report(
        self, operation: str, params: Mapping[str, Any], kept: Sequence[Any] | None, inputs: Container[str]
    ) -> None:
        """Let the steps run under one report. Raises Failure if it is missing, and StoreAway.

        `kept` is that of a plan that goes on, `inputs` are those of a workflow.
        """
        loop = self._calls.loop
        if loop is None or not loop.enforcing:
            return
        from ..safety.loop.reports import PlanReport
        from .reports import plan_report

        find = self._calls.introspection.find
        self._approvals.plan = PlanReport(*kept) if kept else plan_report(find, operation, params, self._plan, inputs)
        for row in self.rows.values():
            if await loop.needs(self._session, row, {}, self._approvals.plan):
                return

    async def claim(self) -> None:
        """Take the kept plan, before its first call that is no safe read. Raises Failure if another call has it."""
        token, self.token = self.token, None
        if token is not None and not await self._calls.kept_plans.take(token, self._session):
            raise Failure(
                Code.TOKEN_ALREADY_USED,
                "The token of 'continue' was used by another call",
                {"param_name": "continue"},
            )

    async def keep(self, progress: Mapping[str, Any]) -> str | None:
        """Keep a halted plan and return its token; None for one that is too large, or holds a secret."""
        if self.token is not None:
            with suppress(StoreAway):
                await self._calls.kept_plans.take(self.token, self._session)
            self.token = None
        for step in self._plan.steps:
            if holds_secret(self.rows[step.number], step.params, self._calls.table.types):
                return None
        plan = self._approvals.plan
        report = None if plan is None else [plan.operation, plan.digest, dict(plan.params), plan.execution]
        kept = {**self._written, "progress": progress, "report": report}
        return await self._calls.kept_plans.put(kept, self._session)


def _unknown(row: Row, names: Iterable[str], types: Types) -> list[str]:
    """Return the names of no parameter and no field of a body, which may stand beside it; none of a free body."""
    bodies = [union_of(types, item.schema) for item in row.parameters.values() if item.location.startswith("body")]
    if any(shape.extra or not shape.properties for shape in bodies):
        return []
    fields = [name for shape in bodies for agent, (wire, _) in shape.properties.items() for name in (agent, wire)]
    declared = {folded(name) for name in (*row.parameters, *row.wire_names, *fields)}
    return [name for name in names if folded(name) not in declared and name[:1] != "_" and name != TOKEN]


def _sure(failure: Failure, known: Mapping[str, Any], open_params: frozenset[str]) -> Failure | None:
    """Return the part of a failure that no value of the references can solve; None without any."""
    from ..validation.problems import Problem
    from ..validation.problems import failure as failure_of

    details = failure.details
    missing = _surely_missing(details.get("missing_params") or (), open_params)
    if missing:
        message = f"Missing required parameter(s): {', '.join(missing)}"
        of = {"operation": details["operation"]} if "operation" in details else {}
        return Failure(failure.code, message, {**of, "missing_params": missing})
    if failure.code is Code.UNKNOWN_PARAM:
        return failure
    problems: list[Problem] = []
    if failure.code in (Code.INVALID_TYPE, Code.INVALID_VALUE):
        problems.append(Problem(failure.code, str(details.get("param_name", "")), failure.message, details))
    problems += [
        Problem(Code(problem["code"]), problem["param_name"], problem["message"])
        for problem in details.get("problems", [])
        if problem["code"] in (Code.INVALID_TYPE, Code.INVALID_VALUE, Code.UNKNOWN_PARAM)
    ]
    names = {folded(name) for name in known}
    sure = [problem for problem in problems if folded(problem.name.partition(".")[0].partition("[")[0]) in names]
    return failure_of(sure) if sure else None


def _surely_missing(missing: Sequence[str], open_params: frozenset[str]) -> list[str]:
    """Return the missing parameters that no reference stands for.

    Parameters may stand within others, and references be fields of a body: what is missing is sure only if the
    references stand for parameters of their own.
    """
    open_names = {folded(name) for name in open_params}
    left = [name for name in missing if folded(name) not in open_names]
    return left if len(missing) - len(left) == len(open_params) else []
