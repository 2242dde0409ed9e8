# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The gatekeeper: which calls run, which must be confirmed, which are refused (R-SAFE-1, R-SAFE-3 to 5).

`policy` decides; destructive and worse operations go into the audit log under every policy. Calls come here once they
are valid, before the hook `before_call` and the request; introspection and confirm_operation never do.

The person behind the client confirms, if the client can ask one. Otherwise, with `approval` agent, the agent gets a
token, and the client's own approval of the second call is the confirmation; with `approval` person the call is refused,
and a token is neither issued nor accepted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..errors import Failure
from ..hooks import Call, GateDecision, Hooks
from ..session import Session, current_caller
from ..settings.trust import TRUST_FILE
from ..state.fingerprint import fingerprint
from ..state.tickets import shorten
from .confirmation import Binding, ConfirmationTokens
from .policy.levels import LEVELS, is_grave
from .policy.policy import Policy
from .refusals import (
    confirmation_required,
    denied,
    no_token,
    nobody_to_ask,
    not_confirmed,
    not_shown,
    unwritable,
)
from .together import Grant, Pending, fingerprint_of, question_about

if TYPE_CHECKING:
    from ..logs.log import Logger
    from ..protocol_operations import Person
    from ..settings.config import Config
    from ..state.custody import State
    from ..state.tickets import Token
    from ..table import Adapter, Row, Table
    from ..telemetry.observer import Observers
    from ..warnings.collector import CallWarning
    from ..wire import ApiRequest
    from .approval import Approval
    from .audit import Audit
    from .loop import SafetyLoop
    from .view import CallView

__all__ = ["Gatekeeper"]

_FORBIDDEN_SECONDS = 120
_SESSION = "gatekeeper"
_MOST_COUNTED = 1000


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
        loop: SafetyLoop | None = None,
        table: Table | None = None,
        observers: Observers | None = None,
    ) -> None:
        self._policy = Policy(config, table)
        self.watches: Callable[[Row], bool] = self._policy.watches if hooks.on_decision is None else lambda _: True
        source = config.sources.get("trust_level", "default")
        self._trust_source = None if source in ("default", TRUST_FILE) else source
        self._adapter = adapter
        self._table = table
        self._config = config
        self._hooks = hooks
        self._audit = audit
        self._logger = logger
        self._loop = loop
        self._observers = observers
        self._tokens = ConfirmationTokens(state, per_minute=config.confirmation_rate, skew=config.confirmation_skew)
        if config.confirmation_skew > 60:
            logger.write("warning", "confirmation.skew is above 60 seconds: tokens live on for long after they expire")

    async def admit(
        self,
        row: Row,
        params: Mapping[str, Any],
        metadata: Mapping[str, Any],
        session: Session,
        person: Person | None,
        request_id: str,
        build: Callable[[], ApiRequest],
        grant: Grant | None = None,
    ) -> Approval | None:
        """Return if the call may run, with what was approved if it was confirmed. Raises Failure when it may not.

        `build` makes the call's request; `grant` is what was decided before about the calls of its batch or plan.
        """
        call = Call(row.name, params, row.family, request_id, session.id, metadata)
        try:
            decision = await self._hooks.on_gate(self._policy.decide(row, call.params), call)
        except Failure as refusal:
            self._record("OPERATION_DENIED", row, call, "denied", reason=refusal.message, by="on_decision")
            raise
        if decision.outcome == "refuse":
            self._record(
                "OPERATION_DENIED", row, call, "denied", reason=f"policy {decision.policy}", rule=decision.rule
            )
            raise denied(row, decision, self._adapter.name)
        if row.moves_money and self._config.policy_money != "off":
            from .policy.money import require_key

            require_key(row, build)
        if decision.outcome == "confirm":
            from .approval import Approval

            pending = self._pending(row, call, decision, build())
            token = _sent_token(call)
            if token is not None or grant is None or not grant.use(row, pending.digest):
                await self.confirm_calls([pending], token, session, person)
            return Approval(row, pending.request)
        if is_grave(row):
            self._record(
                "OPERATION_ALLOWED", row, call, "allowed", reason=f"policy {decision.policy}", rule=decision.rule
            )
        return None

    async def foresee(self, row: Row, call: Call) -> GateDecision:
        """Return the decision about a call that is only shown. Raises Failure when the owner's hook refuses."""
        return await self._hooks.on_gate(self._policy.decide(row, call.params), call)

    async def foresee_confirmation(self, row: Row, call: Call, build: Callable[[], ApiRequest]) -> Pending | None:
        """Return what would have to be confirmed about a call; None where nothing would, or its own turn decides.

        Raises Failure where the call would fail.
        """
        if not self.watches(row) or _sent_token(call) is not None:
            return None
        decision = await self.foresee(row, replace(call, dry_run=True))
        if decision.outcome != "confirm":
            return None
        pending = self._pending(row, call, decision, build())
        if await self._tokens.is_approved(self._binding([pending], call.session_id)):
            return None
        view = self._view(pending)
        if view.incomplete and decision.policy == "strict":
            return None
        return replace(pending, text=view.text)

    def refuses(self, row: Row) -> Failure | None:
        """Return the refusal of an operation whatever its parameters are, as far as no hook has a say."""
        decision = None if self._hooks.on_decision is not None else self._policy.refuses(row)
        return None if decision is None else denied(row, decision, self._adapter.name)

    async def check_token(self, token: object, session: Session) -> None:
        """Raise Failure for a token that could confirm nothing in this session."""
        if self._config.approval != "person":
            await self._tokens.find(token, self._any_call(session))

    def ended(
        self,
        row: Row,
        session: Session,
        request_id: str,
        code: str | None,
        approval: Approval | None = None,
        warnings: Iterable[CallWarning] = (),
    ) -> None:
        """Record how a grave or confirmed call ended; `code` is that of its error, `warnings` those of its answer."""
        if is_grave(row) or approval is not None:
            details: dict[str, Any] = {
                "operation": row.name,
                "endpoint": row.family,
                "danger_level": row.danger,
                "adapter_trust": self._config.trust_level,
                "error": code,
            }
            if approval is not None and approval.altered_by:
                details["altered_by"] = ", ".join(dict.fromkeys(approval.altered_by))
            codes = list(dict.fromkeys(warning.code for warning in warnings))
            if codes:
                details["warnings"] = codes
            event = "OPERATION_PERFORMED" if code is None else "OPERATION_FAILED"
            self._audit.record(event, {**details, "session_id": session.id, "request_id": request_id})

    def record_hidden(self, row: Row, session: Session, request_id: str) -> None:
        """Record that a grave operation was called which a read-only adapter does not offer."""
        if is_grave(row):
            details = {"operation": row.name, "endpoint": row.family, "danger_level": row.danger, "result": "denied"}
            details["adapter_trust"] = self._config.trust_level
            more = {"session_id": session.id, "request_id": request_id, "reason": "read only"}
            self._audit.record("OPERATION_DENIED", {**details, **more})

    async def question(self, token: str, session: Session) -> str:
        """Return what the token would confirm, as a question to a person. Raises Failure for an unusable token."""
        binding = self._any_call(session)
        return (await self._tokens.asked(await self._tokens.find(token, binding), binding)).message

    async def confirm(self, token: str, session: Session) -> dict[str, Any]:
        """Let the call of a token run once. Raises Failure for an unusable token."""
        binding = self._any_call(session)
        pending = await self._tokens.find(token, binding)
        asked = await self._tokens.asked(pending, binding)
        details = {"operation": asked.operation, "token_id": pending.short, "session_id": session.id}
        self._audit.write("CONFIRMATION_GRANTED", **details, result="confirmed", by="confirm_operation")
        await self._tokens.approve(pending, asked, binding)
        if self._loop is not None:
            await self._loop.remove_pending(session, asked.operations)
        return {
            "operation": asked.operation,
            "message": f"Confirmed. Call it again with the same parameters: it runs once, until {pending.expires_at}",
        }

    async def confirm_calls(
        self, calls: Sequence[Pending], sent: object, session: Session, person: Person | None
    ) -> None:
        """Return if the calls are confirmed: by a token, by confirm_operation before, or by a person now.

        Raises Failure if they are not; nothing was sent then.
        """
        first, by_person = calls[0], self._config.approval == "person"
        if sent is not None and by_person:
            reason = "only a person confirms here"
            self._record_all("TOKEN_REJECTED", calls, "denied", token_id=shorten(sent), reason=reason)
            self._note("refused", "token", first.row)
            raise no_token(first.row, reason)
        binding = self._binding(calls, session.id)
        if sent is not None:
            await self._redeem(sent, calls, binding, session)
            return
        short = None if by_person else await self._tokens.redeem_approved(binding)
        if short is not None:
            self._record_all("TOKEN_VALIDATED", calls, "confirmed", token_id=short, by="confirm_operation")
            self._note("confirmed", "confirm_operation", first.row)
            return
        question = question_about([call if call.text else replace(call, text=self._text(call)) for call in calls])
        if person is not None and person.reachable:
            await self._ask(question, calls, session, person)
            return
        if by_person:
            reason = "no person can be asked"
            self._record_all("OPERATION_DENIED", calls, "denied", reason=reason)
            self._note("refused", "nobody", first.row)
            raise nobody_to_ask(first.row, first.decision, reason)
        raise await self._issue(binding, question, calls, session)

    def _pending(self, row: Row, call: Call, decision: GateDecision, request: ApiRequest) -> Pending:
        from .approval import request_digest

        digest = f"{fingerprint(row.name, call.params)} {request_digest(request)}"
        return Pending(row, call, decision, request, digest)

    def _binding(self, calls: Sequence[Pending], session_id: str | None) -> Binding:
        names = list(dict.fromkeys(call.row.name for call in calls))
        return Binding(", ".join(names), fingerprint_of(calls), self._adapter.name, session_id, current_caller())

    def _view(self, pending: Pending) -> CallView:
        from .view import view_of

        types = {} if self._table is None else self._table.types
        row, params = pending.row, pending.call.params
        return view_of(row, params, pending.decision, pending.request, types, hooked=bool(self._hooks))

    def _text(self, pending: Pending) -> str:
        """Return the question about a call. Raises Failure if policy `strict` refuses to ask it."""
        view = self._view(pending)
        if view.incomplete and pending.decision.policy == "strict":
            reason = "policy strict: cannot be shown in full"
            self._record("OPERATION_DENIED", pending.row, pending.call, "denied", reason=reason)
            raise not_shown(pending.row, view.incomplete)
        return view.text

    async def _redeem(self, sent: object, calls: Sequence[Pending], binding: Binding, session: Session) -> None:
        guarded = self._loop is not None and await self._loop.is_guarding(session)
        try:
            token = await self._tokens.redeem(sent, binding, approved=guarded)
        except Failure as refusal:
            reason = refusal.code.value
            self._record_all("TOKEN_REJECTED", calls, "denied", token_id=shorten(sent), reason=reason)
            self._note("refused", "token", calls[0].row)
            raise
        session.state.get(_SESSION, set()).discard(token.ticket.id)
        self._record_all("TOKEN_VALIDATED", calls, "confirmed", token_id=token.short, by="token")
        self._note("confirmed", "token", calls[0].row)
        await self._remove_pending(calls, session)

    async def _ask(self, message: str, calls: Sequence[Pending], session: Session, person: Person) -> None:
        if not await person.ask(message):
            reason = "a person did not confirm it"
            self._record_all("OPERATION_DENIED", calls, "denied", reason=reason, by="person")
            self._note("refused", "person", calls[0].row)
            raise not_confirmed(calls[0].row)
        self._record_all("CONFIRMATION_GRANTED", calls, "confirmed", by="person")
        self._note("confirmed", "person", calls[0].row)
        await self._remove_pending(calls, session)

    async def _issue(self, binding: Binding, message: str, calls: Sequence[Pending], session: Session) -> Failure:
        seconds = self._config.confirmation_ttl
        if any(call.row.danger == "forbidden" for call in calls):
            seconds = min(seconds, _FORBIDDEN_SECONDS)
        reasons = list(dict.fromkeys(reason for call in calls for reason in call.decision.reasons))
        row = max((call.row for call in calls), key=lambda row: LEVELS.index(row.danger) if row.danger in LEVELS else 5)
        token = await self._tokens.issue(binding, [call.row for call in calls], message, seconds)
        self._revoke_at_end(session, token)
        self._record_all("TOKEN_ISSUED", calls, "denied", token_id=token.short, reason="CONFIRMATION_REQUIRED")
        self._note("asked", "token", calls[0].row)
        if self._loop is not None:
            for call in {call.row.name: call for call in calls}.values():
                await self._loop.add_pending(session, call.row, "; ".join(call.decision.reasons), seconds)
        return confirmation_required(row, token, len(calls), message, reasons)

    async def _remove_pending(self, calls: Sequence[Pending], session: Session) -> None:
        if self._loop is not None:
            await self._loop.remove_pending(session, list(dict.fromkeys(call.row.name for call in calls)))

    def _any_call(self, session: Session) -> Binding:
        """Return what a token is bound to whatever its call is."""
        return Binding("confirm_operation", "", self._adapter.name, session.id, current_caller())

    def _revoke_at_end(self, session: Session, token: Token) -> None:
        """Record, when a session ends, how many of its tokens nobody can use any more."""
        if session.id is None:
            return
        if _SESSION not in session.state:
            session.state[_SESSION] = set()
            session.on_close(lambda: self._record_revoked(session))
        unused: set[str] = session.state[_SESSION]
        if len(unused) < _MOST_COUNTED:
            unused.add(token.ticket.id)

    def _record_revoked(self, session: Session) -> None:
        unused = session.state[_SESSION]
        if unused:
            details = {"session_id": session.id, "tokens": len(unused), "reason": "the session ended"}
            self._audit.record("TOKEN_REVOKED", details)

    def _note(self, outcome: str, by: str, row: Row) -> None:
        """Inform those who watch the adapter of a confirmation."""
        if self._observers is not None:
            self._observers.event("confirmation", outcome=outcome, by=by, operation=row.name)

    def _record_all(self, event: str, calls: Sequence[Pending], result: str, **more: Any) -> None:
        for pending in calls:
            self._record(event, pending.row, pending.call, result, rule=pending.decision.rule or None, **more)

    def _record(self, event: str, row: Row, call: Call, result: str, **more: Any) -> None:
        """Write a decision into the audit log, before it is acted upon. Raises Failure when it cannot be written."""
        from .audit import masked_params

        try:
            self._audit.write(
                event,
                operation=row.name,
                endpoint=row.family,
                danger_level=row.danger,
                adapter_trust=self._config.trust_level,
                trust_source=self._trust_source,
                result=result,
                session_id=call.session_id,
                request_id=call.request_id,
                params=masked_params(row, call.params),
                **more,
            )
        except OSError as error:
            self._logger.write("critical", "the audit log cannot be written", trace={"error": str(error)})
            raise unwritable(row, call.request_id, self._adapter.name) from None


def _sent_token(call: Call) -> object:
    """Return the confirmation token that came with a call, None without one."""
    token = call.metadata.get("confirmation_token")
    return call.metadata.get("_confirmation") if token is None else token
