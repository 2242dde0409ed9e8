# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""A warning, and the collector of one call's warnings (R-WARN-1).

Any part of the runtime adds a warning with a line: `warnings.add(code, message, severity=…, details={…})`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

__all__ = ["ABOUT_DATA", "CallWarning", "Warnings"]

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


class Warnings:
    """The warnings of one call; false as long as there are none."""

    __slots__ = ("_warnings",)

    def __init__(self, warnings: Iterable[CallWarning] = ()) -> None:
        self._warnings = list(warnings)

    def add(
        self, code: str, message: str, *, severity: str | None = None, details: Mapping[str, Any] | None = None
    ) -> None:
        """Add a warning; severity is high, medium or low, `details` must be JSON and free of secrets."""
        self._warnings.append(CallWarning(code, message, severity, details))

    def extend(self, warnings: Iterable[CallWarning]) -> None:
        """Add the warnings of a rule or of another call."""
        self._warnings.extend(warnings)

    def discard(self, code: str, **details: Any) -> None:
        """Drop the warnings of a code that have these details, because a more exact one replaces them."""
        self._warnings = [
            warning
            for warning in self._warnings
            if warning.code != code or any((warning.details or {}).get(key) != value for key, value in details.items())
        ]

    def take_about_data(self) -> Warnings:
        """Remove the warnings about the data itself and return them: in a batch they stay beside the data."""
        about_data = Warnings(warning for warning in self._warnings if warning.code.startswith(ABOUT_DATA))
        self._warnings = [warning for warning in self._warnings if not warning.code.startswith(ABOUT_DATA)]
        return about_data

    def __iter__(self) -> Iterator[CallWarning]:
        return iter(self._warnings)

    def __len__(self) -> int:
        return len(self._warnings)
