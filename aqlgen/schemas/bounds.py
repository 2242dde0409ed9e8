"""Bounds of schemas that contain themselves: how often one is written within others, and what validating it costs.

A schema that is met again within itself becomes a named type, and so does each schema on the way around; one that is
written in too many places gets one type for all further ones. So the work is bounded, whatever contains what.

The cost is that of validating one value against types that refer to one another as branches of the same value.
A validator follows every path through `allOf` and `anyOf`, so branches that refer to branches can make billions of
paths, or circles; and a reader of types descends such a line. No API intends that: references over the limits, and
those that close a circle, are not validated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
        """Open a schema of so many parts while these are written; keeping it keeps its identity its own."""
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

MAX_LINE = 100
"""How many types may follow one another by reference as schemas of one value."""

Written = dict[str, Json]


@dataclass(frozen=True, slots=True)
class Cost:
    """What the references of a type lead to as schemas of one value."""

    weight: int = 1
    line: int = 1
    """The number of types in the longest line of references."""
    cut: int = 0
    """The number of the type's references that were removed."""


def limit_cost(types: dict[str, Written]) -> dict[str, int]:
    """Remove references that cost too much from finished types, in place; return how many, by type."""
    costs: dict[str, Cost] = {}
    for start in types:
        if start in costs:
            continue
        path: list[tuple[str, list[Written]]] = [(start, list(branches(types[start])))]
        pending = [list(path[0][1])]
        on_path = {start}
        while path:
            name, edges = path[-1]
            if not pending[-1]:
                costs[name] = _limited(edges, costs)
                on_path.discard(name)
                path.pop()
                pending.pop()
                continue
            edge = pending[-1].pop()
            target = _target(edge)
            if target in on_path:
                del edge["$ref"]
            elif target in types and target not in costs:
                path.append((target, list(branches(types[target]))))
                pending.append(list(path[-1][1]))
                on_path.add(target)
    return {name: cost.cut for name, cost in costs.items() if cost.cut}


def _limited(edges: list[Written], costs: Mapping[str, Cost]) -> Cost:
    """Return the cost of one type with its references; remove the heaviest until it is within the limits."""
    if not edges:
        return Cost()
    references = sorted(
        ((costs.get(_target(edge), Cost()), index) for index, edge in enumerate(edges) if "$ref" in edge),
        key=lambda reference: (reference[0].line >= MAX_LINE, reference[0].weight, reference[1]),
    )
    count = len(references)
    total = 1 + len(edges) + sum(cost.weight for cost, _ in references)
    while references and (total > MAX_WEIGHT or references[-1][0].line >= MAX_LINE):
        cost, index = references.pop()
        del edges[index]["$ref"]
        total -= cost.weight
    return Cost(total, 1 + max((cost.line for cost, _ in references), default=0), count - len(references))


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
