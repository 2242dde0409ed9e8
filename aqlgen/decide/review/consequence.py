"""The consequence of operations: the order in which a reviewer meets them, and nothing else (R-EFF-2).

It grows with what an operation is known or doubted to do, and with the part of the API that lies below its path; it
shrinks with each item that the path lies within. Thus a new payment and the end of an account come first, and the label
of a comment comes last. The weights are set by hand, from the writes of five documents at which a reader would stop
first.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from math import log2
from typing import Final

from aqlgen.decide.decision import Asked, Category, Decision
from aqlgen.decide.traits.around import template

_MONEY, _HARM, _DOUBT, _UNKNOWN, _DELETION, _HARMLESS = 2.5, 1.5, 0.9, 0.4, 0.1, 0.2
"""The weight of what an operation is known or doubted to do; a deletion weighs by what it takes along."""
_UNTOLD: Final = frozenset("unproven replaces-whole whole-collection ending-thing unsafe-get unsafe-read".split())
"""Rules that doubt because the document says too little."""
_REACH, _DELETED_REACH, _NEW_REACH, _DEPTH = 1.5, 3.0, 0.6, 1.0
"""The weight of all that lies below a path, below that of a deletion, and below a new item; and that of each item
around."""


def consequences(decisions: Sequence[Decision]) -> dict[str, float]:
    """Return the consequence of each operation by its key."""
    paths = [template(decision.operation.path) for decision in decisions]
    folders = [_folders(path) for path in paths]
    below: dict[str, int] = {}
    for folder in chain.from_iterable(folders):
        below[folder] = below.get(folder, 0) + 1
    scale = log2(len(paths) + 1)
    weights = {}
    for decision, path, around in zip(decisions, paths, folders, strict=True):
        within = len([folder for folder in around if folder.endswith("{}") and 2 * below[folder] <= len(paths)])
        is_deletion = decision.category is Category.DELETE or decision.operation.method.upper() == "DELETE"
        reach = (_DELETED_REACH if is_deletion else _REACH) * log2(1 + below.get(path, 0))
        reach += _NEW_REACH * log2(1 + below.get(f"{path}/{{}}", 0))
        known = _DELETION if is_deletion else _known(decision)
        weights[decision.operation.key] = known + reach / scale - _DEPTH * within
    return weights


def _folders(path: str) -> list[str]:
    """Return the paths above a path."""
    parts = path.split("/")
    return ["/".join(parts[:end]) for end in range(2, len(parts))]


def _known(decision: Decision) -> float:
    if decision.asked is Asked.ALWAYS:
        return _MONEY if decision.moves_money else _HARM
    if decision.asked is Asked.NEVER:
        return _HARMLESS
    return _UNKNOWN if decision.danger_reason.rule in _UNTOLD else _DOUBT
