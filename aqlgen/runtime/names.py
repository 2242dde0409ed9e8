# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Agent names and wire names of fields, mapped exactly both ways (R-SEL-1).

A type's properties stand under the agent's names; one that the API spells otherwise carries `x-name`. A plan is
compiled once for each type that renames anything within it; values of all other types pass through untouched and
uncopied, and so do keys that no schema declares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, TypeAlias

from .shapes import STRUCTURE, Shape, constants, referred, renames, shape_of
from .table import JsonSchema, Table

__all__ = ["Names", "Plan", "Way"]


class Way(IntEnum):
    """Which spelling is turned into which."""

    TO_WIRE = 0
    TO_AGENT = 1
    TO_AGENT_FROM_EITHER = 2


Fields: TypeAlias = "dict[str, tuple[str, Plan | None]]"


@dataclass(slots=True, eq=False)
class Plan:
    """How the values of one schema are renamed. `fields` has a map for each way: key → (new key, plan of its value)."""

    fields: tuple[Fields, Fields, Fields] = field(default_factory=lambda: ({}, {}, {}))
    items: Plan | None = None
    extra: Plan | None = None
    choices: list[Choice] = field(default_factory=list)
    discriminator: tuple[tuple[str, ...], Mapping[str, str]] | None = None

    def convert(self, value: Any, way: Way) -> Any:
        """Give the value under its other names, as a copy."""
        if isinstance(value, dict):
            plan = self._choice(value, way) if self.choices else self
            fields, extra = plan.fields[way], plan.extra
            out: dict[str, Any] = {}
            for key, inner in value.items():
                known = fields.get(key)
                if known is None:
                    out[key] = inner if extra is None else extra.convert(inner, way)
                    continue
                new, sub = known
                if new != key and new in value and (new not in fields or way is Way.TO_AGENT_FROM_EITHER):
                    new = key  # an undeclared key has that name already: nothing may be lost
                out[new] = inner if sub is None else sub.convert(inner, way)
            return out
        if isinstance(value, list):
            items = self.items
            return value if items is None else [items.convert(one, way) for one in value]
        return value

    def _choice(self, value: Mapping[str, Any], way: Way) -> Plan:
        """Give the plan of the alternative that the value is of: by discriminator, else by what fits best."""
        if self.discriminator is not None:
            keys, mapping = self.discriminator
            told = next((value[key] for key in keys if key in value), None)
            name = mapping.get(told, told) if isinstance(told, str) else None
            for choice in self.choices:
                if name is not None and choice.type == name:
                    return choice.plan
        return max(self.choices, key=lambda choice: choice.score(value, way)).plan


@dataclass(slots=True, eq=False)
class Choice:
    """One alternative: its plan and how to know it. Names in `required` and `constants` are the agent's.

    `own` is the plan of what it declares itself; `plan` knows the fields of the others too, where they do not clash.
    """

    plan: Plan
    own: Plan
    type: str | None
    required: frozenset[str]
    constants: Mapping[str, Sequence[Any]]

    def score(self, value: Mapping[str, Any], way: Way) -> tuple[bool, bool, int]:
        """Rank how well a value fits: constants, then required fields, then how many of its keys are declared."""
        fields = self.own.fields[way]
        named = value
        if way is not Way.TO_WIRE:
            named = {fields[key][0] if key in fields else key: one for key, one in value.items()}
        constant = all(named[key] in allowed for key, allowed in self.constants.items() if key in named)
        return constant, self.required <= named.keys(), sum(1 for key in value if key in fields)


class Names:
    """The plans of an adapter, by type and by schema."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._plans: dict[str, Plan | None] = {}
        self._inline: dict[int, tuple[JsonSchema, Plan | None]] = {}
        self._joints: dict[tuple[int, ...], JsonSchema] = {}

    @property
    def table(self) -> Table:
        """The table whose types these are."""
        return self._table

    def to_wire(self, value: Any, schema: JsonSchema) -> Any:
        """Give a value under the API's names."""
        plan = self.plan(schema)
        return value if plan is None else plan.convert(value, Way.TO_WIRE)

    def to_agent(self, value: Any, schema: JsonSchema) -> Any:
        """Give a value of the API under the agent's names."""
        plan = self.plan(schema)
        return value if plan is None else plan.convert(value, Way.TO_AGENT)

    def plan(self, schema: JsonSchema) -> Plan | None:
        """Give the plan of a schema, compiled at its first use; None when nothing within it is renamed."""
        name = referred(schema)
        if name is not None and not schema.keys() & STRUCTURE:
            if name not in self._plans:
                plan = self._plans[name] = Plan() if renames(self._table, schema) else None
                if plan is not None:
                    self._fill(plan, schema)
            return self._plans[name]
        known = self._inline.get(id(schema))
        if known is None:
            plan = Plan() if renames(self._table, schema) else None
            known = self._inline[id(schema)] = (schema, plan)  # holding the schema keeps its identity its own
            if plan is not None:
                self._fill(plan, schema)
        return known[1]

    def _fill(self, plan: Plan, schema: JsonSchema) -> None:
        """Fill a plan that is known already, so that a recursive type finds itself."""
        shape = shape_of(self._table, schema)
        if shape.alternatives:
            self._choose(plan, shape)
        else:
            self._declare(plan, shape)

    def _declare(self, plan: Plan, shape: Shape) -> None:
        wire, agent, either = plan.fields
        for name, (spelling, schema) in shape.properties.items():
            sub = self.plan(schema)
            wire[name] = (spelling, sub)
            agent[spelling] = (name, sub)
            either[name] = (name, sub)
        for spelling, known in agent.items():
            either.setdefault(spelling, known)
        plan.items = self._joined(shape.items)
        plan.extra = self._joined(shape.extra)

    def _joined(self, schemas: Sequence[JsonSchema]) -> Plan | None:
        if len(schemas) < 2:
            return self.plan(schemas[0]) if schemas else None
        joint = self._joints.setdefault(tuple(map(id, schemas)), {"anyOf": list(schemas)})
        return self.plan(joint)

    def _choose(self, plan: Plan, shape: Shape) -> None:
        """Merge alternatives that agree on every key; where they disagree keep each one's plan, chosen by the value."""
        shapes = [(self._alternative(schema, shape), referred(schema)) for schema in shape.alternatives]
        merged = Shape(items=list(shape.items), extra=list(shape.extra))
        owners: dict[str, str] = {}
        agreed = True
        for one, _ in shapes:
            for name, (spelling, schema) in one.properties.items():
                told = merged.properties.setdefault(name, (spelling, schema))
                owner = owners.setdefault(spelling, name)
                agreed = agreed and told[0] == spelling and owner == name and _alike(told[1], schema)
            merged.items += [schema for schema in one.items if schema not in merged.items]
            merged.extra += [schema for schema in one.extra if schema not in merged.extra]
        self._declare(plan, merged)
        if agreed:
            return
        if shape.discriminator is not None:
            key, mapping = shape.discriminator
            plan.discriminator = (key, merged.properties[key][0] if key in merged.properties else key), mapping
        for one, type_name in shapes:
            own, sub = Plan(), Plan()
            self._declare(own, one)
            self._declare(sub, _extended(one, merged))
            known = {key: constants(self._table, schema) for key, (_, schema) in one.properties.items()}
            values = {key: options for key, options in known.items() if options is not None}
            plan.choices.append(Choice(sub, own, type_name, frozenset(one.required), values))

    def _alternative(self, schema: JsonSchema, base: Shape, depth: int = 0) -> Shape:
        """Give the shape of one alternative; of alternatives within it the union, which is near enough."""
        shape = shape_of(self._table, schema, base)
        if depth < 4:
            for inner in shape.alternatives:
                nested = self._alternative(inner, Shape(), depth + 1)
                shape.properties = {**nested.properties, **shape.properties}
                shape.items += [one for one in nested.items if one not in shape.items]
                shape.extra += [one for one in nested.extra if one not in shape.extra]
        return shape


def _extended(one: Shape, merged: Shape) -> Shape:
    """Give a shape with the fields of the other alternatives: a value may have those too, under the same names."""
    spelled = {spelling for spelling, _ in one.properties.values()}
    others = {name: known for name, known in merged.properties.items() if known[0] not in spelled}
    return Shape(properties={**others, **one.properties}, items=one.items, extra=one.extra)


def _alike(one: JsonSchema, other: JsonSchema) -> bool:
    """Whether two schemas of one key rename alike: they are equal, or neither has anything within it."""
    return one == other or not (one.keys() | other.keys()) & (STRUCTURE | {"$ref"})
