"""Traits without the operations that the adapter does not serve."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace

from aqlgen.decide.decision import AnyTrait, Trait
from aqlgen.runtime.table import LongRunning, Update

__all__ = ["served"]


def served(traits: tuple[AnyTrait, ...], names: Container[str]) -> tuple[AnyTrait, ...]:
    """Return the traits without the operations that are not served: an update needs its reader to merge."""
    return tuple(_served(trait, names) for trait in traits)


def _served(trait: AnyTrait, names: Container[str]) -> AnyTrait:
    value = trait.value
    if isinstance(value, Update) and value.read is not None and value.read not in names:
        return Trait(Update(strategy="put" if value.strategy == "put-merge" else value.strategy), trait.reason)
    if isinstance(value, LongRunning) and value.monitor is not None and value.monitor not in names:
        return Trait(replace(value, monitor=None), trait.reason)
    return trait
