"""Shallow views of the schemas of a document: the fields of an object, their kinds and their parts; no types are built.

A look is forgiving and remembered. Of alternatives every field is seen, since a rule asks what may be there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeVar

from aqlgen.document.resolve import Resolver, UnresolvedError
from aqlgen.ir import Json

T = TypeVar("T")

_MOST: Final = 200
"""The most branches of a schema that are read."""

_NOTHING: Final[Mapping[str, Json]] = MappingProxyType({})
_BRANCHES: Final = ("allOf", "oneOf", "anyOf")


class Schemas:
    """Looks of one document; without a resolver nothing is seen behind a reference."""

    def __init__(self, resolver: Resolver | None) -> None:
        self._resolver = resolver
        self._seen: dict[int, tuple[Json, Mapping[str, Json], frozenset[str]]] = {}
        self._made: dict[tuple[str, int], tuple[Json, Any]] = {}

    def resolve(self, schema: Json) -> Mapping[str, Json]:
        """Return the schema behind a reference; empty where it leads nowhere."""
        if isinstance(schema, dict) and "$ref" in schema:
            if self._resolver is None or not isinstance(schema["$ref"], str):
                return _NOTHING
            try:
                schema, _ = self._resolver.follow(schema, "")
            except UnresolvedError:
                return _NOTHING
        return schema if isinstance(schema, dict) else _NOTHING

    def once(self, what: str, schema: Json, make: Callable[[], T]) -> T:
        """Return the result of `make` for a schema, computed once for all operations that share it."""
        target = self.resolve(schema)
        known = self._made.get((what, id(target)))
        if known is None:
            known = self._made[what, id(target)] = (target, make())
        result: T = known[1]
        return result

    def properties(self, schema: Json) -> Mapping[str, Json]:
        """Return the properties of an object, with those of every branch."""
        return self._look(schema)[1]

    def kinds(self, schema: Json) -> frozenset[str]:
        """Return the types of a value except null; none where the schema does not say."""
        if isinstance(schema, dict) and _PLAIN.isdisjoint(schema):  # as most fields are
            declared = schema.get("type")
            alone = _ALONE.get(declared) if isinstance(declared, str) else None
            return alone or self._look(schema)[2]
        return self._look(schema)[2]

    def required(self, schema: Json) -> frozenset[str]:
        """Return the fields that an object, or every part of it that applies together, must have."""
        listed = (part.get("required") for part in self.parts(schema, ("allOf",)))
        return frozenset(name for names in listed if isinstance(names, list) for name in names if isinstance(name, str))

    def items(self, schema: Json) -> Json:
        """Return the schema of an array's items; None where there is none."""
        if isinstance(schema, dict) and _PLAIN.isdisjoint(schema):
            return schema.get("items")
        return next((part["items"] for part in self.parts(schema) if "items" in part), None)

    def word(self, schema: Json, key: str) -> Json:
        """Return the first value that a schema or a branch of it has for a keyword."""
        return next((part[key] for part in self.parts(schema) if key in part), None)

    def sent(self, fields: Mapping[str, Json]) -> list[str]:
        """Return the names of the fields that a request may have, not those that only the API sets (OpenAPI 3.1.1)."""
        return [
            name
            for name, each in fields.items()
            if type(each) is not dict
            or not (
                each["readOnly"] is True
                if "readOnly" in each
                else ("$ref" in each or "allOf" in each) and self.word(each, "readOnly") is True
            )
        ]

    def listed(self, schema: Json) -> tuple[str, ...]:
        """Return the texts that a schema or a branch of it lists."""
        is_plain = isinstance(schema, dict) and "type" in schema and "$ref" not in schema and "allOf" not in schema
        if is_plain and "enum" not in schema:
            return ()  # as most fields are
        values = schema["enum"] if is_plain else self.word(schema, "enum")
        return tuple(map(str, filter(None, values))) if isinstance(values, list) else ()

    def _look(self, schema: Json) -> tuple[Json, Mapping[str, Json], frozenset[str]]:
        known = self._seen.get(id(schema))
        if known is not None:
            return known
        target = self.resolve(schema)
        known = self._seen.get(id(target))
        if known is None:
            properties: dict[str, Json] = {}
            kinds: set[str] = set()
            plain = not any(key in target for key in _BRANCHES)
            for part in (target,) if plain else self.parts(target):
                declared = part.get("properties")
                if isinstance(declared, dict):
                    for name, field in declared.items():
                        properties.setdefault(str(name), field)
                kinds.update(_kinds(part))
            # the schema is kept, so that its identity stays its own
            known = self._seen[id(target)] = (target, properties, frozenset(kinds - {"null"}))
        if schema is not target and schema is not None:
            self._seen[id(schema)] = ((schema, target), *known[1:])
        return known

    def parts(self, schema: Json, keys: Iterable[str] = _BRANCHES) -> Iterator[Mapping[str, Json]]:
        """Yield a schema and all its branches, each once, cycles included.

        The last part comes before those that it extends: an envelope is the first part of what it holds.
        """
        waiting, seen = [schema], set[int]()
        while waiting and len(seen) < _MOST:
            target = self.resolve(waiting.pop())
            if id(target) in seen:
                continue
            seen.add(id(target))
            yield target
            for key in keys:
                branches = target.get(key)
                if isinstance(branches, list):
                    waiting.extend(branches)


_PLAIN: Final = frozenset({"$ref", *_BRANCHES})


_ALONE: Final = {kind: frozenset({kind}) for kind in ("string", "integer", "number", "boolean", "array", "object")}


def _kinds(part: Mapping[str, Json]) -> Iterator[str]:
    declared = part.get("type")
    if isinstance(declared, str):
        yield declared
    elif isinstance(declared, list):
        yield from (kind for kind in declared if isinstance(kind, str))
    elif isinstance(part.get("properties"), dict):
        yield "object"
    elif "items" in part:
        yield "array"
