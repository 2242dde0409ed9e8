"""The gatekeeper: which calls run, which must be confirmed, which are refused (R-SAFE-1, R-SAFE-3 to 5).

`policy` decides; calls that are no plain reads go into the audit log under every policy. Calls come here once they are
valid, before the hook `before_call` and the request; introspection and confirm_operation never do.

How what must be confirmed is confirmed, and by whom, is in `asking`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar, TypeVarTuple, Unpack

import anyio
import anyio.to_thread

from ..errors import Failure
from ..exact_json import size_of
from ..hooks import Call, GateDecision, Hooks
from ..settings.trust import TRUST_FILE
from ..text import line
from ..wire import changes_something
from .audit import Decisions
from .policy import FIRST_USE, SEVERITY, Policy, Subject, is_recorded
from .refusals import denied

if TYPE_CHECKING:
    from ..envelope import CallWarning
    from ..logs import Logger
    from ..logs.observers import Observers
    from ..protocol_operations import Person
    from ..session import Session
    from ..settings.config import Config
    from ..state.custody import State
    from ..table import Adapter, Row, Table
    from ..wire import ApiRequest
    from .approvals import Approval, Approvals, HeldCall
    from .asking import Asking
    from .audit import Audit
    from .view import CallView

Result = TypeVar("Result")
Values = TypeVarTuple("Values")
LARGE = 20_000
"""Characters of the parameters of a call, names among them, beyond which others go on while it is looked at."""
_WRITTEN_BACK = "The update reads and sends it back: give the field in the call"
_PAGED = "The request for the page has it: choose the page by 'first', or by the API's own parameters"
_LED = "The API's link leads to it: call it by itself"


class Gatekeeper:
    """Admits or refuses calls, one for the adapter. Only calls that it `watches` need to be brought to it."""

    def __init__(
        self,
        adapter: Adapter,
        config: Config,
        hooks: Hooks,
        audit: Audit,
        logger: Logger,
        state: State,
        table: Table,
        observers: Observers | None,
        masked: Callable[[Any], Any],
    ) -> None:
        self._policy = Policy(config, table)
        self._beside = anyio.Lock()
        self.watches: Callable[[Row], bool] = self._policy.watches if hooks.on_decision is None else lambda _: True
        self.asks: Callable[[Row], bool] = self._policy.asks if hooks.on_decision is None else lambda _: True
        source = config.sources.get("trust_level", "default")
        trust = config.trust_level, None if source in ("default", TRUST_FILE) else source
        self._adapter = adapter
        self._table = table
        self._config = config
        self._hooks = hooks
        self._decisions = Decisions(audit, logger, adapter.name, lambda: table.types, *trust)
        self._state = state
        self._masked = masked
        self._observers = observers
        if config.confirmation.approval == "operator" and not state.shared.store.shared:
            logger.write(
                "warning",
                "confirmation.approval is operator, and no operator reaches this process: its state is in memory",
            )

    async def admit(
        self,
        row: Row,
        call: Call,
        session: Session,
        person: Person | None,
        build: Callable[[], ApiRequest],
        approvals: Approvals | None = None,
    ) -> Approval | None:
        """Return if the call may run, with what was approved if it was confirmed. Raises Failure when it may not.

        `build` makes the call's request; `approvals` is what was decided before about the calls of its batch or plan.
        """
        await asyncio.sleep(0)  # other calls have their turn between those of a batch or a plan
        build = cache(build)
        decision = await self._looked_at(call, partial(self._policy.decide, row, call.params, build))
        try:
            decision = await self._hooks.on_gate(decision, call)
        except Failure as refusal:
            self._decisions.record("OPERATION_DENIED", row, call, "denied", reason=refusal.message, by="on_decision")
            raise
        if decision.outcome == "refuse":
            reason = f"policy {decision.policy}"
            self._decisions.record("OPERATION_DENIED", row, call, "denied", reason=reason, rule=decision.rule)
            raise denied(row, decision, self._adapter.name)
        if row.moves_money and self._config.policy_money != "off":
            from ..client.idempotency import require_key

            require_key(row, build)
        if decision.outcome == "confirm":
            from .approvals import Approval

            pending = await self._held(row, call, decision, build)
            token = sent_token(call.metadata)
            if token is not None or approvals is None or not approvals.use(row, pending.digest):
                await self.asking.confirm_calls([pending], token, session, person)
            return Approval(row, pending.request)
        if is_recorded(row):
            reason = f"policy {decision.policy}"
            self._decisions.record("OPERATION_ALLOWED", row, call, "allowed", reason=reason, rule=decision.rule)
        return None

    def admit_changed(
        self,
        row: Row,
        params: Mapping[str, Any],
        first: ApiRequest,
        changed: ApiRequest,
        page: Mapping[str, Any] | None,
    ) -> None:
        """Raise Failure if a stricter decision holds for what replaces an admitted request: a merged one, or a page.

        `page` are the parameters of a page, None for any other change.
        A thing that describes one request, such as a stub or a webhook, is written back as it is stored.
        """
        led = self._led(row, first, changed)
        if not led and not self._policy.watches(row):
            return
        if row.carries is not None:
            places = tuple(place for place in row.carries.places if place.address is None or not place.optional)
            row = replace(row, carries=replace(row.carries, places=places) if places else None)
        before = self._policy.decide(row, params, lambda: first)
        after = self._policy.decide(row, params if page is None else page, lambda: changed)
        after = max((after, *led), key=lambda decision: SEVERITY[decision.outcome])
        if SEVERITY[after.outcome] > SEVERITY[before.outcome]:
            why = _LED if after in led else _WRITTEN_BACK if page is None else _PAGED
            raise denied(row, after._replace(outcome="refuse", reasons=(*after.reasons, why)), self._adapter.name)

    def follows(self, row: Row, first: ApiRequest, changed: ApiRequest) -> bool:
        """Return True for a redirect of a read to nothing that is held back, or of a write to the same thing."""
        led, severity = self._led(row, first, changed), SEVERITY[self._policy.carried(row).outcome]
        is_held = changes_something(None, changed.method) or any(SEVERITY[each.outcome] > severity for each in led)
        return not (led and is_held)

    def _led(self, row: Row, first: ApiRequest, changed: ApiRequest) -> list[GateDecision]:
        """Return the decisions about the operations to which a link leads: a refusal for a disguised `..` in it."""
        path = changed.url.partition("?")[0]
        if path == first.url.partition("?")[0]:
            return []
        from ..encode.urls import leads_up
        from .carried import led_to

        if leads_up(path.partition("://")[2]):
            return [self._policy.carried(row)._replace(outcome="refuse")]
        return [self._policy.carried(each) for each in led_to(row, self._table, first, changed)]

    async def decide(self, row: Row, call: Call, build: Callable[[], ApiRequest]) -> GateDecision:
        """Return whether a call runs, is confirmed or is refused. Raises Failure when the owner's hook refuses.

        Whatever looks at a call asks here: its own turn, a question about several, and a dry run.
        """
        decision = await self._looked_at(call, partial(self._policy.decide, row, call.params, build))
        return await self._hooks.on_gate(decision, call)

    async def beside(self, work: Callable[[Unpack[Values]], Result], *values: *Values) -> Result:
        """Do what may take long in a thread, so that no call holds the others: one at a time, for all callers."""
        async with self._beside:
            return await anyio.to_thread.run_sync(work, *values)

    async def _looked_at(self, call: Call, work: Callable[[], Result]) -> Result:
        """Return the result of work on the parameters of a call, which is done beside other calls if they are large."""
        return await self.beside(work) if size_of(call.params, LARGE) > LARGE else work()

    async def _held(self, row: Row, call: Call, decision: GateDecision, build: Callable[[], ApiRequest]) -> HeldCall:
        from .approvals import HeldCall

        return await self._looked_at(call, lambda: HeldCall(row, call, decision, build()).prepared())

    async def foresee_confirmation(self, row: Row, call: Call, build: Callable[[], ApiRequest]) -> HeldCall | None:
        """Return the confirmation that a call will need; None without one, or if its own turn decides.

        Raises Failure where the call would fail.
        """
        if not self.watches(row) or sent_token(call.metadata) is not None:
            return None
        build = cache(build)
        decision = await self.decide(row, replace(call, dry_run=True), build)
        if decision.outcome != "confirm":
            return None
        pending = await self._held(row, call, decision, build)
        if await self.asking.is_confirmed(pending, call.session_id):
            return None
        view = await self._view(pending)
        if view.incomplete and decision.policy == "strict":
            return None
        return replace(pending, text=view.text)

    async def foresee_first_use(self, row: Row, call: Call) -> HeldCall | None:
        """Return the question about any calls of an operation; None unless its first use is all that is asked about.

        `call` is one without parameters, which are not known yet.
        """
        decision, sometimes = self._policy.usual(Subject.of(row), lambda _: row)
        if decision.rule != FIRST_USE or sometimes or row.carries or self._hooks.on_decision is not None:
            return None
        from ..wire import ApiRequest
        from .approvals import HeldCall
        from .view import text_of_any

        pending = HeldCall(row, call, decision, ApiRequest(row.method, row.path), text_of_any(row, decision), any=True)
        return None if await self.asking.is_confirmed(pending, call.session_id) else pending

    def refuses(self, row: Row) -> Failure | None:
        """Return the refusal of an operation whatever its parameters are, as far as no hook has a say."""
        decision = None if self._hooks.on_decision is not None else self._policy.refuses(row)
        return None if decision is None else denied(row, decision, self._adapter.name)

    @cached_property
    def asking(self) -> Asking:
        """The part that has calls confirmed, made when one has to be."""
        from .asking import Asking

        parts = self._config, self._state, self._decisions, self._view, self._observers, self._masked
        return Asking(self._adapter.name, *parts)

    async def close(self) -> None:
        """Withdraw what waits for operators in sessions that have ended."""
        if "asking" in self.__dict__:
            await self.asking.questions.close()

    def ended(
        self,
        row: Row,
        session: Session,
        request_id: str,
        code: str | None,
        approval: Approval | None = None,
        warnings: Iterable[CallWarning] = (),
        altered_by: Iterable[str] = (),
    ) -> None:
        """Record the end of a call, unless it was a plain read that needed no confirmation.

        `code` is that of its error, `warnings` those of its answer, `altered_by` the hooks that changed its request.
        """
        if is_recorded(row) or approval is not None:
            more: dict[str, Any] = {"error": code}
            if altered_by:
                more["altered_by"] = ", ".join(dict.fromkeys(altered_by))
            codes = list(dict.fromkeys(warning.code for warning in warnings))
            if codes:
                more["warnings"] = codes
            event = "OPERATION_PERFORMED" if code is None else "OPERATION_FAILED"
            self._decisions.note(event, row, session.id, request_id, **more)

    def admit_hooked(self, row: Row, call: Call, method: str) -> None:
        """Record that a hook sends a plain read by a method that changes something. Raises Failure if it cannot be."""
        if not is_recorded(row) and changes_something(None, method):
            reason = f"the request is sent by {line(method, 20)}"
            self._decisions.record("OPERATION_ALLOWED", row, call, "allowed", reason=reason, by="before_send")

    def record_hidden(self, row: Row, session: Session, request_id: str) -> None:
        """Record that an operation was called which a read-only adapter does not offer."""
        if is_recorded(row):
            self._decisions.note("OPERATION_DENIED", row, session.id, request_id, result="denied", reason="read only")

    async def _view(self, pending: HeldCall) -> CallView:
        from .view import view_of

        row, params = pending.row, pending.call.params
        parts = row, params, pending.decision, pending.request, self._table.types
        return await self._looked_at(pending.call, partial(view_of, *parts, hooked=bool(self._hooks)))


def sent_token(fields: Mapping[str, Any]) -> object:
    """Return the confirmation token that stands among these fields, None without one."""
    token = fields.get("confirmation_token")
    return fields.get("_confirmation") if token is None else token
