# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The gatekeeper: which calls run, which are asked about, which are refused (R-SAFE-1, R-SAFE-3 to 5).

Policy `standard`: safe and reversible operations run, destructive and dangerous ones are asked about, forbidden ones
are refused. Policy `open`: everything runs. Either way what is destructive or worse goes into the audit log. A call
that is valid in itself comes here; `before_call` and the request come after. Introspection and confirming never do.

Who is asked: the person behind the client, if the client can ask one; otherwise the agent gets a token, and the
client's own approval of the second call is the confirmation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from .confirmation import Binding, Token, Tokens, digest, shorten
from .errors import Code, Failure
from .hooks import Call, GateDecision, Hooks
from .questions import question, reasons
from .session import Session

if TYPE_CHECKING:
    from .audit import Audit
    from .config import Config
    from .log import Logger
    from .loop import Loop
    from .registry import Person
    from .table import Adapter, Row

__all__ = ["GRAVE", "LEVELS", "Gatekeeper"]

LEVELS = ("safe", "reversible", "destructive", "dangerous", "forbidden")
GRAVE = frozenset(LEVELS[2:])
"""What the audit log holds, and policy `standard` does not let run by itself."""

_FORBIDDEN_SECONDS = 120
_STANDARD: Mapping[str, Literal["allow", "confirm", "refuse"]] = {
    "safe": "allow",
    "reversible": "allow",
    "destructive": "confirm",
    "dangerous": "confirm",
    "forbidden": "refuse",
}
_SESSION = "gatekeeper"


class Gatekeeper:
    """One for the adapter. Only calls of the levels in `watched` need to be brought to it."""

    def __init__(
        self, adapter: Adapter, config: Config, hooks: Hooks, audit: Audit, logger: Logger, loop: Loop | None = None
    ) -> None:
        self.watched = frozenset(LEVELS) if hooks.on_decision is not None else GRAVE
        self._adapter = adapter
        self._config = config
        self._hooks = hooks
        self._audit = audit
        self._logger = logger
        self._loop = loop
        self._tokens = Tokens(per_minute=config.confirmation_rate, skew=config.confirmation_skew)
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
    ) -> None:
        """Return if the call may run. Raises Failure when it may not, or not yet."""
        call = Call(row.name, params, row.family, request_id, session.id, metadata)
        try:
            decision = await self._hooks.on_gate(self._decide(row), call)
        except Failure as refusal:
            self._note("OPERATION_DENIED", row, call, "denied", reason=refusal.message, by="on_decision")
            raise
        if decision.outcome == "refuse":
            self._note("OPERATION_DENIED", row, call, "denied", reason=f"policy {decision.policy}")
            raise self._denied(row, decision)
        if decision.outcome == "confirm":
            await self._confirmed(row, call, decision, session, person)
        elif row.danger in GRAVE:
            self._note("OPERATION_ALLOWED", row, call, "allowed", reason=f"policy {decision.policy}")

    async def foresee(self, row: Row, call: Call) -> GateDecision:
        """Give what would be decided about a call that is only shown. Raises Failure when the owner's hook refuses."""
        return await self._hooks.on_gate(self._decide(row), call)

    def ended(self, row: Row, session: Session, request_id: str, code: str | None) -> None:
        """Note how a grave call ended; `code` is that of its error."""
        if row.danger in GRAVE:
            details = {"operation": row.name, "endpoint": row.family, "danger_level": row.danger, "error": code}
            event = "OPERATION_PERFORMED" if code is None else "OPERATION_FAILED"
            self._audit.record(event, {**details, "session_id": session.id, "request_id": request_id})

    def question(self, token: str, session: Session) -> str:
        """Say what the token would confirm, as a question to a person. Raises Failure for a token of no use."""
        return self._find(token, session).question

    def confirm(self, token: str, session: Session) -> dict[str, Any]:
        """Let the call of a token through once. Raises Failure for a token of no use."""
        found = self._find(token, session)
        details = {"operation": found.binding.operation, "token_id": found.short, "session_id": session.id}
        self._audit.write("CONFIRMATION_GRANTED", **details, result="confirmed", by="confirm_operation")
        self._tokens.approve(found)
        if self._loop is not None:
            self._loop.confirmed(session, found.row)
        return {
            "operation": found.binding.operation,
            "message": f"Confirmed. Call it again with the same parameters: it runs once, until {found.expires_at}",
        }

    def _decide(self, row: Row) -> GateDecision:
        policy = self._config.policy
        outcome = "allow" if policy == "open" else _STANDARD.get(row.danger, "confirm")
        return GateDecision(outcome, row.danger, policy, reasons(row))

    async def _confirmed(
        self, row: Row, call: Call, decision: GateDecision, session: Session, person: Person | None
    ) -> None:
        """Return if the call is confirmed: by a token, by confirm_operation before, or by a person now."""
        binding = Binding(row.name, digest(row.name, call.params), self._adapter.name, session.id)
        sent = call.metadata.get("confirmation_token", call.metadata.get("_confirmation"))
        if sent is not None:
            self._redeem(sent, row, call, binding, session)
            return
        token = self._tokens.redeem_approved(binding)
        if token is not None:
            self._note("TOKEN_VALIDATED", row, call, "confirmed", token_id=token.short, by="confirm_operation")
            return
        asked = question(row, call.params, decision.reasons)
        if person is not None and person.reachable:
            await self._ask(asked, row, call, session, person)
            return
        raise self._issue(binding, asked, row, call, decision, session)

    def _redeem(self, sent: object, row: Row, call: Call, binding: Binding, session: Session) -> None:
        guarded = self._loop is not None and self._loop.guards(session)
        try:
            token = self._tokens.redeem(sent, binding, approved=guarded)
        except Failure as refusal:
            reason = refusal.code.value
            self._note("TOKEN_REJECTED", row, call, "denied", token_id=shorten(sent), reason=reason)
            raise
        self._note("TOKEN_VALIDATED", row, call, "confirmed", token_id=token.short, by="token")
        if self._loop is not None:
            self._loop.confirmed(session, row)

    async def _ask(self, asked: str, row: Row, call: Call, session: Session, person: Person) -> None:
        if not await person.ask(asked):
            self._note("OPERATION_DENIED", row, call, "denied", reason="a person did not confirm it", by="person")
            raise Failure(
                Code.PERMISSION_DENIED,
                "Permission denied: the person who was asked did not confirm it. Nothing was sent; do not try again.",
                {"operation": row.name, "reason": "not confirmed by the person"},
            )
        self._note("CONFIRMATION_GRANTED", row, call, "confirmed", by="person")
        if self._loop is not None:
            self._loop.confirmed(session, row)

    def _issue(
        self, binding: Binding, asked: str, row: Row, call: Call, decision: GateDecision, session: Session
    ) -> Failure:
        seconds = self._config.confirmation_ttl
        if row.danger == "forbidden":
            seconds = min(seconds, _FORBIDDEN_SECONDS)
        token = self._tokens.issue(binding, row, asked, seconds)
        self._forget_with(session)
        self._note("TOKEN_ISSUED", row, call, "denied", token_id=token.short, reason="CONFIRMATION_REQUIRED")
        if self._loop is not None:
            self._loop.pending(session, row, "; ".join(decision.reasons), seconds)
        return Failure(
            Code.CONFIRMATION_REQUIRED,
            f"Operation '{row.name}' requires confirmation. To go on, call it again with the same parameters and "
            "confirmation_token; do so only if your user wants this.",
            {
                "operation": row.name,
                "danger_level": row.danger,
                "reasons": list(decision.reasons),
                "confirmation_message": asked,
                "confirmation_token": token.id,
                "expires_at": token.expires_at,
            },
            {"token": token.id, "expires_at": token.expires_at, "message": asked, "reasons": list(decision.reasons)},
        )

    def _find(self, token: str, session: Session) -> Token:
        return self._tokens.find(token, Binding("confirm_operation", "", self._adapter.name, session.id))

    def _forget_with(self, session: Session) -> None:
        """Drop the tokens of a session when it ends."""
        known = session.id
        if known is None or _SESSION in session.state:
            return
        session.state[_SESSION] = True

        def forget() -> None:
            left = self._tokens.forget(known)
            if left:
                self._audit.record(
                    "TOKEN_REVOKED", {"session_id": known, "tokens": left, "reason": "the session ended"}
                )

        session.on_close(forget)

    def _denied(self, row: Row, decision: GateDecision) -> Failure:
        told = "".join(f" {reason}." for reason in decision.reasons)
        return Failure(
            Code.DANGER_LEVEL_DENIED,
            f"Operation '{row.name}' is refused: its danger level is {row.danger}.{told} "
            "Only the adapter's owner can unlock it, by a lower danger in overrides.yaml or MCP_AQL_POLICY=open.",
            {
                "operation": row.name,
                "danger_level": row.danger,
                "policy": decision.policy,
                "trust_level": self._config.trust_level,
                "reasons": list(decision.reasons),
            },
        )

    def _note(self, event: str, row: Row, call: Call, result: str, **more: Any) -> None:
        """Write a decision into the audit log, before it is acted upon. Raises Failure when it cannot be written."""
        from .audit import redacted

        try:
            self._audit.write(
                event,
                operation=row.name,
                endpoint=row.family,
                danger_level=row.danger,
                result=result,
                session_id=call.session_id,
                request_id=call.request_id,
                params=redacted(row, call.params),
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
