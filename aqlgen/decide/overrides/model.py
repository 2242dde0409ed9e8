"""An overrides file as it was read, and the override that follows from it for each operation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Final

from aqlgen.decisions import Override
from aqlgen.diagnostics import Diagnostic
from aqlgen.diagnostics.errors import OptionError
from aqlgen.ir import Operation

from .findings import Report, nearest, unmatched

__all__ = ["Overrides", "check"]

_NONE: Final = Override()
_KEYS: Final = tuple(one.name for one in fields(Override) if one.name not in ("place", "places", "parameters"))


@dataclass(frozen=True, slots=True)
class Overrides:
    """Entries by `METHOD /path` and by tag, in the order of the file; `found` is what is wrong with the file."""

    entries: Mapping[str, Override] = field(default_factory=dict)
    tags: Mapping[str, Override] = field(default_factory=dict)
    field_case: str | None = None
    file: str = ""
    found: tuple[Diagnostic, ...] = ()

    def of(self, operation: Operation) -> Override:
        """Give what holds for an operation: its own entry, key by key, before those of its tags, the last one first."""
        own = self.entries.get(operation.key, _NONE)
        for tag, one in reversed(tuple(self.tags.items())):
            if tag in operation.tags:
                own = _over(own, one)
        return own

    def unmatched(self, operations: Iterable[Operation]) -> list[Diagnostic]:
        """Give a finding for each entry whose operation or tag the document does not have."""
        every = list(operations)
        keys = {one.key: None for one in every}
        tags = {tag: None for one in every for tag in one.tags}
        found = [
            unmatched(
                self.file, one.place, f"there is no operation `{key}` in the document", nearest(key, keys, "operation")
            )
            for key, one in self.entries.items()
            if key not in keys
        ]
        return found + [
            unmatched(self.file, one.place, f"no operation has the tag `{tag}`", nearest(tag, tags, "tag"))
            for tag, one in self.tags.items()
            if tag not in tags
        ]


def check(overrides: Overrides, operations: Iterable[Operation], report: Report | None) -> None:
    """Tell `report` everything that is wrong so far; without one raise it as OptionError."""
    found = sorted((*overrides.found, *overrides.unmatched(operations)), key=lambda one: (one.line, one.column))
    if report is not None:
        for one in found:
            report(one)
    elif found:
        raise OptionError(*found)


def _over(own: Override, other: Override) -> Override:
    """Complete an override by another."""
    if own is _NONE:
        return other
    added = {key: getattr(other, key) for key in _KEYS if getattr(own, key) is None}
    return replace(
        own,
        **added,
        parameters={**other.parameters, **own.parameters},
        places={**other.places, **own.places},
    )
