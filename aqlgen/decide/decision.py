"""The decisions about each operation, every one with its reason and its confidence (R-NAME-4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Literal

from aqlgen.ir import MISSING, Json, Operation

REVIEW_THRESHOLD = 0.7
"""A decision of lower confidence is shown to the reviewer."""


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
    """The kinds of evidence, strongest first."""

    OVERRIDE = "override"
    METADATA = "direct metadata"
    RULE = "deterministic rule"
    HEURISTIC = "heuristic"


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something was decided: the rule's name, its kind of evidence, confidence from 0 to 1, and a sentence."""

    rule: str
    evidence: Evidence
    confidence: float
    note: str = ""


@dataclass(frozen=True, slots=True)
class Trait:
    """Something else decided about an operation.

    `kind`: pagination, update, idempotency, sensitive, long_running or deprecation. The kind's module in
    `aqlgen.decide.traits` explains the keys of `value`.
    """

    kind: str
    value: Mapping[str, Json]
    reason: Reason


Place = tuple[int, int]
"""Line and column in the overrides file."""


@dataclass(frozen=True, slots=True)
class ParameterOverride:
    """The user's decisions about a parameter; None and MISSING leave it to the rules."""

    name: str | None = None
    description: str | None = None
    hidden: bool = False
    sensitive: bool | None = None
    example: Json = MISSING
    place: Place = (0, 0)
    """The position of its key, which identifies it in the file."""
    places: Mapping[str, Place] = field(default_factory=dict)
    """The positions of its values."""


@dataclass(frozen=True, slots=True)
class Alias:
    """A deprecated second name of an operation; it ends with the day `until` (UTC), where it has one."""

    name: str
    until: date | None = None
    place: Place = (0, 0)


@dataclass(frozen=True, slots=True)
class Override:
    """The user's decisions about one operation, or about all operations of a tag; None leaves it to the rules."""

    name: str | None = None
    category: Category | None = None
    danger: Danger | None = None
    hidden: bool | None = None
    summary: str | None = None
    description: str | None = None
    confirmation: str | None = None
    parameters: Mapping[str, ParameterOverride] = field(default_factory=dict)
    """By wire name, bare or with its location: `query:page`."""
    pagination: Mapping[str, Json] | Literal[False] | None = None
    example: Mapping[str, Json] | None = None
    """The parameters of the example call, by the agent's names."""
    content_type: str | None = None
    aliases: tuple[Alias, ...] = ()
    place: Place = (0, 0)
    places: Mapping[str, Place] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Decision:
    """One operation with everything that was decided about it."""

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
    """The text of an override, None without one."""
    traits: tuple[Trait, ...] = ()
    confirmation: str | None = None
    """The question for a person from an override, None without one."""
    override: Override = field(default_factory=Override)
    """The user's decisions that the table needs: parameters, example, content type and aliases."""
    relative: str = ""
    """The canonical verb that the verb is a kind of; "" if it is canonical itself (R-NAME-2)."""
    pinned: bool = False
    """Whether the name was kept, and is no longer what the rules alone would choose."""
    verb_rule: str = ""
    """The naming rule that chose the verb."""
    noun_rule: str = ""
    """The naming rule that chose the nouns."""

    def trait(self, kind: str) -> Trait | None:
        """Return the trait of this kind, None if there is none."""
        return next((trait for trait in self.traits if trait.kind == kind), None)

    @property
    def confidence(self) -> float:
        """The lowest confidence of the category and the name."""
        return min(self.category_reason.confidence, self.name_reason.confidence)

    @property
    def review_reasons(self) -> tuple[str, ...]:
        """What a reviewer should look at; empty if every decision is confident enough."""
        reasons = (("category", self.category_reason), ("name", self.name_reason), ("danger", self.danger_reason))
        return tuple(
            f"{what}: {reason.rule}" + (f" ({reason.note})" if reason.note else "")
            for what, reason in reasons
            if reason.confidence < REVIEW_THRESHOLD
        )
