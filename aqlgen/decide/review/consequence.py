"""The consequence of operations: the order in which a reviewer meets them, and nothing else (R-EFF-2).

The known or doubted effect of an operation adds to its consequence, and so does the part of the API below its path, or
below the items that it acts on.
Each item around the path lowers it. A new payment and the end of an account come first, the label of a comment last.
The weights are set by hand, from the writes of five documents at which a reader would stop first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from math import log2
from typing import Final

from aqlgen.decide.decision import Asked, Category, Decision
from aqlgen.decide.traits.around import template

_MONEY, _HARM, _DOUBT, _UNKNOWN, _DELETION, _HARMLESS = 2.5, 1.5, 0.9, 0.4, 0.1, 0.2
"""The weights of known and doubted effects. A deletion weighs by the part of the API below it."""
_MANY, _ACTING = 1.0, (Category.DELETE, Category.EXECUTE, Category.UPDATE)
"""The weight of a deletion of many items (of another act on them, half of it), and the categories that act on items."""
_UNTOLD: Final = frozenset("unproven replaces-whole whole-collection ending-thing unsafe-get unsafe-read".split())
"""Rules that doubt because the document says too little."""
_REACH, _DELETED_REACH, _NEW_REACH, _DEPTH = 1.5, 3.0, 0.6, 1.0
"""The weights of the part of the API below a path, below a deleted path and below a new item, and of an item around."""


def consequences(decisions: Sequence[Decision]) -> dict[str, float]:
    """Return the consequence of each operation by its key."""
    paths = [template(decision.operation.path) for decision in decisions]
    folders = [_folders(path) for path in paths]
    below, whole = Counter(chain.from_iterable(folders)), frozenset(paths)
    scale = log2(len(paths) + 1)
    weights = {}
    for decision, path, around in zip(decisions, paths, folders, strict=True):
        within = sum(folder.endswith("{}") and 2 * below[folder] <= len(paths) for folder in around)
        is_deletion = decision.category is Category.DELETE or decision.operation.method.upper() == "DELETE"
        effect, share = (_DELETION, _DELETED_REACH) if is_deletion else (_known(decision), _REACH)
        target = path.rpartition("/")[0]
        if decision.category in _ACTING and not path.endswith("}"):
            if target.endswith("}"):  # an action on that item
                path, within = target, within - (2 * below[target] <= len(paths))
            elif f"{target}/{{}}" in whole or below[f"{target}/{{}}"]:  # on many of these items
                path, effect = f"{target}/{{}}", effect + (_MANY if is_deletion else _MANY / 2)
        reach = share * log2(1 + below[path]) + _NEW_REACH * log2(1 + below[f"{path}/{{}}"])
        weights[decision.operation.key] = effect + reach / scale - _DEPTH * within
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
