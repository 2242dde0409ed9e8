"""An overrides file as it was read, the override of each operation, and the findings about both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import date
from difflib import get_close_matches
from typing import Final

from aqlgen.decide.decision import Alias, Decision, Override, Place
from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.diagnostics.errors import OptionError
from aqlgen.ir import Operation

__all__ = [
    "BAD",
    "EXPIRED",
    "UNMATCHED",
    "Overrides",
    "Report",
    "check",
    "check_aliases",
    "finding",
    "nearest",
    "unmatched",
]

BAD: Final = "bad-override"
UNMATCHED: Final = "unmatched-override"
EXPIRED: Final = "expired-alias"

Report = Callable[[Diagnostic], None]
"""Takes every finding, so that all can be shown at once, and those of a changed document need not be errors."""

_NONE: Final = Override()
_KEYS: Final = tuple(each.name for each in fields(Override) if each.name not in ("place", "places", "parameters"))


def finding(file: str, place: Place, message: str, help: str = "") -> Diagnostic:
    """Return a finding about the file itself."""
    return Diagnostic(BAD, Severity.ERROR, message, file=file, line=place[0], column=place[1], help=help)


def unmatched(file: str, place: Place, message: str, help: str = "") -> Diagnostic:
    """Return a finding about something that the document does not have: a mistake, or a change of the document."""
    return replace(finding(file, place, message, help), code=UNMATCHED)


def nearest(text: str, known: Iterable[str], what: str) -> str:
    """Return a hint at the known name that was probably meant."""
    by_folded = {name.lower(): name for name in known}
    close = get_close_matches(text.lower(), by_folded, n=1, cutoff=0.5)
    if close:
        return f"Did you mean `{by_folded[close[0]]}`?"
    few = list(by_folded.values())
    return f"Each {what} is one of {', '.join(few)}." if 0 < len(few) <= 6 else f"No {what} comes near."


@dataclass(frozen=True, slots=True)
class Overrides:
    """Entries by `METHOD /path` and by tag, in the order of the file; `diagnostics` are the errors of the file."""

    entries: Mapping[str, Override] = field(default_factory=dict)
    tags: Mapping[str, Override] = field(default_factory=dict)
    field_case: str | None = None
    hosts: tuple[str, ...] = ()
    """The origins that the owner accepts, beside those that generating accepts."""
    file: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()

    def of(self, operation: Operation) -> Override:
        """Return the override of an operation: its own entry, key by key, before those of its tags, the last first."""
        override = self.entries.get(operation.key, _NONE)
        for tag, of_tag in reversed(tuple(self.tags.items())):
            if tag in operation.tags:
                override = _completed(override, of_tag)
        return override

    def unmatched(self, operations: Iterable[Operation]) -> list[Diagnostic]:
        """Return a finding for each entry whose operation or tag the document does not have."""
        operations = list(operations)
        keys = {operation.key: None for operation in operations}
        tags = {tag: None for operation in operations for tag in operation.tags}
        findings = []
        for key, override in self.entries.items():
            if key not in keys:
                message = f"there is no operation `{key}` in the document"
                findings.append(unmatched(self.file, override.place, message, nearest(key, keys, "operation")))
        for tag, override in self.tags.items():
            if tag not in tags:
                message = f"no operation has the tag `{tag}`"
                findings.append(unmatched(self.file, override.place, message, nearest(tag, tags, "tag")))
        return findings


def check(overrides: Overrides, operations: Iterable[Operation], report: Report | None) -> None:
    """Pass everything that is wrong so far to `report`; without one raise it as OptionError."""
    findings = sorted(
        (*overrides.diagnostics, *overrides.unmatched(operations)), key=lambda each: (each.line, each.column)
    )
    if report is not None:
        for each in findings:
            report(each)
    elif findings:
        raise OptionError(*findings)


def check_aliases(decisions: Iterable[Decision], file: str, today: date) -> list[Diagnostic]:
    """Find aliases that an operation has as its name, and those whose time is over; `decisions` are those served."""
    decisions = list(decisions)
    owners = {decision.name: decision.operation.key for decision in decisions}
    findings = []
    for key, alias in ((each.operation.key, alias) for each in decisions for alias in each.override.aliases):
        owner = owners.get(alias.name)
        if owner is not None:
            whose = f"the own name of {owner}" if owner == key else f"taken by {owner}"
            way_out = "Leave it out, or give that operation another `name`."
            findings.append(finding(file, alias.place, f"the alias `{alias.name}` is {whose}", way_out))
        elif alias.until is not None and alias.until < today:
            findings.append(_expired(file, alias, key))
    return findings


def _expired(file: str, alias: Alias, key: str) -> Diagnostic:
    message = f"the time of the alias `{alias.name}` of {key} ended with {alias.until}"
    way_out = "Take it out of the overrides, or give it a later `until`."
    return replace(finding(file, alias.place, message, way_out), code=EXPIRED, severity=Severity.WARNING)


def _completed(override: Override, other: Override) -> Override:
    """Return an override with what another says beyond it."""
    if override is _NONE:
        return other
    added = {key: getattr(other, key) for key in _KEYS if getattr(override, key) is None}
    return replace(
        override,
        **added,
        parameters={**other.parameters, **override.parameters},
        places={**other.places, **override.places},
    )
