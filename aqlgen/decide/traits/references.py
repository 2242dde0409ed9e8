"""The names of other operations in traits, where those get the prefix of their API."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, cast

from aqlgen.decide.decision import AnyTrait, Decision, Reason
from aqlgen.runtime.table import Deprecation, LongRunning, Update

__all__ = ["with_references"]

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
