"""The way of a call: a list of stages, each of which passes the call on to the next, or answers it or refuses it.

A stage that only looks at the call returns what the next one does. One that waits, or has work left after the answer,
is a coroutine. Warnings stand on the call; a refusal is a Failure.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from ..client import ApiSide
from ..envelope import CallWarning, Envelope, Stamp
from ..errors import Failure
from ..hooks import Call, HookError, Hooks
from ..introspection.introspect import Introspection
from ..logs import Logger
from ..logs.observers import Observers
from ..safety.audit import Audit
from ..safety.gatekeeper import Gatekeeper
from ..safety.refusals import not_offered
from ..session import Session
from ..settings.config import Config
from ..state.custody import State
from ..table import Adapter, Row, Table, chosen
from ..validation import Unexplained
from ..warnings import Warnings
from ..warnings.rules import MOST_UNDERSTOOD, WarningRules, understood_warning
from .arguments import Limits, Request, wrong_family

if TYPE_CHECKING:
    from ..calls import Exchanges
    from ..protocol_operations import Handler, Person, Registry
    from ..safety.approvals import Approval, HeldCall
    from ..safety.loop.loop import SafetyLoop
    from ..state.activity import Activity
    from ..steps.halted import KeptPlans
    from ..validation.repair import Repaired
    from ..wire import ApiRequest


@dataclass(slots=True)
class ToolCall:
    """A call of one operation; `family` is that of the tool, None for the tool of every operation.

    `row` and `params` are those of an operation of the API, once the stages have found and checked them.
    """

    family: str | None
    request: Request
    stamp: Stamp
    session: Session
    person: Person | None
    row: Row = field(init=False)
    params: dict[str, Any] = field(init=False)
    warnings: Warnings = field(default_factory=list)
    notes: dict[str, Any] = field(default_factory=dict)
    """The entries of `_meta` about its answer."""
    shown: list[dict[str, Any]] = field(default_factory=list)
    """Warnings that were chosen to be shown before."""
    approval: Approval | None = None
    """The request that was approved: no other one is sent."""
    reported: Mapping[str, Any] | None = None
    """The parameters by which the safety loop has let the call run; None for a call that needs no report."""
    alone: bool = True
    """False for an operation of a batch, and a step of a plan."""
    hooked: Call | None = None
    """The call as the owner's hooks know it; None without hooks."""
    altered_by: list[str] = field(default_factory=list)
    """The owner's hooks that changed the call or its request."""
    exchanges: Exchanges | None = None
    """The exchanges with the API that it made."""

    @property
    def name(self) -> str:
        """The name of the operation."""
        return self.row.name if hasattr(self, "row") else self.request.operation

    def warn(self, warning: CallWarning) -> None:
        """Add a warning."""
        self.warnings.append(warning)

    def seen(self, *, dry_run: bool = False) -> Call:
        """Return the call as hooks and the gatekeeper see it."""
        row, ids = self.row, (self.stamp.request_id, self.session.id)
        return Call(row.name, self.params, row.family, *ids, self.request.metadata(row), dry_run=dry_run)


Next: TypeAlias = Callable[[ToolCall], Awaitable[Any]]


class Stage(Protocol):
    """Answers a call with its data, mostly with those of the next stage."""

    def __call__(self, call: ToolCall, next: Next) -> Awaitable[Any]:
        """Answer a call. Raises Failure."""


class Extension:
    """What the owner, or the API's document, has switched on; each part is empty or None without one."""

    handlers: Mapping[str, Handler] = {}
    """Answers to the operations of the protocol that it offers."""
    loop: SafetyLoop | None = None
    first: Stage | None = None
    """Around the whole call, operations of the protocol included."""
    before: Stage | None = None
    """Before the gate, with valid parameters."""
    around: Stage | None = None
    """Around the requests of a call that the gate let through."""
    after: Callable[[ToolCall, Exchanges, Any], Awaitable[Any]] | None = None
    """After an answer, whose data it may add to."""


def composed(stages: Sequence[Stage], last: Next) -> Next:
    """Return a call's way through the stages."""
    for stage in reversed(stages):
        last = partial(stage, next=last)
    return last


class Checking:
    """The stages of a call between its operation and the gate."""

    def __init__(self, calls: Calls) -> None:
        self._api, self._hooks, self._table = calls.api, calls.hooks, calls.table
        self._gate, self._limits = calls.gatekeeper, calls.limits

    # Stages

    def parameters(self, call: ToolCall, next: Next) -> Awaitable[Any]:
        """Pass on a call that is valid, or can mean one thing only. Raises Failure with all problems of any other."""
        row = call.row
        params = self.given(call.request, row)
        understood: list[Repaired] = []
        try:
            call.row, call.params = self.validated(row, params, understood, explain=False)
        except Unexplained:
            return self._understood(call, next, understood, params)
        return self._understood(call, next, understood) if understood else next(call)

    async def _understood(
        self, call: ToolCall, next: Next, understood: list[Repaired], invalid: Mapping[str, Any] | None = None
    ) -> Any:
        """Pass on a call with a warning, or advice of its failure, about what was understood."""
        if invalid is not None:
            call.row, call.params = await self._gate.beside(self.validated, call.row, invalid, understood)
        if not understood:
            return await next(call)
        self._limits.check({"params": call.params})  # what was text may be deep
        try:
            data = await next(call)
        except Failure as failure:
            failure.details.setdefault("understood", [item.message for item in understood[:MOST_UNDERSTOOD]])
            raise
        call.warn(understood_warning(understood))
        return data

    def preview(self, call: ToolCall, next: Next) -> Awaitable[Any]:
        """Answer a call that is only to be shown; pass any other on."""
        if "dry_run" in call.row.adapter_parameters and call.params.pop("dry_run", False):
            return self.dry_run(call)
        return next(call)

    async def hooked(self, call: ToolCall, next: Next) -> Any:
        """Pass a call on as the owner's hook `before_call` changes it."""
        call.hooked = seen = call.seen()
        changed = await self._hooks.on_call(seen)
        if changed is not seen:
            call.hooked = changed
            call.row, call.params = self.validated(call.row, changed.params)
            call.altered_by.append("before_call")
            if call.approval is not None:
                call.approval.release()
        return await next(call)

    # For calls before their turn

    def given(self, request: Request, row: Row) -> Mapping[str, Any]:
        """Return the parameters that a request gives an operation."""
        return request.for_row(row, self._gate.asks)

    async def checked(self, row: Row, params: Mapping[str, Any]) -> tuple[Row, dict[str, Any]]:
        """Return the result of `validated`; problems are explained in a thread, beside other calls."""
        understood: list[Repaired] = []
        try:
            return self.validated(row, params, understood, explain=False)
        except Unexplained:
            return await self._gate.beside(self.validated, row, params, understood)

    def validated(
        self, row: Row, params: Mapping[str, Any], understood: list[Repaired] | None = None, *, explain: bool = True
    ) -> tuple[Row, dict[str, Any]]:
        """Return the row with the kinds of content that a call chooses, and its parameters if they are valid."""
        validate = partial(self._api.of(row).validate, explain=explain)
        if not row.choices:
            return row, validate(row, params, understood)
        whole = row if not row.kinds else self._table.find(row.name, row.family) or row
        row = chosen(whole, params)
        valid = validate(row, params, understood)
        meant = chosen(whole, valid)
        return (row, valid) if meant is row else (meant, validate(meant, valid, understood))

    def built(self, row: Row, params: Mapping[str, Any]) -> ApiRequest:
        """Build the request that parameters make. Raises Failure when a credential or the base URL is missing."""
        return self._api.of(row).build(row, row.api_params(params))

    async def dry_run(self, call: ToolCall) -> dict[str, Any]:
        """Return the request and the gatekeeper's decision of a dry run; the owner's hooks see it as a call."""
        from ..calls.dry_run import preview

        hooks, row, params, seen = self._hooks, call.row, call.params, call.seen(dry_run=True)
        decision = await self._gate.decide(row, seen, partial(self.built, row, params))
        changed = await hooks.on_call(seen)
        if changed is not seen:
            row, params = self.validated(row, changed.params)
        data = await preview(self._api, self._table, row, params, lambda request: hooks.on_send(request, changed))
        if decision.outcome != "allow":
            data["decision"] = {"outcome": decision.outcome, "rule": decision.rule, "reasons": list(decision.reasons)}
        return data


class Parts(NamedTuple):
    """The parts of a dispatcher beside the adapter and its API; None stands for the simplest of its kind."""

    hooks: Hooks | None = None
    logger: Logger | None = None
    audit: Audit | None = None
    state: State | None = None
    masked: Callable[[Any], Any] = lambda value: value
    """Returns a value without the adapter's credentials."""
    observers: Observers | None = None
    quota_status: Callable[[], Awaitable[dict[str, Any]]] | None = None


class Calls:
    """The part of the dispatcher that batches, plans and extensions make further calls with."""

    registry: Registry
    loop: SafetyLoop | None

    def __init__(self, adapter: Adapter, table: Table, api: ApiSide, config: Config, parts: Parts) -> None:
        self.all_operations: Introspection | None = None
        """Those that a read-only adapter does not offer, too; None for any other adapter."""
        if config.read_only:
            self.all_operations = Introspection(adapter, table, config)
            table = table.safe_reads()
            adapter = adapter.restricted_to(table.raw("read"))
        self.adapter = adapter
        self.table = table
        self.config = config
        self.api = api
        self.masked = parts.masked
        self.observers = parts.observers
        self.state = parts.state or State(name=adapter.name)
        self.hooks = Hooks() if parts.hooks is None else parts.hooks
        self.log = parts.logger or Logger(config.log_level)
        self.limits = Limits(config)
        self.rules = WarningRules(config, table)
        self.audit = parts.audit or Audit(None, self.log, adapter=adapter.name)
        self.gatekeeper = Gatekeeper(
            adapter, config, self.hooks, self.audit, self.log, self.state, table, parts.observers, parts.masked
        )
        self.introspection = Introspection(adapter, table, config, self.gatekeeper.asks)
        self.checking = Checking(self)

    async def answer(self, call: ToolCall, batch_warnings: Warnings | None = None) -> Envelope:
        """Answer one operation; in a batch the warnings go to `batch_warnings`."""
        raise NotImplementedError

    def find(
        self, family: str | None, operation: str, session: Session, stamp: Stamp, param_names: Collection[str] = ()
    ) -> Row:
        """Return the row of an operation that a tool offers. Raises Failure, which the audit log records if need be."""
        row = self.introspection.find(operation, family)
        if row is None:
            hidden = None if self.all_operations is None else self.all_operations.find(operation)
            if hidden is not None:  # a read-only adapter does not offer it
                self.gatekeeper.record_hidden(hidden, session, stamp.request_id)
                raise not_offered(hidden)
            raise self.introspection.unknown(operation, param_names, family)
        self.check_family(family, row.name, row.family)
        return row

    def is_known(self, name: str) -> bool:
        """Return True for a name that an operation answers to."""
        return name == "introspect" or self.registry.find(name) is not None or self.introspection.find(name) is not None

    def check_family(self, family: str | None, operation: str, expected: str) -> None:
        """Raise Failure for an operation that belongs to another tool."""
        if family not in (None, expected):
            raise wrong_family(self.config, operation, expected, family)

    def api_row(self, name: str, family: str | None) -> Row | None:
        """Return the row of an operation of the API; None for any other."""
        if name == "introspect" or self.registry.find(name) is not None:
            return None
        return self.introspection.find(name, family)

    def is_safe_read(self, name: str, family: str | None) -> bool:
        """Return True for an operation that changes nothing and tells nothing grave."""
        row = self.api_row(name, family)
        return name == "introspect" or (row is not None and row.family == "read" and row.danger == "safe")

    async def foresee(self, call: ToolCall) -> HeldCall | None:
        """Return the confirmation that a call will need; None where it needs none, or would fail. Nothing is sent."""
        await asyncio.sleep(0)  # calls of others have their turn between two that are looked at
        request, gate, checking = call.request, self.gatekeeper, self.checking
        row = self.introspection.find(request.operation, call.family)
        if row is None or not gate.watches(row) or call.family not in (None, row.family):
            return None
        try:
            call.row, call.params = row, params = await checking.checked(row, checking.given(request, row))
            if "dry_run" in row.adapter_parameters and params.pop("dry_run", False):
                return None
            if self.loop is not None:
                plan = None if request.approvals is None else request.approvals.plan
                await self.loop.needs(call.session, row, params, plan)
            return await gate.foresee_confirmation(row, call.seen(), partial(checking.built, row, params))
        except (Failure, HookError):
            return None  # the call itself will say it

    async def foresee_first_use(self, call: ToolCall) -> HeldCall | None:
        """Return the confirmation that any calls of an operation will need, if its first use is asked about."""
        row = self.introspection.find(call.request.operation, call.family)
        if row is None or not self.gatekeeper.watches(row):
            return None
        call.row, call.params = row, {}
        return await self.gatekeeper.foresee_first_use(row, call.seen())

    @cached_property
    def activity(self) -> Activity | None:
        """The refused callers and the long work, for operators; None with a store that they cannot reach."""
        if not self.state.shared.store.shared:
            return None
        from ..state.activity import Activity

        return Activity(self.state.shared)

    @cached_property
    def kept_plans(self) -> KeptPlans:
        """The plans that halted."""
        from ..steps.halted import KeptPlans

        return KeptPlans(self.state)
