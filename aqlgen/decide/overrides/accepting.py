"""The entries of `adapter: {accept: […]}`: what the owner has looked at, and agrees with.

adapter:
  accept: ["rule:post-on-item", "POST /v1/charges/*", "operation:get_account", "tag:reports"]

An entry changes no decision: it says that a person agrees, so that the operation needs no review any more. It holds for
what it selects, whatever the document has later, so the broader the entry, the less it settles:

- `rule:NAME` settles what the rule decided with little evidence, where none speaks against it;
- a pattern or a tag settles also what other evidence contradicts;
- one operation's `METHOD /path` or `operation:NAME`, by the name that agents use, settles also the document's claims
  that are not believed, and texts that read as instructions to a model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from aqlgen.decide.decision import Acceptance, Concern, Decision, Doubt, Place
from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.ir import Operation

from .model import nearest
from .selectors import Kind, Selector, parse_selector

__all__ = ["UNMATCHED_ACCEPT", "AcceptEntry", "accept", "check_accepted", "is_broad", "parse_entry"]

UNMATCHED_ACCEPT: Final = "unmatched-accept"
_RULE: Final = "rule:"


@dataclass(frozen=True, slots=True)
class AcceptEntry:
    """An entry as it was written: a rule, or a selector of operations."""

    text: str
    place: Place = (0, 0)
    rule: str = ""
    selector: Selector | None = None

    def settles(self, decision: Decision, concern: Concern) -> bool:
        """Return True if the entry settles a concern about an operation."""
        if self.selector is None:
            return concern.doubt is Doubt.WEAK and concern.rule == self.rule
        if concern.doubt is Doubt.CLAIMED and not self._names(decision):
            return False
        return self.selector.matches(decision.operation, (decision.name,))

    def _names(self, decision: Decision) -> bool:
        """Return True if this is the operation's own entry. An operationId, which the document gives, is not enough."""
        selector = self.selector
        if selector is None or selector.is_pattern:
            return False
        return selector.kind is Kind.PATH or (selector.kind is Kind.OPERATION and selector.text == decision.name)


def parse_entry(text: str, place: Place) -> AcceptEntry | None:
    """Return the entry that a text is, None if it is of no such form."""
    text = text.strip()
    if text.startswith(_RULE):
        rule = text.removeprefix(_RULE).strip()
        return AcceptEntry(text, place, rule) if rule else None
    selector = parse_selector(text)
    return selector and AcceptEntry(text, place, selector=selector)


def is_broad(entry: str) -> bool:
    """Return True if an entry also accepts operations that the document does not have yet."""
    parsed = parse_entry(entry, (0, 0))
    return parsed is None or parsed.selector is None or parsed.selector.is_pattern or parsed.selector.kind is Kind.TAG


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
    reasons = (decision.category_reason, decision.name_reason, decision.danger_reason)
    return (reason.rule for reason in (*reasons, *decision.likenesses))


def _unmatched(entry: AcceptEntry, decisions: Sequence[Decision], file: str) -> Diagnostic:
    """Return a warning: what an entry without effect leaves is under review, and nothing is any less safe."""
    message, what, text = f"`{entry.text}` accepts nothing that there is", "operation", entry.text
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
    help = nearest(text, known, what)
    return Diagnostic(UNMATCHED_ACCEPT, Severity.WARNING, message, file=file, line=line, column=column, help=help)
