"""The context that all parts of the upgrade share: the original document, origins, diagnostics and schemas.

Schema Objects of Swagger 2.0 differ from those of OpenAPI 3.0 in a few keywords and in their place.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final
from urllib.parse import unquote

from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.document.positions import Origins, split
from aqlgen.document.resolve import Resolver, UnresolvedError
from aqlgen.ir import Json, Origin


class Upgrade:
    """One document being upgraded; all pointers lead into the original document."""

    def __init__(self, root: dict[str, Json], origins: Origins) -> None:
        self.root = root
        self.origins = origins
        self.resolver = Resolver(root)
        self.schemas = Schemas(self.resolver, origins)
        self.diagnostics: list[Diagnostic] = []
        self._converted: dict[tuple[int, tuple[str, ...]], tuple[Json, dict[str, Json]]] = {}

    def warn(self, code: str, message: str, pointer: str, help: str = "") -> None:
        """Add a warning about something without an exact equivalent."""
        self.diagnostics.append(Diagnostic(code, Severity.WARNING, message, pointer=pointer, help=help))

    def origin(self, pointer: str) -> Origin:
        """Return the origin in the user's files of a part of the original document."""
        return self.origins.find(self.root, pointer)

    def follow(self, node: Json, pointer: str) -> tuple[Json, str]:
        """Follow references to the target and its pointer; leave one that leads nowhere to the build stage."""
        try:
            return self.resolver.follow(node, pointer)
        except UnresolvedError:
            return node, pointer

    def once(
        self, part: Json, content_types: tuple[str, ...], convert: Callable[[], dict[str, Json]]
    ) -> dict[str, Json]:
        """Return a part as it is converted for content types: once, however many operations refer to it."""
        key = id(part), content_types
        if key not in self._converted:
            self._converted[key] = part, convert()  # with the part, so that its identity stays its own
        return self._converted[key][1]

    def place(self, container: dict[str, Json], key: str, value: Json, pointer: str) -> None:
        """Set a member of a new object to a value that came from `pointer`."""
        container[key] = value
        self.origins.note(container, key, self.origin(pointer))

    def append(self, container: list[Json], value: Json, pointer: str) -> None:
        """Append a value that came from `pointer` to a new list."""
        container.append(value)
        self.origins.note(container, len(container) - 1, self.origin(pointer))


MAPS: Final = ("properties", "patternProperties", "definitions")
LISTS: Final = ("allOf", "anyOf", "oneOf")
SINGLE: Final = ("items", "additionalProperties", "not")
RENAMED: Final = {
    "x-nullable": "nullable",
    "x-deprecated": "deprecated",
    "x-example": "example",
    "x-oneOf": "oneOf",
    "x-anyOf": "anyOf",
    "x-not": "not",
}
"""Extensions in 2.0 for which 3.0 has a keyword."""

TOUCHED: Final = frozenset((*MAPS, *LISTS, *SINGLE, *RENAMED, "$ref", "discriminator"))
DEFINITIONS: Final = "#/definitions/"
COMPONENTS: Final = "#/components/schemas/"


class Schemas:
    """A converter of schemas, each object once.

    `lifted` has the targets of references outside the definitions (in a response, a parameter or an extension), which
    become components: by their new name, with the pointer where they stood.
    """

    def __init__(self, resolver: Resolver, origins: Origins) -> None:
        self.lifted: dict[str, tuple[Json, str]] = {}
        definitions = resolver.root.get("definitions")
        self._names = set(definitions) if isinstance(definitions, dict) else set()
        self._resolver = resolver
        self._origins = origins
        self._done: dict[int, tuple[Json, Json]] = {}
        self._references: dict[str, str] = {}

    def convert(self, schema: Json) -> Json:
        """Return a schema of 3.0; the same object if nothing changes."""
        if not isinstance(schema, dict):
            return schema
        known = self._done.get(id(schema))
        if known is None:
            known = self._done[id(schema)] = (schema, self._convert(schema))
        return known[1]

    def _convert(self, schema: dict[str, Json]) -> dict[str, Json]:
        changed = {} if TOUCHED.isdisjoint(schema) else self._changes(schema)
        if schema.get("type") == "file":
            changed |= {"type": "string", "format": "binary"}
        if not changed:
            return schema
        new = {key: changed.get(key, value) for key, value in schema.items() if key not in RENAMED}
        self._origins.carry(schema, new)
        new |= changed
        if new.get("nullable") is True and "$ref" in new:  # what stands beside a reference does not count in 3.0
            return {"allOf": [{"$ref": new.pop("$ref")}], **new}
        return new

    def _changes(self, schema: dict[str, Json]) -> dict[str, Json]:
        changed: dict[str, Json] = {}
        for key, value in schema.items():
            if key == "x-nullable":
                changed |= {"nullable": True} if value is True else {}
            elif key in RENAMED and RENAMED[key] not in schema:
                changed[RENAMED[key]] = self._member(RENAMED[key], value)
            else:
                new = self._member(key, value)
                if new is not value:
                    changed[key] = new
        return changed

    def _member(self, key: str, value: Json) -> Json:
        if isinstance(value, dict):
            return self._convert_map(value) if key in MAPS else self.convert(value) if key in SINGLE else value
        if isinstance(value, list):
            return self._convert_list(value) if key in LISTS else self._first_or_any(value) if key in SINGLE else value
        if key == "$ref" and isinstance(value, str):
            return self.reference(value)
        return {"propertyName": value} if key == "discriminator" and isinstance(value, str) else value

    def _first_or_any(self, schemas: list[Json]) -> Json:
        """Return one schema for a list of item schemas, which 3.0 does not have; people mean alternatives by it."""
        new = [self.convert(schema) for schema in schemas]
        return new[0] if len(new) == 1 else {"anyOf": new} if new else {}

    def _convert_map(self, schemas: dict[str, Json]) -> dict[str, Json]:
        new = {name: self.convert(schema) for name, schema in schemas.items()}
        if all(new[name] is old for name, old in schemas.items()):
            return schemas
        self._origins.carry(schemas, new)
        return new

    def _convert_list(self, schemas: list[Json]) -> list[Json]:
        new = [self.convert(schema) for schema in schemas]
        if all(converted is old for converted, old in zip(new, schemas, strict=True)):
            return schemas
        self._origins.carry(schemas, new)
        return new

    def reference(self, reference: str) -> str:
        """Return the reference to a schema as in 3.0; one that leads nowhere stays as written."""
        known = self._references.get(reference)
        if known is None:
            known = self._reference(reference)
            self._references[reference] = known
        return known

    def _reference(self, reference: str) -> str:
        if not reference.startswith("#/"):
            return reference
        parts = split(reference[1:])
        if reference.startswith(DEFINITIONS):
            known = parts[1] in self._names or unquote(parts[1]) in self._names
            return COMPONENTS + reference.removeprefix(DEFINITIONS) if known else reference
        try:
            target = self._resolver.lookup(reference)
        except UnresolvedError:
            return reference
        if not isinstance(target, dict):
            return reference
        name = self._name(parts[-1])
        self._references[reference] = COMPONENTS + name  # before converting: it may contain itself
        self.lifted[name] = ({}, "")
        self.lifted[name] = (self.convert(target), reference[1:])
        return COMPONENTS + name

    def _name(self, wanted: str) -> str:
        stem = re.sub(r"[^A-Za-z0-9._-]+", "_", wanted).strip("_") or "schema"
        name, number = stem, 1
        while name in self._names or name in self.lifted:
            number += 1
            name = f"{stem}_{number}"
        return name
