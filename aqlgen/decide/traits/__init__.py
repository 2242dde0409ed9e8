"""Traits of an operation: paging, update strategy, secrets, idempotency keys, long-running work, deprecation.

Each module decides one trait: a function of the operation and of what surrounds it in the document that returns a Trait
with its reason, or None. The values of the traits are the types of the operation table (`aqlgen.runtime.table`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from aqlgen.decide.decision import AnyTrait, Decision, Trait, overridden
from aqlgen.runtime.table import Pagination

from .around import Around, Subject
from .deprecation import deprecation
from .idempotency import idempotency
from .long_running import long_running
from .pagination import pagination
from .sensitive import sensitive
from .update import follows, patched_as, replaced, update

__all__ = ["Around", "Subject", "follows", "patched_as", "replaced", "with_traits"]

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
