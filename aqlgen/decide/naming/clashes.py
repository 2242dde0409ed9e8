"""Names that stand in the way of one another.

An override takes a name away, a name is the operationId of another operation, or an agent may take two names for one
another (`similar-names`): on the same resource they differ only in number (`get_account`, `get_accounts`), or only in
verbs of one meaning (`get_accounts`, `list_accounts`). No name changes; the owner accepts or renames.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Final, TypeAlias

from aqlgen.decide.decision import Category, Decision, Likeness
from aqlgen.decide.overrides.model import finding
from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.ir import Operation
from aqlgen.words import singular, split

_MISNAMED: Final = "operation-id-of-another"


def takeovers(decisions: Iterable[Decision], file: str) -> list[Diagnostic]:
    """Find the overrides that give an operation the name of another that is served."""
    decisions = list(decisions)
    owners = {decision.name: decision.override for decision in decisions}
    findings = []
    for decision in decisions:
        if decision.lost_name in owners:
            override = owners[decision.lost_name]
            message = f"the name `{decision.lost_name}` is that of {decision.operation.key}"
            way_out = "Choose another, or give that operation another `name`, too."
            findings.append(finding(file, override.places.get("name", override.place), message, way_out))
    return findings


def misnamed(decisions: Iterable[Decision], operations: Iterable[Operation]) -> list[Diagnostic]:
    """Find the names and aliases that are the operationId of another operation; a READ that is called does no harm."""
    by_id: defaultdict[str, list[Operation]] = defaultdict(list)
    for operation in operations:
        by_id[operation.id_as_name].append(operation)
    findings = []
    for decision in decisions:
        key = decision.operation.key
        for name in (decision.name, *(alias.name for alias in decision.override.aliases)):
            others = by_id.get(name, ())
            if others and name != decision.operation.id_as_name:
                severity = Severity.NOTE if decision.category is Category.READ else Severity.WARNING
                message = f"{name!r} is the operationId of {others[0].key}, and calls {key}"
                pointer = f"{others[0].origin.pointer}/operationId"
                findings.append(Diagnostic(_MISNAMED, severity, message, pointer=pointer, help=f"Rename {key}."))
    return findings


_MEANINGS: Final = (
    "get list retrieve fetch read show view find",
    "create add insert new post",
    "update edit modify patch put change set replace",
    "delete remove destroy erase",
)
_MEANING: Final = {verb: verbs.split()[0] for verbs in _MEANINGS for verb in verbs.split()}
"""The verb that stands for all of one meaning, by each of them."""
_MOST: Final = 3
"""Names that a note gives."""

_Pair: TypeAlias = tuple[Decision, Decision]


def with_likenesses(decisions: Iterable[Decision]) -> tuple[Decision, ...]:
    """Return the decisions with what their names have in common. A name that the owner gave needs no second look."""
    decisions = tuple(decisions)
    likenesses: defaultdict[str, list[Likeness]] = defaultdict(list)
    for likeness in _similar(decisions):
        for name in likeness.names:
            likenesses[name].append(likeness)
    return tuple(
        replace(decision, likenesses=tuple(_of(decision, likenesses[decision.name])))
        if decision.name in likenesses and decision.override.name is None
        else decision
        for decision in decisions
    )


def _of(decision: Decision, likenesses: Iterable[Likeness]) -> Iterator[Likeness]:
    """Yield the likenesses with a note for this operation."""
    for likeness in likenesses:
        others = [name for name in likeness.names if name != decision.name]
        more = f" and {len(others) - _MOST} more" if len(others) > _MOST else ""
        yield replace(likeness, note=f"like {', '.join(others[:_MOST])}{more}")


def _similar(decisions: Sequence[Decision]) -> Iterator[Likeness]:
    """Yield the sets of similar names, each with what its names differ in."""
    by_number: defaultdict[tuple[str, ...], list[Decision]] = defaultdict(list)
    by_meaning: defaultdict[tuple[str, ...], list[Decision]] = defaultdict(list)
    kinds: defaultdict[str, set[str]] = defaultdict(set)
    for decision in decisions:
        if decision.category is Category.DELETE:
            kinds[decision.name] |= {"delete"}
        verb, *rest = split(decision.name) or ("",)
        by_number[verb, *map(singular, rest)].append(decision)
        if verb in _MEANING and rest:
            by_meaning[_MEANING[verb], *rest].append(decision)
    sets: dict[str, set[str]] = {}
    for pair in (pair for group in (*by_number.values(), *by_meaning.values()) for pair in combinations(group, 2)):
        if not _are_list_and_item(pair):
            first, second = (decision.name for decision in pair)
            joined = sets.get(first, {first}) | sets.get(second, {second})
            sets |= dict.fromkeys(joined, joined)
            kinds[first] |= {"verb" if split(first)[0] != split(second)[0] else "number"}
    for names in sorted({tuple(sorted(names)) for names in sets.values()}):
        differences = sorted(set().union(*(kinds[name] for name in names)))
        yield Likeness("similar-names", names, ", ".join(differences), "")


def _are_list_and_item(pair: _Pair) -> bool:
    """Return True for a list and its item where one word is both: `list_series` of `/series`, `get_series` below it."""
    first, second = sorted((decision.operation.path for decision in pair), key=len)
    verbs = {split(decision.name)[0] for decision in pair}
    return verbs == {"get", "list"} and second.startswith(f"{first.rstrip('/')}/{{")
