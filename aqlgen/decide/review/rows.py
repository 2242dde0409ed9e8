"""The rows of a review: what a person should look at, as many rows as there are questions, and their headings.

- what is asked at first use, because the same rule doubts that it is harmless, is one row for each part of the API, and
  one for several parts with one such operation each
- a decision that the API's convention repeats ("POST on one item", where most POSTs on an item are that) is one row
- everything else is a row for each operation

A row of a convention holds weak evidence only: what contradicts it, what the document claims and what instructs a model
are rows of their own.

A heading is the tag of an operation, or where there are no tags, the part of the API by its path. Above all others
but texts that instruct a model is what is asked at first use, in the order of what it may cost.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias

from aqlgen.decide.decision import Asked, Category, Concern, Decision, Doubt
from aqlgen.decide.review.consequence import consequences
from aqlgen.ir import Operation

_GENERAL: Final = re.compile(r"v?\d++(?:\.\d++)*+|v\d++(?:(?:alpha|beta)\d*)?|api|rest", re.IGNORECASE)
"""Segments that say nothing about what an operation is for: the API and its version."""


def sections_of(operations: Iterable[Operation]) -> Callable[[Operation], str]:
    """Return a function for the heading of an operation: its first tag, else the first telling segment of its path.

    A segment that all paths begin with tells nothing, nor does the API's version.
    """
    paths = [_segments(operation.path) for operation in operations]
    shared = 0
    while paths and all(len(path) > shared + 1 for path in paths) and len({path[shared] for path in paths}) == 1:
        shared += 1

    def section(operation: Operation) -> str:
        if operation.tags and operation.tags[0].strip():
            return operation.tags[0].strip()
        segments = _segments(operation.path)
        telling = [part for part in segments[shared:] if "{" not in part and not _GENERAL.fullmatch(part)]
        return telling[0] if telling else "/".join(segments) or "/"

    return section


def _segments(path: str) -> list[str]:
    return [segment for segment in path.split("/") if segment]


_HEADINGS: Final = {
    Asked.ALWAYS: "Confirmation at each call",
    Asked.FIRST: "Confirmation at the first call",
    Asked.NEVER: "No confirmation",
}
SEVERAL: Final = "several parts"
_TOGETHER: Final = 8
"""The most operations of several parts in one row."""
_REPEATED: Final = 3
"""From so many on the same question is one row."""
_SAMPLES: Final = 3

_Kind: TypeAlias = tuple[str, bool]
_Signature: TypeAlias = tuple[Category, tuple[tuple[str, str], ...]]


@dataclass(frozen=True)
class ReviewRow:
    """A question to a person about one operation or several, with the concerns of each that it is about."""

    members: tuple[tuple[Decision, tuple[Concern, ...]], ...]
    section: str = ""
    """The part of the API that it is about; "" for what the API repeats."""
    asked: Asked | None = None
    """When a person is asked about its operations, where that is the question."""

    @property
    def is_question(self) -> bool:
        """True if it is about what is asked at first use."""
        return self.asked is Asked.FIRST

    @property
    def heading(self) -> str:
        """The heading that it stands under, "" for none."""
        return self.section if self.asked is None else _HEADINGS[self.asked]

    @property
    def count(self) -> int:
        """The number of operations that the row is about."""
        return len(self.members)

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """The operations, in the document's order."""
        return tuple(decision for decision, _ in self.members)

    @property
    def samples(self) -> tuple[str, ...]:
        """The names of some of the operations."""
        return tuple(decision.name for decision in self.decisions[:_SAMPLES])

    @cached_property
    def rules(self) -> tuple[str, ...]:
        """The rules whose acceptance settles the row; empty where an operation has to be selected."""
        concerns = [concern for _, concerns in self.members for concern in concerns]
        if self.is_question or any(concern.doubt is not Doubt.WEAK or not concern.rule for concern in concerns):
            return ()
        return tuple(dict.fromkeys(concern.rule for concern in concerns))

    @property
    def entries(self) -> tuple[str, ...]:
        """The entries of `accept` that settle the row and as little else as they can."""
        if self.rules and not self.section:
            return tuple(f"rule:{rule}" for rule in self.rules)
        return tuple(map(entry_of, self.decisions))

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why a person should look: what all operations of the row share, or each of them says."""
        texts = [[concern.text for concern in concerns] for _, concerns in self.members]
        common = [text for text in texts[0] if all(text in others for others in texts)]
        if common:
            return tuple(common)
        return tuple(
            dict.fromkeys(f"{concern.subject}: {concern.rule}" for _, held in self.members for concern in held)
        )

    @property
    def is_instructed(self) -> bool:
        """True if it is about texts that read as instructions to a model."""
        return any(concern.subject == "text" for _, concerns in self.members for concern in concerns)

    @property
    def confidence(self) -> float:
        """The lowest confidence of the three decisions, of any of its operations."""
        return min(
            reason.confidence
            for decision in self.decisions
            for reason in (decision.category_reason, decision.name_reason, decision.danger_reason)
        )


def entry_of(decision: Decision) -> str:
    """Return the entry of `accept` for one operation; a path with a `*` would be a pattern."""
    key = decision.operation.key
    return f"operation:{decision.name}" if "*" in key else key


def review_rows(decisions: Iterable[Decision], *, with_settled: bool = False) -> list[ReviewRow]:
    """Return the rows, first what instructs agents, then questions at first use, the conventions, and by section.

    The questions begin with those of most consequence; with `with_settled`, the other writes stand among them. The
    sections and the rows in them begin with the least certain, among equals the most dangerous.
    """
    decisions = tuple(decisions)
    section = sections_of(decision.operation for decision in decisions)
    weights = consequences(decisions)
    rows = [
        *_asked(decisions, section, weights, with_settled=with_settled),
        *map(ReviewRow, _conventions(decisions)),
    ]
    covered = {(decision.name, concern) for row in rows for decision, concerns in row.members for concern in concerns}
    for decision in decisions:
        concerns = tuple(concern for concern in decision.concerns if (decision.name, concern) not in covered)
        if concerns:
            rows.append(ReviewRow(((decision, concerns),), section(decision.operation)))
    return _in_order(rows, weights)


def _in_order(rows: Sequence[ReviewRow], weights: Mapping[str, float]) -> list[ReviewRow]:
    def urgency(row: ReviewRow) -> tuple[float, int]:
        if row.asked is not None:
            return -max(weights[decision.operation.key] for decision in row.decisions), -row.count
        return row.confidence, -max(decision.danger.rank for decision in row.decisions)

    def part(row: ReviewRow) -> str:
        return row.section if row.asked is None else ""

    first: dict[str, tuple[float, int]] = {}
    for row in rows:
        first[part(row)] = min(urgency(row), first.get(part(row), (1.0, 0)))
    return sorted(
        rows,
        key=lambda row: (
            not row.is_instructed,
            row.asked is None,
            bool(row.section),
            first[part(row)] if part(row) else (0.0, -row.count if row.asked is None else 0),
            part(row),
            urgency(row),
            row.decisions[0].name,
        ),
    )


_Member: TypeAlias = tuple[Decision, tuple[Concern, ...]]
_Members: TypeAlias = tuple[_Member, ...]


def _asked(
    decisions: Iterable[Decision],
    section: Callable[[Operation], str],
    weights: Mapping[str, float],
    *,
    with_settled: bool,
) -> Iterator[ReviewRow]:
    """Yield rows about when a person is asked: by part of the API, and by the rule that doubts, or by category."""
    groups: defaultdict[tuple[str, Asked, str], list[_Member]] = defaultdict(list)
    for decision in sorted(decisions, key=lambda decision: -weights[decision.operation.key]):
        doubts = _doubts(decision)
        if doubts or (with_settled and decision.asked is not Asked.FIRST and decision.category is not Category.READ):
            reasons = {Asked.FIRST: decision.danger_reason.rule, Asked.NEVER: decision.category, Asked.ALWAYS: ""}
            groups[section(decision.operation), decision.asked, reasons[decision.asked]].append((decision, doubts))
    alone: defaultdict[tuple[Asked, str], list[_Member]] = defaultdict(list)
    for (_, asked, reason), members in groups.items():
        alone[asked, reason] += members if len(members) == 1 else ()
    for (part, asked, reason), members in groups.items():
        if len(members) > 1 or len(alone[asked, reason]) < _REPEATED:
            yield ReviewRow(tuple(members), part, asked)
    for (asked, _), members in alone.items():
        for start in range(0, len(members) if len(members) >= _REPEATED else 0, _TOGETHER):
            yield ReviewRow(tuple(members[start : start + _TOGETHER]), SEVERAL, asked)


def _doubts(decision: Decision) -> tuple[Concern, ...]:
    """Return the concerns because of which it is asked about at first use."""
    if decision.asked is not Asked.FIRST:
        return ()
    return tuple(concern for concern in decision.concerns if concern.subject == "danger")


def _conventions(decisions: Sequence[Decision]) -> Iterable[_Members]:
    """Yield the conventions: most operations of one method, on items or not, that the same rules decided."""
    kinds = Counter(map(_kind, decisions))
    groups: defaultdict[tuple[_Kind, _Signature], list[_Member]] = defaultdict(list)
    for decision in decisions:
        doubts = _doubts(decision)
        concerns = tuple(concern for concern in decision.concerns if concern not in doubts)
        if concerns and all(concern.doubt is Doubt.WEAK for concern in concerns):
            rules = tuple((concern.subject, concern.rule) for concern in concerns)
            groups[_kind(decision), (decision.category, rules)].append((decision, concerns))
    for (kind, _), members in groups.items():
        if len(members) >= _REPEATED and 2 * len(members) > kinds[kind]:
            yield tuple(members)


def _kind(decision: Decision) -> _Kind:
    """Return the kind of an operation for conventions: the method, and whether the path ends in an item."""
    operation = decision.operation
    return operation.method.upper(), operation.path.rstrip("/").endswith("}")
