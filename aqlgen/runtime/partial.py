# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""What a change may lack of the whole that it is merged into (R-UPD-2): required fields, and values for null."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

__all__ = ["PARTIAL", "lacking"]

PARTIAL = frozenset({"merge-patch", "json-patch", "patch", "put-merge"})
"""Strategies under which `input` need not hold what is required of the whole."""

_OF_THE_WHOLE = frozenset({"required", "minProperties", "dependentRequired"})


def lacking(error: ValidationError) -> bool:
    """Whether an error only says that something is not there, or is null so as to be removed.

    What stands in an array is not merged: it has to be whole.
    """
    path = error.instance_path
    if not path or path[0] != "input" or any(isinstance(step, int) for step in path):
        return False
    kind = error.kind
    if kind.name in _OF_THE_WHOLE or (error.instance is None and len(path) > 1):
        return True
    if kind.name not in ("anyOf", "oneOf"):
        return False
    branches: Sequence[Sequence[ValidationError]] = kind.value
    return any(all(map(lacking, branch)) for branch in branches)
