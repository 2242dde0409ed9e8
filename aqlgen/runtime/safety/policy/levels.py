# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""What each policy does at each level of danger, and policy `strict` at each level of trust (danger levels, 4.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from ...settings.parsers import TRUST_LEVELS
from ...settings.policy import DANGER_LEVELS as LEVELS

if TYPE_CHECKING:
    from ...table import Row

__all__ = [
    "GRAVE", "LEVELS", "SEVERITY", "Outcome", "Subject", "Verdict", "by_level", "danger_reasons", "is_grave",
    "minimum_trust",
]  # fmt: skip

GRAVE = frozenset(LEVELS[2:])
"""The levels that the audit log holds, and that policy `standard` does not let run without confirmation."""

Outcome: TypeAlias = Literal["allow", "confirm", "refuse"]
SEVERITY: Mapping[Outcome, int] = {"allow": 0, "confirm": 1, "refuse": 2}

_STANDARD: Mapping[str, Outcome] = {
    "safe": "allow",
    "reversible": "allow",
    "destructive": "confirm",
    "dangerous": "confirm",
    "forbidden": "refuse",
}
_CONFIRMED_FROM = {"destructive": "validated", "dangerous": "community_reviewed", "forbidden": "certified"}
_ALLOWED_FROM = {
    "safe": "generated",
    "reversible": "validated",
    "destructive": "community_reviewed",
    "dangerous": "certified",
}
"""The least trust at which operations of a level of danger are confirmed, and run without it."""
_UNKNOWN = "destructive"
"""As what a level counts that the protocol does not have; it never runs without confirmation."""


_BY_DANGER = {
    "destructive": ("May not be undone",),
    "dangerous": ("May concern many things together", "May not be undone"),
    "forbidden": ("May concern everything there is", "Cannot be undone"),
}
_BY_FAMILY = {"delete": "Removes data", "update": "Overwrites data", "execute": "Has effects of its own"}


class Subject(NamedTuple):
    """What the policy needs to know of an operation."""

    name: str
    family: str
    danger: str
    review: Sequence[str] = ()
    moves_money: bool = False

    @classmethod
    def of(cls, row: Row) -> Subject:
        """Return an operation's part."""
        return cls(row.name, row.family, row.danger, row.review, row.moves_money)


class Verdict(NamedTuple):
    """What is decided, and the id of the rule that decided it."""

    outcome: Outcome
    rule: str
    reasons: tuple[str, ...] = ()


def by_level(policy: str, danger: str, trust: str) -> Verdict:
    """Return what a policy decides by the level of danger, and by trust if it is `strict`."""
    if policy == "open":
        return Verdict("allow", "policy-open")
    if policy != "strict":
        return Verdict(_STANDARD.get(danger, "confirm"), "danger-level")
    reached = TRUST_LEVELS.index(trust)
    known = danger if danger in LEVELS else _UNKNOWN
    allowed, confirmed = _ALLOWED_FROM.get(known), _CONFIRMED_FROM.get(known)
    if allowed is not None and reached >= TRUST_LEVELS.index(allowed):
        return Verdict("allow" if known == danger else "confirm", "trust-matrix")
    if confirmed is not None and reached >= TRUST_LEVELS.index(confirmed):
        return Verdict("confirm", "trust-matrix")
    return Verdict("refuse", "trust-matrix")


def minimum_trust(danger: str) -> str:
    """Return the least trust at which policy `strict` does not refuse a level of danger."""
    known = danger if danger in LEVELS else _UNKNOWN
    return _CONFIRMED_FROM.get(known) or _ALLOWED_FROM[known]


def danger_reasons(subject: Row | Subject) -> tuple[str, ...]:
    """Return why an operation of its level of danger is held back."""
    by_danger = _BY_DANGER.get(subject.danger, ())
    return (_BY_FAMILY.get(subject.family, "Adds data"), *by_danger) if by_danger else ()


def is_grave(row: Row) -> bool:
    """Return True if every call of an operation goes into the audit log."""
    return row.danger in GRAVE or row.moves_money
