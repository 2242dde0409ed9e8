"""The result of a test, of a category and of the whole (conformance testing, 1.3 and 6.1)."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from aqlgen.check.operations import Operation

_FORM = {"rule": str, "operation": str, "reason": str, "until": date}


class KnownError(ValueError):
    """An entry of `check.known` that cannot be used; the message says which one, and what it needs."""


class Known(NamedTuple):
    """A finding that the owner knows of: it does not count until its day is over."""

    rule: str
    operation: str
    reason: str
    until: date


def read_known(project: Path) -> list[Known]:
    """Return the entries of `[[check.known]]` in a project's adapter.toml that are still good. Raises KnownError."""
    file = project / "adapter.toml"
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8-sig")).get("check", {}) if file.is_file() else {}
    except ValueError as problem:
        raise KnownError(f"adapter.toml is not valid TOML: {problem}") from None
    entries = table.get("known", []) if isinstance(table, dict) else []
    known: list[Known] = []
    for number, entry in enumerate(entries if isinstance(entries, list) else [entries], 1):
        is_whole = isinstance(entry, dict) and entry.keys() == _FORM.keys()
        if not is_whole or any(type(entry[key]) is not kind or not entry[key] for key, kind in _FORM.items()):
            raise KnownError(
                f"entry {number} of [[check.known]] in adapter.toml needs rule, operation, reason and until, a date "
                'such as 2027-01-31, as in: rule = "PH-3"'
            )
        known.append(Known(**entry))
    return [entry for entry in known if entry.until >= date.today()]


class Place(NamedTuple):
    """Where an operation stands: the file and line of the kept document, and its key of overrides.yaml."""

    file: str
    line: int
    key: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}, or '{self.key}' in overrides.yaml"


def places_of(project: Path, operations: Iterable[Operation]) -> Mapping[str, Place]:
    """Return where operations stand, by their names; an operation of a document that is gone has no place."""
    from aqlgen.diagnostics.errors import FileError
    from aqlgen.document.positions import find, join
    from aqlgen.project import Project

    apis: dict[str, dict[str, tuple[str, str]]] = {}
    for operation in operations:
        path, method = operation.row.path.partition("#")[0].partition("?")[0], operation.row.method
        pointer = join(("paths", path, method.lower()))
        apis.setdefault(operation.row.api, {})[operation.name] = pointer, f"{method} {path}"
    places: dict[str, Place] = {}
    for api, keys in apis.items():
        with suppress(FileError, OSError, ValueError):
            file = Project.open(project).document(api)
            text, form = file.read_text(encoding="utf-8-sig"), "json" if file.suffix == ".json" else "yaml"
            positions = find(text, form, [pointer for pointer, _ in keys.values()])  # type: ignore[arg-type]
            name = file.relative_to(project).as_posix()
            places |= {operation: Place(name, positions[pointer][0], key) for operation, (pointer, key) in keys.items()}
    return places


class Outcome(StrEnum):
    """The outcome of a test (conformance testing, 1.3)."""

    PASS = "PASS"  # noqa: S105
    FAIL = "FAIL"
    SKIP = "SKIP"


class Category(StrEnum):
    """The categories of the conformance document, then those that are beyond it."""

    INTROSPECTION = "Introspection Fidelity"
    PARAMETERS = "Parameter Handling"
    ERRORS = "Error Quality"
    ROUND_TRIP = "Round-Trip Integrity"
    CONSTRAINTS = "Constraint Documentation"
    LEVEL_2 = "Level 2 Features"
    WARNINGS = "Warnings"
    SAFETY = "Safety"
    TRANSPORT = "Transport"
    OPERATION = "Running"
    LIVE = "Live API"


MUST = (Category.INTROSPECTION, Category.PARAMETERS, Category.ERRORS, Category.ROUND_TRIP)
"""The categories that level 1 needs."""
CATEGORIES = tuple(Category)
_MOST_PROBLEMS = 20
_EXCEPTIONS = 100
"""One operation of so many may fail what a level asks for; it is named beside the level."""


class Cause(StrEnum):
    """Who has to change something."""

    ADAPTER = "adapter"
    DOCUMENT = "document"
    SERVER = "server"


@dataclass(frozen=True)
class Problem:
    """What is wrong with one thing; `answer` is the adapter's answer that shows it."""

    subject: str
    text: str
    answer: Any = None
    cause: Cause = Cause.ADAPTER


@dataclass
class Result:
    """The result of one test over `cases` things."""

    id: str
    title: str
    category: Category
    requirement: str
    setting: str = ""
    cases: int = 0
    count: int = 0
    problems: list[Problem] = field(default_factory=list)
    subjects: set[str] = field(default_factory=set)
    """What has a problem, by its name."""
    known: frozenset[str] = frozenset()
    """Operations whose problems the owner knows of."""
    excused: set[str] = field(default_factory=set)
    """Those of them that have one."""

    def expect(self, right: bool, subject: str, text: str, answer: Any = None, cause: Cause = Cause.ADAPTER) -> bool:
        """Count a case, and note its problem if it is not right and not known. Returns `right`."""
        self.cases += 1
        if not right and subject in self.known:
            self.excused.add(subject)
        elif not right:
            self.count += 1
            self.subjects.add(subject)
            if len(self.problems) < _MOST_PROBLEMS:
                self.problems.append(Problem(subject, text, answer, cause))
        return right

    @property
    def outcome(self) -> Outcome:
        """The outcome of the test."""
        return Outcome.FAIL if self.count else Outcome.PASS if self.cases else Outcome.SKIP


@dataclass(frozen=True)
class Report:
    """The results for one adapter."""

    adapter: str
    version: str
    spec_version: str
    aqlgen: str
    results: tuple[Result, ...]
    operations: int
    sampled: int
    seconds: float = 0.0
    names: frozenset[str] = frozenset()
    """The operations that were called."""
    succeeded: frozenset[str] = frozenset()
    """Those of them that a call has succeeded of, on which the level rests."""
    places: Mapping[str, Place] = field(default_factory=dict)
    """Where the operations that have a problem stand, by their names."""
    known: tuple[Known, ...] = ()
    """The findings that the owner knows of."""

    @property
    def excused(self) -> list[Known]:
        """The known findings that the check has come upon."""
        pairs = {(result.id, subject) for result in self.results for subject in result.excused}
        return [known for known in self.known if (known.rule, known.operation) in pairs]

    def of(self, category: Category) -> list[Result]:
        """Return the results of a category."""
        return [result for result in self.results if result.category is category]

    def outcome_of(self, category: Category) -> Outcome:
        """Return the worst outcome of a category; SKIP if none of its tests ran."""
        outcomes = {result.outcome for result in self.of(category)}
        return next((each for each in (Outcome.FAIL, Outcome.PASS) if each in outcomes), Outcome.SKIP)

    @property
    def exceptions(self) -> tuple[str, ...]:
        """The operations that fail what level 1 asks for, while they are few and nothing else fails it; else ()."""
        return tuple(sorted(self._failing(MUST) or ()))

    @property
    def is_sound(self) -> bool:
        """True if no test fails, in any category, except for a few operations."""
        return self._failing(CATEGORIES) is not None

    def _failing(self, categories: Iterable[Category]) -> set[str] | None:
        """Return the operations that tests fail for; None where they are too many, or something else fails."""
        failed = [result for category in categories for result in self.of(category) if result.outcome is Outcome.FAIL]
        subjects = {subject for result in failed for subject in result.subjects}
        return subjects if len(subjects) * _EXCEPTIONS <= len(self.names) and subjects <= self.names else None

    @property
    def level(self) -> int:
        """The level that was reached: 0, 1 or 2; a category without a case does not apply to the API (1.3)."""
        outcomes = {self.outcome_of(category) for category in MUST}
        is_whole = all(map(self.of, MUST)) and outcomes != {Outcome.SKIP}
        if not is_whole or (Outcome.FAIL in outcomes and not self.exceptions):
            return 0
        beyond = {self.outcome_of(category) for category in CATEGORIES if category not in MUST}
        return 1 if Outcome.FAIL in outcomes | beyond or self.outcome_of(Category.LEVEL_2) is not Outcome.PASS else 2

    @property
    def missing(self) -> str:
        """The categories of level 1 that had no case, with their tests, if nothing failed; "" if each had one."""
        outcomes = {category: self.outcome_of(category) for category in MUST if self.of(category)}
        skipped = [category for category, outcome in outcomes.items() if outcome is Outcome.SKIP]
        tests = [f"{category} ({', '.join(result.id for result in self.of(category))})" for category in skipped]
        is_reason = len(outcomes) == len(MUST) and Outcome.FAIL not in outcomes.values() and tests
        return f"no case of {' and '.join(tests)}" if is_reason else ""

    @property
    def counts(self) -> Mapping[str, int]:
        """The number of tests of each outcome, and in all."""
        outcomes, names = [result.outcome for result in self.results], ("passed", "failed", "skipped")
        return {"total": len(outcomes)} | dict(zip(names, map(outcomes.count, Outcome), strict=True))
