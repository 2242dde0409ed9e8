"""Fields that objects within parameters do not declare, refused as unknown parameters are (R-REQ-3, R-UPD-1).

An object takes the fields that its schema declares, those of each alternative included. It takes others, too, if the
schema says so, or declares none at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from ..schema import Types, alternatives, as_schema, declared_types, parts
from ..schema.notation import named
from ..table import JsonSchema
from ..text import folded

if TYPE_CHECKING:
    from .walk import Place, Reading

_MOST_ALTERNATIVES = 100
_FURTHER = ("additionalProperties", "unevaluatedProperties")
"""Keywords by which an object may have fields beside its properties."""


class Strange(NamedTuple):
    """The keys of an object, at a place, that it does not declare, and the fields that it declares."""

    place: str
    keys: list[str]
    declared: frozenset[str]


@dataclass(slots=True, eq=False)
class Declared:
    """What schemas of one value declare; `takes_others` holds for objects with fields that are not among these.

    `hidden` are read-only fields, folded, by which an object may say which one it is. `within` has the same of what
    the value holds: by field, and under "" of its items and of further fields.
    """

    fields: dict[str, list[JsonSchema]] = field(default_factory=dict)
    hidden: set[str] = field(default_factory=set)
    inner: list[JsonSchema] = field(default_factory=list)
    takes_others: bool = False
    within: dict[str, Declared | None] = field(default_factory=dict)


class Undeclared:
    """Finds the undeclared fields of values; what a schema declares is read once."""

    def __init__(self, types: Types) -> None:
        self._types = types
        self._known: dict[tuple[int, ...], tuple[Sequence[JsonSchema], Declared]] = {}

    def declared(self, *schemas: JsonSchema) -> Declared:
        """Return the declarations of schemas of one value."""
        key = tuple(map(id, schemas))
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = (schemas, self._read(schemas))  # kept, so that their ids stay unique
        return known[1]

    def strange(self, value: Any, declared: Declared, place: str, *, first: bool = True) -> Iterator[Strange]:
        """Yield the undeclared fields of each object of a value, of the value itself only with `first`."""
        fields = declared.fields
        if isinstance(value, dict) and first and fields and not declared.takes_others:
            keys = [key for key in value if key not in fields and folded(key) not in declared.hidden]
            if keys:
                yield Strange(place, keys, frozenset(fields))
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            inner = self._within(declared, key if isinstance(key, str) else "")
            if inner is not None and isinstance(part, (dict, list)):
                name = key if key in fields or named(str(key)) == key else "*"  # no other key is repeated
                yield from self.strange(part, inner, f"{place}[{key}]" if isinstance(key, int) else f"{place}.{name}")

    def respell(self, reading: Reading, nested: Sequence[tuple[str, Declared]]) -> None:
        """Rename the keys that can only be another spelling of a declared field, and note it."""
        params = reading.value
        reading.value = params | {
            name: self._respelled(params[name], declared, (name,), reading)
            for name, declared in nested
            if name in params
        }

    def _respelled(self, value: Any, declared: Declared | None, place: Place, reading: Reading) -> Any:
        if declared is None or not isinstance(value, (dict, list)):
            return value
        from .walk import Change, renames

        if isinstance(value, list):
            inner = self._within(declared, "")
            return [self._respelled(item, inner, (*place, index), reading) for index, item in enumerate(value)]
        names: dict[str, str] = {} if declared.takes_others else renames(value, declared.fields)
        respelled: dict[str, Any] = {}
        for key, part in value.items():
            name = str(names.get(key, key))
            respelled[name] = self._respelled(part, self._within(declared, name), (*place, name), reading)
            if name != key:
                reading.note((*place, name), Change(part, part, (*place, key)))
        return respelled

    def _within(self, declared: Declared, key: str) -> Declared | None:
        """Return the declarations of a field, of any further one, or of the items; None if that holds no fields."""
        schemas = declared.fields.get(key)
        if schemas is None:
            key, schemas = "", declared.inner
        if key not in declared.within:
            inner = self.declared(*schemas) if schemas else Declared()
            declared.within[key] = inner if inner.fields or inner.inner else None
        return declared.within[key]

    def _read(self, schemas: Sequence[JsonSchema]) -> Declared:
        """Return the declarations of schemas of one value, each with all its alternatives."""
        declared = Declared()
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


def _add(declared: Declared, part: JsonSchema) -> None:
    for name, schema in part.get("properties", {}).items():
        schemas = declared.fields.setdefault(name, [])
        if schema not in schemas:
            schemas.append(as_schema(schema))
    declared.hidden.update(map(folded, part.get("x-read-only", ())))
    further = [part[key] for key in _FURTHER if part.get(key, False) is not False]
    further += part.get("patternProperties", {}).values()
    declared.takes_others |= bool(further) or "patternProperties" in part
    declared.takes_others |= "discriminator" in part and not alternatives(part)
    inner = (*further, part.get("items"), *part.get("prefixItems", ()))
    declared.inner += [schema for schema in inner if isinstance(schema, Mapping) and schema]


def _may_be_object(together: Sequence[JsonSchema]) -> bool:
    """Return True unless schemas that apply together say that a value is something else."""
    if any("enum" in part or "const" in part for part in together):
        return False
    kinds = [declared_types(part) for part in together if "type" in part]
    return all("object" in names for names in kinds) and not any(
        part.get("additionalProperties") is False for part in together
    )
