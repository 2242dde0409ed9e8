"""The types of an adapter, made as they are asked for: what no operation uses costs nothing.

Every object and every union of objects gets a name, so that introspection can show it (R-INT-4, R-INT-5). Properties
stand under the agent's names, `x-name` beside those that the API spells otherwise.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from json import dumps

from aqlgen.ir import Json
from aqlgen.positions import unescape
from aqlgen.resolve import Resolver, UnresolvedError
from aqlgen.schemas.dialect import normalise, shorten
from aqlgen.schemas.fields import field_names
from aqlgen.schemas.kinds import admits_null, constants, is_null, kind_of
from aqlgen.schemas.merge import merged, only_reference
from aqlgen.schemas.names import component_names, cut, type_name
from aqlgen.schemas.readonly import PREFIX, with_read_only
from aqlgen.words import pascal, split

MAX_INLINE = 60
"""How deep schemas may nest within one another, references not counted."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a schema stands: whether a request carries it, what to call it if it needs a name, how deep it lies."""

    request: bool
    hint: str
    depth: int = 0
    inline: bool = False
    """Whether a referenced scalar or enumeration is written out instead of named."""

    def within(self, name: str) -> Place:
        """Give the place of a part of it."""
        return replace(self, hint=self.hint + pascal(split(name)), depth=self.depth + 1, inline=False)


class Types:
    """Collects the types of one adapter. `unresolved(reference, why)` is told of references that lead nowhere."""

    def __init__(self, resolver: Resolver, *, preserve: bool, unresolved: Callable[[UnresolvedError], None]) -> None:
        components = resolver.root.get("components")
        schemas = components.get("schemas") if isinstance(components, dict) else None
        self._resolver = resolver
        self._preserve = preserve
        self._unresolved = unresolved
        self._components = component_names(schemas if isinstance(schemas, dict) else ())
        self._read_only = with_read_only(schemas)
        self._taken = set(self._components.values())
        self._named: dict[tuple[str, bool], str] = {}
        self._queue: deque[tuple[str, Json, Place]] = deque()
        self._types: dict[str, dict[str, Json]] = {}

    def finish(self) -> dict[str, dict[str, Json]]:
        """Define every type that was referred to, and give all by name, in the order of their names."""
        while self._queue:
            name, target, place = self._queue.popleft()
            self._types[name] = self._define(target, place)
        return dict(sorted(self._types.items()))

    def schema(self, raw: Json, place: Place) -> dict[str, Json]:
        """Give a schema in the adapter's form; objects and unions of objects become references to named types."""
        if not isinstance(raw, dict):
            return {"not": {}} if raw is False else {}
        if "$ref" in raw:
            return self._reference(raw, place)
        node = normalise(raw)
        reference = only_reference(node)
        if reference is not None:
            return self._nullable(self._reference({**node, "$ref": reference}, place), nullable=admits_null(node))
        node = merged(node, self._resolver)
        if place.depth > MAX_INLINE:
            return {}
        if "properties" in node or self._is_union(node):
            return self._hoist(node, place)
        return self._body(node, place)

    def object_view(self, raw: Json) -> dict[str, Json] | None:
        """Give the normalised, merged object that a schema describes, None when it is not one with properties."""
        try:
            target, _ = self._resolver.follow(raw, "")
        except UnresolvedError as error:
            self._unresolved(error)
            return None
        if not isinstance(target, dict):
            return None
        node = normalise(target)
        reference = only_reference(node)
        if reference is not None:
            return self.object_view({"$ref": reference})
        node = merged(node, self._resolver)
        return node if "properties" in node else None

    def alternatives(self, raw: Json) -> list[Json]:
        """Give the branches of a union, null left out; none when the schema is not a union."""
        try:
            target, _ = self._resolver.follow(raw, "")
        except UnresolvedError:
            return []
        node = normalise(target) if isinstance(target, dict) else {}
        return [branch for branch in node.get("anyOf", ()) if not is_null(branch)]

    def _reference(self, raw: Mapping[str, Json], place: Place) -> dict[str, Json]:
        try:
            target, pointer = self._resolver.follow(raw, "")
        except UnresolvedError as error:
            self._unresolved(error)
            return {}
        if not isinstance(target, dict):
            return self.schema(target, place)
        beside: dict[str, Json] = {
            key: raw[key] for key in ("description", "default", "deprecated", "readOnly") if key in raw
        }
        if "description" in beside:
            beside["description"] = shorten(str(beside["description"]), 300)
        kind = kind_of(merged(normalise(target), self._resolver))
        if kind == "scalar" or (kind == "enum" and place.inline):
            if place.depth < MAX_INLINE:
                inner = replace(place, hint=type_name(pointer.rsplit("/", 1)[-1]), depth=place.depth + 1)
                return self.schema(target, inner) | beside
            return beside
        return {"$ref": f"#/types/{self._name(pointer, target, place)}", **beside}

    def _name(self, pointer: str, target: Json, place: Place) -> str:
        component = unescape(pointer[len(PREFIX) - 1 :])
        known = pointer.startswith(PREFIX[1:]) and component in self._components
        request = place.request and (not known or component in self._read_only)
        key = (pointer, request)
        if key not in self._named:
            base = self._components[component] if known else type_name(pointer.rsplit("/", 1)[-1])
            free = known and not request
            name = base if free else self._free(cut(f"{base}Input") if request else base, pointer)
            self._named[key] = name
            self._taken.add(name)
            self._queue.append((name, target, Place(request, name)))
        return self._named[key]

    def _free(self, name: str, seed: str) -> str:
        return name if name not in self._taken else cut(f"{name}_{sha256(seed.encode()).hexdigest()[:4]}")

    def _define(self, target: Json, place: Place) -> dict[str, Json]:
        return self._body(merged(normalise(target), self._resolver), place)

    def _hoist(self, node: dict[str, Json], place: Place) -> dict[str, Json]:
        """Give a name to an object or a union that has none, and refer to it."""
        beside: dict[str, Json] = {key: node[key] for key in _BESIDE if key in node}
        body = self._body({key: value for key, value in node.items() if key not in ("default", "readOnly")}, place)
        null = admits_null(node)
        if null and isinstance(body.get("type"), list):
            body["type"] = "object"
        name = type_name(place.hint)
        if self._types.get(name) != body:
            name = self._free(name, dumps(body, sort_keys=True))
            self._types[name] = body
            self._taken.add(name)
        return self._nullable({"$ref": f"#/types/{name}", **beside}, nullable=null)

    def _nullable(self, schema: dict[str, Json], *, nullable: bool) -> dict[str, Json]:
        if not nullable or "$ref" not in schema:
            return schema
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        return {"anyOf": [{"$ref": schema["$ref"]}, {"type": "null"}], **beside}

    def _is_union(self, node: Mapping[str, Json]) -> bool:
        """Whether a node offers two or more alternatives of which one is more than a scalar."""
        branches = [branch for branch in node.get("anyOf", ()) if not is_null(branch)]
        if len(branches) < 2:
            return False
        return any(self._is_structured(branch) for branch in branches)

    def _is_structured(self, branch: Json) -> bool:
        try:
            target, _ = self._resolver.follow(branch, "")
        except UnresolvedError:
            return False
        return isinstance(target, dict) and kind_of(normalise(target)) in ("object", "union")

    def _body(self, node: dict[str, Json], place: Place) -> dict[str, Json]:
        """Give a node with everything within it in the adapter's form."""
        out = {key: value for key, value in node.items() if key not in _NESTED}
        alternatives = node.get("anyOf")
        if alternatives:
            self._union(alternatives, node, out, place)
        if "allOf" in node:
            out["allOf"] = [self.schema(one, place.within("part")) for one in node["allOf"]]
        if "properties" in node:
            self._properties(node, out, place)
        elif "required" in node and "type" not in node:  # a condition on the fields of the object around it
            names = field_names(node["required"], preserve=self._preserve)
            out["required"] = [names[wire] for wire in node["required"]]
        for key in ("items", "additionalProperties", "not", "propertyNames"):
            if key in node:
                value = node[key]
                out[key] = value if isinstance(value, bool) else self.schema(value, place.within(_WORD[key]))
        for key in ("patternProperties",):
            if key in node:
                out[key] = {name: self.schema(one, place.within("value")) for name, one in node[key].items()}
        if "prefixItems" in node:
            out["prefixItems"] = [self.schema(one, place.within("item")) for one in node["prefixItems"]]
        return out

    def _properties(self, node: Mapping[str, Json], out: dict[str, Json], place: Place) -> None:
        declared = node["properties"]
        properties = declared | {wire: True for wire in node.get("required", ()) if wire not in declared}
        names = field_names(properties, preserve=self._preserve)
        hidden = [wire for wire in properties if place.request and self._is_read_only(properties[wire])]
        fields: dict[str, Json] = {}
        for wire, raw in properties.items():
            if wire not in hidden:
                field = self.schema(raw, place.within(wire))
                fields[names[wire]] = field if names[wire] == wire else {**field, "x-name": wire}
        out["properties"] = fields
        required = [names[wire] for wire in node.get("required", ()) if wire not in hidden]
        if required:
            out["required"] = required
        else:
            out.pop("required", None)
        if hidden:
            out["x-read-only"] = [names[wire] for wire in hidden]

    def _is_read_only(self, raw: Json) -> bool:
        return isinstance(raw, dict) and raw.get("readOnly") is True

    def _union(self, alternatives: list[Json], node: Mapping[str, Json], out: dict[str, Json], place: Place) -> None:
        """Write alternatives: one of constants as an enumeration, one beside null as nullable, else as `anyOf`."""
        branches = [branch for branch in alternatives if not is_null(branch)]
        null = len(branches) < len(alternatives) or node.get("nullable") is True
        values = constants(branches)
        if values is not None and "properties" not in node:
            out["enum"] = [*values, None] if null else values
            return
        written = [self.schema(branch, place.within("option" if len(branches) > 1 else "")) for branch in branches]
        if len(written) == 1 and "$ref" not in written[0] and "anyOf" not in written[0]:
            own = {key: out[key] for key in ("description", "default") if key in out}
            out.update(written[0] | own)
            if null and isinstance(out.get("type"), str):
                out["type"] = [out["type"], "null"]
                if "enum" in out and None not in out["enum"]:
                    out["enum"] = [*out["enum"], None]
            return
        out["anyOf"] = [*written, {"type": "null"}] if null else written


_NESTED = frozenset(
    {
        "properties",
        "items",
        "additionalProperties",
        "not",
        "propertyNames",
        "patternProperties",
        "prefixItems",
        "anyOf",
        "allOf",
        "nullable",
    }
)
_BESIDE = ("description", "default", "deprecated", "readOnly")
_WORD = {"items": "item", "additionalProperties": "value", "not": "not", "propertyNames": "key"}
