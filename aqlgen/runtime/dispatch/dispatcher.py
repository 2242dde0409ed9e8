# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The path of a request from its arguments to its envelope (specification, 3.2; R-REQ-1 to 6, R-BAT-1)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cached_property, partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

from ..calls.exchanges import ApiSide
from ..envelope import Envelope, Stamp, success
from ..errors import Code, Failure, internal_failure
from ..hooks import Hooks
from ..introspection.introspect import Introspection
from ..introspection.protocol import QUOTA_STATUS, REVOKE_TOKEN
from ..logs.log import Logger
from ..logs.observers import OK, CallEnd, Observers
from ..protocol_operations import DiscreetPerson, Handler, Person, Registry
from ..safety.approvals import changed
from ..safety.audit import Audit
from ..safety.gatekeeper import Gatekeeper
from ..safety.loop_operations import active_operations
from ..safety.refusals import not_offered
from ..session import Session, with_request
from ..settings.config import Config
from ..state.custody import State
from ..steps.operation import RUN_STEPS
from ..table import Adapter, Row, Table
from ..warnings.collector import Warnings
from ..warnings.rules import WarningRules
from .arguments import (
    Limits,
    parse_json_texts,
    read_batch,
    read_single,
    refuse_in_batch,
    sent_tokens,
    wrong_family,
)
from .checking import Checking
from .performer import Performer
from .stages import Extension, Next, Stage, ToolCall, composed

if TYPE_CHECKING:
    from ..safety.loop.loop import SafetyLoop
    from ..steps.halted import KeptPlans
    from .ahead import Ahead
    from .executions import Executions

__all__ = ["ApiSide", "Dispatcher", "Parts"]


class Parts(NamedTuple):
    """What a dispatcher works with beside the adapter and its API; one that is None is the plainest of its kind."""

    hooks: Hooks | None = None
    logger: Logger | None = None
    audit: Audit | None = None
    state: State | None = None
    masked: Callable[[Any], Any] | None = None
    observers: Observers | None = None
    extensions: Sequence[Extension] = ()
    quota_status: Callable[[], Awaitable[dict[str, Any]]] | None = None


class Dispatcher:
    """The answer to every call of every tool. One instance serves all sessions, concurrently."""

    def __init__(
        self, adapter: Adapter, table: Table, api: ApiSide, config: Config, parts: Parts | None = None
    ) -> None:
        parts = parts or Parts()
        self._all_operations: Introspection | None = None
        if config.read_only:
            self._all_operations = Introspection(adapter, table, config)
            table = table.safe_reads()
            adapter = adapter.restricted_to(table.raw("read"))
        self.adapter = adapter
        self.table = table
        self.config = config
        self.introspection = Introspection(adapter, table, config)
        self._api = api
        self._masked = parts.masked
        self.observers = parts.observers
        self.state = parts.state or State(name=adapter.name)
        self._quota_status = parts.quota_status
        self._hooks = Hooks() if parts.hooks is None else parts.hooks
        self.log = parts.logger or Logger(config.log_level)
        self._limits = Limits(config)
        self._warning_rules = rules = WarningRules(config, table)
        self.select, self.remember = rules.select, rules.remember
        audit = parts.audit or Audit(None, self.log, adapter=adapter.name)
        self._loop: SafetyLoop | None = None
        if config.safety_loop != "disabled":
            from ..safety.loop.loop import SafetyLoop

            self._loop = SafetyLoop(config, self.state, audit.record, self._hooks, adapter.name)
        self._gate = Gatekeeper(
            adapter,
            config,
            self._hooks,
            audit,
            self.log,
            self.state,
            self._loop,
            table,
            parts.observers,
            parts.masked,
        )
        self._checking = Checking(api, self._hooks, table, self._gate, self._limits)
        workflows = [(operation, refuse_in_batch) for operation in self.introspection.workflows]
        self._plans = {operation.name for operation, _ in workflows} | {RUN_STEPS}
        handlers = self._handlers()
        active = active_operations(adapter, config)
        self._registry = Registry([*((operation, handlers[operation.name]) for operation in active), *workflows])
        self.extensions = (*self._loop_stages(), *parts.extensions)
        performer = Performer(api, self._hooks, table, rules, self._gate, self.state, lambda: self._executions)
        self.perform = performer.perform
        self.stages = self._stages()
        self._way = composed(self.stages, self.perform)

    def _stages(self) -> list[Stage]:
        """Return the stages of a call in their order; the last one, which performs it, comes after them."""
        extensions, checking = self.extensions, self._checking
        stages = [
            *(extension.first for extension in extensions),
            self.operation,
            checking.parameters,
            checking.preview,
            *(extension.before for extension in extensions),
            self.gate,
            *(extension.around for extension in extensions),
            checking.hooked if self._hooks else None,
        ]
        return [stage for stage in stages if stage is not None]

    def _handlers(self) -> dict[str, Handler]:
        """Return what answers the operations of the protocol."""
        handlers: dict[str, Handler] = {
            RUN_STEPS: refuse_in_batch,
            "confirm_operation": lambda params, session, _: self._gate.asking.confirm(
                params["confirmation_token"], session
            ),
        }
        if self._loop is not None:
            handlers |= self._loop.handlers
        if self.adapter.executions:
            from ..executions.operations import CANCEL, STATUS

            handlers[STATUS] = lambda *call: self._executions.status(*call)
            handlers[CANCEL] = lambda *call: self._executions.cancel(*call)
        return handlers

    def _loop_stages(self) -> tuple[Extension, ...]:
        """Connect the safety loop with the gatekeeper and the operations, and return its stages, if directives bind."""
        loop = self._loop
        if loop is None:
            return ()
        from .reports import LoopStages, OperationReports

        reports = OperationReports(self.introspection, self.table, lambda: self._registry, self._checking)
        loop.bind(lambda: self._gate.asking, reports)
        if loop.is_forgetful:
            self.log.write(
                "warning",
                "the safety loop keeps its blocks in this process alone, since state.url is memory: they end with it, "
                "and no operator can be shown a code or lift a block",
            )
        return (LoopStages(loop, self._checking),) if loop.enforcing else ()

    async def handle(
        self,
        family: str | None,
        arguments: Mapping[str, Any] | None,
        session: Session | None = None,
        person: Person | None = None,
    ) -> Envelope:
        """Answer the call of one tool; `family` is None for the tool of every operation. Never raises Exception.

        `person` can be asked to confirm; if the question must be the result of the call, Unanswered is raised. No
        credential of the adapter is in the answer or in the question.
        """
        stamp, session = Stamp(), session or Session()
        if person is not None and self._masked is not None:
            person = DiscreetPerson(person, self._masked)
        with with_request(stamp.request_id):
            arguments = parse_json_texts(arguments or {})
            try:
                self._limits.check(arguments)
                items = read_batch(arguments)
                if items is None:
                    call = ToolCall(family, read_single(arguments, self.is_known), stamp, session, person)
                    envelope = await self.answer(call)
                else:
                    envelope = await self._batch(family, arguments, items, stamp, session, person)
            except Failure as failure:
                envelope = failure.envelope()
                self._note_end(("unknown", "unknown"), envelope, stamp, session, stamp.seconds)
        if not envelope["success"]:
            stamp.mark(envelope, session.id)
        masked: Envelope = self.masked(envelope)
        return masked

    async def answer(self, call: ToolCall, batch_warnings: Warnings | None = None) -> Envelope:
        """Answer one operation.

        In a batch the results carry no `_meta` but headers of the API, and the warnings go to `batch_warnings`, except
        those about the data.
        """
        began, operation = perf_counter(), call.request.operation
        try:
            if operation == "introspect":
                self.check_family(call.family, operation, "read")
                envelope = await self._introspect(call.request.params, call.session)
            elif operation in self._plans and batch_warnings is None and self._registry.find(operation):
                from .plans import answer_plan

                envelope = await answer_plan(self, self._registry, call)
            else:
                envelope = self._succeeded(call, await self._way(call), batch_warnings)
        except Failure as failure:
            envelope = failure.envelope()
        except Exception as error:
            ids = {"request_id": call.stamp.request_id, "operation": operation, "session_id": call.session.id}
            self.log.exception("unexpected failure", error, **ids)  # noqa: TRY401
            envelope = internal_failure(call.stamp.request_id).envelope()
        if self.observers:
            self._note_end(self._named(operation), envelope, call.stamp, call.session, perf_counter() - began)
        return envelope

    def _succeeded(self, call: ToolCall, data: Any, batch_warnings: Warnings | None) -> Envelope:
        """Return the answer of an operation with its warnings."""
        warnings, session, shown = call.warnings, call.session, []
        if warnings:
            self.remember(call.name, warnings, session)
            if batch_warnings is not None:
                about_data = warnings.take_about_data()
                batch_warnings.extend(warnings)
                warnings = about_data
            shown = self.select(warnings, session)
        if batch_warnings is None:
            return success(data, call.stamp.meta(), shown)
        headers = call.stamp.take_headers()
        return success(data, {"headers": headers} if headers else None, shown)

    def _note_end(
        self, named: tuple[str, str], envelope: Envelope, stamp: Stamp, session: Session, seconds: float
    ) -> None:
        """Inform the observers of the end of a call; `named` are its operation and family."""
        outcome = OK if envelope["success"] else envelope["error"]["code"]
        if self.observers and self.observers.wants_call(outcome):
            self.observers.call_ended(CallEnd(*named, outcome, seconds, stamp.request_id, session.id))

    async def _introspect(self, params: Mapping[str, Any], session: Session) -> Envelope:
        """Answer an introspection. Raises Failure for a token that cannot be revoked."""
        envelope = self.introspection.answer(params, session.id, self._warning_rules.history(session))
        query = params.get("query") if envelope["success"] else None
        if query == QUOTA_STATUS and self._quota_status is not None:
            return {**envelope, "data": await self._quota_status()}
        if query == REVOKE_TOKEN:
            return {**envelope, "data": await self._gate.asking.revoke(params["token"], session)}
        return envelope

    async def close(self) -> None:
        """Withdraw what waits for operators in sessions that have ended, and close the store."""
        try:
            await self._gate.close()
        finally:
            await self.state.close()

    # Stages

    def operation(self, call: ToolCall, next: Next) -> Awaitable[Any]:
        """Answer an operation of the protocol, or pass on a call of one of the API. Raises Failure for any other."""
        request = call.request
        protocol_operation = self._registry.find(request.operation)
        if protocol_operation is not None:
            operation, handler = protocol_operation
            self.check_family(call.family, operation.name, operation.family)
            return handler(request.params, call.session, call.person)
        call.row = self.find(call.family, request.operation, call.session, call.stamp)
        return next(call) if call.row.name == request.operation else self._aliased(call, next)

    async def _aliased(self, call: ToolCall, next: Next) -> Any:
        """Pass on a call by another name, with the warning about an old one: the operation, the last day."""
        data = await next(call)
        alias = self.introspection.alias(call.request.operation)
        if alias is not None:
            from ..warnings.deprecation import alias_warning

            call.warn(alias_warning(*alias))
        return data

    def gate(self, call: ToolCall, next: Next) -> Awaitable[Any]:
        """Pass on a call that needs no look of the gatekeeper, or that it admits; record how that ends."""
        return self._admitted(call, next) if self._gate.watches(call.row) else next(call)

    async def _admitted(self, call: ToolCall, next: Next) -> Any:
        row, seen = call.row, call.seen()
        built = partial(self._checking.built, row, call.params)
        approval = await self._gate.admit(row, seen, call.session, call.person, built, call.request.grant)
        if call.approval is not None and approval is not None and approval.digest != call.approval.digest:
            raise changed(row)
        call.approval = approval or call.approval
        code: str | None = Code.INTERNAL_ERROR.value
        try:
            data = await next(call)
            code = None
        except Failure as failure:
            code = failure.code.value
            raise
        finally:
            warnings = call.warnings if code is None else ()
            self._gate.ended(row, call.session, seen.request_id, code, call.approval, warnings)
        return data

    @cached_property
    def _executions(self) -> Executions:
        """The work that goes on after the calls that began it."""
        from .executions import Executions

        return Executions(self, self._api, self._hooks, self.state.shared)

    def find(self, family: str | None, operation: str, session: Session, stamp: Stamp) -> Row:
        """Return the row of an operation that a tool offers. Raises Failure, which the audit log records if need be."""
        row = self.introspection.find(operation, family)
        if row is None:
            hidden = None if self._all_operations is None else self._all_operations.find(operation)
            if hidden is not None:  # a read-only adapter does not offer it
                self._gate.record_hidden(hidden, session, stamp.request_id)
                raise not_offered(hidden)
            raise self.introspection.unknown(operation)
        self.check_family(family, row.name, row.family)
        return row

    def is_known(self, name: str) -> bool:
        """Return True for a name that an operation answers to."""
        return (
            name == "introspect" or self._registry.find(name) is not None or self.introspection.find(name) is not None
        )

    def _named(self, operation: str) -> tuple[str, str]:
        """Return the adapter's name of an operation and its family; "unknown" twice for what is none."""
        known = self._registry.find(operation)
        named = self.introspection.find(operation) if known is None else known[0]
        if operation == "introspect":
            return operation, "read"
        return ("unknown", "unknown") if named is None else (named.name, named.family)

    def check_family(self, family: str | None, operation: str, expected: str) -> None:
        """Raise Failure for an operation that belongs to another tool."""
        if family is None or family == expected:
            return
        raise wrong_family(self.config, operation, expected, family)

    async def _batch(
        self,
        family: str | None,
        arguments: Mapping[str, Any],
        items: list[Any],
        stamp: Stamp,
        session: Session,
        person: Person | None,
    ) -> Envelope:
        """Answer a batch. Raises Failure for a token beside it that can confirm nothing."""
        from ..safety.approvals import Approvals
        from .batch import Batch

        tokens = sent_tokens(arguments)
        if tokens[0] is not None:
            await self._gate.asking.check_token(tokens[0], session)
        return await Batch(self, family, stamp, session, person, Approvals(*tokens)).answer(items)

    # For the calls of a batch or a plan

    @cached_property
    def ahead(self) -> Ahead:
        """The view of calls before their turn."""
        from .ahead import Ahead

        parts = self.introspection, self._registry, self._gate, self._loop, self._limits, self._checking
        return Ahead(*parts)

    @cached_property
    def kept_plans(self) -> KeptPlans:
        """The plans that halted."""
        from ..steps.halted import KeptPlans

        return KeptPlans(self.state)

    def masked(self, value: Any) -> Any:
        """Return a value without the adapter's credentials."""
        return value if self._masked is None else self._masked(value)
