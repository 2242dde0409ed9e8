"""The schemas that are being written within one another, and how often each of them was.

A schema that is met again within itself becomes a named type, and so does each schema on the way around; one that is
written in too many places gets one type for all further ones. So the work is bounded, whatever contains what.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from aqlgen.ir import Json
from aqlgen.schemas.writer import Place

MAX_COPIES = 100
"""In how many places a schema without a name is written before it gets a type for all further ones."""

MAX_COPIED = 10_000
"""The number of schemas and fields that all copies may hold; beyond, every schema is written once."""

Key = tuple[int, bool]


@dataclass(slots=True)
class Level:
    """A schema that is being written. `lowest` is the outermost level to which something within it leads back."""

    index: int
    place: Place
    lowest: int
    name: str = ""
    """The name of its type, once it was met within itself."""


class Nesting:
    """The open schemas from the outermost to the innermost, and the references to those that contain themselves."""

    def __init__(self) -> None:
        self._stack: list[Level] = []
        self._open: dict[Key, Level] = {}
        self._written: dict[Key, tuple[dict[str, Json], Level]] = {}
        self._copies: dict[Key, tuple[Json, int]] = {}
        self._left = MAX_COPIED

    def known(self, key: Key) -> dict[str, Json] | None:
        """Return the reference to the type of a schema that is known to contain itself."""
        if key not in self._written:
            return None
        reference, level = self._written[key]
        if level.index < len(self._stack) and self._stack[level.index] is level:
            self._lead_back(level)
        return dict(reference)

    def met_again(self, key: Key) -> Level | None:
        """Return the level of a schema that is already being written, None for any other."""
        level = self._open.get(key)
        if level is not None:
            self._lead_back(level)
        return level

    def is_repeated(self, key: Key) -> bool:
        """Return True if a schema was written in so many places that the next ones share a type."""
        copies = self._copies[key][1] if key in self._copies else 0
        return copies >= (MAX_COPIES if self._left > 0 else 1)

    @contextmanager
    def within(self, key: Key, raw: Json, place: Place, size: int) -> Iterator[Level]:
        """Open a schema of so many fields while its parts are written; keeping it keeps its identity its own."""
        level = Level(len(self._stack), place, len(self._stack))
        copies = self._copies[key][1] + 1 if key in self._copies else 1
        self._copies[key] = (raw, copies)
        self._left -= 1 + size if copies > 1 else 0
        self._stack.append(level)
        self._open[key] = level
        try:
            yield level
        finally:
            self._stack.pop()
            del self._open[key]

    def keep(self, key: Key, level: Level, reference: dict[str, Json]) -> None:
        """Keep the reference to a closed schema if it contains itself: it is not written again elsewhere."""
        if level.name or level.lowest < level.index:
            outermost = self._stack[level.lowest] if level.lowest < len(self._stack) else level
            self._written[key] = (reference, outermost)

    def _lead_back(self, level: Level) -> None:
        for inner in self._stack[level.index + 1 :]:
            inner.lowest = min(inner.lowest, level.index)
