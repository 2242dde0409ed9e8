# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The confirmation of calls that the gatekeeper holds back: who is asked, and what counts as a yes (R-SAFE-3, 4).

In this order: what an operator decided about these very calls; a token; a confirmation by confirm_operation; an
approval for the session; the person behind the client; and otherwise a token for the agent, or the wait for an
operator. Setting `confirmation.approval` says which of these there are. An operator's denial comes before everything,
and a person's no (`declined`) before everything but an operator's yes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..errors import Code, Failure
from ..session import Session, current_caller
from ..state.tickets import shorten
from .approvals import Pending, fingerprint_of, question_about, reasons_of
from .confirmation import Binding, ConfirmationTokens
from .declined import Declined, keys_of
from .refusals import (
    confirmation_required,
    declined_before,
    denied_by_operator,
    no_token,
    nobody_to_ask,
    not_confirmed,
    not_shown,
    too_early,
    waits_for_operator,
)
from .session_approvals import SessionApprovals, cooldown_of
from .waiting import Waiting, gravest

if TYPE_CHECKING:
    from ..hooks import Call, GateDecision
    from ..protocol_operations import Person
    from ..settings.config import Config
    from ..state.custody import State
    from ..state.tickets import Token
    from ..table import Row
    from ..telemetry.observer import Observers
    from ..wire import ApiRequest
    from .audit import Decisions
    from .desk import Matter
    from .loop.loop import SafetyLoop
    from .session_approvals import Shape
    from .view import CallView

__all__ = ["Asking", "pending_call"]

_SESSION = "gatekeeper"
_MOST_COUNTED = 1000


class Asking:
    """Has calls confirmed; one for the adapter. `view` makes the question about a call."""

    def __init__(
        self,
        adapter: str,
        config: Config,
        state: State,
        decisions: Decisions,
        view: Callable[[Pending], CallView],
        loop: SafetyLoop | None = None,
        observers: Observers | None = None,
        masked: Callable[[Any], Any] | None = None,
    ) -> None:
        settings = config.confirmation
        self.tokens = ConfirmationTokens(state, per_minute=settings.per_minute, skew=settings.skew)
        self.waiting = Waiting(state, settings, masked)
        self._approvals = SessionApprovals(state, settings)
        self._declined = Declined(state)
        self._adapter = adapter
        self._settings = settings
        self._decisions = decisions
        self._view = view
        self._loop = loop
        self._observers = observers

    async def confirm_calls(
        self, calls: Sequence[Pending], sent: object, session: Session, person: Person | None
    ) -> None:
        """Return if the calls are confirmed: by an operator, a token, confirm_operation, or a person.

        Raises Failure if they are not; nothing was sent then.
        """
        by_agent = self._settings.approval == "agent"
        if sent is not None and not by_agent:
            reason = "only a person confirms here"
            self._record_all("TOKEN_REJECTED", calls, "denied", token_id=shorten(sent), reason=reason)
            self._note("refused", "token", calls[0].row)
            raise no_token(calls[0].row, reason)
        binding = self._binding(calls, session.id)
        shape = self._approvals.shape(calls, binding)
        if await self._by_operator(calls, binding, shape, sent, session):
            return
        await self._refuse_if_declined(calls, session)
        if sent is not None:
            await self._redeem(sent, calls, binding, session)
            return
        if by_agent and await self._by_confirm_operation(calls, binding):
            return
        if await self._by_session(calls, shape):
            return
        question = question_about([call if call.text else replace(call, text=self._text(call)) for call in calls])
        if person is not None and person.reachable and self._settings.approval != "operator":
            await self._ask(question, calls, binding, shape, session, person)
        elif by_agent:
            raise await self._issue(binding, question, calls, shape, session)
        else:
            raise await self._wait(binding, question, calls, shape, session)

    async def is_confirmed(self, pending: Pending, session_id: str | None) -> bool:
        """Return True if a call will not be asked about: it was confirmed before. Raises StoreAway."""
        binding = self._binding([pending], session_id)
        if await self.tokens.is_approved(binding):
            return True
        matter = await self.waiting.matter(binding)
        if matter is not None and matter.verdict:
            return True
        return await self._approvals.covers(self._approvals.shape([pending], binding))

    async def check_token(self, token: object, session: Session) -> None:
        """Raise Failure for a token that could confirm nothing in this session."""
        if self._settings.approval == "agent":
            await self.tokens.find(token, self._any_call(session))

    async def question(self, token: str, session: Session) -> str:
        """Return what the token would confirm, as a question to a person. Raises Failure for an unusable token."""
        binding = self._any_call(session)
        return (await self.tokens.asked(await self.tokens.find(token, binding), binding)).message

    async def confirm(self, token: str, session: Session) -> dict[str, Any]:
        """Let the call of a token run once. Raises Failure for an unusable token."""
        binding = self._any_call(session)
        pending = await self.tokens.find(token, binding)
        asked = await self.tokens.asked(pending, binding)
        details = {"operation": asked.operation, "token_id": pending.short, "session_id": session.id}
        self._decisions.audit.write("CONFIRMATION_GRANTED", **details, result="confirmed", by="confirm_operation")
        await self.tokens.approve(pending, asked, binding)
        if self._loop is not None:
            await self._loop.remove_pending(session, asked.operations)
        return {
            "operation": asked.operation,
            "message": f"Confirmed. Call it again with the same parameters: it runs once, until {pending.expires_at}",
        }

    async def revoke(self, token: object, session: Session) -> dict[str, Any]:
        """Make a token of the present caller void (confirmation tokens, 5.3). Raises Failure, and StoreAway."""
        binding = self._any_call(session)._replace(operation="introspect")
        await self.tokens.count_revocation(binding)
        try:
            issued = await self.tokens.find(token, binding)
            asked = await self.tokens.asked(issued, binding)
        except Failure as refusal:
            details = {"token_id": shorten(token), "session_id": session.id, "reason": refusal.code.value}
            self._decisions.audit.record("TOKEN_REJECTED", {**details, "result": "denied", "by": "revoke_token"})
            if refusal.code in (Code.TOKEN_SCOPE_MISMATCH, Code.TOKEN_INVALID):
                raise self.tokens.unknown(binding) from None
            raise
        details = {"operation": asked.operation, "token_id": issued.short, "session_id": session.id}
        self._decisions.audit.write("TOKEN_REVOKED", **details, by="revoke_token")
        await self.tokens.revoke(issued, asked, binding)
        session.state.get(_SESSION, set()).discard(issued.ticket.id)
        if self._loop is not None:
            await self._loop.remove_pending(session, asked.operations)
        return {"revoked": True, "operation": asked.operation}

    # The ways to a yes

    async def _by_operator(
        self, calls: Sequence[Pending], binding: Binding, shape: Shape | None, sent: object, session: Session
    ) -> bool:
        """Return True if an operator has approved the calls. Raises Failure if one has denied them, or too early."""
        matter = await self.waiting.matter(binding)
        if matter is None or not matter.verdict:
            return False
        await self._refuse_if_denied(matter, calls, binding, sent)
        self._check_time(calls, matter.asked)
        used = await self.waiting.use(binding)
        if used is None:
            return False
        by = used.by
        self._record_all("CONFIRMATION_GRANTED", calls, "confirmed", by=by, matter=used.id)
        self._note("confirmed", "operator", calls[0].row)
        if used.scope == "session" and shape is not None:
            await self._grant(shape, calls, binding, by, session)
        await self._remove_pending(calls, session)
        return True

    async def _refuse_if_denied(
        self, matter: Matter, calls: Sequence[Pending], binding: Binding, sent: object = None
    ) -> None:
        if matter.verdict != "denied":
            return
        by = matter.by
        self._record_all("OPERATION_DENIED", calls, "denied", reason="an operator denied it", by=by, matter=matter.id)
        if sent is not None and await self.tokens.void(sent, binding):
            self._record_all("TOKEN_REVOKED", calls, "denied", token_id=shorten(sent), by=by)
        self._note("refused", "operator", calls[0].row)
        raise denied_by_operator(calls[0].row, matter)

    async def _refuse_if_declined(self, calls: Sequence[Pending], session: Session) -> None:
        keys = [*keys_of(calls), *(key for call in calls for key in keys_of([call]))]
        if await self._declined.holds(session.id, keys):
            self._record_all("OPERATION_DENIED", calls, "denied", reason="a person declined it before", by="person")
            self._note("refused", "person", calls[0].row)
            raise declined_before(calls[0].row)

    async def _redeem(self, sent: object, calls: Sequence[Pending], binding: Binding, session: Session) -> None:
        guarded = self._loop is not None and self._loop.is_guarding
        cooldown = cooldown_of(calls, self._settings)
        try:
            token = await self.tokens.redeem(sent, binding, approved=guarded, cooldown=cooldown)
        except Failure as refusal:
            reason = refusal.details.get("reason", refusal.code.value)
            self._record_all("TOKEN_REJECTED", calls, "denied", token_id=shorten(sent), reason=reason)
            self._note("refused", "token", calls[0].row)
            raise
        session.state.get(_SESSION, set()).discard(token.ticket.id)
        self._record_all("TOKEN_VALIDATED", calls, "confirmed", token_id=token.short, by="token")
        self._note("confirmed", "token", calls[0].row)
        await self.waiting.withdraw(binding)
        await self._remove_pending(calls, session)

    async def _by_confirm_operation(self, calls: Sequence[Pending], binding: Binding) -> bool:
        cooldown = cooldown_of(calls, self._settings)
        short = await self.tokens.redeem_approved(binding, cooldown=cooldown)
        if short is None:
            return False
        self._record_all("TOKEN_VALIDATED", calls, "confirmed", token_id=short, by="confirm_operation")
        self._note("confirmed", "confirm_operation", calls[0].row)
        await self.waiting.withdraw(binding)
        return True

    async def _by_session(self, calls: Sequence[Pending], shape: Shape | None) -> bool:
        approval = await self._approvals.use(shape, len(calls))
        if approval is None:
            return False
        details = {"by": approval.by, "approval": approval.id, "left": approval.left}
        self._record_all("CONFIRMATION_GRANTED", calls, "confirmed", **details)
        self._note("confirmed", "session", calls[0].row)
        return True

    async def _ask(
        self,
        message: str,
        calls: Sequence[Pending],
        binding: Binding,
        shape: Shape | None,
        session: Session,
        person: Person,
    ) -> None:
        """Ask the person behind the client; an operator who says no meanwhile has the last word."""
        import anyio

        cooldown, began = cooldown_of(calls, self._settings), time.monotonic()
        await self.waiting.show(binding, calls, message, session, shape=shape, cooldown=cooldown)
        answer = await (person.ask(message) if shape is None else person.ask(message, shape.words))
        if not answer:
            reason = "a person did not confirm it"
            self._record_all("OPERATION_DENIED", calls, "denied", reason=reason, by="person")
            self._note("refused", "person", calls[0].row)
            await self._declined.keep(session.id, keys_of(calls))
            await self.waiting.withdraw(binding)
            raise not_confirmed(calls[0].row)
        await anyio.sleep(max(0.0, began + cooldown - time.monotonic()))
        matter = await self.waiting.matter(binding)
        if matter is not None:
            await self._refuse_if_denied(matter, calls, binding)
        self._record_all("CONFIRMATION_GRANTED", calls, "confirmed", by="person")
        self._note("confirmed", "person", calls[0].row)
        await self.waiting.withdraw(binding)
        if answer == "session" and shape is not None:
            await self._grant(shape, calls, binding, "person", session)
        await self._remove_pending(calls, session)

    async def _grant(self, shape: Shape, calls: Sequence[Pending], binding: Binding, by: str, session: Session) -> None:
        approval = await self._approvals.grant(shape, binding, by)
        self.waiting.ends_with(session, shape)
        self._record_all("APPROVAL_GRANTED", calls[:1], "confirmed", by=by, approval=approval.id, reach=approval.reach)

    async def _issue(
        self, binding: Binding, message: str, calls: Sequence[Pending], shape: Shape | None, session: Session
    ) -> Failure:
        seconds = self.waiting.seconds(calls)
        token = await self.tokens.issue(binding, [call.row for call in calls], message, seconds)
        self._revoke_at_end(session, token)
        cooldown = cooldown_of(calls, self._settings)
        await self.waiting.show(binding, calls, message, session, shape=shape, cooldown=cooldown)
        self._record_all("TOKEN_ISSUED", calls, "denied", token_id=token.short, reason="CONFIRMATION_REQUIRED")
        self._note("asked", "token", calls[0].row)
        await self._add_pending(calls, session, seconds)
        return confirmation_required(gravest(calls).row, token, len(calls), message, reasons_of(calls), cooldown)

    async def _wait(
        self, binding: Binding, message: str, calls: Sequence[Pending], shape: Shape | None, session: Session
    ) -> Failure:
        """Return the answer that an operator has to decide, or that nobody can."""
        cooldown = cooldown_of(calls, self._settings)
        matter = await self.waiting.put(binding, calls, message, session, shape=shape, cooldown=cooldown)
        if matter is None:
            by_operator = self._settings.approval == "operator"
            reason = "no operator can be asked" if by_operator else "no person can be asked"
            self._record_all("OPERATION_DENIED", calls, "denied", reason=reason)
            self._note("refused", "nobody", calls[0].row)
            return nobody_to_ask(calls[0].row, calls[0].decision, reason, by_operator=by_operator)
        self._record_all("CONFIRMATION_REQUIRED", calls, "denied", matter=matter.id, reason="waits for an operator")
        self._note("asked", "operator", calls[0].row)
        await self._add_pending(calls, session, self.waiting.seconds(calls))
        return waits_for_operator(gravest(calls).row, matter, len(calls), message, reasons_of(calls))

    # What they share

    def _check_time(self, calls: Sequence[Pending], asked: float) -> None:
        left = asked + cooldown_of(calls, self._settings) - self.tokens.clock()
        if left > 0:
            raise too_early(calls[0].row.name, left)

    def _binding(self, calls: Sequence[Pending], session_id: str | None) -> Binding:
        names = list(dict.fromkeys(call.row.name for call in calls))
        return Binding(", ".join(names), fingerprint_of(calls), self._adapter, session_id, current_caller())

    def _any_call(self, session: Session) -> Binding:
        """Return what a token is bound to whatever its call is."""
        return Binding("confirm_operation", "", self._adapter, session.id, current_caller())

    def _text(self, pending: Pending) -> str:
        """Return the question about a call. Raises Failure if policy `strict` refuses to ask it."""
        view = self._view(pending)
        if view.incomplete and pending.decision.policy == "strict":
            reason = "policy strict: cannot be shown in full"
            self._decisions.record("OPERATION_DENIED", pending.row, pending.call, "denied", reason=reason)
            raise not_shown(pending.row, view.incomplete)
        return view.text

    async def _add_pending(self, calls: Sequence[Pending], session: Session, seconds: float) -> None:
        if self._loop is not None:
            for call in {call.row.name: call for call in calls}.values():
                await self._loop.add_pending(session, call.row, "; ".join(call.decision.reasons), seconds)

    async def _remove_pending(self, calls: Sequence[Pending], session: Session) -> None:
        if self._loop is not None:
            await self._loop.remove_pending(session, list(dict.fromkeys(call.row.name for call in calls)))

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
            self._decisions.audit.record("TOKEN_REVOKED", details)

    def _note(self, outcome: str, by: str, row: Row) -> None:
        """Inform those who watch the adapter of a confirmation."""
        if self._observers is not None:
            self._observers.event("confirmation", outcome=outcome, by=by, operation=row.name)

    def _record_all(self, event: str, calls: Sequence[Pending], result: str, **more: Any) -> None:
        for pending in calls:
            rule = pending.decision.rule or None
            self._decisions.record(event, pending.row, pending.call, result, rule=rule, **more)


def pending_call(row: Row, call: Call, decision: GateDecision, request: ApiRequest) -> Pending:
    """Return a call that has to be confirmed, with its digest."""
    from ..exact_json import fingerprint
    from .approvals import request_digest

    digest = f"{fingerprint(row.name, call.params)} {request_digest(request)}"
    return Pending(row, call, decision, request, digest)
