"""The gatekeeper's refusals, as an agent reads them (R-SAFE-1, R-SAFE-3 to 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import IF_AGREED, Code, Failure, permission_denied
from ..text import iso_time

if TYPE_CHECKING:
    from ..hooks import GateDecision
    from ..state.tickets import Token
    from ..table import Row
    from .questions import Question

_MOST_NAMED = 20
_CHANGED_BY = {
    **{
        effect: f"[policy] {effect} in adapter.toml, or a rule there, which allows it"
        for effect in ("money", "access", "people")
    },
    "on_decision": "hooks.py",
}
"""Where the decisions stand that are no rules of adapter.toml."""


def denied(row: Row, decision: GateDecision, adapter: str) -> Failure:
    """Return the refusal of an operation by the policy, a rule or a hook (danger levels, 4.4)."""
    from .policy import minimum_trust

    stated = "".join(f" {reason.rstrip('.')}." for reason in decision.reasons)
    details: dict[str, Any] = {
        "operation": row.name,
        "danger_level": row.danger,
        "adapter_trust": decision.trust,
        "policy": decision.policy,
        "rule": decision.rule,
        "reasons": list(decision.reasons),
    }
    if decision.rule == "trust-matrix":
        least = minimum_trust(row.danger)
        return Failure(
            Code.DANGER_LEVEL_DENIED,
            f"Operation '{row.name}' (danger: {row.danger}) denied for adapter trust level '{decision.trust}'.{stated} "
            f"Only the adapter's owner can unlock it, by '{adapter}-adapter trust promote' up to '{least}', by a lower "
            "danger in overrides.yaml or by a rule in adapter.toml, which allows it by its name.",
            {**details, "minimum_trust_required": least},
        )
    if decision.rule == "danger-level":
        return Failure(
            Code.DANGER_LEVEL_DENIED,
            f"Operation '{row.name}' is refused: its danger level is {row.danger}.{stated} Only the adapter's owner "
            "can unlock it, by a lower danger in overrides.yaml, a rule in adapter.toml, which allows it by its name, "
            "or MCP_AQL_POLICY=open.",
            details,
        )
    return permission_denied(
        f"this call of '{row.name}' is refused by '{decision.rule}', a rule of the adapter's owner."
        f"{stated} Nothing was sent, and no other way of calling it is let through; only the owner can change this, "
        f"by {_CHANGED_BY.get(decision.rule, '[[policy.rules]] in adapter.toml')}.",
        **details,
    )


_NOBODY = (
    "needs a person's confirmation, and this client cannot ask one. Nothing was sent, and no other call confirms "
    "it: use a client with elicitation, or tell your user. Only the adapter's owner can change this "
    "(MCP_AQL_APPROVAL)."
)
_NO_OPERATOR = (
    "needs an operator's approval, but this adapter's state is in memory, which no operator sees. Nothing was "
    "sent: tell your user. Only the adapter's owner can change this (MCP_AQL_STATE_URL)."
)


_TEXTS = {
    "changed after it was approved": "the request differs from the approved one, since something changed, such as a "
    "file. Nothing was sent; call it again.",
    "denied by an operator": "an operator said no to this call. Nothing was changed; do not try again.",
    "not confirmed by the person": "the person who was asked did not confirm it. Nothing was changed; do not try "
    "again.",
    "declined by the person before": "a person refused this call, or one of these calls, and is not asked again for a "
    "while. Nothing was changed; do not try again, and tell your user if it is needed.",
}


def refused(row: Row, reason: str, **details: Any) -> Failure:
    """Return the refusal of a call for one of these reasons."""
    return permission_denied(_TEXTS[reason], operation=row.name, reason=reason, **details)


def nobody_to_ask(row: Row, decision: GateDecision, *, by_operator: bool) -> Failure:
    """Return the refusal of a call that only a person confirms, where none can be asked."""
    return permission_denied(
        f"operation '{row.name}' {_NO_OPERATOR if by_operator else _NOBODY}",
        operation=row.name,
        danger_level=row.danger,
        reason="no operator can be asked" if by_operator else "no person can be asked",
        reasons=list(decision.reasons),
        approval="operator" if by_operator else "person",
    )


def waits_for_operator(row: Row, question: Question, calls: int, message: str, reasons: Sequence[str]) -> Failure:
    """Return the answer to calls that wait for an operator; `row` is the gravest of the calls' operations."""
    what = f"Operation '{row.name}' waits" if calls == 1 else f"{calls} calls wait"
    details: dict[str, Any] = {
        "operation": row.name,
        "danger_level": row.danger,
        "reasons": list(reasons),
        "confirmation_message": message,
        "approval": "operator",
        "waits_as": question.id,
        "expires_at": iso_time(question.expires),
    }
    if calls > 1:
        details["calls"] = calls
    return Failure(
        Code.CONFIRMATION_REQUIRED,
        f"{what} for an operator to approve, as {question.id}. Nothing was changed. Tell your user this id, and call "
        "again unchanged once it is approved; nothing else confirms it.",
        details,
    )


def not_shown(row: Row, incomplete: Sequence[str]) -> Failure:
    """Return the refusal, under policy `strict`, of a call that cannot be shown in full."""
    from .view import INCOMPLETE

    shown = list(incomplete[:_MOST_NAMED])
    return permission_denied(
        f"part of this call {INCOMPLETE} to whoever confirms it, and policy strict refuses "
        f"this: {', '.join(shown)}. Send less in one call.",
        operation=row.name,
        reason=INCOMPLETE,
        parameters=shown,
    )


def confirmation_required(row: Row, token: Token, calls: int, message: str, reasons: Sequence[str]) -> Failure:
    """Return the demand of a confirmation, with its token; `row` is the gravest of the calls' operations.

    The question, its reasons and its end stand beside the error alone, and are read once (error codes 5.4 leaves them
    optional in `details`).
    """
    text = f"Confirmation required. {IF_AGREED}confirmation_token added to its params."
    details: dict[str, Any] = {"operation": row.name, "danger_level": row.danger, "confirmation_token": token.text}
    if calls > 1:
        text = f"{calls} calls require confirmation, and one token confirms them all."
        details["calls"] = calls
    confirmation: Mapping[str, Any] = {
        "token": token.text,
        "expires_at": token.expires_at,
        "message": message,
        "reasons": list(reasons),
    }
    return Failure(Code.CONFIRMATION_REQUIRED, text, details, confirmation)


def unwritable(row: Row, request_id: str) -> Failure:
    """Return the failure of a call that the audit log cannot record."""
    return Failure(
        Code.INTERNAL_ERROR,
        "Internal error: the audit log cannot be written, so nothing was done. "
        "The adapter's owner can name another place with MCP_AQL_AUDIT_PATH.",
        {"operation": row.name, "request_id": request_id},
    )


def not_offered(row: Row) -> Failure:
    """Build the refusal of an operation that a read-only adapter does not offer."""
    return permission_denied(
        f"this adapter is read only, and operation '{row.name}' is not a proven read. No other "
        f"call performs it. {_way_to_offer(row)}",
        operation=row.name,
        reason="read only",
    )


def _way_to_offer(row: Row) -> str:
    """Return how the owner has a read-only adapter offer an operation, or all of them."""
    if row.family != "read":
        return "Only the adapter's owner can offer it (MCP_AQL_READ_ONLY)."
    return (
        f"If it does, the adapter's owner says so in overrides.yaml: '{row.key}': {{category: READ, danger: safe}}, "
        "then runs aqlgen update."
    )
