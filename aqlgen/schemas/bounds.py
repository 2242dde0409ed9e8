"""Bounds of schemas that contain themselves: how often one is written within others, and what validating it costs.

A schema that is met again within itself becomes a named type, and so does each schema on the way around; one that is
written in too many places gets one type for all further ones. So the work is bounded, whatever contains what.

The cost is that of validating one value against types that refer to one another as branches of the same value.
A validator follows every path through `allOf` and `anyOf`, so branches that refer to branches can make billions of
paths, or circles. No API intends that: references over the limit, and those that close a circle, are not validated.
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


MAX_WEIGHT = 20_000
"""How many schemas may apply to one value, counting each path to a schema."""

Written = dict[str, Json]


def limit_cost(types: dict[str, Written]) -> None:
    """Remove references that cost too much from finished types, in place."""
    weights: dict[str, int] = {}
    for start in types:
        if start in weights:
            continue
        path: list[tuple[str, list[Written]]] = [(start, list(branches(types[start])))]
        pending = [list(path[0][1])]
        on_path = {start}
        while path:
            name, edges = path[-1]
            if not pending[-1]:
                weights[name] = _weight(edges, weights)
                on_path.discard(name)
                path.pop()
                pending.pop()
                continue
            edge = pending[-1].pop()
            target = _target(edge)
            if target in on_path:
                del edge["$ref"]
            elif target in types and target not in weights:
                path.append((target, list(branches(types[target]))))
                pending.append(list(path[-1][1]))
                on_path.add(target)


def _weight(edges: list[Written], weights: dict[str, int]) -> int:
    """Return the weight of one type with its references; remove the heaviest until it is within the limit."""
    references = sorted((weights.get(_target(edge), 1), index) for index, edge in enumerate(edges) if "$ref" in edge)
    total = 1 + len(edges) + sum(weight for weight, _ in references)
    while total > MAX_WEIGHT and references:
        weight, index = references.pop()
        del edges[index]["$ref"]
        total -= weight
    return total


def _target(edge: Written) -> str:
    return str(edge.get("$ref", "")).rsplit("/", 1)[-1]


def branches(schema: Written) -> Iterator[Written]:
    """Yield each schema within a schema that describes the same value and refers to a type."""
    stack: list[Json] = [schema]
    while stack:
        node = stack.pop()
        if not isinstance(node, dict):
            continue
        if "$ref" in node:
            yield node
        for key in ("allOf", "anyOf"):
            stack.extend(node.get(key, ()))
