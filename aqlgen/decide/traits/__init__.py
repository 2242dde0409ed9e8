"""Traits of an operation: paging, update strategy, secrets, idempotency keys, long-running work, deprecation.

Each module decides one trait: a function of the operation and of what surrounds it in the document that returns a Trait
with its reason, or None. The values of the traits are the types of the operation table (`aqlgen.runtime.table`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

from aqlgen.decide.decision import AnyTrait, Decision, Reason, Trait, overridden
from aqlgen.runtime.table import Deprecation, LongRunning, Pagination, Update

from .around import Around, Subject
from .deprecation import deprecation
from .idempotency import idempotency
from .long_running import long_running
from .pagination import pagination
from .sensitive import sensitive
from .update import follows, patched_as, replaced, update

__all__ = ["Around", "Subject", "follows", "patched_as", "replaced", "with_references", "with_traits"]

RULES: Final[tuple[Callable[[Subject, Around], AnyTrait | None], ...]] = (
    pagination,
    update,
    idempotency,
    sensitive,
    long_running,
    deprecation,
)


def with_traits(decisions: Sequence[Decision], subjects: Sequence[Subject], around: Around) -> tuple[Decision, ...]:
    """Return the decisions, each about the subject at its place, with the traits of their operations."""
    return tuple(
        replace(decision, traits=_traits(decision, subject, around))
        for decision, subject in zip(decisions, subjects, strict=True)
    )


def _traits(decision: Decision, subject: Subject, around: Around) -> tuple[AnyTrait, ...]:
    """Return every trait of an operation; the user may overrule how it pages and what an update sends."""
    traits = [
        replace(trait, reason=overridden(decision.override, "send")) if follows(trait.value, subject.send) else trait
        for rule in RULES
        if (trait := rule(subject, around)) is not None
    ]
    override = decision.override.pagination
    if override is not None:
        traits = [trait for trait in traits if not isinstance(trait.value, Pagination)]
    if isinstance(override, Pagination):
        traits.insert(0, Trait(override, overridden(decision.override, "pagination")))
    return tuple(traits)


_FIELDS: Final[Mapping[type, tuple[str, ...]]] = {
    Update: ("read",),
    LongRunning: ("monitor", "cancel"),
    Deprecation: ("replacement",),
}
"""Fields that name another operation."""


def with_references(decisions: Iterable[Decision], names: Mapping[str, str]) -> tuple[Decision, ...]:
    """Return the decisions with the other `names`, each by the one before, where their traits name operations."""
    if not names:
        return tuple(decisions)
    return tuple(
        replace(decision, traits=tuple(_renamed(trait, names) for trait in decision.traits)) for decision in decisions
    )


def _renamed(trait: AnyTrait, names: Mapping[str, str]) -> AnyTrait:
    changes = {
        field: names[name]
        for field in _FIELDS.get(type(trait.value), ())
        if (name := getattr(trait.value, field)) in names
    }
    reason = _noted(trait.reason, names)
    if not changes and reason is trait.reason:
        return trait
    value: Any = replace(cast("Any", trait.value), **changes)
    return cast("AnyTrait", replace(cast("Any", trait), value=value, reason=reason))


def _noted(reason: Reason, names: Mapping[str, str]) -> Reason:
    words = reason.note.split(" ")
    return (
        replace(reason, note=" ".join(names.get(word, word) for word in words)) if {*words} & names.keys() else reason
    )
