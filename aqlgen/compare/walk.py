"""The walk down two sets of types side by side: each pair of types is compared once, with the fields of its objects.

What is found in a shared type is found once, with every operation that takes or answers it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from aqlgen.compare.facets import described, facet_differences, type_difference
from aqlgen.compare.grouping import Findings
from aqlgen.compare.model import Difference, Direction, Place
from aqlgen.compare.nodes import (
    ALL_TYPES,
    Types,
    alternatives,
    combined,
    match,
    resolve,
    split_null,
    types_of,
)
from aqlgen.ir import Json
from aqlgen.runtime.schema import references, referred
from aqlgen.table.model import Schema


@dataclass(frozen=True, slots=True)
class Fields:
    """Fields by the agent's names. `values` is the schema of undeclared ones, None where there may be none."""

    properties: Mapping[str, Json]
    required: frozenset[str]
    values: Schema | None

    def shared(self, new: Fields) -> Iterator[tuple[str, str]]:
        """Yield the fields that are still there, by their old and new names."""
        for name in self.properties:
            if name in new.properties:
                yield name, name
        yield from self._renamed(new)

    def differences(self, new: Fields, direction: Direction) -> Iterator[tuple[str, Difference]]:
        """Yield the differences of the fields themselves, each by name; "" for one of the object."""
        if bool(self.properties) != bool(new.properties):
            yield from self._declaration(new, direction)
            return
        renamed = dict(self._renamed(new))
        for before, after in renamed.items():
            if direction is Direction.OUTPUT or _wire_name(new, after) != before:
                yield before, Difference("field-renamed", (after,))
        for name in self.properties:
            if name not in new.properties and name not in renamed:
                yield name, Difference("field-removed")
        known = {*self.properties, *renamed.values()}
        for name in new.properties:
            if name not in known:
                required = direction is Direction.INPUT and name in new.required
                yield name, Difference("required-field-added" if required else "field-added")
        yield from self._required(new, direction)
        if (self.values is None) != (new.values is None) and direction is not Direction.OUTPUT:
            yield "", Difference("fields-closed" if new.values is None else "fields-open")

    def _required(self, new: Fields, direction: Direction) -> Iterator[tuple[str, Difference]]:
        """Yield the shared fields that are required now and were not, or the other way round."""
        for before, after in self.shared(new):
            was_required, is_required = before in self.required, after in new.required
            if was_required and not is_required and direction is not Direction.PARTIAL:
                yield after, Difference("field-optional")
            elif is_required and not was_required and direction is Direction.INPUT:
                yield after, Difference("field-required")

    def _declaration(self, new: Fields, direction: Direction) -> Iterator[tuple[str, Difference]]:
        """Yield the changes for agents where an object begins or ceases to declare its fields."""
        if new.properties:
            yield "", Difference("fields-told")
            for name in sorted(new.required - self.required) if direction is Direction.INPUT else ():
                yield name, Difference("required-field-added")
        elif direction is Direction.OUTPUT:
            yield "", Difference("fields-untold")
        elif new.values is None:
            yield "", Difference("fields-closed")
        if new.values is None and new.properties and self.values is not None and direction is not Direction.OUTPUT:
            yield "", Difference("fields-closed")

    def _renamed(self, new: Fields) -> Iterator[tuple[str, str]]:
        """Yield the fields that the API still spells as before, by the agent's old and new names."""
        new_names = {_wire_name(new, name): name for name in new.properties if name not in self.properties}
        for name in self.properties:
            if name not in new.properties and _wire_name(self, name) in new_names:
                yield name, new_names[_wire_name(self, name)]


def fields_of(schema: Schema) -> Fields:
    """Return the fields of an object's schema."""
    additional = schema.get("additionalProperties", {})
    values: Schema | None = None if additional is False else additional if isinstance(additional, Mapping) else {}
    return Fields(schema.get("properties", {}), frozenset(schema.get("required", ())), values)


def _wire_name(fields: Fields, name: str) -> str:
    """Return the API's spelling of a field."""
    schema = fields.properties[name]
    return str(schema.get("x-name", name)) if isinstance(schema, Mapping) else name


TypePair = tuple[str, str, Direction]
Owner = TypePair | str
"""What a difference is found in: a pair of types, or an operation."""

_MAX_DEPTH: Final = 40
_OBJECT: Final = frozenset({"object"})


@dataclass(frozen=True, slots=True)
class _Position:
    """Where the walk is, and how far below its owner's schema."""

    direction: Direction
    place: Place
    owner: Owner
    depth: int = 0

    def within(self, *steps: str) -> _Position:
        """Return a position below this one. The items of a list are sent whole, even by a partial update."""
        is_whole = self.direction is Direction.PARTIAL and "[]" in steps
        direction = Direction.INPUT if is_whole else self.direction
        return _Position(direction, self.place.within(*steps), self.owner, self.depth + 1)


class Walk:
    """Compares schemas from the operations down. Operations go by their new names."""

    def __init__(self, old: Types, new: Types) -> None:
        self._old = old
        self._new = new
        self._differences: dict[Owner, list[tuple[Difference, Place, Direction]]] = defaultdict(list)
        self._users: dict[TypePair, set[Owner]] = defaultdict(set)
        self._queue: list[TypePair] = []

    def compare(self, old: Schema, new: Schema, direction: Direction, place: Place, operation: str) -> None:
        """Compare what an operation takes or answers at a place."""
        self._compare(old, new, _Position(direction, place, operation))

    def add(self, difference: Difference, direction: Direction, place: Place, operation: str) -> None:
        """Add a difference that was found elsewhere."""
        self._differences[operation].append((difference, place, direction))

    def report(self, findings: Findings, ignored: Collection[str] = ()) -> None:
        """Compare the types that are left, and add all differences but those by `ignored` rules."""
        while self._queue:
            old, new, direction = pair = self._queue.pop()
            position = _Position(direction, Place("type", new), pair)
            self._compare(self._old.get(old, {}), self._new.get(new, {}), position)
        for owner, differences in self._differences.items():
            operations = frozenset((owner,)) if isinstance(owner, str) else self._operations(owner)
            for difference, place, direction in differences:
                if difference.rule not in ignored:
                    findings.add(difference, place, direction, operations)

    def _operations(self, pair: TypePair) -> frozenset[str]:
        """Return the operations that use a pair of types, also through other types."""
        seen: set[Owner] = {pair}
        stack: list[Owner] = [pair]
        while stack:
            owner = stack.pop()
            if not isinstance(owner, str):
                stack += self._users[owner] - seen
                seen |= self._users[owner]
        return frozenset(owner for owner in seen if isinstance(owner, str))

    def _compare(self, old: Json, new: Json, position: _Position) -> None:
        (old, old_nullable), (new, new_nullable) = split_null(old), split_null(new)
        if old_nullable != new_nullable:
            self._compare_null(new_nullable, position)
        if position.depth > _MAX_DEPTH:
            return
        before, after = referred(old), referred(new)
        if before is not None and after is not None:
            self._add_pair((before, after, position.direction), position.owner)
            self._compare_facets({**old, "type": "object"}, {**new, "type": "object"}, position)
        elif old == new and position.direction is not Direction.PARTIAL:
            for name in references(old):
                self._add_pair((name, name, position.direction), position.owner)
        else:
            self._compare_schemas(old, new, position)

    def _compare_null(self, new_nullable: bool, position: _Position) -> None:
        if position.direction is Direction.OUTPUT:
            rule = "null-answered" if new_nullable else ""
        else:
            rule = "null-taken" if new_nullable else "null-refused" if position.direction is Direction.INPUT else ""
        if rule:
            self._add(Difference(rule), position)

    def _compare_schemas(self, old: Schema, new: Schema, position: _Position) -> None:
        """Compare two schemas of which one at most is a reference."""
        if "$ref" in old or "$ref" in new:
            old, new = split_null(resolve(old, self._old))[0], split_null(resolve(new, self._new))[0]
        old_branches, new_branches = alternatives(old), alternatives(new)
        if len(old_branches) == len(new_branches) == 1:
            self._compare_nodes(resolve(old_branches[0], self._old), resolve(new_branches[0], self._new), position)
            return
        self._compare_unions(old_branches, new_branches, position)
        self._compare_facets({**old, "anyOf": ()}, {**new, "anyOf": ()}, position)

    def _compare_unions(self, old: list[Schema], new: list[Schema], position: _Position) -> None:
        is_output = position.direction is Direction.OUTPUT
        if _admits_anything(new):
            self._add(Difference("values-freed"), position)
            return
        if _admits_anything(old):
            if not is_output:
                self._add(Difference("values-limited", items=_descriptions(new)), position)
            return
        matches = match(old, new, self._old, self._new)
        pairs = matches.kept
        if len(old) == 1 < len(new) and is_output and types_of(resolve(old[0], self._old)) == _OBJECT:
            whole = combined(new, self._new)
            pairs = [(old[0], whole)] if whole is not None else pairs
        for before, after in pairs:
            self._compare(before, after, replace(position, depth=position.depth + 1))
        if matches.removed and not is_output:
            self._add(Difference("alternative-removed", items=_descriptions(matches.removed)), position)
        if matches.added:
            self._add(Difference("alternative-added", items=_descriptions(matches.added)), position)

    def _compare_nodes(self, old: Schema, new: Schema, position: _Position) -> None:
        """Compare two schemas that are no references and no unions."""
        difference = type_difference(old, new, position.direction)
        if difference is not None:
            self._add(difference, position)
        common = types_of(old) & types_of(new)
        if not common and not types_of(old) <= {"integer", "number"}:
            return
        self._compare_facets(old, new, position)
        if "object" in common:
            self._compare_fields(fields_of(old), fields_of(new), position)
        if "array" in common and ("items" in old or "items" in new):
            self._compare(old.get("items", {}), new.get("items", {}), position.within("[]"))
        if "anyOf" in old and "anyOf" in new:
            self._compare_unions(old["anyOf"], new["anyOf"], position)
        elif "anyOf" in old or "anyOf" in new:
            self._add(Difference("rules-changed"), position)

    def _compare_facets(self, old: Schema, new: Schema, position: _Position) -> None:
        for difference in facet_differences(old, new, position.direction):
            self._add(difference, position)

    def _compare_fields(self, old: Fields, new: Fields, position: _Position) -> None:
        for name, difference in old.differences(new, position.direction):
            self._add(difference, position.within(name) if name else position)
        for before, after in old.shared(new):
            self._compare(old.properties[before], new.properties[after], position.within(after))
        if not new.properties and new.values and position.direction is not Direction.OUTPUT:
            for name, schema in old.properties.items():  # declared no more, and taken as any other field is
                self._compare(schema, new.values, position.within(name))
        if old.values is not None and new.values is not None and (old.values or new.values):
            self._compare(old.values, new.values, position.within("{}"))

    def _add_pair(self, pair: TypePair, user: Owner) -> None:
        if pair not in self._users:
            self._queue.append(pair)
        self._users[pair].add(user)

    def _add(self, difference: Difference, position: _Position) -> None:
        self._differences[position.owner].append((difference, position.place, position.direction))


def _descriptions(branches: list[Schema]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(described, branches)))


def _admits_anything(branches: list[Schema]) -> bool:
    """Return True if a schema says nothing of its values."""
    return len(branches) == 1 and "$ref" not in branches[0] and types_of(branches[0]) >= ALL_TYPES
