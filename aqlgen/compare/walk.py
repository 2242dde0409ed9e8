"""Two sets of types walked side by side: each pair of types is compared once, and known by the operations it reaches.

What is found in a shared type is so told once, with every operation that takes or answers it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from aqlgen.compare.branches import dissimilar, matched, spread, stem
from aqlgen.compare.facets import Aspect, described, facets, type_aspect
from aqlgen.compare.fields import Fields, fields_of
from aqlgen.compare.model import Direction, Place
from aqlgen.compare.nodes import ANY, Types, alternatives, bare, kinds, named, references, worded
from aqlgen.ir import Json
from aqlgen.table.model import Schema

__all__ = ["Finding", "Walk"]

Pair = tuple[str, str, Direction]
Holder = Pair | str
"""What something is found in: a pair of types, or an operation."""

_DEEPEST: Final = 40
_OBJECT: Final = frozenset({"object"})


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that changed at a place, in one direction; felt in the operations."""

    aspect: Aspect
    place: Place
    direction: Direction
    operations: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Spot:
    """Where the walk is, and how deep in what it started from."""

    direction: Direction
    place: Place
    holder: Holder
    depth: int = 0

    def within(self, *steps: str) -> _Spot:
        """Give a spot in this one. What stands in a list is given whole, also where its holder need not be."""
        whole = self.direction is Direction.PARTIAL and "[]" in steps
        direction = Direction.INPUT if whole else self.direction
        return _Spot(direction, self.place.within(*steps), self.holder, self.depth + 1)


class Walk:
    """Compares schemas from the operations down. Operations go by today's names."""

    def __init__(self, old: Types, new: Types) -> None:
        self._old = old
        self._new = new
        self._found: dict[Holder, list[tuple[Aspect, Place, Direction]]] = defaultdict(list)
        self._above: dict[Pair, set[Holder]] = defaultdict(set)
        self._queue: list[Pair] = []
        self.reworded: set[str] = set()
        """Types whose descriptions say something else."""

    def root(self, old: Schema, new: Schema, direction: Direction, place: Place, operation: str) -> None:
        """Compare what an operation takes or answers at a place."""
        self._visit(old, new, _Spot(direction, place, operation))

    def note(self, aspect: Aspect, direction: Direction, place: Place, operation: str) -> None:
        """Note what was found otherwise."""
        self._found[operation].append((aspect, place, direction))

    def findings(self) -> Iterator[Finding]:
        """Compare the types that are left, and give all that was found."""
        while self._queue:
            old, new, direction = pair = self._queue.pop()
            self._visit(self._old.get(old, {}), self._new.get(new, {}), _Spot(direction, Place("type", new), pair))
        for holder, found in self._found.items():
            reached = frozenset((holder,)) if isinstance(holder, str) else self._reached(holder)
            for aspect, place, direction in found:
                yield Finding(aspect, place, direction, reached)

    def _reached(self, pair: Pair) -> frozenset[str]:
        seen: set[Holder] = {pair}
        stack: list[Holder] = [pair]
        while stack:
            one = stack.pop()
            if not isinstance(one, str):
                stack += self._above[one] - seen
                seen |= self._above[one]
        return frozenset(one for one in seen if isinstance(one, str))

    def _visit(self, old: Json, new: Json, spot: _Spot) -> None:
        (old, old_null), (new, new_null) = bare(old), bare(new)
        if old_null != new_null:
            self._null(new_null, spot)
        if spot.depth > _DEEPEST:
            return
        if spot.place.kind == "type" and old.get("description") != new.get("description"):
            self.reworded.add(spot.place.name)
        if named(old) and named(new):
            self._refer(old, new, spot)
            return
        if old == new and spot.direction is not Direction.PARTIAL:
            for name in references(old):
                self._pair((name, name, spot.direction), spot.holder)
            return
        if named(old) or named(new):
            old, new = bare(worded(old, self._old))[0], bare(worded(new, self._new))[0]
        olds, news = alternatives(old), alternatives(new)
        if len(olds) == len(news) == 1:
            self._node(worded(olds[0], self._old), worded(news[0], self._new), spot)
            return
        self._union(olds, news, spot)
        self._facets({**old, "anyOf": ()}, {**new, "anyOf": ()}, spot)

    def _refer(self, old: Schema, new: Schema, spot: _Spot) -> None:
        before, after = named(old), named(new)
        if stem(before) != stem(after) and dissimilar(old, new, self._old, self._new):
            self._add(Aspect("type-replaced", (after, before)), spot)
            return
        self._pair((before, after, spot.direction), spot.holder)
        self._facets({**old, "type": "object"}, {**new, "type": "object"}, spot)

    def _pair(self, pair: Pair, holder: Holder) -> None:
        if pair not in self._above:
            self._queue.append(pair)
        self._above[pair].add(holder)

    def _null(self, taken: bool, spot: _Spot) -> None:
        if spot.direction is Direction.OUTPUT:
            rule = "null-answered" if taken else ""
        else:
            rule = "null-taken" if taken else "null-refused" if spot.direction is Direction.INPUT else ""
        if rule:
            self._add(Aspect(rule), spot)

    def _union(self, old: list[Schema], new: list[Schema], spot: _Spot) -> None:
        if _is_anything(old) or _is_anything(new):
            self._freed(new, spot)
            return
        pairs, gone, come = matched(old, new, self._old, self._new)
        if (
            len(old) == 1 < len(new)
            and spot.direction is Direction.OUTPUT
            and kinds(worded(old[0], self._old)) == _OBJECT
        ):
            whole = spread(new, self._new)
            pairs = [(old[0], whole)] if whole is not None else pairs
        for one, other in pairs:
            self._visit(one, other, replace(spot, depth=spot.depth + 1))
        if gone and spot.direction is not Direction.OUTPUT:
            self._add(Aspect("alternative-removed", listed=_names(gone)), spot)
        if come:
            self._add(Aspect("alternative-added", listed=_names(come)), spot)

    def _freed(self, new: list[Schema], spot: _Spot) -> None:
        if _is_anything(new):
            self._add(Aspect("values-freed"), spot)
        elif spot.direction is not Direction.OUTPUT:
            self._add(Aspect("values-limited", listed=_names(new)), spot)

    def _node(self, old: Schema, new: Schema, spot: _Spot) -> None:
        changed = type_aspect(old, new, spot.direction)
        if changed is not None:
            self._add(changed, spot)
        common = kinds(old) & kinds(new)
        if not common and not kinds(old) <= {"integer", "number"}:
            return
        self._facets(old, new, spot)
        if "object" in common:
            self._fields(fields_of(old), fields_of(new), spot)
        if "array" in common and ("items" in old or "items" in new):
            self._visit(old.get("items", {}), new.get("items", {}), spot.within("[]"))
        if "anyOf" in old and "anyOf" in new:
            self._union(old["anyOf"], new["anyOf"], spot)
        elif "anyOf" in old or "anyOf" in new:
            self._add(Aspect("rules-changed"), spot)

    def _facets(self, old: Schema, new: Schema, spot: _Spot) -> None:
        for aspect in facets(old, new, spot.direction):
            self._add(aspect, spot)

    def _fields(self, old: Fields, new: Fields, spot: _Spot) -> None:
        for name, aspect in old.became(new, spot.direction):
            self._add(aspect, spot.within(name) if name else spot)
        for before, after in old.shared(new):
            self._visit(old.properties[before], new.properties[after], spot.within(after))
        if old.values is not None and new.values is not None and (old.values or new.values):
            self._visit(old.values, new.values, spot.within("{}"))

    def _add(self, aspect: Aspect, spot: _Spot) -> None:
        self._found[spot.holder].append((aspect, spot.place, spot.direction))


def _names(branches: list[Schema]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(described(one) for one in branches))


def _is_anything(branches: list[Schema]) -> bool:
    """Whether a schema says nothing of its values."""
    return len(branches) == 1 and not named(branches[0]) and kinds(branches[0]) >= ANY - {"null"}
