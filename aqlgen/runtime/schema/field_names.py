"""Agent names and wire names of fields, mapped exactly both ways (R-SEL-1), and what schemas reach by references.

A type's properties have the agent's names; one that the API spells otherwise carries `x-name`. A parameter may carry
`x-named-as`: by the pointer of each part whose fields the document leaves open, the type that has them where they are
read. A renaming is compiled once for each schema that renames anything within it, or in a type that it reaches, also a
recursive one. Values of all other schemas pass through untouched and uncopied, and so do keys that no schema declares.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any, TypeAlias

from ..table import JsonSchema, Table
from . import STRUCTURE, Shape, Types, fixed_values, pointer_of, referred, shape_of, steps_of, subschemas, union_of

NAMED_AS = "x-named-as"


def reaches(
    schema: JsonSchema,
    types: Types,
    passes: Callable[[JsonSchema], bool],
    known: dict[str, tuple[bool, frozenset[str]]],
) -> bool:
    """Return True if a schema within one, or within a type that it reaches, passes; `known` keeps what types have."""
    seen: set[str] = set()
    todo: list[tuple[str, JsonSchema]] = [("", schema)]
    while todo:
        name, target = todo.pop()
        finding = known.get(name)
        if finding is None:
            within = list(subschemas(target))
            finding = any(map(passes, within)), frozenset(filter(None, map(referred, within)))
            known |= {name: finding} if name else {}
        if finding[0]:
            return True
        todo += [(other, types.get(other, {})) for other in finding[1] - seen]
        seen |= finding[1]
    return False


class Way(IntEnum):
    """Which spelling is turned into which."""

    TO_WIRE = 0
    TO_AGENT = 1
    TO_AGENT_FROM_EITHER = 2


Fields: TypeAlias = "dict[str, tuple[str, Renaming | None]]"


@dataclass(slots=True, eq=False)
class Renaming:
    """The renaming of values of one schema. `fields` has a map for each way: key → (new key, renaming of its value)."""

    fields: tuple[Fields, Fields, Fields] = field(default_factory=lambda: ({}, {}, {}))
    items: Renaming | None = None
    extra: Renaming | None = None
    choices: list[Choice] = field(default_factory=list)
    discriminator: tuple[tuple[str, ...], Mapping[str, str]] | None = None

    def convert(self, value: Any, way: Way) -> Any:
        """Return a copy of the value under its other names."""
        if isinstance(value, dict):
            renaming = self._choice(value, way) if self.choices else self
            fields, extra = renaming.fields[way], renaming.extra
            converted: dict[str, Any] = {}
            for key, inner in value.items():
                declared = fields.get(key)
                if declared is None:
                    converted[key] = inner if extra is None else extra.convert(inner, way)
                    continue
                name, inner_renaming = declared
                if name != key and name in value and (name not in fields or way is Way.TO_AGENT_FROM_EITHER):
                    name = key  # an undeclared key has that name already: nothing may be lost
                converted[name] = inner if inner_renaming is None else inner_renaming.convert(inner, way)
            return converted
        if isinstance(value, list):
            items = self.items
            return value if items is None else [items.convert(item, way) for item in value]
        return value

    def known(self, value: Any, way: Way) -> int:
        """Return how many keys of a value, at any depth, are declared."""
        if isinstance(value, list):
            return 0 if self.items is None else sum(self.items.known(item, way) for item in value)
        fields = self.fields[way]
        shared = fields.keys() & value if isinstance(value, dict) else ()
        return sum(1 + (fields[key][1] or Renaming()).known(value[key], way) for key in shared)

    def _choice(self, value: Mapping[str, Any], way: Way) -> Renaming:
        """Return the renaming of the alternative that the value belongs to: by discriminator, else the best fit."""
        if self.discriminator is not None:
            keys, mapping = self.discriminator
            tag = next((value[key] for key in keys if key in value), None)
            type_name = mapping.get(tag, tag) if isinstance(tag, str) else None
            for choice in self.choices:
                if type_name is not None and choice.type_name == type_name:
                    return choice.renaming
        return max(self.choices, key=lambda choice: choice.score(value, way)).renaming


@dataclass(slots=True, eq=False)
class Choice:
    """One alternative: its renaming and how to recognise it. Names in `required` and `constants` are the agent's.

    `declared` is the renaming of what the alternative declares itself; `renaming` knows the fields of the others, too,
    where they do not clash.
    """

    renaming: Renaming
    declared: Renaming
    type_name: str | None
    required: frozenset[str]
    constants: Mapping[str, Sequence[Any]]

    def score(self, value: Mapping[str, Any], way: Way) -> tuple[bool, bool, int, int]:
        """Rank how well a value fits: constants, required fields, how many of its keys are declared, then within."""
        fields = self.declared.fields[way]
        named = value
        if way is not Way.TO_WIRE:
            named = {fields[key][0] if key in fields else key: inner for key, inner in value.items()}
        constant = all(named[key] in allowed for key, allowed in self.constants.items() if key in named)
        is_whole, count = self.required <= named.keys(), sum(1 for key in value if key in fields)
        return constant, is_whole, count, self.declared.known(value, way)


def _graft(renaming: Renaming, steps: Sequence[str], other: Renaming) -> None:
    """Add to a renaming, or to what is within it, the names of another for what it does not name itself.

    The renamings on the way are copied first: types share them.
    """
    if not steps:
        renaming.items, renaming.extra = renaming.items or other.items, renaming.extra or other.extra
        if not renaming.fields[Way.TO_WIRE]:
            renaming.choices, renaming.discriminator = other.choices, other.discriminator
        for names, others in zip(renaming.fields, other.fields, strict=True):
            names.update({key: named for key, named in others.items() if key not in names})
        return
    wire, inner = renaming.fields[Way.TO_WIRE].get(steps[0], (steps[0], None))
    inner = renaming.items if steps[0] == "*" else inner
    first, second, third = map(dict, (inner or Renaming()).fields)
    copy = replace(inner or Renaming(), fields=(first, second, third))
    _graft(copy, steps[1:], other)
    if steps[0] == "*":
        renaming.items = copy
        return
    for names, key, name in zip(renaming.fields, (steps[0], wire, steps[0]), (wire, steps[0], steps[0]), strict=True):
        names[key] = (name, copy)
    renaming.fields[Way.TO_AGENT_FROM_EITHER][wire] = (steps[0], copy)


def operations_to_wire(operations: Sequence[Any], renaming: Renaming) -> list[Any]:
    """Return operations of JSON Patch (RFC 6902) under the API's names, in whichever spelling they came."""
    return [_operation_to_wire(item, renaming) if isinstance(item, Mapping) else item for item in operations]


def _operation_to_wire(operation: Mapping[str, Any], renaming: Renaming) -> dict[str, Any]:
    converted = dict(operation)
    for key in ("from", "path"):
        if isinstance(operation.get(key), str):
            converted[key], inner = _pointer_to_wire(operation[key], renaming)
            if key == "path" and "value" in operation and inner is not None:
                value = inner.convert(operation["value"], Way.TO_AGENT_FROM_EITHER)
                converted["value"] = inner.convert(value, Way.TO_WIRE)
    return converted


def _pointer_to_wire(pointer: str, renaming: Renaming | None) -> tuple[str, Renaming | None]:
    """Return a JSON pointer (RFC 6901) under the API's names, and the renaming of what it leads to."""
    begin, *tokens = pointer.split("/")
    for index, (token, step) in enumerate(zip(tokens, steps_of(pointer), strict=True)):
        if renaming is None:
            break
        if renaming.items is not None and (step == "-" or step.isdecimal()):
            renaming = renaming.items
            continue
        name, _ = renaming.fields[Way.TO_AGENT_FROM_EITHER].get(step, (step, None))
        wire, renaming = renaming.fields[Way.TO_WIRE].get(name, (step, renaming.extra))
        tokens[index] = token if wire == step else pointer_of((wire,))[1:]
    return "/".join((begin, *tokens)), renaming


class Names:
    """The renamings of an adapter, by type and by schema."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._renamings: dict[str, Renaming | None] = {}
        self._inline: dict[int, tuple[JsonSchema, Renaming | None]] = {}
        self._joints: dict[tuple[int, ...], JsonSchema] = {}
        self._inspected: dict[str, tuple[bool, frozenset[str]]] = {}

    @property
    def table(self) -> Table:
        """The table whose types these are."""
        return self._table

    @property
    def _types(self) -> Types:
        return self._table.types

    def to_wire(self, value: Any, schema: JsonSchema) -> Any:
        """Return a value under the API's names."""
        renaming = self.renaming(schema)
        return value if renaming is None else renaming.convert(value, Way.TO_WIRE)

    def to_agent(self, value: Any, schema: JsonSchema) -> Any:
        """Return a value of the API under the agent's names."""
        renaming = self.renaming(schema)
        return value if renaming is None else renaming.convert(value, Way.TO_AGENT)

    def renaming(self, schema: JsonSchema) -> Renaming | None:
        """Return the renaming of a schema, compiled at its first use; None if nothing within it is renamed."""
        name = referred(schema)
        if name is not None and NAMED_AS not in schema and not schema.keys() & STRUCTURE:
            if name not in self._renamings:
                renaming = self._renamings[name] = Renaming() if self._renames(schema) else None
                if renaming is not None:
                    self._fill(renaming, schema)
            return self._renamings[name]
        cached = self._inline.get(id(schema))
        if cached is None:
            renaming = Renaming() if self._renames(schema) else None
            cached = self._inline[id(schema)] = (schema, renaming)  # keeping the schema keeps its id unique
            if renaming is not None:
                self._fill(renaming, schema)
        return cached[1]

    def _renames(self, schema: JsonSchema) -> bool:
        """Return True if anything that a schema reaches has another name on the wire."""
        return reaches(
            schema, self._types, lambda inner: "x-name" in inner or "x-read-only-names" in inner, self._inspected
        )

    def _fill(self, renaming: Renaming, schema: JsonSchema) -> None:
        """Fill a renaming that is in the cache already, so that a recursive type finds itself."""
        shape = shape_of(self._types, schema)
        if shape.alternatives:
            self._choose(renaming, shape)
        else:
            self._declare(renaming, shape)
        for pointer, read in schema.get(NAMED_AS, {}).items():
            other = self.renaming(read)
            if other is not None:
                _graft(renaming, steps_of(pointer), other)

    def _declare(self, renaming: Renaming, shape: Shape) -> None:
        wire, agent, either = renaming.fields
        for name, (spelling, schema) in shape.properties.items():
            inner = self.renaming(schema)
            wire[name] = (spelling, inner)
            agent[spelling] = (name, inner)
            either[name] = (name, inner)
        for name, spelling in shape.spellings.items():
            wire.setdefault(name, (spelling, None))
            either.setdefault(spelling, (name, None))
        for spelling, renamed in agent.items():
            either.setdefault(spelling, renamed)
        renaming.items = self._joint_renaming(shape.items)
        renaming.extra = self._joint_renaming(shape.extra)

    def _joint_renaming(self, schemas: Sequence[JsonSchema]) -> Renaming | None:
        if len(schemas) < 2:
            return self.renaming(schemas[0]) if schemas else None
        return self.renaming(self._joints.setdefault(tuple(map(id, schemas)), {"anyOf": list(schemas)}))

    def _choose(self, renaming: Renaming, base: Shape) -> None:
        """Merge alternatives that agree on every key; if they do not, keep a renaming for each, chosen by the value."""
        types, schemas = self._types, base.alternatives if base.discriminator else _flat(self._types, base.alternatives)
        shapes = [(union_of(types, schema, base), referred(schema)) for schema in schemas]
        merged, agreed = _merged(base, [shape for shape, _ in shapes])
        self._declare(renaming, merged)
        if agreed:
            return
        if base.discriminator is not None:
            key, mapping = base.discriminator
            renaming.discriminator = (key, merged.properties[key][0] if key in merged.properties else key), mapping
        for shape, type_name in shapes:
            declared, extended = Renaming(), Renaming()
            self._declare(declared, shape)
            self._declare(extended, _extended(shape, merged))
            options = {key: fixed_values(schema, self._types) for key, (_, schema) in shape.properties.items()}
            constants = {key: values for key, values in options.items() if values is not None}
            renaming.choices.append(Choice(extended, declared, type_name, frozenset(shape.required), constants))


def _flat(types: Types, schemas: Sequence[JsonSchema]) -> Sequence[JsonSchema]:
    """Return schemas with the alternatives of one that has nothing else in its place."""
    shapes = [(schema, shape_of(types, schema)) for schema in schemas]
    flat = [each for schema, shape in shapes for each in (not shape.properties and shape.alternatives) or [schema]]
    return flat if len(flat) <= 50 else schemas


def _merged(base: Shape, shapes: Sequence[Shape]) -> tuple[Shape, bool]:
    """Return the union of alternatives, and whether they agree on the names and renamings of all keys."""
    merged = Shape(items=list(base.items), extra=list(base.extra))
    owners: dict[str, str] = {}
    agreed = True
    for shape in shapes:
        for name, (spelling, schema) in shape.properties.items():
            first_spelling, first_schema = merged.properties.setdefault(name, (spelling, schema))
            owner = owners.setdefault(spelling, name)
            agreed = (
                agreed
                and first_spelling == spelling
                and owner == name
                and (first_schema == schema or not (first_schema.keys() | schema.keys()) & (STRUCTURE | {"$ref"}))
            )
        merged.spellings |= shape.spellings
        merged.items += [schema for schema in shape.items if schema not in merged.items]
        merged.extra += [schema for schema in shape.extra if schema not in merged.extra]
    return merged, agreed


def _extended(shape: Shape, merged: Shape) -> Shape:
    """Return a shape with the fields of the other alternatives, since a value may have those, too."""
    spelled = {spelling for spelling, _ in shape.properties.values()}
    others = {name: declared for name, declared in merged.properties.items() if declared[0] not in spelled}
    return Shape(properties={**others, **shape.properties}, items=shape.items, extra=shape.extra)
