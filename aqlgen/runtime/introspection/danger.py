"""The query `danger`: the level of each operation, why it has it, and what the policy in force does with a call.

Levels, reasons and behaviors have the names of the protocol (danger levels document, 3.4 and 4.2; R-SAFE-1). A hook of
the adapter's owner may still decide otherwise about a single call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..protocol_operations import ProtocolOperation
from ..safety.policy import LEVELS, Policy, Subject, danger_reasons
from ..settings.config import Config
from ..settings.types import BUILT_IN
from ..table import Row, Table
from ..text import line
from . import Bounds, refuse_narrowing

_BEHAVIORS = {"allow": "allow", "confirm": "confirm", "refuse": "deny"}
_ADAPTERS_OWN = "An operation of the adapter; its calls have their own levels"
_LONGEST_REASON = 300


@dataclass(frozen=True, slots=True)
class _Known:
    """What lists need to know of an operation."""

    subject: Subject
    reason: str
    gated: bool = True


class Dangers:
    """Answers from the operation table and the settings; the levels are collected at the first list."""

    def __init__(
        self,
        table: Table,
        config: Config,
        operations: Mapping[str, ProtocolOperation],
        find: Callable[[str], Row | None],
    ) -> None:
        self._table = table
        self._config = config
        self._policy = Policy(config, table)
        self._operations = operations
        self._find = find

    def answer(
        self, params: Mapping[str, Any], names: Sequence[str], bounds: Bounds, wanted: Callable[[str, str], bool]
    ) -> dict[str, Any]:
        """Describe the one operation that is named; otherwise list those that are named, of a level, or all wanted.

        A list begins with the counts by level, and has the most dangerous first. Raises Failure.
        """
        refuse_narrowing(params, "danger", ("search",))
        if len(names) == 1 and names[0] not in LEVELS:
            return {"operation": self._details(names[0])}
        named = {*names, *(row.name for name in names if (row := self._find(name)) is not None)}
        chosen = [
            known
            for known in self._sorted
            if (not named or {known.subject.name, known.subject.danger} & named)
            and wanted(known.subject.name, known.subject.family)
        ]
        levels = [known.subject.danger for known in chosen]
        page, left = bounds.page([self._entry(known) for known in chosen])
        return {
            "summary": {level: levels.count(level) for level in dict.fromkeys((*LEVELS, *levels))},
            "policy": {
                "name": self._config.policy,
                "approval": self._config.confirmation.approval,
                "trust_level": self._config.trust_level,
            },
            "operations": page,
            "page": bounds.described(page, len(chosen), left),
        }

    def _details(self, name: str) -> dict[str, Any] | None:
        """Return all that is known of one operation; None for an unknown one."""
        row = self._find(name)
        if row is None:
            return next((self._entry(known) for known in self._protocols() if known.subject.name == name), None)
        entry = self._entry(_Known(Subject.of(row), row.danger_reason))
        entry["danger"]["reasons"] += [*row.evidence, *danger_reasons(row)]
        if row.review:
            entry["danger"]["reasons"].append(f"Under review: {line('; '.join(row.review), _LONGEST_REASON)}")
        if row.confirmation:
            entry["danger"]["confirmation_message"] = row.confirmation
        return entry

    def _entry(self, known: _Known) -> dict[str, Any]:
        subject = known.subject
        decision, sometimes = self._policy.usual(subject, self._find)
        reason = line(known.reason, _LONGEST_REASON)
        entry: dict[str, Any] = {
            "name": subject.name,
            "semantic_category": subject.family.upper(),
            "danger": {"level": subject.danger, "reasons": [reason] if reason else []},
            **(
                {"effects": list(subject.effects), "asked": subject.asked}
                if subject.effects or subject.asked != "never"
                else {}
            ),
            "behavior": _BEHAVIORS[decision.outcome] if known.gated else "allow",
        }
        if known.gated and decision.rule not in BUILT_IN:
            entry["rule"] = decision.rule
        if sometimes:
            entry["rules"] = [
                {"id": rule.id, "action": rule.action, **({"reason": rule.reason} if rule.reason else {})}
                for rule in sometimes
            ]
        return entry

    @cached_property
    def _sorted(self) -> Sequence[_Known]:
        values = self._table.values("danger", "review", "effects", "asked", "danger_reason")
        known = [_Known(Subject(name, family, *each[:-1]), each[-1]) for name, family, each in values]
        mildness = {level: place for place, level in enumerate(reversed(LEVELS))}  # the most dangerous first
        return sorted([*known, *self._protocols()], key=lambda known: mildness.get(known.subject.danger, -1))

    def _protocols(self) -> Iterator[_Known]:
        yield _Known(Subject("introspect", "read", "safe"), "category: READ", gated=False)
        for name, operation in self._operations.items():
            workflow = self._table.workflows.get(name)
            level = "safe" if operation.family == "read" else "reversible"
            if workflow is not None:
                yield _Known(Subject(name, operation.family, workflow.danger), workflow.danger_reason)
            else:
                yield _Known(Subject(name, operation.family, level), _ADAPTERS_OWN, gated=False)
