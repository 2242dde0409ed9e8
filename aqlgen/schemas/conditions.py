"""Schemas that only test a value (if, not, then, dependentSchemas, contains), under the agent's names.

They cannot be named types: their fields are those of the enclosing value, so its names apply. And they must be exact,
because a lenient test of `not` or `if` would reject what the document admits. A condition that cannot be translated
exactly (two alternatives spell a field differently, or a test contains itself) is left out.
"""

from __future__ import annotations

from collections.abc import Mapping

from aqlgen.document.resolve import UnresolvedError
from aqlgen.ir import Json
from aqlgen.schemas.names import Spelling
from aqlgen.schemas.normalise import ANNOTATIONS
from aqlgen.schemas.views import Views

MAX_DEPTH = 20
MAX_NODES = 300
"""How many schemas one condition may hold with its references expanded."""

Around = tuple[Json, ...]


class InexactError(Exception):
    """A condition cannot be translated to the agent's names."""


class Conditions:
    """A translator of conditions."""

    def __init__(self, views: Views, spelling: Spelling) -> None:
        self._views = views
        self._spelling = spelling

    def exact(self, raw: Json, around: Around) -> Json | None:
        """Return a condition on a value that the schemas `around` declare; None if it cannot be translated exactly."""
        try:
            return _Translation(self._views, self._spelling).schema(raw, around, 0)
        except (InexactError, UnresolvedError):
            return None


class _Translation:
    """The translation of one condition, which counts its schemas."""

    def __init__(self, views: Views, spelling: Spelling) -> None:
        self._views = views
        self._spelling = spelling
        self._left = MAX_NODES

    def schema(self, raw: Json, around: Around, depth: int) -> Json:
        """Return a schema under the agent's names. Raises InexactError."""
        self._left -= 1
        if depth > MAX_DEPTH or self._left < 0:
            raise InexactError
        if not isinstance(raw, dict):
            return raw is not False
        node = self._views.node(raw)
        if "$ref" in node:
            target = self.schema(self._views.resolver.lookup(node["$ref"]), around, depth + 1)
            return {"anyOf": [target, {"type": "null"}]} if node.get("nullable") else target
        if ("pattern" in raw) != ("pattern" in node):
            raise InexactError
        written = self._keywords(node, around, depth) | self._branches(raw, around, depth)
        return {"anyOf": [written, {"type": "null"}]} if node.get("nullable") else written

    def _branches(self, raw: Mapping[str, Json], around: Around, depth: int) -> dict[str, Json]:
        """Return the branches as in the document: a test must distinguish `oneOf` from `anyOf`."""
        listed = {key: raw[key] for key in ("allOf", "anyOf", "oneOf") if isinstance(raw.get(key), list) and raw[key]}
        if "$ref" in raw:
            listed["allOf"] = [{"$ref": raw["$ref"]}, *listed.get("allOf", ())]
        return {
            key: [self.schema(branch, around, depth + 1) for branch in branches] for key, branches in listed.items()
        }

    def _keywords(self, node: Mapping[str, Json], around: Around, depth: int) -> dict[str, Json]:
        out = {key: value for key, value in node.items() if key not in _WRITTEN and key not in ANNOTATIONS}
        renaming = self._spelling.renames(around)
        if not renaming:
            around = ()
        names = self._spelling.names_of(around)
        if names is None or (renaming and (node.keys() & _BY_KEY or _holds_objects(node))):
            raise InexactError
        for key in _PARTS:
            if key in node:
                out[key] = self._part(key, node[key], names, around, depth + 1)
        return out

    def _part(self, key: str, value: Json, names: Mapping[str, str], around: Around, depth: int) -> Json:
        """Return the value of a keyword that holds names of fields or schemas."""
        if key == "required":
            return [names.get(wire, wire) for wire in value]
        if key == "dependentRequired":
            return {names.get(name, name): [names.get(wire, wire) for wire in value[name]] for name in value}
        if key == "properties":
            fields = {wire: self._spelling.field_schemas(around, wire) for wire in value}
            return {names.get(wire, wire): self.schema(value[wire], fields[wire], depth) for wire in value}
        if key in _BY_ITEM:
            around = self._spelling.item_schemas(around)
        elif key not in _SAME_VALUE:
            around = ()
        if key in ("patternProperties", "dependentSchemas"):
            return {names.get(name, name): self.schema(value[name], around, depth) for name in value}
        if key == "prefixItems":
            return [self.schema(schema, around, depth) for schema in value]
        return self.schema(value, around, depth)


def _holds_objects(node: Mapping[str, Json]) -> bool:
    values = [node["const"]] if "const" in node else node.get("enum", ())
    return any(isinstance(value, dict | list) for value in values)


_BY_KEY = frozenset({"patternProperties", "propertyNames", "additionalProperties", "unevaluatedProperties"})
"""Keywords that depend on the spelling of fields, or apply to undeclared fields."""

_SAME_VALUE = frozenset({"not", "if", "then", "else", "dependentSchemas"})
_BY_ITEM = frozenset({"items", "contains", "unevaluatedItems", "prefixItems"})
_PARTS = (
    "required", "dependentRequired", "properties", "patternProperties", "dependentSchemas", "not", "if", "then",
    "else", "propertyNames", "additionalProperties", "unevaluatedProperties", "items", "contains",
    "unevaluatedItems", "prefixItems",
)  # fmt: skip
_WRITTEN = frozenset({*_PARTS, "allOf", "anyOf", "discriminator"})
