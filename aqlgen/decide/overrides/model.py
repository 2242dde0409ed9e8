"""An overrides file as it was read, the override of each operation, and the findings about both."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import date
from functools import cache
from typing import Any, Final

from aqlgen.decide.decision import Asked, Decision, Override, ParameterOverride, Place, Requirements
from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.diagnostics.errors import OptionError
from aqlgen.diagnostics.plain import nearest
from aqlgen.ir import Json, Operation

from .selectors import AcceptEntry, Kind, Selector, parse_selector

BAD: Final = "bad-override"
UNMATCHED: Final = "unmatched-override"

Report = Callable[[Diagnostic], None]
"""Takes every finding, so that all can be shown at once, and those of a changed document need not be errors."""

_NONE: Final = Override()
_PRESETS: Final = frozenset({"value", "default"})
"""Fields of a parameter of which there is only one."""

_OWN: Final = ("place", "places", "key", "sources", "parameters")
_KEYS: Final = tuple(each.name for each in fields(Override) if each.name not in _OWN)


def finding(file: str, place: Place, message: str, help: str = "") -> Diagnostic:
    """Return a finding about the file itself."""
    return Diagnostic(BAD, Severity.ERROR, message, file=file, line=place[0], column=place[1], help=help)


def unmatched(file: str, place: Place, message: str, help: str = "") -> Diagnostic:
    """Return a finding about something that the document does not have: a mistake, or a change of the document."""
    return replace(finding(file, place, message, help), code=UNMATCHED)


@dataclass(frozen=True, slots=True)
class HeaderOverride:
    """A header of every request: a constant `value`, or else what the environment variable `variable` holds."""

    name: str
    value: str = ""
    variable: str = ""
    place: Place = (0, 0)

    @property
    def scheme(self) -> str:
        """The name of the security scheme that a header from the environment is."""
        return f"header {self.name}"


@dataclass(frozen=True, slots=True)
class AdapterOverride:
    """The owner's decisions for the whole adapter, or for one of its APIs; None and empty leave it to the document."""

    field_case: str | None = None
    security_schemes: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    """Security Scheme Objects (OpenAPI 3.1.1, 4.8.27) that are added, or replace the document's of the same name."""
    security: Requirements | None = None
    """The requirements of operations that name none of their own, or an empty one."""
    headers: tuple[HeaderOverride, ...] = ()
    variables: Mapping[str, str | Mapping[str, str]] = field(default_factory=dict)
    """The environment variable of a security scheme, or those of several by their roles."""
    hosts: tuple[str, ...] = ()
    """The origins that the owner accepts, beside those that generating accepts."""
    accept: tuple[AcceptEntry, ...] = ()
    """The entries that settle rows of the review."""
    prefix: str = ""
    """The word before names that another API has too; "" for the API's name."""
    places: Mapping[str, Place] = field(default_factory=dict)
    """The positions of the fields, and of variables as `variables.NAME`."""
    place: Place = (0, 0)


@cache
def _selector(key: str) -> Selector:
    selector = parse_selector(key)
    if selector is None:
        raise ValueError(key)
    return selector


@dataclass(frozen=True, slots=True)
class Overrides:
    """Entries in the order of the file; `diagnostics` are the errors of the file.

    `entries` are those of one operation by `METHOD /path`, `patterns` all others by their keys (`selectors`).
    """

    entries: Mapping[str, Override] = field(default_factory=dict)
    patterns: Mapping[str, Override] = field(default_factory=dict)
    adapter: AdapterOverride = field(default_factory=AdapterOverride)
    apis: Mapping[str, AdapterOverride] = field(default_factory=dict)
    """The decisions about each of several APIs, by its name."""
    file: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()
    stated: Mapping[str, Override] = field(default_factory=dict)
    """The word of a hand-written adapter element, by `METHOD /path`; every entry of the file wins over it."""

    @property
    def needs_names(self) -> bool:
        """True if an entry selects by the names of operations."""
        return any(_selector(key).kind is Kind.OPERATION for key in self.patterns)

    def of(self, operation: Operation, names: Sequence[str] | None = ()) -> Override:
        """Return the override of an operation, field by field from the most exact entry that has it.

        `names` are those by which entries select it, beside its operationId; None leaves such entries aside.
        """
        matching = [
            (selector.rank, index, override)
            for index, (selector, override) in enumerate(self._patterns())
            if (names is not None or selector.kind is not Kind.OPERATION) and selector.matches(operation, names or ())
        ]
        combined = self.entries.get(operation.key, _NONE)
        for _, _, override in sorted(matching, key=lambda match: match[:2], reverse=True):
            combined = _completed(combined, override)
        return _completed(combined, self.stated[operation.key]) if operation.key in self.stated else combined

    def unmatched(
        self, operations: Iterable[Operation], names: Mapping[str, Sequence[str]] | None = None
    ) -> list[Diagnostic]:
        """Return a finding for each entry that the document has no operation for; `names` are by `METHOD /path`."""
        operations, names = list(operations), names or {}
        keys = {operation.key: None for operation in operations}
        findings = []
        for key, override in self.entries.items():
            if key not in keys:
                message = f"there is no operation `{key}` in the document"
                findings.append(unmatched(self.file, override.place, message, nearest(key, keys, "operation")))
        for selector, override in self._patterns():
            if not any(selector.matches(operation, names.get(operation.key, ())) for operation in operations):
                known = {word: None for operation in operations for word in _words(selector.kind, operation, names)}
                hint = nearest(selector.text, known, selector.kind.name.lower())
                findings.append(unmatched(self.file, override.place, _nothing(selector), hint))
        return findings

    def _patterns(self) -> Iterable[tuple[Selector, Override]]:
        return ((_selector(key), override) for key, override in self.patterns.items())


def _words(kind: Kind, operation: Operation, names: Mapping[str, Sequence[str]]) -> Iterable[str]:
    if kind is Kind.TAG:
        return operation.tags
    if kind is Kind.API:
        return filter(None, (operation.api,))
    if kind is Kind.PATH:
        return (operation.path,)
    return names.get(operation.key) or filter(None, (operation.operation_id,))


def _nothing(selector: Selector) -> str:
    """Return the message for a selector that selects nothing."""
    if selector.is_pattern:
        return f"no operation matches `{selector.key}`"
    if selector.kind is Kind.API:
        return f"there is no API called `{selector.text}`"
    if selector.kind is Kind.TAG:
        return f"no operation has the tag `{selector.text}`"
    return f"no operation has the name or the operationId `{selector.text}`"


def check(
    overrides: Overrides,
    operations: Iterable[Operation],
    report: Report | None,
    names: Mapping[str, Sequence[str]] | None = None,
    further: Iterable[Diagnostic] = (),
) -> None:
    """Pass everything that is wrong so far to `report`; without one raise it as OptionError."""
    distinct = dict.fromkeys((*overrides.diagnostics, *overrides.unmatched(operations, names), *further))
    findings = sorted(distinct, key=lambda each: (each.line, each.column))
    if report is not None:
        for each in findings:
            report(each)
    elif findings:
        raise OptionError(*findings)


def name_collisions(chosen: Mapping[str, Override], file: str) -> list[Diagnostic]:
    """Find names and aliases that stand for two operations; `chosen` are the overrides by `METHOD /path`."""
    owners: dict[str, str] = {}
    findings: dict[tuple[Place, str], Diagnostic] = {}

    def claim(key: str, override: Override, name: str, place: Place, what: str) -> None:
        owner = owners.setdefault(name, key)
        if owner == key:
            return
        message, hint = f"{what} `{name}` is taken by {owner}", "Give each operation its own name."
        entry = override.sources.get("name" if what == "the name" else "aliases", key)
        if entry != key:
            message, hint = f"{message}, and `{entry}` gives it to {key} too", "Give the name to one operation."
        findings.setdefault((place, name), finding(file, place, message, hint))

    for key, override in chosen.items():
        if override.name is not None:
            claim(key, override, override.name, override.places.get("name", override.place), "the name")
    for key, override in chosen.items():
        names = {override.name}
        for alias in override.aliases:
            if alias.name in names:
                message = f"the alias `{alias.name}` is taken by {key}"
                hint = "Give each operation its own name."
                findings.setdefault((alias.place, alias.name), finding(file, alias.place, message, hint))
            else:
                claim(key, override, alias.name, alias.place, "the alias")
                names.add(alias.name)
    return list(findings.values())


def check_requirements(requirements: Requirements, known: Collection[str], file: str, place: Place) -> list[Diagnostic]:
    """Find the security schemes that requirements name and nobody declares."""
    names = dict.fromkeys(name for alternative in requirements.alternatives for name in alternative)
    return [
        unmatched(
            file,
            place,
            f"there is no security scheme `{name}`",
            nearest(name, known, "security scheme")
            if known
            else f"Declare it: adapter: {{security_schemes: {{{name}: {{type: http, scheme: bearer}}}}}}.",
        )
        for name in names
        if name not in known
    ]


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
            message = f"the time of the alias `{alias.name}` of {key} ended with {alias.until}"
            way_out = "Take it out of the overrides, or give it a later `until`."
            expired = finding(file, alias.place, message, way_out)
            findings.append(replace(expired, code="expired-alias", severity=Severity.WARNING))
    return findings


def check_asked(decisions: Iterable[Decision], file: str) -> Iterator[Diagnostic]:
    """Yield a warning for each `asked` without effect: each call of each of its operations needs a confirmation."""
    selected = [each for each in decisions if each.override.asked in (Asked.FIRST, Asked.NEVER)]
    always = {each.name: each for each in selected if each.asked is Asked.ALWAYS or each.moves_money}
    effective = {each.override.places["asked"] for each in selected if each.name not in always}
    for place, decision in {each.override.places["asked"]: each for each in reversed(always.values())}.items():
        if place not in effective:
            of_danger = f"its danger is {decision.danger}", "Set `danger: reversible` too, or write"
            why, way = ("it moves money", "Write") if decision.moves_money else of_danger
            message = f"`asked: {decision.override.asked}` has no effect on {decision.name}: {why}"
            idle = finding(file, place, message, f"{way} an allow rule into adapter.toml.")
            yield replace(idle, code="ineffective-override", severity=Severity.WARNING)


def _completed(override: Override, other: Override) -> Override:
    """Return an override with what another, less exact one says beyond it."""
    if override is _NONE:
        return other
    added = {key: getattr(other, key) for key in _KEYS if getattr(override, key) in (None, ())}
    return replace(
        override,
        **added,
        parameters={
            **other.parameters,
            **{
                name: _completed_parameter(parameter, other.parameters.get(name))
                for name, parameter in override.parameters.items()
            },
        },
        places={**other.places, **override.places},
        sources={**other.sources, **override.sources},
    )


def _completed_parameter(override: ParameterOverride, other: ParameterOverride | None) -> ParameterOverride:
    """Return the override of a parameter with the fields that only a less exact one has."""
    if other is None:
        return override
    has_preset = not _PRESETS.isdisjoint(override.places)
    added = {field for field in other.places.keys() - override.places.keys() if not (has_preset and field in _PRESETS)}
    places = {field: place for field, place in other.places.items() if field in added}
    changes: dict[str, Any] = {field: getattr(other, field) for field in added}
    return replace(override, **changes, places={**places, **override.places})
