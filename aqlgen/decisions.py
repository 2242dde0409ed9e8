"""What aqlgen decides about each operation, every decision with its reason and its confidence (R-NAME-4)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from aqlgen.ir import Operation

REVIEW_THRESHOLD = 0.7
"""A decision of lower confidence is put before the reviewer."""


class Category(StrEnum):
    """The semantic categories of MCP-AQL (specification, 6.1)."""

    CREATE = "CREATE"
    READ = "READ"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    EXECUTE = "EXECUTE"

    @property
    def family(self) -> str:
        """The endpoint family: `create`, `read`, …"""
        return self.value.lower()


class Danger(StrEnum):
    """Danger levels in rising order (MCP-AQL danger levels)."""

    SAFE = "safe"
    REVERSIBLE = "reversible"
    DESTRUCTIVE = "destructive"
    DANGEROUS = "dangerous"
    FORBIDDEN = "forbidden"

    @property
    def rank(self) -> int:
        """0 for safe to 4 for forbidden."""
        return list(Danger).index(self)


class Evidence(StrEnum):
    """What a decision rests on, strongest first."""

    OVERRIDE = "override"
    METADATA = "direct metadata"
    RULE = "deterministic rule"
    HEURISTIC = "heuristic"


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something was decided: the rule's name, what it rests on, confidence from 0 to 1, and a sentence."""

    rule: str
    evidence: Evidence
    confidence: float
    note: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """One operation with all that was decided about it."""

    operation: Operation
    name: str
    category: Category
    category_reason: Reason
    verb: str
    resource: str
    name_reason: Reason
    danger: Danger
    danger_reason: Reason
    description: str | None
    """Text given by an override, None otherwise."""

    @property
    def confidence(self) -> float:
        """The lowest confidence of the category and the name."""
        return min(self.category_reason.confidence, self.name_reason.confidence)

    @property
    def review_reasons(self) -> tuple[str, ...]:
        """What a reviewer should look at; empty when every decision is confident enough."""
        named = (("category", self.category_reason), ("name", self.name_reason), ("danger", self.danger_reason))
        return tuple(
            f"{what}: {reason.rule}" + (f" ({reason.note})" if reason.note else "")
            for what, reason in named
            if reason.confidence < REVIEW_THRESHOLD
        )
