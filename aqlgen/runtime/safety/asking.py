"""The confirmation of calls that the gatekeeper holds back: who is asked, and what counts as a yes (R-SAFE-3, 4).

In this order: what an operator decided about these very calls; a token; a confirmation by confirm_operation; the
first use of the operation in the session; the person behind the client; and otherwise a token for the agent, or the
wait for an operator. Setting `confirmation.approval` says which of these there are. An operator's denial comes before
everything, and a person's no before everything but an operator's yes. Each is of the same question, which is one while
session, caller, parameters and request are the same. While the store is away nothing is confirmed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from ..errors import Code, Failure, permission_denied
from ..session import Session
from ..state import StoreAway
from ..state.tickets import Token, Tokens, count_of_minute, owner_of, shorten
from . import approvals, refusals
from .approvals import Declined, HeldCall
from .policy import FIRST_USE
from .questions import Question, QuestionStore, SessionQuestions

if TYPE_CHECKING:
    from ..logs.observers import Observers
    from ..protocol_operations import Person
    from ..settings.config import Config
    from ..state.custody import State
    from ..table import Row
    from .audit import Decisions
    from .view import CallView

_TOKENS = "tokens"
_FORBIDDEN_SECONDS = 120
"""Seconds for which the confirmation of a forbidden operation is good at most."""
_FIRST_USE_SECONDS = 86_400
"""Seconds for which the first yes to an operation is good, if its session lasts so long."""
_ANY_CALL = {"operation": "confirm_operation"}


class Asking:
    """Has calls confirmed; one for the adapter. `view` makes the question about a call."""

    def __init__(
        self,
        adapter: str,
        config: Config,
        state: State,
        decisions: Decisions,
        view: Callable[[HeldCall], Awaitable[CallView]],
        observers: Observers | None,
        masked: Callable[[Any], Any],
    ) -> None:
        self.settings = config.confirmation
        self.by_agent = self.settings.approval == "agent"
        self.questions = SessionQuestions(state, stays=self.by_agent)
        self.tokens = Tokens(
            state.of,
            adapter,
            "conf_",
            name="confirmation token",
            scope="another operation or other parameters",
            advice="Call the operation again without a token to get a new one.",
            per_minute=self.settings.per_minute,
            skew=self.settings.skew,
        )
        self.declined = Declined(state)
        self.state = state
        self.decisions = decisions
        self.guarded = config.safety_loop == "enforcing" and config.loop_approval == "person"
        """Whether a token that an agent sends back itself confirms nothing, whatever runs now (8.7.3)."""
        self.masked = masked
        self.adapter = adapter
        self._view = view
        self._observers = observers

    async def confirm_calls(
        self,
        calls: Sequence[HeldCall],
        sent: object,
        session: Session,
        person: Person | None,
    ) -> None:
        """Return if the calls are confirmed. Raises Failure if they are not; nothing was changed then."""
        await _Confirmation(self, calls, session).settle(sent, person)

    async def is_confirmed(self, held: HeldCall, session_id: str | None) -> bool:
        """Return True if a call will not be asked about: it was confirmed before. Raises StoreAway."""
        about, now = approvals.question_of([held], self.adapter, session_id), self.tokens.clock()
        first = approvals.first_use(held, about)
        if held.any and first is None:
            return True  # no session would keep a yes: each call is asked about at its turn
        store = await self.questions.of(session_id)
        known, granted = [None if each is None else await store.asked(each.digest) for each in (about, first)]
        permits = any(each is not None and each.permits(now) for each in (known, granted))
        return permits or (known is not None and known.verdict != "")

    async def text(self, held: HeldCall) -> str:
        """Return the question about a call in words. Raises Failure if policy `strict` refuses to ask it."""
        view = await self._view(held)
        if view.incomplete and held.decision.policy == "strict":
            reason = "policy strict: cannot be shown in full"
            self.decisions.record("OPERATION_DENIED", held.row, held.call, "denied", reason=reason)
            raise refusals.not_shown(held.row, view.incomplete)
        return view.text

    def note(self, outcome: str, by: str, row: Row) -> None:
        """Inform those who watch the adapter of a confirmation."""
        if self._observers is not None:
            self._observers.event("confirmation", outcome=outcome, by=by, operation=row.name)

    # Tokens of any call

    async def check_token(self, token: object, session: Session) -> None:
        """Raise Failure for a token that could confirm nothing in this session."""
        if self.by_agent:
            await self.tokens.note(session.id, await self.tokens.open(session.id, token, _ANY_CALL), _ANY_CALL)

    async def question(self, token: str, session: Session) -> str:
        """Return the question about the call of a token. Raises Failure for an unusable token."""
        return (await self._found(token, session))[2].question

    async def confirm(self, token: str, session: Session) -> dict[str, Any]:
        """Let the call of a token run once. Raises Failure for an unusable token."""
        issued, operation, question, store = await self._found(token, session)
        details = {"operation": operation, "token_id": issued.short, "session_id": session.id}
        self.decisions.audit.write("CONFIRMATION_GRANTED", **details, result="confirmed", by="confirm_operation")
        await store.confirm(question.id, issued.ticket.id, issued.ticket.expires + self.tokens.skew, issued.short)
        return {
            "operation": operation,
            "message": f"Confirmed. Call it again with the same parameters: it runs once, until {issued.expires_at}",
        }

    async def _found(self, text: object, session: Session) -> tuple[Token, str, Question, QuestionStore]:
        token = await self.tokens.open(session.id, text, _ANY_CALL)
        digest, operation = await self.tokens.note(session.id, token, _ANY_CALL)
        store = await self.questions.of(session.id)
        question = await store.asked(digest)
        if question is None:
            raise self.tokens.unknown(_ANY_CALL)
        return token, operation, question, store

    async def revoke(self, token: object, session: Session) -> dict[str, Any]:
        """Make a token of the present caller void (confirmation tokens, 5.3). Raises Failure, and StoreAway."""
        about = {"operation": "introspect"}
        name, most = f"revoked tokens:{owner_of(session.id)}", self.settings.per_minute
        await count_of_minute(self.state.of(session.id), name, most, "Too many tokens were revoked", {})
        try:
            issued = await self.tokens.open(session.id, token, about)
            digest, operation = await self.tokens.note(session.id, issued, about)
        except Failure as refusal:
            details = {"token_id": shorten(token), "session_id": session.id, "reason": refusal.code.value}
            self.decisions.audit.record("TOKEN_REJECTED", {**details, "result": "denied", "by": "revoke_token"})
            if refusal.code in (Code.TOKEN_SCOPE_MISMATCH, Code.TOKEN_INVALID):
                raise self.tokens.unknown(about) from None
            raise
        details = {"operation": operation, "token_id": issued.short, "session_id": session.id}
        self.decisions.audit.write("TOKEN_REVOKED", **details, by="revoke_token")
        await self.tokens.use(session.id, issued, about)
        session.state.get(_TOKENS, set()).discard(issued.ticket.id)
        await (await self.questions.of(session.id)).settle(digest)
        return {"revoked": True, "operation": operation}


class _Confirmation:
    """The confirmation of calls, at one door after the other."""

    def __init__(
        self,
        asking: Asking,
        calls: Sequence[HeldCall],
        session: Session,
    ) -> None:
        self._asking = asking
        self._calls = calls
        self._session = session
        self._row = calls[0].row
        self._about = approvals.question_of(calls, asking.adapter, session.id)
        self._first_uses = [approvals.first_use(call, self._about) for call in calls]
        self._details = {"operation": ", ".join(self._about.operations)}

    async def settle(self, sent: object, person: Person | None) -> None:
        """Return if the calls are confirmed. Raises Failure if they are not."""
        asking = self._asking
        if sent is not None and not asking.by_agent:
            reason = "only a person confirms here"
            self._refused("token", "TOKEN_REJECTED", token_id=shorten(sent), reason=reason)
            raise Failure(
                Code.TOKEN_INVALID,
                "Confirmation token is not valid: this adapter takes no tokens, only a person confirms. Call the "
                "operation again without it; a person is asked if one can be.",
                {"operation": self._row.name, "reason": reason},
            )
        self._store = await asking.questions.of(self._session.id)
        known = await self._store.asked(self._about.digest)
        await self._refuse_if_denied(known, sent)
        if not await self._by_operator(known):
            await self._refuse_if_declined()
            if sent is not None:
                await self._redeem(sent, known)
            elif not (asking.by_agent and await self._by_confirm_operation(known)):
                if await self._used_before():
                    return
                await self._ask_now(person)
        bare = [approvals.first_use(call, self._about, bare=True) for call in self._calls]
        kept = {approval.digest: approval for approval in (*self._first_uses, *bare) if approval is not None}
        for approval in kept.values():
            await self._keep(approval, FIRST_USE, _FIRST_USE_SECONDS)

    async def _by_operator(self, known: Question | None) -> bool:
        """Return True if an operator approved these very calls."""
        if known is None or not known.verdict or not await self._used(known):
            return False
        self._confirmed("operator", "CONFIRMATION_GRANTED", by=known.by, matter=known.id)
        return True

    async def _refuse_if_declined(self) -> None:
        """Raise Failure if a person said no to the calls, or to one of them."""
        declined = [
            *approvals.keys_of(self._calls),
            *(key for call in self._calls for key in approvals.keys_of([call])),
        ]
        if await self._asking.declined.holds(self._session.id, declined):
            self._refused("person", reason="a person declined it before", by="person")
            raise refusals.refused(self._row, "declined by the person before")

    async def _ask_now(self, person: Person | None) -> None:
        """Ask the person behind the client. Raises Failure with a token, or for the wait, where none is reached."""
        asking = self._asking
        self._text = approvals.question_about(
            [call if call.text else replace(call, text=await asking.text(call)) for call in self._calls]
        )
        reached = None if person is None or not person.reachable or asking.settings.approval == "operator" else person
        if reached is None and not (asking.by_agent or asking.questions.for_operators):
            raise self._nobody()
        if reached is None:
            raise await self._issue() if asking.by_agent else await self._wait()
        await self._ask(reached)

    async def _used(self, known: Question) -> bool:
        """Return True if an approval was used for its calls."""
        if not known.permits(self._asking.tokens.clock()):
            return False
        return await self._store.use(known.id, known.digest) is not None

    async def _used_before(self) -> bool:
        """Return True if somebody has said yes in this session to each operation, which needs no more than that."""
        for approval in self._first_uses:
            known = None if approval is None else await self._store.asked(approval.digest)
            if known is None or not known.permits(self._asking.tokens.clock()):
                return False
        self._confirmed(FIRST_USE, "CONFIRMATION_GRANTED", by=FIRST_USE)
        return True

    async def _by_confirm_operation(self, known: Question | None) -> bool:
        ticket, _, token_id = ("", 0.0, "") if known is None else known.confirmed
        is_used = known is not None and ticket != "" and await self._used(known)
        is_used = is_used and await self._asking.state.of(self._session.id).use(ticket)
        if is_used:
            self._confirmed("confirm_operation", "TOKEN_VALIDATED", token_id=token_id, by="confirm_operation")
        return is_used

    async def _refuse_if_denied(self, known: Question | None, sent: object = None) -> None:
        if known is None or known.verdict != "denied":
            return
        asking, by = self._asking, known.by
        self._refused("operator", reason="an operator denied it", by=by, matter=known.id)
        if sent is not None:
            try:
                await asking.tokens.use(self._session.id, await self._opened(sent), self._details)
                self._record("TOKEN_REVOKED", "denied", token_id=shorten(sent), by=by)
            except StoreAway:
                raise
            except Failure:  # it was of no use before
                pass
        raise refusals.refused(self._row, "denied by an operator", matter=known.id)

    async def _redeem(self, sent: object, known: Question | None) -> None:
        tokens, session = self._asking.tokens, self._session
        try:
            token = await self._opened(sent)
            if self._asking.guarded and (known is None or known.confirmed[0] != token.ticket.id):
                raise permission_denied(
                    "an agent under the safety loop cannot confirm its own call. Use confirm_operation with this "
                    "token, so a person is asked.",
                    **self._details,
                )
            await tokens.use(session.id, token, self._details)
        except Failure as refusal:
            reason = refusal.details.get("reason", refusal.code.value)
            self._refused("token", "TOKEN_REJECTED", token_id=shorten(sent), reason=reason)
            raise
        session.state.get(_TOKENS, set()).discard(token.ticket.id)
        self._confirmed("token", "TOKEN_VALIDATED", token_id=token.short, by="token")
        await self._store.settle(self._about.digest)

    async def _opened(self, sent: object) -> Token:
        return await self._asking.tokens.open(self._session.id, sent, self._details, [self._about.digest])

    async def _ask(self, person: Person) -> None:
        """Ask the person behind the client; an operator who says no meanwhile has the last word."""
        asking = self._asking
        if asking.questions.for_operators:
            with suppress(Failure):
                await self._put("person")
        if not await person.ask(self._text):
            self._refused("person", reason="a person did not confirm it", by="person")
            await asking.declined.keep(self._session.id, approvals.keys_of(self._calls))
            await self._store.settle(self._about.digest)
            raise refusals.refused(self._row, "not confirmed by the person")
        await self._refuse_if_denied(await self._store.asked(self._about.digest))
        self._confirmed("person", "CONFIRMATION_GRANTED", by="person")
        await self._store.settle(self._about.digest)

    async def _issue(self) -> Failure:
        """Return the demand of a confirmation with its token."""
        asking, session, note = self._asking, self._session, [self._about.digest, self._details["operation"]]
        token = await asking.tokens.issue(session.id, note[:1], self._seconds, self._details, note)
        session.hold(_TOKENS, token.ticket.id, lambda unused: asking.decisions.revoked(session.id, unused))
        await self._put("agent")
        self._record("TOKEN_ISSUED", "denied", token_id=token.short, reason="CONFIRMATION_REQUIRED")
        asking.note("asked", "token", self._row)
        row, reasons = approvals.gravest(self._calls).row, approvals.reasons_of(self._calls)
        return refusals.confirmation_required(row, token, len(self._calls), self._text, reasons)

    def _nobody(self) -> Failure:
        """Return the refusal of calls that nobody can decide about."""
        by_operator = self._asking.settings.approval == "operator"
        refusal = refusals.nobody_to_ask(self._row, self._calls[0].decision, by_operator=by_operator)
        self._refused("nobody", reason=refusal.details["reason"])
        return refusal

    async def _wait(self) -> Failure:
        """Return the answer that an operator has to decide."""
        question = await self._put("operator")
        self._record("CONFIRMATION_REQUIRED", "denied", matter=question.id, reason="waits for an operator")
        self._asking.note("asked", "operator", self._row)
        row, reasons = approvals.gravest(self._calls).row, approvals.reasons_of(self._calls)
        return refusals.waits_for_operator(row, question, len(self._calls), self._text, reasons)

    async def _put(self, door: Literal["agent", "operator", "person"]) -> Question:
        """Put the question; beside a token that was counted (`agent`), or else counted by itself."""
        asking, store, about = self._asking, self._store, self._about
        await asking.questions.flush()
        now = store.clock()
        if door != "agent" and await store.asked(about.digest) is None:
            name, problem = f"questions of calls:{owner_of(self._session.id)}", "Too many calls wait for an operator"
            shared, most = asking.state.shared, asking.settings.per_minute
            await count_of_minute(shared, name, most, problem, self._details)
        text = str(asking.masked(self._text))
        put = replace(
            about,
            id=await store.id_of(about.digest),
            title=text.partition("\n")[0],
            question=text,
            asked=now,
            expires=now + self._seconds + asking.settings.skew,
            is_asked=door == "person",
        )
        await store.ask(put)
        self._session.hold("questions", (store, put.id), asking.questions.end)
        return await store.question(put.id) or put

    async def _keep(self, approval: Question, by: str, seconds: int) -> None:
        """Keep an approval until its time or the session ends."""
        store, now = self._store, self._store.clock()
        approval = replace(approval, asked=now, expires=now + seconds, verdict="approved", by=by)
        approval = replace(approval, id=await store.id_of(approval.digest))
        await store.keep(approval)
        self._session.hold("questions", (store, approval.id), self._asking.questions.end)

    @property
    def _seconds(self) -> int:
        """For how long the calls can be confirmed."""
        ttl = self._asking.settings.ttl
        return min(ttl, _FORBIDDEN_SECONDS) if any(call.row.danger == "forbidden" for call in self._calls) else ttl

    def _confirmed(self, door: str, event: str, **details: Any) -> None:
        """Record a yes, and inform those who watch the adapter."""
        self._record(event, "confirmed", **details)
        self._asking.note("confirmed", door, self._row)

    def _refused(self, door: str, event: str = "OPERATION_DENIED", **details: Any) -> None:
        """Record a no, and inform those who watch the adapter."""
        self._record(event, "denied", **details)
        self._asking.note("refused", door, self._row)

    def _record(self, event: str, result: str, **more: Any) -> None:
        for held in self._calls:
            rule = held.decision.rule or None
            self._asking.decisions.record(event, held.row, held.call, result, rule=rule, **more)
