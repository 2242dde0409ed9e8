"""The path of a request from its arguments to its envelope (specification, 3.2; R-REQ-1 to 6, R-BAT-1)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterator, Mapping
from functools import cached_property, partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

from ..client import ApiSide
from ..envelope import Envelope, Stamp, success
from ..errors import Code, Failure, internal_failure
from ..introspection import as_query
from ..introspection.protocol import QUOTA_STATUS, REVOKE_TOKEN
from ..logs.observers import OK, CallEnd
from ..protocol_operations import RUN_STEPS, DiscreetPerson, Handler, Person, Registry
from ..safety.gatekeeper import LARGE
from ..safety.operations import CANCEL, STATUS, active_operations
from ..safety.refusals import refused
from ..session import Session, with_request
from ..settings.config import Config
from ..settings.tables import QuotaSettings
from ..table import Adapter, Table
from ..warnings import ABOUT_DATA, Warnings
from ..wire import current_spending, with_spending
from . import Calls, Extension, Next, Parts, Stage, ToolCall, composed
from .arguments import QUOTA_TOKEN, parse_json_texts, read_batch, read_single, refuse_in_batch, sent_tokens
from .performer import Performer

if TYPE_CHECKING:
    from ..calls import Exchanges
    from ..quota.spending import CallSpending
    from .executions import Executions

__all__ = ["ApiSide", "Dispatcher", "Parts"]


class LongCalls(Extension):
    """Executions, the work that goes on after a call; what they need is imported with the first one."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self.handlers = {
            STATUS: lambda *call: self._executions.status(*call),
            CANCEL: lambda *call: self._executions.cancel(*call),
        }

    @cached_property
    def _executions(self) -> Executions:
        from .executions import Executions

        return Executions(self._calls)

    async def after(self, call: ToolCall, exchanges: Exchanges, data: Any) -> Any:
        """Return the data of a call that began work with its execution."""
        row = call.row
        return data if row.long_running is None else await self._executions.begun(row, call.params, exchanges, data)


class Metering(Extension):
    """The owner's quotas: counts the requests of each call, and warns of limits that near their end (R-RATE-1)."""

    def __init__(self, calls: Calls) -> None:
        from ..quota.counting import Quotas

        self.quotas = Quotas(calls.config, calls.adapter.name, calls.state.shared, calls.observers)

    def first(self, call: ToolCall, next: Next) -> Awaitable[Any]:
        """Pass a call on; the requests of one that an operation of the protocol makes are that one's."""
        return self._metered(call, next) if current_spending() is None else next(call)

    async def _metered(self, call: ToolCall, next: Next) -> Any:
        spending = self._spending_of(call)
        with with_spending(spending):
            data = await next(call)
        call.warnings.extend(spending.take_warnings())
        return data

    def _spending_of(self, call: ToolCall) -> CallSpending:
        """Return the spending of a call, shared with its batch or plan, with the call's token of a quota."""
        from ..quota.spending import CallSpending

        request, approvals = call.request, call.request.approvals
        spending = None if approvals is None else approvals.spending
        if not isinstance(spending, CallSpending):
            spending = CallSpending(self.quotas, call.session, call.person)
            if approvals is not None:
                approvals.spending = spending
                spending.offer(approvals.quota_token)
        spending.offer(request.inside.get(QUOTA_TOKEN, request.outside.get(QUOTA_TOKEN)))
        return spending


class Plans(Extension):
    """run_steps and the workflows; what they need is imported with the first plan."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        names = (RUN_STEPS, *(operation.name for operation in calls.introspection.workflows))
        self.handlers = dict.fromkeys(names, refuse_in_batch)

    def first(self, call: ToolCall, next: Next) -> Awaitable[Any]:
        """Answer a plan, but within a batch."""
        if not call.alone or call.request.operation not in self.handlers:
            return next(call)
        from .plans import answer_plan

        return answer_plan(self._calls, call)


class Dispatcher(Calls):
    """The answer to every call of every tool. One instance serves all sessions, concurrently."""

    def __init__(
        self, adapter: Adapter, table: Table, api: ApiSide, config: Config, parts: Parts | None = None
    ) -> None:
        parts = parts or Parts()
        super().__init__(adapter, table, api, config, parts)
        self._quota_status = parts.quota_status
        self.extensions = tuple(extensions_of(self))
        self.loop = next((extension.loop for extension in self.extensions if extension.loop is not None), None)
        handlers: dict[str, Handler] = {"confirm_operation": self._confirm_operation}
        for extension in self.extensions:
            handlers |= extension.handlers
        operations = (*active_operations(self.adapter, config), *self.introspection.workflows)
        self.registry = Registry((operation, handlers[operation.name]) for operation in operations)
        after = [extension.after for extension in self.extensions if extension.after is not None]
        self.perform = Performer(self, after).perform
        self.stages = self._stages()
        self._way = composed(self.stages, self.perform)

    def _stages(self) -> list[Stage]:
        """Return the stages of a call in their order; the last one, which performs it, comes after them."""
        extensions, checking = self.extensions, self.checking
        stages = [
            *(extension.first for extension in extensions),
            self.operation,
            checking.parameters,
            checking.preview,
            *(extension.before for extension in extensions),
            self.gate,
            checking.hooked if self.hooks else None,
            *(extension.around for extension in extensions),
        ]
        return [stage for stage in stages if stage is not None]

    async def _confirm_operation(self, params: dict[str, Any], session: Session, _: Person | None) -> Any:
        """Confirm the call of a token; the safety loop has more to say."""
        return await self.gatekeeper.asking.confirm(params["confirmation_token"], session)

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
        if person is not None:
            person = DiscreetPerson(person, self.masked)
        with with_request(stamp.request_id):
            arguments = parse_json_texts(arguments or {})
            try:
                if self.limits.check(arguments) > LARGE:
                    await asyncio.sleep(0)
                items = read_batch(arguments)
                if items is None:
                    call = ToolCall(family, read_single(arguments, self.is_known), stamp, session, person)
                    envelope = await self.answer(call)
                else:
                    from ..safety.approvals import Approvals
                    from .batch import Batch

                    tokens = sent_tokens(arguments)
                    if tokens[0] is not None:
                        await self.gatekeeper.asking.check_token(tokens[0], session)
                    envelope = await Batch(self, family, stamp, session, person, Approvals(*tokens)).answer(items)
            except Failure as failure:
                envelope = failure.envelope()
                self._note_end(("unknown", "unknown"), envelope, stamp, session, stamp.seconds)
            if not envelope["success"] and "confirmation" not in envelope:
                stamp.mark(envelope, session.id)
            masked: Envelope = self.masked(envelope)
            return masked

    async def answer(self, call: ToolCall, batch_warnings: Warnings | None = None) -> Envelope:
        """Answer one operation.

        In a batch the `_meta` of a result has its notes alone, and the warnings go to `batch_warnings`, except those
        about the data.
        """
        began, operation = perf_counter(), call.request.operation
        call.alone = batch_warnings is None
        try:
            if operation == "introspect":
                self.check_family(call.family, operation, "read")
                envelope = await self._introspect(call.request.params, call.session)
            else:
                envelope = self._succeeded(call, await self._way(call), batch_warnings)
        except Failure as failure:
            failure.__traceback__ = None  # its frames hold what was sent, and one of them the failure: a circle
            envelope = failure.envelope()
        except Exception as error:
            ids = {"request_id": call.stamp.request_id, "operation": operation, "session_id": call.session.id}
            self.log.exception("unexpected failure", error, **ids)  # noqa: TRY401
            unexpected = internal_failure(call.stamp.request_id)
            if call.exchanges is not None:
                unexpected = call.exchanges.unfinished(unexpected, call.row, call.params)
            envelope = unexpected.envelope()
        if self.observers or not envelope["success"]:
            self._note_end(self._named(operation), envelope, call.stamp, call.session, perf_counter() - began)
        return envelope

    def _succeeded(self, call: ToolCall, data: Any, batch_warnings: Warnings | None) -> Envelope:
        """Return the answer of an operation with its warnings."""
        warnings, session, shown = call.warnings, call.session, call.shown
        if warnings:
            self.rules.remember(call.name, warnings, session)
            if batch_warnings is not None:
                batch_warnings.extend(each for each in warnings if not each.code.startswith(ABOUT_DATA))
                warnings = [each for each in warnings if each.code.startswith(ABOUT_DATA)]
            shown = self.rules.select(warnings, session) + shown
        meta = {**(call.stamp.meta() if call.alone else {}), **call.notes} if call.notes else None
        return success(data, meta, shown)

    def _note_end(
        self, named: tuple[str, str], envelope: Envelope, stamp: Stamp, session: Session, seconds: float
    ) -> None:
        """Inform observers and operators of the end of a call; `named` are its operation and family."""
        if not envelope["success"] and self.activity is not None:
            self.activity.refused(named[0], envelope["error"], session.id)
        outcome = OK if envelope["success"] else envelope["error"]["code"]
        if self.observers:
            self.observers.call_ended(CallEnd(*named, outcome, seconds, stamp.request_id, session.id))

    async def _introspect(self, params: Mapping[str, Any], session: Session) -> Envelope:
        """Answer an introspection. Raises Failure for a token that cannot be revoked."""
        params = as_query(params)
        envelope = self.introspection.answer(params, session.id, self.rules.history(session))
        query = params.get("query") if envelope["success"] else None
        if query == QUOTA_STATUS and self._quota_status is not None:
            return {**envelope, "data": await self._quota_status()}
        if query == REVOKE_TOKEN:
            return {**envelope, "data": await self.gatekeeper.asking.revoke(params["token"], session)}
        return envelope

    async def close(self) -> None:
        """Withdraw what waits for operators in sessions that have ended, and close the store."""
        try:
            await self.gatekeeper.close()
        finally:
            await self.state.close()

    # Stages

    def operation(self, call: ToolCall, next: Next) -> Awaitable[Any]:
        """Answer an operation of the protocol, or pass on a call of one of the API. Raises Failure for any other."""
        request = call.request
        protocol_operation = self.registry.find(request.operation)
        if protocol_operation is not None:
            operation, handler = protocol_operation
            self.check_family(call.family, operation.name, operation.family)
            return handler(request.params, call.session, call.person)
        call.row = self.find(call.family, request.operation, call.session, call.stamp, request.params)
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
        return self._admitted(call, next) if self.gatekeeper.watches(call.row) else next(call)

    async def _admitted(self, call: ToolCall, next: Next) -> Any:
        row, seen = call.row, call.seen()
        built = partial(self.checking.built, row, call.params)
        approval = await self.gatekeeper.admit(row, seen, call.session, call.person, built, call.request.approvals)
        if call.approval is not None and approval is not None and approval.digest != call.approval.digest:
            raise refused(row, "changed after it was approved")
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
            self.gatekeeper.ended(row, call.session, seen.request_id, code, call.approval, warnings, call.altered_by)
        return data

    def _named(self, operation: str) -> tuple[str, str]:
        """Return the adapter's name of an operation and its family; "unknown" twice for what is none."""
        known = self.registry.find(operation)
        named = self.introspection.find(operation) if known is None else known[0]
        if operation == "introspect":
            return operation, "read"
        return ("unknown", "unknown") if named is None else (named.name, named.family)


def extensions_of(dispatcher: Dispatcher) -> Iterator[Extension]:
    """Yield the active extensions, in the order of the stages; the others are not imported."""
    config, adapter = dispatcher.config, dispatcher.adapter
    if config.safety_loop != "disabled":
        from .reports import LoopOperations, LoopStages

        yield (LoopStages if config.safety_loop == "enforcing" else LoopOperations)(dispatcher)
    if any(adapter.counts.values()):
        yield Plans(dispatcher)
    if config.quota != QuotaSettings():
        yield Metering(dispatcher)
    if config.concurrency != "fully-concurrent":
        from .concurrency import Concurrency

        yield Concurrency(config, dispatcher.state.shared.store, dispatcher.log)
    if adapter.executions:
        yield LongCalls(dispatcher)
    if config.learn_notes:
        from .notes import Notes

        yield Notes(dispatcher)
