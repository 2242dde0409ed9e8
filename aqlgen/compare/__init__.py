"""What changed for an agent between two adapters: operations, parameters, types, danger; breaking or not."""

from __future__ import annotations

from aqlgen.compare.access import compare_access
from aqlgen.compare.calls import Calls
from aqlgen.compare.changes import Changes
from aqlgen.compare.folding import fold
from aqlgen.compare.model import Change, Direction, Level
from aqlgen.compare.notes import Notes
from aqlgen.compare.operations import came_and_went, compare_operation
from aqlgen.compare.pairing import pair
from aqlgen.compare.rules import ORDER
from aqlgen.compare.surface import Surface, surface_of_folder, surface_of_table

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
    """Give what an agent that knew the old adapter feels of the new one."""
    pairing, notes = pair(old, new), Notes()
    came_and_went(pairing, old, new, notes)
    compare_access(old, new, pairing, notes)
    calls = Calls(old, new, notes)
    for one, other in pairing.kept:
        compare_operation(one, other, notes, by_name=other.name in pairing.by_name)
        calls.compare(one, other)
    folded = fold(calls.findings(), new.types)
    if calls.walk.reworded:
        notes.tell("types-reworded", listed=tuple(sorted(calls.walk.reworded)))
    found = [*folded, *notes.changes()]
    return Changes(old, new, tuple(sorted(found, key=_order)))


def _order(change: Change) -> tuple[int, int, int, tuple[str, ...]]:
    """Put first what breaks, then order by rule, then what is felt in most operations."""
    return change.level.rank, ORDER[change.rule], -len(change.operations), (*change.leaves, *change.operations)
