"""The decisions about each operation, every one with its reason and its confidence (R-NAME-4)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import IntEnum, StrEnum
from typing import Final, Generic, Literal, NamedTuple, TypeAlias, TypeVar

from aqlgen.ir import MISSING, Json, Operation
from aqlgen.runtime.table import Carried, Deprecation, Idempotency, LongRunning, Pagination, Update

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
        return _LEVELS.index(self)


_LEVELS = tuple(Danger)


class Effect(StrEnum):
    """What a call does to the world (R-EFF-1)."""

    MONEY = "money"
    ACCESS = "access"
    PEOPLE = "people"
    ENDS = "ends"
    DATA = "data"
    NONE = "none"
    UNKNOWN = "unknown"


class Asked(StrEnum):
    """When a person is asked about an operation (R-EFF-2)."""

    ALWAYS = "always"
    FIRST = "first"
    """Once for an operation and session: no harm is known, but a doubt remains."""
    NEVER = "never"


class EffectEvidence(NamedTuple):
    """What says that an operation has an effect, or that it can be taken back.

    `kind` is structure, sentence, field, observed or owner.
    """

    kind: str
    says: str


class Evidence(StrEnum):
    """The kinds of evidence, strongest first."""

    OVERRIDE = "override"
    METADATA = "direct metadata"
    RULE = "deterministic rule"
    HEURISTIC = "heuristic"


class Doubt(IntEnum):
    """The kind of doubt about a decision; the greater, the narrower the entry of `accept` that settles it."""

    WEAK = 0
    """Nothing does: the evidence is weak. Any entry settles it, one that names the rule included."""
    CONTRADICTED = 1
    """Other evidence does. An entry has to select the operation."""
    CLAIMED = 2
    """The document does: it claims what is not believed, or instructs a model. An entry has to name the operation."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something was decided: the rule's name, its kind of evidence, confidence from 0 to 1, and a sentence."""

    rule: str
    evidence: Evidence
    confidence: float
    note: str = ""
    doubt: Doubt = Doubt.WEAK


@dataclass(frozen=True, slots=True)
class Concern:
    """Something about an operation that a person should look at: a decision of low confidence, or a text."""

    subject: str
    """The decision (category, name or danger), or "text"."""
    rule: str
    note: str = ""
    doubt: Doubt = Doubt.WEAK

    @property
    def text(self) -> str:
        """The concern as a sentence."""
        rule = f"{self.subject}: {self.rule}" if self.rule else self.subject
        return rule + (f" ({self.note})" if self.note and self.rule else f": {self.note}" if self.note else "")


@dataclass(frozen=True, slots=True)
class Acceptance:
    """A concern that an entry of `accept` in the overrides settles."""

    concern: Concern
    entry: str

    @property
    def text(self) -> str:
        """The concern and what settled it."""
        return f"{self.concern.text}, accepted by overrides.yaml: {self.entry}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensitive:
    """The parameters and fields of the body that hold secrets, by their wire names."""

    parameters: tuple[str, ...]


TraitValue: TypeAlias = Pagination | Update | Idempotency | Sensitive | LongRunning | Deprecation
T = TypeVar("T", bound=TraitValue)

KINDS: Final[Mapping[type, str]] = {
    Pagination: "pagination",
    Update: "update",
    Idempotency: "idempotency",
    Sensitive: "sensitive",
    LongRunning: "long_running",
    Deprecation: "deprecation",
}


@dataclass(frozen=True, slots=True)
class Trait(Generic[T]):
    """Something else decided about an operation: how it pages, how it updates and so on."""

    value: T
    reason: Reason

    @property
    def kind(self) -> str:
        """The name of the kind of trait."""
        return KINDS[type(self.value)]


AnyTrait: TypeAlias = (
    Trait[Pagination] | Trait[Update] | Trait[Idempotency] | Trait[Sensitive] | Trait[LongRunning] | Trait[Deprecation]
)


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
    value: Json = MISSING
    """The value that every call sends; agents neither see nor give the parameter."""
    default: Json = MISSING
    """The value of a call that gives none."""
    required: bool | None = None
    """False where the document requires it and the API does not."""
    type: str | list[str] | None = None
    """Its type or types, where the document has another."""
    allow_empty: bool = False
    """Whether the API takes an empty text or list where the document does not admit it."""
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
class Requirements:
    """Security requirements (OpenAPI 3.1.1, 4.8.30): alternatives of schemes, and the scopes that are asked of them."""

    alternatives: tuple[tuple[str, ...], ...] = ()
    scopes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Override:
    """The user's decisions about the operations of an entry; None leaves it to the rules."""

    name: str | None = None
    category: Category | None = None
    danger: Danger | None = None
    asked: Asked | None = None
    """When a person is asked. It ends or raises a doubt; only `danger` lowers a level."""
    why: str | None = None
    """Who decided the entry, and why."""
    can_undo: bool | None = None
    """That what a call does was taken back. It settles that nothing proves so, and no other doubt."""
    hidden: bool | None = None
    summary: str | None = None
    description: str | None = None
    confirmation: str | None = None
    parameters: Mapping[str, ParameterOverride] = field(default_factory=dict)
    """By wire name, bare or behind its place: `query:page`."""
    pagination: Pagination | Literal[False] | None = None
    example: Mapping[str, Json] | None = None
    """The parameters of the example call, by the agent's names."""
    content_type: str | None = None
    send: str | None = None
    """What an update sends: named, whole or upsert."""
    aliases: tuple[Alias, ...] = ()
    security: Requirements | None = None
    place: Place = (0, 0)
    places: Mapping[str, Place] = field(default_factory=dict)
    key: str = ""
    """The key of the entry."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """The key of the entry that decided, by field; a parameter is a field called `parameters.NAME`."""


STATED: Final = "element"
"""The rule of what a hand-written adapter element decides, which is the owner's as overrides are."""


OBSERVABLE: Final = frozenset({"can_undo", "content_type", "pagination", "parameters", "security", "send"})
"""The fields that an observation of the API can decide; all others of an entry are the owner's word."""
_OBSERVED: Final = re.compile(r"observed (\d{4}-\d{2}-\d{2}: .+)", re.DOTALL)


def observation(why: object) -> str:
    """Return the date and the sentence of the observation in the field `why`, "" where there is none."""
    seen = _OBSERVED.match(why) if isinstance(why, str) else None
    return seen[1] if seen else ""


def observed(override: Override, field: str) -> str:
    """Return the date and the sentence of the observation that decides a field, "" for the owner's own word."""
    key = override.sources.get(field)
    if key is None or override.sources.get("why") != key or field.partition(".")[0] not in OBSERVABLE:
        return ""
    return observation(override.why)


def overridden(override: Override, field: str) -> Reason:
    """Return the reason of what an override decides: the entry that has the field."""
    key = override.sources.get(field, override.key)
    if key.startswith(f"{STATED}:"):
        written = key.removeprefix(f"{STATED}:")
        return Reason(STATED, Evidence.OVERRIDE, 1.0, f"`{written}` of the adapter element")
    why = f", {override.why}" if override.why and override.sources.get("why") == key else ""
    rule = "observed" if observed(override, field) else "override"
    return Reason(rule, Evidence.OVERRIDE, 1.0, f"`{key}` in overrides.yaml{why}" if key else "overrides.yaml")


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
    """Text given by an override, None otherwise."""
    traits: tuple[AnyTrait, ...] = ()
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
    lost_name: str = ""
    """The name that it had, or would have, if an override did not give it to another operation."""
    effects: tuple[Effect, ...] = ()
    """What a call does, whatever its danger is."""
    evidence: tuple[EffectEvidence, ...] = ()
    """What says that it has these effects, or that it can be taken back."""
    carries: Carried | None = None
    """The other operations that a call can carry."""
    instructions: tuple[str, ...] = ()
    """Why texts that agents read of it are taken for instructions to a model, with their places."""
    accepted: tuple[Acceptance, ...] = ()
    """The concerns that the owner has accepted: they need no review any more, and the decision stays."""

    def trait(self, kind: type[T]) -> T | None:
        """Return the trait of this kind, None when there is none."""
        for trait in self.traits:
            if isinstance(trait.value, kind):
                return trait.value
        return None

    @property
    def moves_money(self) -> bool:
        """True if a call moves money."""
        return Effect.MONEY in self.effects

    @property
    def asked(self) -> Asked:
        """The time at which a person is asked about it. The owner ends a doubt by `asked`, a level or `accept`."""
        if self.danger.rank >= Danger.DESTRUCTIVE.rank:
            return Asked.ALWAYS
        if self.override.asked is Asked.FIRST:
            return Asked.FIRST
        is_doubted = any(concern.subject == "danger" for concern in self.concerns)
        return Asked.FIRST if is_doubted else Asked.NEVER

    @property
    def overridden_by(self) -> dict[str, tuple[str, ...]]:
        """The entries of the overrides that decided something, by their keys, each with the fields that it decided."""
        fields: dict[str, tuple[str, ...]] = {}
        for name, key in self.override.sources.items():
            if key.startswith(f"{STATED}:"):
                continue
            fields[key] = (*fields.get(key, ()), name)
        return fields

    @property
    def confidence(self) -> float:
        """The lowest confidence of the category and the name."""
        return min(self.category_reason.confidence, self.name_reason.confidence)

    @property
    def concerns(self) -> tuple[Concern, ...]:
        """The concerns that the owner has not accepted, texts that instruct agents first."""
        accepted = {acceptance.concern for acceptance in self.accepted}
        return tuple(concern for concern in self._all_concerns() if concern not in accepted)

    @property
    def review_reasons(self) -> tuple[str, ...]:
        """The concerns as sentences; empty if nothing needs a review."""
        return tuple(concern.text for concern in self.concerns)

    def _all_concerns(self) -> Iterator[Concern]:
        for text in self.instructions:
            yield Concern("text", "", text.removeprefix("text: "), Doubt.CLAIMED)
        reasons = (("category", self.category_reason), ("name", self.name_reason), ("danger", self.danger_reason))
        for subject, reason in reasons:
            if reason.confidence < REVIEW_THRESHOLD:
                yield Concern(subject, reason.rule, reason.note, reason.doubt)
