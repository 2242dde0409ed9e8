# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""What is told before a grave call: in words, what will happen, with which parameters (R-SAFE-3)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from .audit import redacted
from .table import Row
from .text import line

__all__ = ["question", "reasons"]

_LONGEST_VALUE = 80
_MOST_VALUES = 12
_BY_DANGER = {
    "destructive": ("May not be undone",),
    "dangerous": ("May concern many things together", "May not be undone"),
    "forbidden": ("May concern everything there is", "Cannot be undone"),
}
_BY_FAMILY = {"delete": "Removes data", "update": "Overwrites data", "execute": "Has effects of its own"}


def reasons(row: Row) -> tuple[str, ...]:
    """Say why an operation of its level is held back."""
    by_danger = _BY_DANGER.get(row.danger, ())
    return (_BY_FAMILY.get(row.family, "Adds data"), *by_danger) if by_danger else ()


def question(row: Row, params: Mapping[str, Any], why: Sequence[str] = ()) -> str:
    """Ask whether a call may be made. Values of the agent's stand in it bounded, on one line, and as JSON."""
    values = list(redacted(row, params).items())
    told = [f"{line(name, 60)} {_value(value)}" for name, value in values[:_MOST_VALUES]]
    if len(values) > _MOST_VALUES:
        told.append(f"{len(values) - _MOST_VALUES} more")
    given = f", with {', '.join(told)}" if told else ""
    because = f" {'. '.join(why)}." if why else ""
    own = line(row.confirmation, 500)
    what = own if own.endswith((".", "!", "?")) else f"{own or line(row.summary, 200).rstrip('.')}:"
    return f"{what} {row.name}{given}?{because} ({row.method} {line(row.path, 120)})"


def _value(value: Any) -> str:
    return line(json.dumps(value, ensure_ascii=False, default=str), _LONGEST_VALUE)
