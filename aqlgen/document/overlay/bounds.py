"""What an overlay may take: time for its JSONPaths, places that it changes, and the size of what comes out."""

from __future__ import annotations

import time
from typing import Final

from aqlgen.document.read import Limits
from aqlgen.ir import Json

MOST_CHANGES: Final = 1_000_000


class SpentError(Exception):
    """An overlay takes more than it may."""


class Budget:
    """What is left for the actions of one overlay."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._end = time.monotonic() + limits.seconds
        self._changes = MOST_CHANGES

    def seconds(self) -> float:
        """Give the time that is left. Raises SpentError when there is none."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise SpentError(f"the JSONPaths of the overlay take longer than {self.limits.seconds:g} seconds")
        return left

    def change(self) -> None:
        """Count one place. Raises SpentError."""
        self._changes -= 1
        if self._changes < 0:
            raise SpentError(f"the overlay changes more than {MOST_CHANGES:,} places")

    def hold(self, root: Json) -> None:
        """Raise SpentError when a changed document is over the bounds of one that is read."""
        nodes, depth = _measure(root, {})
        if nodes > self.limits.nodes:
            raise SpentError(f"with this change the document holds more than {self.limits.nodes:,} values")
        if depth > self.limits.depth:
            raise SpentError(f"with this change the document nests deeper than {self.limits.depth} levels")


def _measure(value: Json, seen: dict[int, tuple[int, int]]) -> tuple[int, int]:
    """Give the number of values and of levels, counting shared parts wherever they stand."""
    known = seen.get(id(value))
    if known is None:
        nodes, depth = 1, 0
        for inner in value.values() if isinstance(value, dict) else value:
            if isinstance(inner, (dict, list)):
                below, levels = _measure(inner, seen)
                nodes, depth = nodes + below, max(depth, levels)
            else:
                nodes += 1
        known = seen[id(value)] = nodes, depth + 1
    return known
