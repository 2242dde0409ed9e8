"""Traits as far as they speak of operations that the adapter serves."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace

from aqlgen.decide.decision import Trait

__all__ = ["served"]

_OTHERS = {"update": "read", "long_running": "monitor"}
"""Which key of a trait names another operation."""


def served(traits: tuple[Trait, ...], names: Container[str]) -> tuple[Trait, ...]:
    """Give the traits without operations that are left out; what cannot be read cannot be merged into."""
    return tuple(_served(one, names) for one in traits)


def _served(trait: Trait, names: Container[str]) -> Trait:
    key = _OTHERS.get(trait.kind)
    if key is None or key not in trait.value or trait.value[key] in names:
        return trait
    value = {one: told for one, told in trait.value.items() if one not in (key, "etag")}
    if value.get("strategy") == "put-merge":
        value["strategy"] = "put"
    return replace(trait, value=value)
