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

from dataclasses import dataclass
from typing import Final

from aqlgen.decide.decision import Concern, Decision, Doubt, Place

from .selectors import Kind, Selector, parse_selector

__all__ = ["AcceptEntry", "is_broad", "parse_entry"]

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


def parse_entry(text: str, place: Place = (0, 0)) -> AcceptEntry | None:
    """Return the entry that a text is, None if it is of no such form."""
    text = text.strip()
    if text.startswith(_RULE):
        rule = text.removeprefix(_RULE).strip()
        return AcceptEntry(text, place, rule) if rule else None
    selector = parse_selector(text)
    return AcceptEntry(text, place, selector=selector) if selector else None


def is_broad(entry: str) -> bool:
    """Return True if an entry also accepts operations that the document does not have yet."""
    parsed = parse_entry(entry)
    return parsed is None or parsed.selector is None or parsed.selector.is_pattern or parsed.selector.kind is Kind.TAG
