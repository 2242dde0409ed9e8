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
from .approvals import Declined, Pending, fingerprint_of, keys_of, question_about, reasons_of
from .confirmation import Binding, ConfirmationTokens
from .refusals import (
    confirmation_required,
    confirmed_by_itself,
    declined_before,
    denied_by_operator,
    no_token,
    nobody_to_ask,
    not_confirmed,
    not_shown,
    too_early,
    waits_for_operator,
)
from .session_approvals import cooldown_of, session_approval
from .waiting import Waiting, gravest

if TYPE_CHECKING:
    from ..protocol_operations import Person
    from ..settings.config import Config
    from ..state.custody import State
    from ..state.tickets import Token
    from ..table import Row
    from ..telemetry.observer import Observers
    from .audit import Decisions
    from .loop.loop import SafetyLoop
    from .questions import Question
    from .view import CallView

__all__ = ["Asking"]

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
            self._refused("token", calls, "TOKEN_REJECTED", token_id=shorten(sent), reason=reason)
            raise no_token(calls[0].row, reason)
        binding = self._binding(calls, session.id)
        approval = session_approval(calls, binding, self._settings)
        question = await self.waiting.question(binding)
        await self._refuse_if_denied(question, calls, binding, sent)
        if question is not None and question.verdict and await self._used(question, binding, calls):
            by = question.by
            self._confirmed("operator", calls, "CONFIRMATION_GRANTED", by=by, matter=question.id)
            await self._settled(calls, binding, session, by, approval if question.scope == "session" else None)
            return
        await self._refuse_if_declined(calls, session)
        if sent is not None:
            await self._redeem(sent, question, calls, binding, session)
            return
        if by_agent and question is not None and await self._by_confirm_operation(question, binding, calls):
            return
        used = None if approval is None else await self.waiting.use(approval, binding, len(calls))
        if used is not None:
            about = {"by": used.by, "approval": used.id, "left": used.left}
            self._confirmed("session", calls, "CONFIRMATION_GRANTED", **about)
            return
        text = question_about([call if call.text else replace(call, text=self._text(call)) for call in calls])
        if person is not None and person.reachable and self._settings.approval != "operator":
            await self._ask(binding, calls, text, session, approval, person)
        elif by_agent:
            raise await self._issue(binding, calls, text, session, approval)
        else:
            raise await self._wait(binding, calls, text, session, approval)

    async def is_confirmed(self, pending: Pending, session_id: str | None) -> bool:
        """Return True if a call will not be asked about: it was confirmed before. Raises StoreAway."""
        binding = self._binding([pending], session_id)
        question = await self.waiting.question(binding)
        if question is not None and (question.verdict or question.permits(1, self.tokens.clock())):
            return True
        return await self.waiting.covers(session_approval([pending], binding, self._settings), binding)

    async def check_token(self, token: object, session: Session) -> None:
        """Raise Failure for a token that could confirm nothing in this session."""
        if self._settings.approval == "agent":
            await self.tokens.find(token, self._any_call(session))

    async def question(self, token: str, session: Session) -> str:
        """Return what the token would confirm, as a question to a person. Raises Failure for an unusable token."""
        binding = self._any_call(session)
        question = await self.waiting.question(binding, (await self.tokens.find(token, binding))[1])
        if question is None:
            raise self.tokens.unknown(binding)
        return question.question

    async def confirm(self, token: str, session: Session) -> dict[str, Any]:
        """Let the call of a token run once. Raises Failure for an unusable token."""
        binding = self._any_call(session)
        issued, digest, operation = await self.tokens.find(token, binding)
        question = await self.waiting.question(binding, digest)
        if question is None:
            raise self.tokens.unknown(binding)
        details = {"operation": operation, "token_id": issued.short, "session_id": session.id}
        self._decisions.audit.write("CONFIRMATION_GRANTED", **details, result="confirmed", by="confirm_operation")
        store = self.waiting.store(binding)
        await store.confirm(question.id, issued.ticket.id, self.tokens.until(issued), issued.short)
        return {
            "operation": operation,
            "message": f"Confirmed. Call it again with the same parameters: it runs once, until {issued.expires_at}",
        }

    async def undecided(self, session: Session) -> list[Question]:
        """Return the questions about the present caller's calls that nobody has decided. Raises StoreAway."""
        return await self.waiting.undecided(self._any_call(session))

    async def revoke(self, token: object, session: Session) -> dict[str, Any]:
        """Make a token of the present caller void (confirmation tokens, 5.3). Raises Failure, and StoreAway."""
        binding = self._any_call(session)._replace(operation="introspect")
        await self.tokens.count_revocation(binding)
        try:
            issued, digest, operation = await self.tokens.find(token, binding)
        except Failure as refusal:
            details = {"token_id": shorten(token), "session_id": session.id, "reason": refusal.code.value}
            self._decisions.audit.record("TOKEN_REJECTED", {**details, "result": "denied", "by": "revoke_token"})
            if refusal.code in (Code.TOKEN_SCOPE_MISMATCH, Code.TOKEN_INVALID):
                raise self.tokens.unknown(binding) from None
            raise
        details = {"operation": operation, "token_id": issued.short, "session_id": session.id}
        self._decisions.audit.write("TOKEN_REVOKED", **details, by="revoke_token")
        await self.tokens.use(issued, binding)
        session.state.get(_SESSION, set()).discard(issued.ticket.id)
        question = await self.waiting.question(binding, digest)
        if question is not None and question.verdict != "denied":
            await self.waiting.store(binding).withdraw(question.id)
        return {"revoked": True, "operation": operation}

    # What was said before

    async def _used(self, question: Question, binding: Binding, calls: Sequence[Pending]) -> bool:
        """Return True if an approval was used for its calls. Raises Failure, and uses nothing, if it is too early."""
        if not question.permits(1, self.tokens.clock()):
            return False
        self._check_time(question, calls)
        return await self.waiting.use(question, binding) is not None

    async def _by_confirm_operation(self, question: Question, binding: Binding, calls: Sequence[Pending]) -> bool:
        ticket, _, token_id = question.confirmed
        is_used = ticket != "" and await self._used(question, binding, calls)
        is_used = is_used and await self.tokens.take(ticket, binding.session)
        if is_used:
            about = {"token_id": token_id, "by": "confirm_operation"}
            self._confirmed("confirm_operation", calls, "TOKEN_VALIDATED", **about)
        return is_used

    async def _refuse_if_denied(
        self, question: Question | None, calls: Sequence[Pending], binding: Binding, sent: object = None
    ) -> None:
        if question is None or question.verdict != "denied":
            return
        by = question.by
        self._refused("operator", calls, reason="an operator denied it", by=by, matter=question.id)
        if sent is not None and await self.tokens.void(sent, binding):
            self._record_all("TOKEN_REVOKED", calls, "denied", token_id=shorten(sent), by=by)
        raise denied_by_operator(calls[0].row, question)

    async def _refuse_if_declined(self, calls: Sequence[Pending], session: Session) -> None:
        keys = [*keys_of(calls), *(key for call in calls for key in keys_of([call]))]
        if await self._declined.holds(session.id, keys):
            self._refused("person", calls, reason="a person declined it before", by="person")
            raise declined_before(calls[0].row)

    async def _redeem(
        self, sent: object, question: Question | None, calls: Sequence[Pending], binding: Binding, session: Session
    ) -> None:
        try:
            token = await self.tokens.opened(sent, binding)
            guarded = self._loop is not None and self._loop.is_guarding
            if guarded and (question is None or question.confirmed[0] != token.ticket.id):
                raise confirmed_by_itself(binding.operation)
            if cooldown_of(calls, self._settings) and await self.tokens.note(token, binding) is not None:
                if question is None:
                    raise self.tokens.unknown(binding)
                self._check_time(question, calls, token)
            await self.tokens.use(token, binding)
        except Failure as refusal:
            reason = refusal.details.get("reason", refusal.code.value)
            self._refused("token", calls, "TOKEN_REJECTED", token_id=shorten(sent), reason=reason)
            raise
        session.state.get(_SESSION, set()).discard(token.ticket.id)
        self._confirmed("token", calls, "TOKEN_VALIDATED", token_id=token.short, by="token")
        await self.waiting.withdraw(binding)
        await self._settled(calls, binding, session)

    # Those who are asked now

    async def _ask(
        self,
        binding: Binding,
        calls: Sequence[Pending],
        text: str,
        session: Session,
        approval: Question | None,
        person: Person,
    ) -> None:
        """Ask the person behind the client; an operator who says no meanwhile has the last word."""
        import anyio

        cooldown, began = cooldown_of(calls, self._settings), time.monotonic()
        await self.waiting.show(binding, calls, text, session, approval)
        answer = await (person.ask(text) if approval is None else person.ask(text, approval.reach))
        if not answer:
            self._refused("person", calls, reason="a person did not confirm it", by="person")
            await self._declined.keep(session.id, keys_of(calls))
            await self.waiting.withdraw(binding)
            raise not_confirmed(calls[0].row)
        await anyio.sleep(max(0.0, began + cooldown - time.monotonic()))
        await self._refuse_if_denied(await self.waiting.question(binding), calls, binding)
        self._confirmed("person", calls, "CONFIRMATION_GRANTED", by="person")
        await self.waiting.withdraw(binding)
        await self._settled(calls, binding, session, "person", approval if answer == "session" else None)

    async def _issue(
        self, binding: Binding, calls: Sequence[Pending], text: str, session: Session, approval: Question | None
    ) -> Failure:
        """Return the demand of a confirmation with its token."""
        seconds = self.waiting.seconds(calls)
        token = await self.tokens.issue(binding, seconds)
        self._revoke_at_end(session, token)
        await self.waiting.put(binding, calls, text, session, approval, door="agent")
        self._record_all("TOKEN_ISSUED", calls, "denied", token_id=token.short, reason="CONFIRMATION_REQUIRED")
        self._note("asked", "token", calls[0].row)
        cooldown = cooldown_of(calls, self._settings)
        return confirmation_required(gravest(calls).row, token, len(calls), text, reasons_of(calls), cooldown)

    async def _wait(
        self, binding: Binding, calls: Sequence[Pending], text: str, session: Session, approval: Question | None
    ) -> Failure:
        """Return the answer that an operator has to decide, or that nobody can."""
        if not self.waiting.for_operators:
            by_operator = self._settings.approval == "operator"
            reason = "no operator can be asked" if by_operator else "no person can be asked"
            self._refused("nobody", calls, reason=reason)
            return nobody_to_ask(calls[0].row, calls[0].decision, reason, by_operator=by_operator)
        question = await self.waiting.put(binding, calls, text, session, approval)
        self._record_all("CONFIRMATION_REQUIRED", calls, "denied", matter=question.id, reason="waits for an operator")
        self._note("asked", "operator", calls[0].row)
        return waits_for_operator(gravest(calls).row, question, len(calls), text, reasons_of(calls))

    # What they share

    async def _settled(
        self,
        calls: Sequence[Pending],
        binding: Binding,
        session: Session,
        by: str = "",
        approval: Question | None = None,
    ) -> None:
        """Grant the approval for the session that goes with a yes."""
        if approval is not None:
            granted = await self.waiting.grant(approval, binding, by, session)
            details = {"by": by, "approval": granted.id, "reach": granted.reach}
            self._record_all("APPROVAL_GRANTED", calls[:1], "confirmed", **details)

    def _check_time(self, question: Question, calls: Sequence[Pending], token: Token | None = None) -> None:
        left = question.asked + cooldown_of(calls, self._settings) - self.tokens.clock()
        if left > 0:
            raise too_early(", ".join(question.operations), left, token)

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

    def _confirmed(self, door: str, calls: Sequence[Pending], event: str, **details: Any) -> None:
        """Record a yes, and inform those who watch the adapter."""
        self._record_all(event, calls, "confirmed", **details)
        self._note("confirmed", door, calls[0].row)

    def _refused(self, door: str, calls: Sequence[Pending], event: str = "OPERATION_DENIED", **details: Any) -> None:
        """Record a no, and inform those who watch the adapter."""
        self._record_all(event, calls, "denied", **details)
        self._note("refused", door, calls[0].row)

    def _note(self, outcome: str, by: str, row: Row) -> None:
        """Inform those who watch the adapter of a confirmation."""
        if self._observers is not None:
            self._observers.event("confirmation", outcome=outcome, by=by, operation=row.name)

    def _record_all(self, event: str, calls: Sequence[Pending], result: str, **more: Any) -> None:
        for pending in calls:
            rule = pending.decision.rule or None
            self._decisions.record(event, pending.row, pending.call, result, rule=rule, **more)
