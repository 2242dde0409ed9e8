"""The operations whose texts read as instructions to a model: their own, or those of what they refer to."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from aqlgen.decide.decision import Decision
from aqlgen.document.positions import nodes
from aqlgen.document.resolve import Resolver, UnresolvedError
from aqlgen.document.texts import InstructionText
from aqlgen.ir import Json

_MOST: Final = 3
"""Places that are named of one operation."""
_FOLLOWED: Final = 500
"""References that are followed from one operation: a text behind more of them is reported with the document alone."""


def with_instructions(
    decisions: Sequence[Decision], texts: Iterable[InstructionText], resolver: Resolver
) -> tuple[Decision, ...]:
    """Return the decisions with what there is to review of their texts. An owner's own words settle the API's."""
    by_pointer = {text.pointer: text for text in texts}
    if not by_pointer:
        return tuple(decisions)
    reach = _Reach(resolver, by_pointer)
    decided = []
    for decision in decisions:
        place = decision.operation.origin.pointer
        settled = {f"{place}/description", f"{place}/summary"} if decision.override.description else set()
        settled |= {f"{place}/summary"} if decision.override.summary else set()
        pointers = [pointer for pointer in reach.of(decision) if pointer not in settled]
        reasons = [reason_of(by_pointer[pointer], place) for pointer in pointers[:_MOST]]
        if len(pointers) > _MOST:
            reasons.append(f"text: {len(pointers) - _MOST} more texts read as instructions to a model")
        decided.append(replace(decision, instructions=tuple(reasons)))
    return tuple(decided)


def in_order_of_review(decisions: Iterable[Decision]) -> list[Decision]:
    """Return the decisions with those first whose texts instruct agents, else in their order."""
    return sorted(decisions, key=lambda decision: not decision.instructions)


def reason_of(text: InstructionText, place: str = "") -> str:
    """Return a sentence about a text for a reviewer; `place` is the pointer of the operation that it is shown with."""
    where = text.pointer.removeprefix(place) if text.pointer.startswith(f"{place}/") else f"#{text.pointer}"
    rules = "; ".join(text.instruction.rules)
    return f"text: {where.lstrip('/')} looks like an instruction to a model ({rules}): “{text.instruction.quote}”"


class _Reach:
    """The suspicious texts that an operation leads to, by references too.

    Of each operation at most `_FOLLOWED` references are followed, so that the whole is linear in the document.
    """

    def __init__(self, resolver: Resolver, pointers: Collection[str]) -> None:
        self._resolver = resolver
        self._within: dict[str, set[str]] = {}
        """The texts at each place of the document and below it."""
        for pointer in pointers:
            steps = pointer.split("/")
            for length in range(1, len(steps) + 1):
                self._within.setdefault("/".join(steps[:length]), set()).add(pointer)
        self._references: dict[str, frozenset[str]] = {}

    def of(self, decision: Decision) -> list[str]:
        """Return the pointers, in order."""
        place = decision.operation.origin.pointer
        item = place.rpartition("/")[0]
        roots = [place, f"{place}/tags", *(f"{item}/{key}" for key in ("summary", "description", "parameters"))]
        seen, waiting = set(roots), deque(roots)
        reached: set[str] = set()
        while waiting and len(seen) < _FOLLOWED:
            pointer = waiting.popleft()
            reached |= self._within.get(pointer, frozenset())
            referred = self._referred(pointer) - seen
            seen |= referred
            waiting += sorted(referred)
        for pointer in waiting:
            reached |= self._within.get(pointer, frozenset())
        return sorted(reached)

    def _referred(self, pointer: str) -> frozenset[str]:
        """Return the pointers that the value at a pointer refers to."""
        if pointer not in self._references:
            try:
                value = self._resolver.lookup(f"#{pointer}")
            except UnresolvedError:
                value = None
            self._references[pointer] = frozenset(_references(value))
        return self._references[pointer]


def _references(value: Json) -> Iterator[str]:
    for node, _ in nodes([value]):
        reference = node.get("$ref") if isinstance(node, dict) else None
        if isinstance(reference, str) and reference.startswith("#/"):
            yield reference[1:]
