# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Fields that objects within parameters do not declare, refused as unknown parameters are (R-REQ-3, R-UPD-1).

An object takes the fields that its schema declares, those of each alternative included. It takes others, too, if the
schema says so, declares none at all, or depends on what only the validator decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from ..schema.reader import Types, alternatives, as_schema, declared_types, parts
from ..schema.wording import named
from ..table import JsonSchema

if TYPE_CHECKING:
    from .readings import Outcome, Place

__all__ = ["Strange", "Undeclared"]

_MOST_ALTERNATIVES = 100
_FURTHER = ("additionalProperties", "unevaluatedProperties")
_DEPENDING = frozenset({"patternProperties", "if", "dependentSchemas"})
"""Keywords by which an object may have fields beside its properties."""


class Strange(NamedTuple):
    """The fields that an object has and does not declare: their keys, and the fields that are declared, or hidden."""

    place: str
    keys: list[str]
    declared: frozenset[str]
    hidden: frozenset[str]


@dataclass(slots=True, eq=False)
class _Declared:
    """What schemas of one value declare; `takes_others` holds for objects with fields that are not among these."""

    fields: dict[str, list[JsonSchema]] = field(default_factory=dict)
    hidden: set[str] = field(default_factory=set)
    items: list[JsonSchema] = field(default_factory=list)
    further: list[JsonSchema] = field(default_factory=list)
    takes_others: bool = False


class Undeclared:
    """Finds the undeclared fields of values; what a schema declares is read once."""

    def __init__(self, types: Types) -> None:
        self._types = types
        self._known: dict[tuple[int, ...], tuple[Sequence[JsonSchema], _Declared]] = {}

    def takes_others(self, schema: JsonSchema) -> bool:
        """Return True if an object may have fields that its schema does not declare."""
        return self._of((schema,)).takes_others

    def within(self, value: Any, schemas: Sequence[JsonSchema], place: str, *, first: bool = True) -> Iterator[Strange]:
        """Yield the undeclared fields of each object of a value, of the value itself only with `first`."""
        declared = self._of(schemas)
        if isinstance(value, dict):
            if first and declared.fields and not declared.takes_others:
                keys = [key for key in value if key not in declared.fields]
                if keys:
                    yield Strange(place, keys, frozenset(declared.fields), frozenset(declared.hidden))
            for key, inner in value.items():
                inner_schemas = declared.fields.get(key, declared.further)
                if inner_schemas and isinstance(inner, (dict, list)):
                    step = key if key in declared.fields or named(key) == key else "*"
                    yield from self.within(inner, inner_schemas, f"{place}.{step}")
        elif isinstance(value, list) and declared.items:
            for index, item in enumerate(value):
                if isinstance(item, (dict, list)):
                    yield from self.within(item, declared.items, f"{place}[{index}]")

    def respell(self, outcome: Outcome, nested: Sequence[tuple[str, JsonSchema]]) -> None:
        """Rename the keys that can only be another spelling of a declared field, and note it."""
        params = outcome.value
        outcome.value = params | {
            name: self._respelled(params[name], (schema,), (name,), outcome)
            for name, schema in nested
            if name in params
        }

    def _respelled(self, value: Any, schemas: Sequence[JsonSchema], place: Place, outcome: Outcome) -> Any:
        from .readings import Change
        from .understanding import renames

        if not schemas or not isinstance(value, (dict, list)):
            return value
        declared = self._of(schemas)
        if isinstance(value, list):
            items = enumerate(value)
            return [self._respelled(item, declared.items, (*place, index), outcome) for index, item in items]
        names: dict[str, str] = {} if declared.takes_others else renames(value, declared.fields)
        respelled: dict[str, Any] = {}
        for key, inner in value.items():
            name = str(names.get(key, key))
            inner_schemas = declared.fields.get(name, declared.further)
            respelled[name] = self._respelled(inner, inner_schemas, (*place, name), outcome)
            if name != key:
                outcome.note((*place, name), Change(inner, inner, ("renamed",), (*place, key)))
        return respelled

    def _of(self, schemas: Sequence[JsonSchema]) -> _Declared:
        key = tuple(map(id, schemas))
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = (schemas, self._read(schemas))  # kept, so that their ids stay unique
        return known[1]

    def _read(self, schemas: Sequence[JsonSchema]) -> _Declared:
        """Return what schemas of one value declare, each with all its alternatives."""
        declared = _Declared()
        todo = [(schema, False) for schema in schemas]
        for _ in range(_MOST_ALTERNATIVES):
            if not todo:
                return declared
            schema, has_fields = todo.pop()
            together = parts(schema, self._types)
            for part in together:
                _add(declared, part)
            options = [option for part in together for option in alternatives(part)]
            has_fields = has_fields or any(part.get("properties") for part in together)
            todo += [(option, has_fields) for option in options]
            if not options:
                declared.takes_others |= not has_fields and _may_be_object(together)
        declared.takes_others = True
        return declared


def _add(declared: _Declared, part: JsonSchema) -> None:
    for name, schema in part.get("properties", {}).items():
        schemas = declared.fields.setdefault(name, [])
        if schema not in schemas:
            schemas.append(as_schema(schema))
    declared.hidden.update(part.get("x-read-only", ()))
    further = [part[key] for key in _FURTHER if part.get(key, False) is not False]
    further += part.get("patternProperties", {}).values()
    declared.takes_others |= bool(further) or not _DEPENDING.isdisjoint(part)
    declared.takes_others |= "discriminator" in part and not alternatives(part)
    declared.further += [schema for schema in further if isinstance(schema, Mapping) and schema]
    declared.items += [
        schema for schema in (part.get("items"), *part.get("prefixItems", ())) if isinstance(schema, Mapping) and schema
    ]


def _may_be_object(together: Sequence[JsonSchema]) -> bool:
    """Return True unless schemas that apply together say that a value is something else."""
    if any("enum" in part or "const" in part for part in together):
        return False
    kinds = [declared_types(part) for part in together if "type" in part]
    return all("object" in names for names in kinds) and not any(
        part.get("additionalProperties") is False for part in together
    )
