# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""A warning (R-WARN-1), and when two warnings are the same.

How urgent one is, and which codes an entry names, is in the warnings document, 3 and 6.5.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

__all__ = ["ABOUT_DATA", "CallWarning", "Key", "Warnings", "is_among", "key_of", "merge", "rank"]

ABOUT_DATA = "VALIDATION_"
"""Category of the warnings that are about the data of this very answer."""


class CallWarning(NamedTuple):
    """One warning. Without a severity it counts as medium."""

    code: str
    message: str
    severity: str | None = None
    details: Mapping[str, Any] | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the warning as the envelope shows it."""
        content: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.details:
            content["details"] = dict(self.details)
        if self.severity is not None:
            content["severity"] = self.severity
        return content


Warnings: TypeAlias = list[CallWarning]


_RANKS = {"high": 0, "medium": 1, "low": 2}
_IDENTITY = {
    "DEPRECATION_WARNING": ("type", "deprecated_item"),
    "RATE_LIMIT_QUOTA_WARNING": ("metric", "warn_threshold"),
    "PERFORMANCE_SLOW_QUERY_WARNING": ("operation", "threshold_ms"),
    "VALIDATION_TRUNCATED_WARNING": ("field",),
}
"""The details by which two warnings of a code are equal; for other codes all details count."""

_PEAKS = frozenset({"current", "duration_ms"})

Key: TypeAlias = tuple[str, str]


def is_among(code: str, entries: Iterable[str]) -> bool:
    """Return True if a code is one of these; an entry that ends with an underscore stands for its whole category."""
    return any(code == entry or (entry.endswith("_") and code.startswith(entry)) for entry in entries)


def rank(warning: CallWarning) -> int:
    """Return the urgency of a warning as a number: 0 is the most urgent (warnings document, 3.2)."""
    return _RANKS.get(warning.severity or "medium", 1)


def key_of(warning: CallWarning) -> Key:
    """Return what a warning has in common with its repeats: the code and the details that tell it from others."""
    details = warning.details or {}
    names = _IDENTITY.get(warning.code, details)
    return warning.code, json.dumps([[name, details.get(name)] for name in sorted(names)], default=str)


def merge(first: CallWarning, second: CallWarning) -> CallWarning:
    """Merge two equal warnings: the details they share, the higher counts, and the more urgent severity."""
    other = second.details or {}
    details = {
        name: max(value, other[name]) if name in _PEAKS else value
        for name, value in (first.details or {}).items()
        if name in other and (name in _PEAKS or other[name] == value)
    }
    urgent = min(first, second, key=rank)
    return CallWarning(first.code, urgent.message, urgent.severity, details)
