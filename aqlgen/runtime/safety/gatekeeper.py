# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The gatekeeper: which calls run, which must be confirmed, which are refused (R-SAFE-1, R-SAFE-3 to 5).

Policy `standard`: safe and reversible operations run, destructive and dangerous ones must be confirmed, forbidden ones
are refused. Policy `strict`: operations under review must be confirmed, too, and what cannot be shown in full is
refused. Policy `open`: everything runs. In all, destructive and worse operations go into the audit log. Calls come here
once they are valid, before the hook `before_call` and the request; introspection and confirm_operation never do.

The person behind the client confirms, if the client can ask one. Otherwise, with `approval` agent, the agent gets a
token, and the client's own approval of the second call is the confirmation; with `approval` person the call is refused,
and a token is neither issued nor accepted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ..errors import Code, Failure
from ..hooks import Call, GateDecision, Hooks
from ..session import Session, current_caller
from ..state import fingerprint
from .confirmation import Binding, ConfirmationToken, ConfirmationTokens, danger_reasons, shorten

if TYPE_CHECKING:
    from ..logs.log import Logger
    from ..protocol_operations import Person
    from ..settings.config import Config
    from ..table import Adapter, Row, Table
    from ..wire import ApiRequest
    from .approval import Approval
    from .audit import Audit
    from .loop import SafetyLoop
    from .view import CallView

__all__ = ["GRAVE", "LEVELS", "Gatekeeper", "Outcome", "outcome_of"]

LEVELS = ("safe", "reversible", "destructive", "dangerous", "forbidden")
GRAVE = frozenset(LEVELS[2:])
"""The levels that the audit log holds, and that policy `standard` does not let run without confirmation."""

_FORBIDDEN_SECONDS = 120
Outcome: TypeAlias = Literal["allow", "confirm", "refuse"]
_HELD_BACK: Mapping[str, Mapping[str, Outcome]] = {
    "standard": {"destructive": "confirm", "dangerous": "confirm", "forbidden": "refuse"},
    "strict": {"destructive": "confirm", "dangerous": "confirm", "forbidden": "refuse"},
    "open": {},
}
"""The action of a policy at the levels of danger that it does not allow."""
_SESSION = "gatekeeper"
_MOST_NAMED = 20


def outcome_of(policy: str, danger: str, *, under_review: bool) -> Outcome:
    """Return what a policy decides about an operation."""
    outcome = _HELD_BACK[policy].get(danger, "allow" if danger in LEVELS or policy == "open" else "confirm")
    return "confirm" if outcome == "allow" and policy == "strict" and under_review else outcome


class Gatekeeper:
    """Admits or refuses calls, one for the adapter. Only calls of the levels in `watched` need to be brought to it."""

    def __init__(
        self,
        adapter: Adapter,
        config: Config,
        hooks: Hooks,
        audit: Audit,
        logger: Logger,
        loop: SafetyLoop | None = None,
        table: Table | None = None,
    ) -> None:
        watches_all = hooks.on_decision is not None or config.policy == "strict"
        self.watched = frozenset(LEVELS) if watches_all else GRAVE
        self._adapter = adapter
        self._table = table
        self._config = config
        self._hooks = hooks
        self._audit = audit
        self._logger = logger
        self._loop = loop
        self._tokens = ConfirmationTokens(per_minute=config.confirmation_rate, skew=config.confirmation_skew)
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
    ) -> Approval | None:
        """Return if the call may run, with what was approved if it was confirmed. Raises Failure when it may not.

        `build` makes the call's request.
        """
        call = Call(row.name, params, row.family, request_id, session.id, metadata)
        try:
            decision = await self._hooks.on_gate(self._decide(row), call)
        except Failure as refusal:
            self._record("OPERATION_DENIED", row, call, "denied", reason=refusal.message, by="on_decision")
            raise
        if decision.outcome == "refuse":
            self._record("OPERATION_DENIED", row, call, "denied", reason=f"policy {decision.policy}")
            raise self._denied(row, decision)
        if decision.outcome == "confirm":
            return await self._require_confirmation(row, call, decision, session, person, build())
        if row.danger in GRAVE:
            self._record("OPERATION_ALLOWED", row, call, "allowed", reason=f"policy {decision.policy}")
        return None

    async def foresee(self, row: Row, call: Call) -> GateDecision:
        """Return the decision about a call that is only shown. Raises Failure when the owner's hook refuses."""
        return await self._hooks.on_gate(self._decide(row), call)

    def ended(
        self, row: Row, session: Session, request_id: str, code: str | None, approval: Approval | None = None
    ) -> None:
        """Record how a grave or confirmed call ended; `code` is that of its error."""
        if row.danger in GRAVE or approval is not None:
            details = {"operation": row.name, "endpoint": row.family, "danger_level": row.danger, "error": code}
            if approval is not None and approval.altered_by:
                details["altered_by"] = ", ".join(dict.fromkeys(approval.altered_by))
            event = "OPERATION_PERFORMED" if code is None else "OPERATION_FAILED"
            self._audit.record(event, {**details, "session_id": session.id, "request_id": request_id})

    def record_hidden(self, row: Row, session: Session, request_id: str) -> None:
        """Record that a grave operation was called which a read-only adapter does not offer."""
        if row.danger in GRAVE:
            details = {"operation": row.name, "endpoint": row.family, "danger_level": row.danger, "result": "denied"}
            more = {"session_id": session.id, "request_id": request_id, "reason": "read only"}
            self._audit.record("OPERATION_DENIED", {**details, **more})

    def question(self, token: str, session: Session) -> str:
        """Return what the token would confirm, as a question to a person. Raises Failure for an unusable token."""
        return self._find(token, session).message

    def confirm(self, token: str, session: Session) -> dict[str, Any]:
        """Let the call of a token run once. Raises Failure for an unusable token."""
        pending = self._find(token, session)
        details = {"operation": pending.binding.operation, "token_id": pending.short, "session_id": session.id}
        self._audit.write("CONFIRMATION_GRANTED", **details, result="confirmed", by="confirm_operation")
        self._tokens.approve(pending)
        if self._loop is not None:
            self._loop.remove_pending(session, pending.row)
        return {
            "operation": pending.binding.operation,
            "message": f"Confirmed. Call it again with the same parameters: it runs once, until {pending.expires_at}",
        }

    def _decide(self, row: Row) -> GateDecision:
        policy, reasons = self._config.policy, danger_reasons(row)
        outcome = outcome_of(policy, row.danger, under_review=bool(row.review))
        if row.review and policy == "strict":
            reasons = (*reasons, f"Under review: {'; '.join(row.review)}")
        return GateDecision(outcome, row.danger, policy, reasons)

    async def _require_confirmation(
        self,
        row: Row,
        call: Call,
        decision: GateDecision,
        session: Session,
        person: Person | None,
        request: ApiRequest,
    ) -> Approval:
        """Return if the call is confirmed: by a token, by confirm_operation before, or by a person now."""
        from .approval import Approval, request_digest

        approval, sent = Approval(row, request), call.metadata.get("confirmation_token")
        sent = call.metadata.get("_confirmation") if sent is None else sent
        by_person = self._config.approval == "person"
        if sent is not None and by_person:
            raise self._no_token(sent, row, call)
        digest = f"{fingerprint(row.name, call.params)} {request_digest(request)}"
        binding = Binding(row.name, digest, self._adapter.name, session.id, current_caller())
        if sent is not None:
            self._redeem(sent, row, call, binding, session)
            return approval
        token = None if by_person else self._tokens.redeem_approved(binding)
        if token is not None:
            self._record("TOKEN_VALIDATED", row, call, "confirmed", token_id=token.short, by="confirm_operation")
            return approval
        view = self._view(row, call, decision, request)
        if person is not None and person.reachable:
            await self._ask(view.text, row, call, session, person)
            return approval
        if by_person:
            raise self._nobody_to_ask(row, call, decision)
        raise self._issue(binding, view.text, row, call, decision, session)

    def _view(self, row: Row, call: Call, decision: GateDecision, request: ApiRequest) -> CallView:
        """Return the question about a call. Raises Failure if policy `strict` refuses to ask it."""
        from .view import INCOMPLETE, view_of

        types = {} if self._table is None else self._table.types
        view = view_of(row, call.params, decision, request, types, hooked=bool(self._hooks))
        if view.incomplete and decision.policy == "strict":
            names = ", ".join(view.incomplete[:_MOST_NAMED])
            self._record("OPERATION_DENIED", row, call, "denied", reason="policy strict: cannot be shown in full")
            raise Failure(
                Code.PERMISSION_DENIED,
                f"Permission denied: part of this call {INCOMPLETE} to whoever confirms it, and policy strict refuses "
                f"this: {names}. Send less in one call.",
                {"operation": row.name, "reason": INCOMPLETE, "parameters": list(view.incomplete[:_MOST_NAMED])},
            )
        return view

    def _no_token(self, sent: object, row: Row, call: Call) -> Failure:
        reason = "only a person confirms here"
        self._record("TOKEN_REJECTED", row, call, "denied", token_id=shorten(sent), reason=reason)
        return Failure(
            Code.TOKEN_INVALID,
            "Confirmation token is not valid: this adapter takes no tokens, only a person confirms. Call the operation "
            "again without it; a person is asked if the client can ask one.",
            {"operation": row.name, "reason": reason},
        )

    def _nobody_to_ask(self, row: Row, call: Call, decision: GateDecision) -> Failure:
        reason = "no person can be asked"
        self._record("OPERATION_DENIED", row, call, "denied", reason=reason)
        return Failure(
            Code.PERMISSION_DENIED,
            f"Permission denied: operation '{row.name}' runs only once a person has confirmed it, and this client has "
            "no way to ask one. Nothing was sent, and no other call confirms it: use a client with elicitation, or "
            "tell your user. Only the adapter's owner can change this (MCP_AQL_APPROVAL).",
            {
                "operation": row.name,
                "danger_level": row.danger,
                "reason": reason,
                "reasons": list(decision.reasons),
                "approval": "person",
            },
        )

    def _redeem(self, sent: object, row: Row, call: Call, binding: Binding, session: Session) -> None:
        guarded = self._loop is not None and self._loop.is_guarding(session)
        try:
            token = self._tokens.redeem(sent, binding, approved=guarded)
        except Failure as refusal:
            reason = refusal.code.value
            self._record("TOKEN_REJECTED", row, call, "denied", token_id=shorten(sent), reason=reason)
            raise
        self._record("TOKEN_VALIDATED", row, call, "confirmed", token_id=token.short, by="token")
        if self._loop is not None:
            self._loop.remove_pending(session, row)

    async def _ask(self, message: str, row: Row, call: Call, session: Session, person: Person) -> None:
        if not await person.ask(message):
            self._record("OPERATION_DENIED", row, call, "denied", reason="a person did not confirm it", by="person")
            raise Failure(
                Code.PERMISSION_DENIED,
                "Permission denied: the person who was asked did not confirm it. Nothing was sent; do not try again.",
                {"operation": row.name, "reason": "not confirmed by the person"},
            )
        self._record("CONFIRMATION_GRANTED", row, call, "confirmed", by="person")
        if self._loop is not None:
            self._loop.remove_pending(session, row)

    def _issue(
        self, binding: Binding, message: str, row: Row, call: Call, decision: GateDecision, session: Session
    ) -> Failure:
        seconds = self._config.confirmation_ttl
        if row.danger == "forbidden":
            seconds = min(seconds, _FORBIDDEN_SECONDS)
        token = self._tokens.issue(binding, row, message, seconds)
        self._forget_at_end(session)
        self._record("TOKEN_ISSUED", row, call, "denied", token_id=token.short, reason="CONFIRMATION_REQUIRED")
        if self._loop is not None:
            self._loop.add_pending(session, row, "; ".join(decision.reasons), seconds)
        return Failure(
            Code.CONFIRMATION_REQUIRED,
            f"Operation '{row.name}' requires confirmation. To go on, call it again with the same parameters and "
            "confirmation_token; do so only if your user wants this.",
            {
                "operation": row.name,
                "danger_level": row.danger,
                "reasons": list(decision.reasons),
                "confirmation_message": message,
                "confirmation_token": token.id,
                "expires_at": token.expires_at,
            },
            {"token": token.id, "expires_at": token.expires_at, "message": message, "reasons": list(decision.reasons)},
        )

    def _find(self, token: str, session: Session) -> ConfirmationToken:
        binding = Binding("confirm_operation", "", self._adapter.name, session.id, current_caller())
        return self._tokens.find(token, binding)

    def _forget_at_end(self, session: Session) -> None:
        """Drop the tokens of a session when it ends."""
        session_id = session.id
        if session_id is None or _SESSION in session.state:
            return
        session.state[_SESSION] = True

        def forget() -> None:
            unused = self._tokens.forget(session_id)
            if unused:
                self._audit.record(
                    "TOKEN_REVOKED", {"session_id": session_id, "tokens": unused, "reason": "the session ended"}
                )

        session.on_close(forget)

    def _denied(self, row: Row, decision: GateDecision) -> Failure:
        reasons = "".join(f" {reason}." for reason in decision.reasons)
        return Failure(
            Code.DANGER_LEVEL_DENIED,
            f"Operation '{row.name}' is refused: its danger level is {row.danger}.{reasons} "
            "Only the adapter's owner can unlock it, by a lower danger in overrides.yaml or MCP_AQL_POLICY=open.",
            {
                "operation": row.name,
                "danger_level": row.danger,
                "policy": decision.policy,
                "trust_level": self._config.trust_level,
                "reasons": list(decision.reasons),
            },
        )

    def _record(self, event: str, row: Row, call: Call, result: str, **more: Any) -> None:
        """Write a decision into the audit log, before it is acted upon. Raises Failure when it cannot be written."""
        from .audit import masked_params

        try:
            self._audit.write(
                event,
                operation=row.name,
                endpoint=row.family,
                danger_level=row.danger,
                result=result,
                session_id=call.session_id,
                request_id=call.request_id,
                params=masked_params(row, call.params),
                **more,
            )
        except OSError as error:
            self._logger.write("critical", "the audit log cannot be written", trace={"error": str(error)})
            raise Failure(
                Code.INTERNAL_ERROR,
                "Internal error: the audit log cannot be written, so nothing was done. "
                f"The adapter's owner sees its place with '{self._adapter.name}-adapter doctor'.",
                {"operation": row.name, "request_id": call.request_id},
            ) from None
