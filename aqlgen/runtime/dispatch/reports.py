"""Operations that agents report to the safety loop, read as their calls would be (R-LOOP-2)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Container, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ..errors import permission_denied
from ..exact_json import fingerprint
from ..introspection.info import DRY_RUN
from ..protocol_operations import RUN_STEPS
from ..safety.approvals import Approval
from ..safety.audit import masked_params
from ..safety.loop.loop import SafetyLoop, needs_report
from ..safety.loop.reports import FILES, PlanReport, Report
from ..steps.plan import Plan, read_plan
from ..steps.references import written_plan
from . import Extension, Next, ToolCall
from .arguments import Request

if TYPE_CHECKING:
    from ..table import Row
    from ..wire import ApiRequest
    from . import Calls


class LoopOperations(Extension):
    """The operations of a safety loop."""

    def __init__(self, calls: Calls) -> None:
        self.calls = calls
        self.loop: SafetyLoop = SafetyLoop(
            calls.config, calls.gatekeeper.asking, calls.audit.record, calls.hooks, OperationReports(calls)
        )
        self.handlers = self.loop.handlers


class LoopStages(LoopOperations):
    """The stages of a safety loop whose directives bind: a call runs as it was reported, and uses the report up."""

    def __init__(self, calls: Calls) -> None:
        super().__init__(calls)
        if not calls.state.shared.store.shared:
            calls.log.write(
                "warning",
                "the safety loop keeps its blocks in this process alone, since state.url is memory: they end with it, "
                "and no operator can be shown a code or lift a block",
            )

    def before(self, call: ToolCall, next: Next) -> Awaitable[Any]:
        """Pass on a call that needs no report, or was reported. Raises Failure for any other."""
        return self._reported(call, next) if needs_report(call.row) else next(call)

    async def _reported(self, call: ToolCall, next: Next) -> Any:
        row, params, approvals = call.row, call.params, call.request.approvals
        plan = None if approvals is None else approvals.plan
        call.approval = approval_of_files(row, params, partial(self.calls.checking.built, row, params), plan)
        call.reported = with_files(params, call.approval)
        await self.loop.guard.check(call.session, row.name, call.reported, plan)
        return await next(call)

    def around(self, call: ToolCall, next: Next) -> Awaitable[Any]:
        """Use the report up right before the call is sent."""
        return next(call) if call.reported is None else self._used(call.reported, call, next)

    async def _used(self, reported: Mapping[str, Any], call: ToolCall, next: Next) -> Any:
        approvals = call.request.approvals
        plan = None if approvals is None else approvals.plan
        await self.loop.guard.use(call.session, call.row.name, reported, plan)
        return await next(call)


class OperationReports:
    """Reads reports with the parts that calls are read with; nothing is sent."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._introspection = calls.introspection
        self._table = calls.table
        self._checking = calls.checking

    def report(self, operation: str, params: Mapping[str, Any]) -> Report:
        """Return the report of a call of an operation. Raises Failure for an invalid call."""
        known = None if operation == "introspect" else self._calls.registry.find(operation)
        workflow = self._table.workflows.get(operation)
        if known is not None and (operation == RUN_STEPS or workflow is not None):
            self._calls.registry.check(operation, params)
            steps, returns = params.get("steps"), params.get("return")
            if workflow is not None:
                steps, returns = written_plan(workflow, params)
            plan = read_plan(steps, returns)
            rows = [self._row(step.operation) for step in plan.steps]
            inputs = () if workflow is None else workflow.inputs
            digest = plan_report(self._introspection.find, operation, params, plan, inputs).digest
            operations = tuple(dict.fromkeys((row.name, row.danger) for row in rows))
            shown = {
                "steps": [
                    {"operation": row.name, "params": masked_params(row, step.params, self._table.types)}
                    for row, step in zip(rows, plan.steps, strict=True)
                ]
            }
            return Report(operation, digest, operations, any(map(needs_report, rows)), shown)
        if known is not None or operation == "introspect":
            return Report(operation, fingerprint(operation, params), (), False)
        row = self._row(operation)
        request = Request(operation, params, {})
        row, valid = self._checking.validated(row, self._checking.given(request, row), [])
        changes = needs_report(row)
        if DRY_RUN in row.adapter_parameters and valid.pop(DRY_RUN, False):
            changes = False
        operations = ((row.name, row.danger),)
        files = approval_of_files(row, valid, lambda: self._checking.built(row, valid))
        digest = fingerprint(row.name, with_files(valid, files))
        return Report(row.name, digest, operations, changes, masked_params(row, valid, self._table.types))

    def named_in(self, words: Sequence[str]) -> list[tuple[str, str]]:
        """Return the names and dangers of the operations that words name."""
        rows = (self._introspection.find(word) for word in dict.fromkeys(words) if len(word) > 3)
        return list(dict.fromkeys((row.name, row.danger) for row in rows if row is not None))

    def _row(self, operation: str) -> Row:
        row = self._introspection.find(operation)
        if row is None:
            raise self._introspection.unknown(operation)
        return row


def plan_report(
    find: Callable[[str], Row | None],
    operation: str,
    params: Mapping[str, Any],
    plan: Plan,
    inputs: Container[str] = (),
) -> PlanReport:
    """Return the report that the steps of a plan need, whatever names they give to operations.

    `inputs` are those of a workflow; only one that has no `dry_run` of its own can be previewed by that name.
    """
    if operation == RUN_STEPS:
        rows = {step.operation: find(step.operation) for step in plan.steps}
        names = {name: row.name for name, row in rows.items() if row is not None}
        written: dict[str, Any] = {
            "steps": [_named(step, names) for step in params.get("steps") or ()],
            "return": params.get("return"),
        }
    else:
        written = {name: value for name, value in params.items() if name != DRY_RUN or name in inputs}
    return PlanReport(operation, fingerprint(operation, written), dict(params))


def approval_of_files(
    row: Row, params: Mapping[str, Any], built: Callable[[], ApiRequest], plan: PlanReport | None = None
) -> Approval | None:
    """Return the approval of a request with files of the owner's folder, as they are now; None for any other.

    Raises Failure if it cannot be built, and in a plan: its report has the paths alone.
    """
    if not _has_path(params):
        return None
    request = built()
    if not request.files:
        return None
    if plan is not None:
        reason = "a plan is reported without the files which its steps name by a path: send them as content, or alone"
        raise permission_denied(reason, operation=row.name, reason=reason)
    return Approval(row, request)


def with_files(params: Mapping[str, Any], approval: Approval | None) -> Mapping[str, Any]:
    """Return parameters as reports are compared by: with the digest of the files that they name by a path."""
    return params if approval is None else {**params, FILES: approval.digest}


def _has_path(value: Any) -> bool:
    if isinstance(value, Mapping):
        return "path" in value or any(map(_has_path, value.values()))
    return isinstance(value, (list, tuple)) and any(map(_has_path, value))


def _named(step: Any, names: Mapping[str, str]) -> Any:
    if not isinstance(step, Mapping) or not isinstance(step.get("operation"), str):
        return step
    return {**step, "operation": names.get(step["operation"], step["operation"])}
