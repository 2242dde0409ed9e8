"""The fields of an object, and what became of each: gone, new, renamed, required."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from aqlgen.compare.facets import Aspect
from aqlgen.compare.model import Direction
from aqlgen.ir import Json
from aqlgen.table.model import Schema

__all__ = ["Fields", "fields_of", "folded"]


@dataclass(frozen=True, slots=True)
class Fields:
    """Fields by the agent's names. `values` is the schema of undeclared ones, None where there may be none."""

    properties: Mapping[str, Json]
    required: frozenset[str]
    values: Schema | None

    def shared(self, new: Fields) -> Iterator[tuple[str, str]]:
        """Give the fields that are still there, by their name before and now."""
        for name in self.properties:
            if name in new.properties:
                yield name, name
        yield from self._renamed(new)

    def became(self, new: Fields, direction: Direction) -> Iterator[tuple[str, Aspect]]:
        """Give what became of the fields themselves; under no name what is said of all."""
        if bool(self.properties) != bool(new.properties):
            yield from self._told(new, direction)
            return
        renamed = dict(self._renamed(new))
        for before, after in renamed.items():
            if direction is Direction.OUTPUT or wire_of(new, after) != before:
                yield before, Aspect("field-renamed", (after,))
        for name in self.properties:
            if name not in new.properties and name not in renamed:
                yield name, Aspect("field-removed")
        there = {*self.properties, *renamed.values()}
        for name in new.properties:
            if name not in there:
                needed = direction is Direction.INPUT and name in new.required
                yield name, Aspect("required-field-added" if needed else "field-added")
        yield from self._needed(new, direction)
        if (self.values is None) != (new.values is None) and direction is not Direction.OUTPUT:
            yield "", Aspect("fields-closed" if new.values is None else "fields-open")

    def _needed(self, new: Fields, direction: Direction) -> Iterator[tuple[str, Aspect]]:
        for before, after in self.shared(new):
            was, now = before in self.required, after in new.required
            if was and not now and direction is not Direction.PARTIAL:
                yield after, Aspect("field-optional")
            elif now and not was and direction is Direction.INPUT:
                yield after, Aspect("field-required")

    def _told(self, new: Fields, direction: Direction) -> Iterator[tuple[str, Aspect]]:
        """Give what it means that the fields of an object are declared now, or no longer."""
        if new.properties:
            yield "", Aspect("fields-told")
            for name in sorted(new.required - self.required) if direction is Direction.INPUT else ():
                yield name, Aspect("required-field-added")
        elif direction is Direction.OUTPUT:
            yield "", Aspect("fields-untold")
        elif new.values is None:
            yield "", Aspect("fields-closed")
        if new.values is None and new.properties and self.values is not None and direction is not Direction.OUTPUT:
            yield "", Aspect("fields-closed")

    def _renamed(self, new: Fields) -> Iterator[tuple[str, str]]:
        """Give the fields that the API still spells as before, under their agent's name before and now."""
        now = {wire_of(new, name): name for name in new.properties if name not in self.properties}
        for name in self.properties:
            if name not in new.properties and wire_of(self, name) in now:
                yield name, now[wire_of(self, name)]


def fields_of(schema: Schema) -> Fields:
    """Give the fields of an object's schema."""
    more = schema.get("additionalProperties", {})
    values: Schema | None = None if more is False else more if isinstance(more, Mapping) else {}
    return Fields(schema.get("properties", {}), frozenset(schema.get("required", ())), values)


def wire_of(fields: Fields, name: str) -> str:
    """Give how the API spells a field."""
    schema = fields.properties[name]
    return str(schema.get("x-name", name)) if isinstance(schema, Mapping) else name


def folded(name: str) -> str:
    """Give a name without what an adapter overlooks in names that it does not know: case, hyphens, underscores."""
    return name.replace("-", "").replace("_", "").lower()
