# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""What is known of the calls of a batch or plan before their turn; nothing is sent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from ..errors import Code, Failure
from ..hooks import HookError
from ..steps.plan import check_plan
from .arguments import Request

if TYPE_CHECKING:
    from ..client import ApiSide
    from ..envelope import Envelope, Stamp
    from ..hooks import Hooks
    from ..introspection.introspect import Introspection
    from ..logs import Logger
    from ..logs.observers import Observers
    from ..protocol_operations import Person, Registry
    from ..safety.approvals import Approvals, HeldCall
    from ..safety.asking import Asking
    from ..safety.audit import Audit
    from ..safety.gatekeeper import Gatekeeper
    from ..safety.loop.loop import SafetyLoop
    from ..safety.loop.reports import PlanReport
    from ..session import Session
    from ..settings.config import Config
    from ..state.activity import Activity
    from ..state.custody import State
    from ..steps.halted import KeptPlans
    from ..steps.plan import Operations, Plan
    from ..table import Adapter, Row, Table
    from ..warnings import CallWarning, Warnings
    from . import Checking, ToolCall
    from .arguments import Limits

__all__ = ["Ahead", "Calls"]


class Ahead:
    """Looks at calls as the dispatcher would perform them, with the parts that it performs them with."""

    def __init__(
        self,
        introspection: Introspection,
        registry: Registry,
        gate: Gatekeeper,
        loop: SafetyLoop | None,
        limits: Limits,
        checking: Checking,
    ) -> None:
        self._introspection = introspection
        self._registry = registry
        self._gate = gate
        self._loop = loop
        self._limits = limits
        self._checking = checking

    async def foresee(self, call: ToolCall) -> HeldCall | None:
        """Return what would have to be confirmed about a call; None where nothing would, or where it would fail."""
        await asyncio.sleep(0)  # calls of others have their turn between two that are looked at
        family, request = call.family, call.request
        row = self._introspection.find(request.operation, family)
        if row is None or not self._gate.watches(row) or family not in (None, row.family):
            return None
        try:
            call.row, call.params = row, params = await self._checking.checked(row, self._checking.given(request, row))
            if "dry_run" in row.adapter_parameters and params.pop("dry_run", False):
                return None
            if self._loop is not None:
                plan = None if request.approvals is None else request.approvals.plan
                await self._loop.needs(call.session, row, params, plan)
            built = partial(self._checking.built, row, params)
            return await self._gate.foresee_confirmation(row, call.seen(), built)
        except (Failure, HookError):
            return None  # the call itself will say it

    async def foresee_first_use(self, call: ToolCall) -> HeldCall | None:
        """Return what would have to be confirmed about any calls of an operation, if its first use is asked about."""
        row = self._introspection.find(call.request.operation, call.family)
        if row is None or not self._gate.watches(row):
            return None
        call.row, call.params = row, {}
        return await self._gate.foresee_first_use(row, call.seen())

    async def confirm(
        self, calls: Sequence[HeldCall], approvals: Approvals, session: Session, person: Person | None
    ) -> None:
        """Have calls confirmed together, with the token that was sent beside them if there is one. Raises Failure."""
        await self._gate.asking.confirm_calls(calls, approvals.take_token(), session, person)

    def row(self, name: str, family: str | None) -> Row | None:
        """Return the row of an operation of the API; None for any other."""
        if name == "introspect" or self._registry.find(name) is not None:
            return None
        return self._introspection.find(name, family)

    def is_safe_read(self, name: str, family: str | None) -> bool:
        """Return True for an operation that changes nothing and tells nothing grave."""
        row = self.row(name, family)
        return name == "introspect" or (row is not None and row.family == "read" and row.danger == "safe")

    def refuse_as_step(self, operation: str) -> None:
        """Raise Failure for an operation of the adapter itself."""
        if operation == "introspect" or self._registry.find(operation) is not None:
            raise Failure(
                Code.INVALID_VALUE,
                f"Operation '{operation}' is the adapter's own, and no step of a plan: call it alone",
                {"operation": operation},
            )

    def plan_report(
        self,
        operation: str,
        params: Mapping[str, Any],
        plan: Plan,
        kept: Sequence[Any] | None,
        inputs: Container[str] = (),
    ) -> PlanReport | None:
        """Return the report that the steps of a plan need; None where nothing is enforced.

        `kept` is that of a plan that goes on, `inputs` are those of a workflow.
        """
        if self._loop is None or not self._loop.enforcing or self._loop.reports is None:
            return None
        return self._loop.reports.plan_report(operation, params, plan, kept, inputs)

    async def check_report(self, rows: Iterable[Row], report: PlanReport, session: Session) -> None:
        """Raise Failure for a plan that changes something and was not reported. Raises StoreAway."""
        for row in rows:
            if self._loop is not None and await self._loop.needs(session, row, {}, report):
                return

    def refuse_by_policy(self, row: Row) -> None:
        """Raise Failure for an operation that the policy refuses whatever its parameters are."""
        refusal = self._gate.refuses(row)
        if refusal is not None:
            raise refusal

    def check_size(self, params: Mapping[str, Any]) -> None:
        """Raise Failure for parameters that are larger than a call's may be."""
        self._limits.check({"params": params})

    async def check_plan(self, plan: Plan, operations: Operations) -> dict[int, Row]:
        """Check a plan, and return each step's row. Raises Failure."""
        return await self._gate.beside(check_plan, plan, operations)

    def check(self, row: Row, params: Mapping[str, Any]) -> None:
        """Check parameters as those of a call. Raises Failure with all problems."""
        self._checking.validated(row, self._checking.given(Request(row.name, params, {}), row), [])

    async def preview(self, row: Row, call: ToolCall) -> dict[str, Any]:
        """Return what a call would send, and send nothing. Raises Failure if it cannot be called."""
        params = self._checking.given(call.request, row)
        call.row, call.params = row, params = await self._checking.checked(row, params)
        if "dry_run" in row.adapter_parameters:
            params.pop("dry_run", None)
        shown = await self._checking.dry_run(call)
        return {key: value for key, value in shown.items() if key != "dry_run"}


class Calls(Protocol):
    """The part of the dispatcher that batches, plans and executions make further calls with."""

    adapter: Adapter
    table: Table
    config: Config
    introspection: Introspection
    registry: Registry
    checking: Checking
    api: ApiSide
    hooks: Hooks
    state: State
    log: Logger
    audit: Audit
    observers: Observers | None
    asking: Callable[[], Asking]

    @property
    def ahead(self) -> Ahead:
        """The view of calls before their turn."""
        ...

    @property
    def activity(self) -> Activity | None:
        """The refused callers and the long work, for operators."""
        ...

    @property
    def kept_plans(self) -> KeptPlans:
        """The plans that halted."""
        ...

    async def answer(self, call: ToolCall, batch_warnings: Warnings | None = None) -> Envelope:
        """Answer one operation."""
        ...

    def is_known(self, name: str) -> bool:
        """Return True for the name of an operation."""
        ...

    def find(self, family: str | None, operation: str, session: Session, stamp: Stamp) -> Row:
        """Return the row of an operation that a tool offers. Raises Failure."""
        ...

    def check_family(self, family: str | None, operation: str, expected: str) -> None:
        """Raise Failure for an operation that belongs to another tool."""
        ...

    def select(self, warnings: Warnings, session: Session) -> list[dict[str, Any]]:
        """Return the warnings that the envelope shows."""
        ...

    def remember(self, operation: str, warnings: Iterable[CallWarning], session: Session) -> list[CallWarning]:
        """Add the warnings of a call to the history, and return those that the owner does not suppress."""
        ...

    def masked(self, value: Any) -> Any:
        """Return a value without the adapter's credentials."""
        ...
