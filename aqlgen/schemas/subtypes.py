"""Subtypes: component schemas that extend another one by `allOf`, and stand for it if it has a discriminator.

A base with a discriminator (OpenAPI 3.1.1, 4.8.25; Swagger 2.0 has no other polymorphism) is read as a union: of its
subtypes, of the schemas that its mapping names, and of the base with the values that are left. A subtype extends its
fields alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain

from aqlgen.document.positions import escape
from aqlgen.document.resolve import MAX_CHAIN, Resolver, UnresolvedError
from aqlgen.ir import Json
from aqlgen.schemas.normalise import is_reference

PREFIX = "/components/schemas/"

MAX_SUBTYPE_FIELDS = 200
"""The most subtypes and fields of subtypes of a base; with more, it takes any further fields instead."""

_UNION = ("anyOf", "oneOf")


class Subtypes:
    """The subtypes of a document's component schemas."""

    def __init__(self, resolver: Resolver, components: Mapping[str, Json], openapi: str = "3.1") -> None:
        self._resolver = resolver
        self._openapi = openapi
        self._components = components
        self._extensions: dict[int, list[str]] = {}
        self.bases: dict[int, Mapping[str, Json]] = {}
        """The discriminators of schemas with subtypes, by the identity of these."""
        self._parts: dict[int, Json] = {}
        self._extending: set[int] = set()
        schemas = {name: schema for name, schema in components.items() if isinstance(schema, dict)}
        bases = [schema for schema in schemas.values() if _is_discriminator(schema.get("discriminator"))]
        for name, schema in schemas.items() if bases else ():
            itself = () if is_reference(schema, openapi) else (schema,)
            for branch in (*itself, *_listed(schema, "allOf")):
                if isinstance(base := self.target(branch), dict):
                    self._extensions.setdefault(id(base), []).append(name)
                    self._extending.add(id(schema))
        self.bases = {id(base): base["discriminator"] for base in bases}
        for base in bases:  # a subtype with subtypes is known by the same property
            for name in self._of(base):
                self.bases.setdefault(id(schemas[name]), base["discriminator"])

    def reference(self, target: str) -> str:
        """Return the reference for an entry of a mapping, which is the name of a component or a reference."""
        return f"#{PREFIX}{escape(target)}" if target in self._components else target

    def target(self, branch: Json) -> Json:
        """Return the schema that a reference leads to, None for any other schema.

        Since 3.1, a reference with constraints beside it is itself a schema, which extends the one that it leads to.
        """
        if not isinstance(branch, dict) or not isinstance(branch.get("$ref"), str):
            return None
        try:
            for _ in range(MAX_CHAIN):
                branch = self._resolver.lookup(branch["$ref"])
                if not is_reference(branch, self._openapi):
                    return branch
        except UnresolvedError:
            pass
        return None

    def is_base(self, reference: str) -> bool:
        """Return True if a reference leads to a schema that has subtypes."""
        branch = {"$ref": reference}
        return self.part(branch) is not branch

    def extends(self, raw: Json) -> bool:
        """Return True if a schema is a component that extends others by `allOf`."""
        return id(raw) in self._extending

    def part(self, branch: Json) -> Json:
        """Return a branch of `allOf`: a base with subtypes without these, any other branch unchanged."""
        base = self.target(branch) if self.bases else None
        if not isinstance(base, dict) or id(base) not in self.bases:
            return branch
        if id(base) not in self._parts:
            options = {id(self.target(option)) for key in _UNION for option in _listed(base, key)}
            is_other_union = options and options.isdisjoint(id(self._components[name]) for name in self._of(base))
            kept = {key: value for key, value in base.items() if key not in ("discriminator", *_UNION)}
            self._parts[id(base)] = None if is_other_union else kept
        return self._parts[id(base)] or branch

    def union(self, raw: Mapping[str, Json]) -> dict[str, Json]:
        """Return the keywords that make a union of a base with subtypes, none for any other schema.

        The last alternative, `{}`, is the base itself, whose values of the discriminator are the `rest`: those that the
        mapping gives to it, or that it lists and no subtype has; its name, if neither says any.
        """
        declared = self.bases.get(id(raw))
        if declared is None or not raw.keys().isdisjoint(_UNION):
            return {}
        names, tag = self._of(raw), declared["propertyName"]
        mapping = self._mapping(raw, declared, names)
        targets = {id(self.target({"$ref": reference})): reference for reference in mapping.values()}
        listed = self._values(raw, tag)
        for name in names:
            schema, reference = self._components[name], f"#{PREFIX}{escape(name)}"
            if id(schema) not in targets:
                targets[id(schema)] = reference
                values = self._values(schema, tag) or [schema.get("x-discriminator-value", name)]
                mapping |= {value: reference for value in values if value in (listed or values)}
        if not targets:
            return {}
        rest = [value for value in listed if value not in mapping] or self._rest(raw, declared, listed)
        discriminator = {"propertyName": tag, "mapping": mapping, "rest": rest}
        if sum(map(self._size, targets.values())) > MAX_SUBTYPE_FIELDS:
            known = set(mapping.values())
            mapping |= {name: each for name in names if (each := f"#{PREFIX}{escape(name)}") not in known}
            return {"discriminator": discriminator, "additionalProperties": True}
        options: list[Json] = [{"$ref": each} for each in targets.values()]
        return {"discriminator": discriminator, "anyOf": [*options, {}] if rest else options}

    def _rest(self, raw: Mapping[str, Json], declared: Mapping[str, Json], listed: list[Json]) -> list[Json]:
        """Return the values of a base that lists none: those that the mapping gives to it; without one, its name."""
        if listed:
            return []
        stated = declared.get("mapping")
        if isinstance(stated, dict) and stated:
            targets = {value: self.reference(each) for value, each in stated.items() if isinstance(each, str)}
            return [value for value, reference in targets.items() if self.target({"$ref": reference}) is raw]
        names = (name for name, schema in self._components.items() if schema is raw)
        return [raw.get("x-discriminator-value", name) for name in names]

    def _values(self, schema: Json, tag: str) -> list[Json]:
        """Return the values that a schema lists for a property, itself or in a part that is no reference."""
        fields = (fields.get(tag) for fields in _properties(schema))
        followed = (self.target(field) or field for field in fields)
        listed = chain.from_iterable(
            (*_listed(each, "enum"), each.get("const")) for each in followed if isinstance(each, dict)
        )
        return [value for value in listed if isinstance(value, str)]

    def _mapping(self, raw: Mapping[str, Json], declared: Mapping[str, Json], names: list[str]) -> dict[str, str]:
        """Return the references that a mapping has for a base; for one that inherits it, those of its subtypes."""
        stated = declared.get("mapping")
        listed = stated.items() if isinstance(stated, dict) else ()
        pairs = {str(value): self.reference(target) for value, target in listed if isinstance(target, str)}
        schemas = {value: self.target({"$ref": reference}) for value, reference in pairs.items()}
        subtypes = {id(self._components[name]) for name in names}
        is_own = raw.get("discriminator") is declared
        return {
            value: reference
            for value, reference in pairs.items()
            if isinstance(schemas[value], dict)
            and schemas[value] is not raw
            and (is_own or id(schemas[value]) in subtypes)
        }

    def _size(self, reference: str) -> int:
        """Return 1 for a schema, and 1 for each field that it adds to those that it extends."""
        return 1 + sum(map(len, _properties(self.target({"$ref": reference}))))

    def _of(self, base: Json) -> list[str]:
        """Return the names of the components that extend a schema, and of those that extend these."""
        names: dict[str, None] = {}
        todo = [base]
        for schema in todo:
            new = [name for name in self._extensions.get(id(schema), ()) if name not in names]
            names |= dict.fromkeys(new)
            todo += [self._components[name] for name in new if len(names) <= MAX_SUBTYPE_FIELDS]
        return [name for name in names if self._components[name] is not base]


def _properties(schema: Mapping[str, Json]) -> Iterator[Mapping[str, Json]]:
    """Yield the properties of a schema and of its parts that are no references."""
    for part in (schema, *_listed(schema, "allOf")):
        if isinstance(part, dict) and isinstance(part.get("properties"), dict):
            yield part["properties"]


def _listed(schema: Mapping[str, Json], key: str) -> Iterator[Json]:
    branches = schema.get(key)
    return iter(branches if isinstance(branches, list) else ())


def _is_discriminator(value: Json) -> bool:
    return isinstance(value, dict) and isinstance(value.get("propertyName"), str)
