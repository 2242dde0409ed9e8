"""Changes for an agent between two adapters: operations, parameters, types and access, and which of them break."""

from __future__ import annotations

from aqlgen.compare.access import compare_access, compare_hosts
from aqlgen.compare.calls import Calls
from aqlgen.compare.changes import Changes
from aqlgen.compare.grouping import Findings
from aqlgen.compare.model import Change, Direction, Level
from aqlgen.compare.operations import compare_operation, compare_presence, compare_workflows
from aqlgen.compare.rules import ORDER
from aqlgen.compare.surface import Surface, aligned, pair, surface_of_folder, surface_of_table
from aqlgen.compare.texts import compare_texts

__all__ = [
    "Change",
    "Changes",
    "Direction",
    "Level",
    "Surface",
    "compare",
    "surface_of_folder",
    "surface_of_table",
]


def compare(old: Surface, new: Surface) -> Changes:
    """Return the changes that an agent who knew the old adapter notices in the new one."""
    old, new = aligned(old, new), aligned(new, old)
    pairing, findings = pair(old, new), Findings(new.types)
    compare_presence(pairing, old, new, findings)
    compare_workflows(old, new, findings)
    compare_access(old, new, pairing, findings)
    compare_hosts(old, new, pairing, findings)
    calls = Calls(old, new, findings)
    for before, after in pairing.kept:
        compare_operation(before, after, findings, by_name=after.name in pairing.by_name)
        calls.compare(before, after)
    calls.report()
    compare_texts(pairing, old, new, findings)
    return Changes(old, new, tuple(sorted(findings.changes(), key=_order)))


def _order(change: Change) -> tuple[int, int, int, tuple[str, ...]]:
    """Order by level, then by rule, then by the number of operations."""
    return change.level.rank, ORDER[change.rule], -len(change.operations), (*change.fields, *change.operations)
