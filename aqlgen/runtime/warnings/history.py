# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The warnings that a session, or a known caller without one, was given: what introspection shows (R-WARN-6).

A history ends with its session. A caller who has none is known by what they show to the adapter; their history is that
of this process, and ends an hour after its last warning. A caller who is neither has none: nobody's warnings are shown
to somebody else.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from time import monotonic
from typing import Any, Final

from ..session import Session, current_caller
from ..text import iso_time
from .collector import CallWarning, Key, key_of

__all__ = ["MOST_ENTRIES", "Histories", "History", "Occurrence"]

MOST_ENTRIES: Final = 50
"""Warnings that a history holds; of one that comes again only the latest is kept, with its count."""

_MOST_CALLERS: Final = 256
_CALLER_SECONDS: Final = 3600.0
_LONGEST_MESSAGE, _LONGEST_DETAILS = 500, 2000
_STATE: Final = "warning_history"


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A warning of an operation: when it came first and last, and how often. A later one has a higher `number`."""

    number: int
    operation: str
    warning: CallWarning
    first: float
    last: float
    count: int

    def as_json(self) -> dict[str, Any]:
        """Return the entry as introspection shows it; `name` is for `after`."""
        details = {**(self.warning.details or {})}
        if self.count > 1:
            details["occurrence_count"] = self.count
        entry: dict[str, Any] = {
            "name": str(self.number),
            "time": iso_time(self.last, "milliseconds"),
            "operation": self.operation,
            **self.warning._replace(details=details).as_json(),
        }
        if self.count > 1:
            entry["first_time"] = iso_time(self.first, "milliseconds")
        return entry


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
            first, times = (now, 0) if earlier is None else (earlier.first, earlier.count)
            short = warning._replace(message=warning.message[:_LONGEST_MESSAGE], details=_short(warning.details))
            self._occurrences[key] = Occurrence(next(self._numbers), operation, short, first, now, times + 1)

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
    """Return the details that a history has room for: those that are too long are left out."""
    if not details:
        return details
    kept, room = {}, _LONGEST_DETAILS
    for name, value in details.items():
        size = len(name) + len(json.dumps(value, default=str))
        if size <= room:
            kept[name] = value
            room -= size
    return kept
