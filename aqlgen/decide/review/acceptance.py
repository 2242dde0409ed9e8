"""The entries of `adapter: {accept: […]}` (`overrides.selectors`), applied to the decisions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from aqlgen.decide.decision import Acceptance, Decision
from aqlgen.decide.overrides import AcceptEntry, nearest
from aqlgen.decide.overrides.selectors import Kind
from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.ir import Operation

__all__ = ["UNMATCHED_ACCEPT", "accept", "check_accepted"]

UNMATCHED_ACCEPT: Final = "unmatched-accept"


def accept(decisions: Iterable[Decision], entries: Sequence[AcceptEntry]) -> tuple[Decision, ...]:
    """Return the decisions with what the entries settle of them. They are decided as before."""
    return tuple(_accepted(decision, entries) for decision in decisions)


def _accepted(decision: Decision, entries: Sequence[AcceptEntry]) -> Decision:
    """Return the decision with its concerns settled, each by the first entry that does."""
    acceptances = []
    for concern in decision.concerns:
        entry = next((entry for entry in entries if entry.settles(decision, concern)), None)
        if entry is not None:
            acceptances.append(Acceptance(concern, entry.text))
    return replace(decision, accepted=tuple(acceptances)) if acceptances else decision


def check_accepted(
    entries: Sequence[AcceptEntry], decisions: Sequence[Decision], operations: Sequence[Operation], file: str
) -> list[Diagnostic]:
    """Find the entries that are about nothing: no operation, or a rule that decided nothing.

    `operations` are all of the document, hidden ones included. An entry for what needs no review is no mistake.
    """
    return [_unmatched(entry, decisions, file) for entry in entries if not _matches(entry, decisions, operations)]


def _matches(entry: AcceptEntry, decisions: Sequence[Decision], operations: Sequence[Operation]) -> bool:
    selector = entry.selector
    if selector is None:
        return any(entry.rule in _rules(decision) for decision in decisions)
    return any(selector.matches(decision.operation, (decision.name,)) for decision in decisions) or any(
        selector.matches(operation) for operation in operations
    )


def _rules(decision: Decision) -> Iterator[str]:
    yield from (decision.category_reason.rule, decision.name_reason.rule, decision.danger_reason.rule)
    yield from (likeness.rule for likeness in decision.likenesses)


def _unmatched(entry: AcceptEntry, decisions: Sequence[Decision], file: str) -> Diagnostic:
    """Return a warning: what an entry without effect leaves is under review, and nothing is any less safe."""
    message, what, text = f"`{entry.text}` accepts nothing in this document", "operation", entry.text
    known: Iterable[str] = (decision.operation.key for decision in decisions)
    if entry.selector is None:
        message, what, text = f"nothing is decided by the rule `{entry.rule}`", "rule", entry.rule
        known = (rule for decision in decisions for rule in _rules(decision))
    elif entry.selector.kind is Kind.OPERATION:
        text, known = entry.selector.text, (decision.name for decision in decisions)
    elif entry.selector.kind is Kind.TAG:
        what, text = "tag", entry.selector.text
        known = (tag for decision in decisions for tag in decision.operation.tags)
    line, column = entry.place
    hint = nearest(text, known, what)
    return Diagnostic(UNMATCHED_ACCEPT, Severity.WARNING, message, file=file, line=line, column=column, help=hint)
