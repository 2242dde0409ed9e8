"""The fields of an object, and what became of each: gone, new, renamed, required."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from aqlgen.compare.model import Difference, Direction
from aqlgen.ir import Json
from aqlgen.table.model import Schema

__all__ = ["Fields", "fields_of"]


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
        """Yield what became of the fields themselves, each by name; "" for what concerns the object."""
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
        """Yield what it means that an object declares its fields now, or no longer."""
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
