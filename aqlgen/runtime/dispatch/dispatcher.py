# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The path of a request from its arguments to its envelope (specification, 3.2; R-REQ-1 to 6, R-BAT-1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from ..calls.exchanges import ApiSide
from ..envelope import Envelope, Stamp, success
from ..errors import Code, Failure, internal_failure
from ..executions.operations import CANCEL, STATUS
from ..hooks import Hooks
from ..introspection.introspect import Introspection
from ..introspection.protocol import QUOTA_STATUS, REVOKE_TOKEN
from ..logs.log import Logger
from ..protocol_operations import DiscreetPerson, Person
from ..safety.audit import Audit
from ..safety.gatekeeper import Gatekeeper
from ..safety.loop.loop import SafetyLoop, needs_report
from ..safety.refusals import not_offered
from ..session import Session, with_request
from ..settings.config import Config
from ..state.custody import State
from ..steps.operation import RUN_STEPS
from ..table import Adapter, Row, Table
from ..warnings.collector import Warnings
from ..warnings.rules import MOST_UNDERSTOOD, WarningRules, understood_warning
from .arguments import (
    Limits,
    Request,
    parse_json_texts,
    read_batch,
    read_single,
    refuse_in_batch,
    sent_tokens,
    wrong_family,
)
from .metering import Metering, note_end, watched
from .sending import Sending

if TYPE_CHECKING:
    from ..safety.approvals import Approval
    from ..steps.halted import KeptPlans
    from ..telemetry.observer import Observers
    from ..validation.repair import Repaired
    from .ahead import Ahead
    from .executions import Executions

__all__ = ["ApiSide", "Dispatcher"]


class Dispatcher:
    """The answer to every call of every tool. One instance serves all sessions, concurrently."""

    def __init__(
        self,
        adapter: Adapter,
        table: Table,
        api: ApiSide,
        config: Config,
        hooks: Hooks | None = None,
        logger: Logger | None = None,
        audit: Audit | None = None,
        state: State | None = None,
        masked: Callable[[Any], Any] | None = None,
        metering: Metering | None = None,
        observers: Observers | None = None,
    ) -> None:
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
        self._masked = masked
        self.observers = observers
        self.state = state or State(name=adapter.name)
        self._metering = metering or Metering()
        self._hooks = Hooks() if hooks is None else hooks
        self._log = logger or Logger(config.log_level)
        self._limits = Limits(config)
        self._warning_rules = rules = WarningRules(config, table)
        self.select, self.remember = rules.select, rules.remember
        audit = audit or Audit(None, self._log, adapter=adapter.name)
        self._loop = SafetyLoop(config, self.state, audit.record, self._hooks)
        self._gate = Gatekeeper(
            adapter, config, self._hooks, audit, self._log, self.state, self._loop, table, observers, masked
        )
        parts = self._hooks, table, rules, self._gate, self.state
        self._sending = Sending(api, *parts, lambda: self._executions)
        self._called, self._performed = self._metering.around(self._call, self._sending.perform)
        workflows = [(operation, refuse_in_batch) for operation in self.introspection.workflows]
        later = {STATUS: lambda *call: self._executions.status(*call), CANCEL: lambda *c: self._executions.cancel(*c)}
        self._registry = self._loop.registry(adapter, {RUN_STEPS: refuse_in_batch, **later}, workflows)
        self._enforces = self._loop.enforcing
        self._bind_loop()
        self._plans = {operation.name for operation, _ in workflows} | {RUN_STEPS}

    def _bind_loop(self) -> None:
        """Connect the safety loop with the gatekeeper and the operations, if it is on."""
        self._loop.bind(self._gate)
        if self.config.safety_loop == "disabled":
            return
        from .reports import OperationReports

        reports = OperationReports(self.introspection, self.table, lambda: self._registry, self._sending)
        self._loop.bind(self._gate, reports)
        if self._loop.is_forgetful:
            self._log.write(
                "warning",
                "the safety loop keeps its blocks in this process alone, since state.url is memory: they end with it, "
                "and no operator can be shown a code or lift a block",
            )

    @property
    def log(self) -> Logger:
        """The log of diagnostics."""
        return self._log

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
        if self._masked is None:
            return await self._handle(family, arguments, session, person)
        if person is not None:
            person = DiscreetPerson(person, self._masked)
        envelope: Envelope = self._masked(await self._handle(family, arguments, session, person))
        return envelope

    async def _handle(
        self, family: str | None, arguments: Mapping[str, Any] | None, session: Session | None, person: Person | None
    ) -> Envelope:
        stamp = Stamp()
        session = session or Session()
        with with_request(stamp.request_id):
            envelope = await self._stamped(family, parse_json_texts(arguments or {}), stamp, session, person)
        if not envelope["success"]:
            stamp.mark(envelope, session.id)
        return envelope

    async def _stamped(
        self,
        family: str | None,
        arguments: Mapping[str, Any],
        stamp: Stamp,
        session: Session,
        person: Person | None,
    ) -> Envelope:
        """Answer the call of one tool, whose id and beginning are those of the stamp."""
        try:
            self._limits.check(arguments)
            items = read_batch(arguments)
            if items is not None:
                return await self._batch(family, arguments, items, stamp, session, person)
            request = read_single(arguments, self.is_known)
        except Failure as failure:
            note_end(self.observers, ("unknown", "unknown"), failure.code.value, stamp, session)
            return failure.envelope()
        return await self.answer(family, request, stamp, session, person)

    @watched
    async def answer(
        self,
        family: str | None,
        request: Request,
        stamp: Stamp,
        session: Session,
        person: Person | None,
        batch_warnings: Warnings | None = None,
    ) -> Envelope:
        """Answer one operation.

        In a batch the results carry no `_meta` but headers of the API, and the warnings go to `batch_warnings`, except
        those about the data.
        """
        shown: list[dict[str, Any]] = []
        try:
            if request.operation == "introspect":
                self.check_family(family, request.operation, "read")
                return await self._introspect(request.params, session)
            if request.operation in self._plans and batch_warnings is None and self._registry.find(request.operation):
                from .plans import answer_plan

                return await answer_plan(self, self._registry, family, request, stamp, session, person)
            protocol_operation = self._registry.find(request.operation)
            if protocol_operation is not None:
                operation, handler = protocol_operation
                self.check_family(family, operation.name, operation.family)
                name = operation.name
                data, warnings = await self._metering.handled(handler, request, session, person)
            else:
                row = self.find(family, request.operation, session, stamp)
                name = row.name
                data, warnings = await self._called(row, request, stamp, session, person)
                if row.name != request.operation:
                    warnings = self._warning_rules.of_alias(self.introspection.alias(request.operation), warnings)
            if warnings:
                self.remember(name, warnings, session)
                if batch_warnings is not None:
                    about_data = warnings.take_about_data()
                    batch_warnings.extend(warnings)
                    warnings = about_data
                shown = self.select(warnings, session)
        except Failure as failure:
            return failure.envelope()
        except Exception as error:  # noqa: BLE001 - the only place that handles the unexpected
            self._log.exception(
                "unexpected failure",
                error,
                request_id=stamp.request_id,
                operation=request.operation,
                session_id=session.id,
            )
            return internal_failure(stamp.request_id).envelope()
        if batch_warnings is None:
            return success(data, stamp.meta(), shown)
        headers = stamp.take_headers()
        return success(data, {"headers": headers} if headers else None, shown)

    async def _introspect(self, params: Mapping[str, Any], session: Session) -> Envelope:
        """Answer an introspection. Raises Failure for a token that cannot be revoked."""
        envelope = self.introspection.answer(params, session.id, self._warning_rules.history(session))
        query = params.get("query") if envelope["success"] else None
        if query == QUOTA_STATUS and self._metering.status is not None:
            return {**envelope, "data": await self._metering.status()}
        if query == REVOKE_TOKEN:
            return {**envelope, "data": await self._gate.asking.revoke(params["token"], session)}
        return envelope

    async def close(self) -> None:
        """Withdraw what waits for operators in sessions that have ended, and close the store."""
        try:
            await self._gate.close()
        finally:
            await self.state.close()

    async def _call(
        self, row: Row, request: Request, stamp: Stamp, session: Session, person: Person | None
    ) -> tuple[Any, Warnings | None]:
        """Perform an operation of the API, once it is valid or understood and the gatekeeper lets it through."""
        understood: list[Repaired] = []
        row, params = await self._sending.checked(row, request.for_row(row), understood)
        if not understood:
            return await self._run(row, params, request, stamp, session, person)
        self._limits.check({"params": params})  # what was text may be deep
        try:
            data, warnings = await self._run(row, params, request, stamp, session, person)
        except Failure as failure:
            failure.details.setdefault("understood", [item.message for item in understood[:MOST_UNDERSTOOD]])
            raise
        warnings = warnings or Warnings()
        warnings.extend([understood_warning(understood)])
        return data, warnings

    async def _run(
        self,
        row: Row,
        params: dict[str, Any],
        request: Request,
        stamp: Stamp,
        session: Session,
        person: Person | None,
    ) -> tuple[Any, Warnings | None]:
        """Perform or preview an operation with valid parameters, once the gatekeeper lets it through."""
        if "dry_run" in row.adapter_parameters and params.pop("dry_run", False):
            return await self._sending.dry_run(row, params, request, stamp, session), None
        grant, use = request.grant, None
        built = partial(self._sending.built, row, params)
        approval: Approval | None = None
        if self._enforces and needs_report(row):
            from ..safety.approvals import changed
            from .reports import approval_of_files, with_files

            plan = None if grant is None else grant.plan
            approval = approval_of_files(row, params, built, plan)
            use = await self._loop.check(session, row, with_files(params, approval), plan)
        if not self._gate.watches(row):
            if use is not None:
                await use.spend()
            return await self._performed(row, params, request, stamp, session, approval)
        metadata = request.metadata(row)
        admitted = await self._gate.admit(row, params, metadata, session, person, stamp.request_id, built, grant)
        if approval is not None and admitted is not None and admitted.digest != approval.digest:
            raise changed(row)
        approval = admitted or approval
        code: str | None = Code.INTERNAL_ERROR.value
        warnings: Warnings | None = None
        try:
            if use is not None:
                await use.spend()
            data, warnings = await self._performed(row, params, request, stamp, session, approval)
            code = None
        except Failure as failure:
            code = failure.code.value
            raise
        finally:
            self._gate.ended(row, session, stamp.request_id, code, approval, warnings or ())
        return data, warnings

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

    def named(self, operation: str) -> tuple[str, str]:
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
        from ..safety.approvals import Grant
        from .batch import Batch

        tokens = sent_tokens(arguments)
        if tokens[0] is not None:
            await self._gate.check_token(tokens[0], session)
        return await Batch(self, family, stamp, session, person, Grant(*tokens)).answer(items)

    # For the calls of a batch or a plan

    @cached_property
    def ahead(self) -> Ahead:
        """The view of calls before their turn."""
        from .ahead import Ahead

        parts = self.introspection, self._registry, self._api, self._gate, self._loop, self._limits
        return Ahead(*parts, self._sending)

    @cached_property
    def kept_plans(self) -> KeptPlans:
        """The plans that halted."""
        from ..steps.halted import KeptPlans

        return KeptPlans(self.state)

    def masked(self, value: Any) -> Any:
        """Return a value without the adapter's credentials."""
        return value if self._masked is None else self._masked(value)
