"""Changes for an agent between two adapters: operations, parameters, types and access, and which of them break."""

from __future__ import annotations

from aqlgen.compare.access import compare_access, compare_hosts
from aqlgen.compare.calls import Calls
from aqlgen.compare.changes import Changes
from aqlgen.compare.grouping import Notes, group
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
    """Return what an agent that knew the old adapter notices of the new one."""
    old, new = aligned(old, new), aligned(new, old)
    pairing, notes = pair(old, new), Notes()
    compare_presence(pairing, old, new, notes)
    compare_workflows(old, new, notes)
    compare_access(old, new, pairing, notes)
    compare_hosts(old, new, pairing, notes)
    calls = Calls(old, new, notes)
    for before, after in pairing.kept:
        compare_operation(before, after, notes, by_name=after.name in pairing.by_name)
        calls.compare(before, after)
    grouped = group(calls.findings(), new.types)
    compare_texts(pairing, old, new, notes)
    return Changes(old, new, tuple(sorted([*grouped, *notes.changes()], key=_order)))


def _order(change: Change) -> tuple[int, int, int, tuple[str, ...]]:
    """Order by level, then by rule, then by the number of operations."""
    return change.level.rank, ORDER[change.rule], -len(change.operations), (*change.fields, *change.operations)
