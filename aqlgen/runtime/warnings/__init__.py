"""A warning (R-WARN-1), when two warnings are the same, those given before (R-WARN-6), and what calls for one.

How urgent one is, and which codes an entry names, is in the warnings document, 3 and 6.5.

A history ends with its session. A caller who has none is known by what they show to the adapter; their history is that
of this process, and ends an hour after its last warning. A caller who is neither has none: nobody's warnings are shown
to somebody else.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from time import monotonic
from typing import Any, Final, NamedTuple, TypeAlias

from ..envelope import CallWarning
from ..schema.field_names import reaches
from ..session import Session, current_caller
from ..table import JsonSchema, Row, Table
from ..text import iso_time

ABOUT_DATA = "VALIDATION_"
"""Category of the warnings that are about the data of this very answer."""


Warnings: TypeAlias = list[CallWarning]


_RANKS = {"high": 0, "medium": 1, "low": 2}
_IDENTITY = {
    "DEPRECATION_WARNING": ("type", "deprecated_item"),
    "RATE_LIMIT_QUOTA_WARNING": ("metric", "warn_threshold"),
    "PERFORMANCE_SLOW_QUERY_WARNING": ("operation", "threshold_ms"),
    "VALIDATION_TRUNCATED_WARNING": ("field",),
}
"""The details by which two warnings of a code are equal; for other codes all details count."""

_VALUE = re.compile(r'"[^"]{0,200}"|\d{1,20}')

Key: TypeAlias = tuple[str, str]


def is_among(code: str, entries: Iterable[str]) -> bool:
    """Return True if a code is one of these; an entry that ends with an underscore stands for its whole category."""
    return any(code == entry or (entry.endswith("_") and code.startswith(entry)) for entry in entries)


def rank(warning: CallWarning) -> int:
    """Return the urgency of a warning as a number: 0 is the most urgent (warnings document, 3.2)."""
    return _RANKS.get(warning.severity or "medium", 1)


def key_of(warning: CallWarning) -> Key:
    """Return the key that a warning shares with its repeats: the code and the details that tell it from others.

    Those of the calls of one step of a plan are repeats if their messages differ in values alone.
    """
    details = warning.details or {}
    if "step" in details and warning.code not in _IDENTITY:
        return warning.code, f"{details['step']} {_VALUE.sub('', warning.message)}"
    names = _IDENTITY.get(warning.code, details)
    return warning.code, json.dumps([[name, details.get(name)] for name in sorted(names)], default=str)


MOST_ENTRIES: Final = 50
"""Warnings that a history holds; of one that comes again only the latest is kept, with its count."""

_MOST_CALLERS: Final = 256
_CALLER_SECONDS: Final = 3600.0
_LONGEST_MESSAGE, _LONGEST_DETAIL = 500, 400
_STATE: Final = "warning_history"


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A warning of an operation: when it came last, and how often. A later one has a higher `number`."""

    number: int
    operation: str
    warning: CallWarning
    last: float
    count: int

    def as_json(self) -> dict[str, Any]:
        """Return the entry as introspection shows it; `name` is for `after`."""
        details = {**(self.warning.details or {})}
        if self.count > 1:
            details["occurrence_count"] = self.count
        return {
            "name": str(self.number),
            "time": iso_time(self.last, "milliseconds"),
            "operation": self.operation,
            **self.warning._replace(details=details).as_json(),
        }


class History:
    """The last warnings of one session or caller, within bounds of count and size."""

    __slots__ = ("_numbers", "_occurrences", "used")

    def __init__(self) -> None:
        self.used = monotonic()
        self._occurrences: dict[tuple[str, Key], Occurrence] = {}
        self._numbers = count(1)

    def add(self, operation: str, warnings: Iterable[CallWarning]) -> None:
        """Add the warnings of a call of an operation."""
        now = time.time()
        self.used = monotonic()
        for warning in warnings:
            key = operation, key_of(warning)
            earlier = self._occurrences.pop(key, None)
            if earlier is None and len(self._occurrences) >= MOST_ENTRIES:
                self._occurrences.pop(next(iter(self._occurrences)))
            times = 1 if earlier is None else earlier.count + 1
            short = warning._replace(message=warning.message[:_LONGEST_MESSAGE], details=_short(warning.details))
            self._occurrences[key] = Occurrence(next(self._numbers), operation, short, now, times)

    def __iter__(self) -> Iterator[Occurrence]:
        """Yield the occurrences, the newest first."""
        return reversed(self._occurrences.values())


class Histories:
    """The histories of all sessions and callers of one adapter."""

    def __init__(self) -> None:
        self._of_callers: dict[str, History] = {}

    def of(self, session: Session) -> History | None:
        """Return the history of a session or, without one, of the caller; None where neither is known."""
        if session.id is not None:
            history: History = session.state.setdefault(_STATE, History())
            return history
        caller = current_caller()
        if caller is None:
            return None
        known = self._of_callers.pop(caller, None)
        if known is None or monotonic() - known.used > _CALLER_SECONDS:
            known = History()
        while len(self._of_callers) >= _MOST_CALLERS:
            self._of_callers.pop(next(iter(self._of_callers)))
        self._of_callers[caller] = known
        return known


def _short(details: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return the details that a history has room for: those that are long are left out."""
    sizes = {name: len(json.dumps(value, default=str)) for name, value in (details or {}).items()}
    return {name: value for name, value in (details or {}).items() if sizes[name] <= _LONGEST_DETAIL} or None


class Deprecations(NamedTuple):
    """The deprecations of an operation: its own, its parameters' by name, and those of fields within parameters."""

    operation: bool
    parameters: frozenset[str]
    fields: Mapping[str, JsonSchema]


def deprecations_of(row: Row, table: Table | None) -> Deprecations | None:
    """Return the deprecations of an operation, or None without any, which is the usual case."""
    parameters = frozenset(name for name, parameter in row.parameters.items() if parameter.deprecated)
    fields = {
        name: parameter.schema
        for name, parameter in row.parameters.items()
        if table is not None
        and reaches(parameter.schema, table.types, lambda inner: inner.get("deprecated") is True, {})
    }
    return Deprecations(row.deprecated, parameters, fields) if row.deprecated or parameters or fields else None
