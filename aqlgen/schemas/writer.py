"""A merged schema written in the adapter's form: with the agent's names, and without read-only fields in requests."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import filterfalse
from json import dumps
from typing import Final

from aqlgen.ir import Json
from aqlgen.schemas.all_of import Node, with_null
from aqlgen.schemas.descriptions import shorten
from aqlgen.schemas.discriminators import Discriminator, Discriminators
from aqlgen.schemas.names import Spelling
from aqlgen.schemas.normalise import MAX_DESCRIPTION
from aqlgen.schemas.type_kind import constants, fits, is_null
from aqlgen.schemas.views import Views
from aqlgen.words import pascal, split


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a schema, as far as it affects how the schema is written."""

    request: bool
    hint: str
    """The beginning of a name for the schema."""
    depth: int = 0
    inline: bool = False
    """True if a referenced scalar or enumeration is inlined instead of named."""
    around: tuple[Json, ...] = ()
    """The schemas that declare the fields of the value, if this is only one of several schemas of it."""
    steps: tuple[str, ...] = ()
    """The steps from `hint` to the place; few places need a name, so it is only composed for those."""

    @property
    def name(self) -> str:
        """The name for a type at this place."""
        return self.hint + "".join(pascal(split(step)) for step in self.steps)

    def within(self, name: str) -> Place:
        """Return the place of a part of the value."""
        return Place(self.request, self.hint, self.depth + 1, steps=(*self.steps, name))

    def beside(self, name: str, around: tuple[Json, ...]) -> Place:
        """Return the place of another schema of the same value."""
        return Place(self.request, self.hint, self.depth + 1, around=around, steps=(*self.steps, name))


Write = Callable[[Json, Place], dict[str, Json]]
_DEEPEST: Final = 20
"""The levels of types, one within the other, that are looked through for fields that only the server sets."""


class Writer:
    """A writer of schemas; `write` returns a nested schema, or a reference if it is a named type."""

    def __init__(self, views: Views, discriminators: Discriminators, write: Write, *, preserve: bool) -> None:
        self._views = views
        self._discriminators = discriminators
        self._write = write
        self._preserve = preserve
        self._spelling = Spelling(views, preserve=preserve)
        self._server_sets: dict[int, tuple[Json, bool]] = {}
        self._accesses: dict[int, tuple[Json, frozenset[str], frozenset[str]]] = {}

    def body(self, node: Node, place: Place) -> dict[str, Json]:
        """Return a schema with its nested schemas."""
        if node.keys().isdisjoint(STRUCTURED):
            return dict(node)
        around = (*place.around, node)
        names = self._names(node, around)
        out = _unstructured(node, names)
        branches = [branch for branch in node.get("anyOf", ()) if not is_null(branch)]
        discriminator = self._discriminators.find(node, branches)
        if "anyOf" in node:
            self._union(node, out, place, around, branches, discriminator)
        parts = (self._write(branch, place.beside("part", around)) for branch in node.get("allOf", ()))
        if declaring := list(filter(None, parts)):
            out["allOf"] = declaring
        withheld = self._withheld(node, place)
        if "properties" in node:
            self._properties(node, names, out, place, withheld)
        elif required := _required_of(node, withheld):
            out["required"] = [names.get(wire, wire) for wire in required]
        if not node.keys().isdisjoint(_BY_KEY):
            self._key_rules(node, names, out, place)
        self._items(node, out, place)
        if discriminator is not None and "discriminator" not in out:
            self._write_discriminator(discriminator, {}, names, out, place)
        if discriminator is not None:
            _list_tags(discriminator, names, out)
        return out

    def read_only(self, raw: Json, level: int = 0) -> bool:
        """Return True if only the server sets a property, or all fields of its object, of which it must have none.

        What is nested deeper than `_DEEPEST` below it is taken as writable.
        """
        if not isinstance(raw, dict) or level > _DEEPEST:
            return False
        view = self._views.view(raw) or self._views.node(raw)
        if "properties" not in view or view.get("readOnly") is True or not view.keys().isdisjoint(_NAMING | _BY_KEY):
            return view.get("readOnly") is True
        known = self._server_sets.get(id(raw))
        if known is None:
            self._server_sets[id(raw)] = raw, False  # where it is met again within itself
            fields = view["properties"].values()
            is_read = bool(fields) and all(self.read_only(field, level + 1) for field in fields)
            known = self._server_sets[id(raw)] = raw, is_read
        return known[1]

    def _names(self, node: Node, around: tuple[Json, ...]) -> Mapping[str, str]:
        """Return the names of the fields of a value, wherever they are declared; the node's own declarations win."""
        if "properties" not in node and not node.keys() & _NAMING:
            return {}
        names, declared = self._spelling.names_of(around), self._spelling.declared(node)
        return names if names is not None and declared.items() <= names.items() else {**(names or {}), **declared}

    def _withheld(self, node: Node, place: Place) -> frozenset[str]:
        """Return the fields that a request need not have, since an alternative or a schema around has them read-only.

        What a node itself declares to be writable stays required of it, whatever is around.
        """
        if not place.request or "required" not in node:
            return frozenset()
        declared = node.get("properties", {})
        around = self._declared(place.around)
        outer = {wire for wire, raw in around.items() if wire not in declared and self.read_only(raw)}
        return self.read_only_in_part(node) | outer | self._access((*place.around, node)[0])[1]

    def _declared(self, schemas: Iterable[Json]) -> dict[str, Json]:
        """Return the properties that these schemas and their parts declare, not their alternatives."""
        views = [view for raw in schemas if (view := self._views.view(raw)) is not None]
        parts = (self._views.view(part) or {} for view in views for part in view.get("allOf", ()))
        return {wire: raw for view in (*parts, *views) for wire, raw in view.get("properties", {}).items()}

    def read_only_in_part(self, raw: Json) -> frozenset[str]:
        """Return the fields of an object that only the server sets in one of its alternatives."""
        return self._access(raw)[0]

    def _access(self, raw: Json) -> tuple[frozenset[str], frozenset[str]]:
        """Return the fields that a schema or one of its parts and alternatives has read-only, and those all have so."""
        known = self._accesses.get(id(raw))
        if known is None:
            fields = [item for view in self._views.same_value(raw) for item in view.get("properties", {}).items()]
            read_only = frozenset(wire for wire, field in fields if self.read_only(field))
            writable = frozenset(wire for wire, field in fields if not self.read_only(field))
            known = self._accesses[id(raw)] = (raw, read_only, read_only - writable)
        return known[1:]

    def _properties(
        self, node: Node, names: Mapping[str, str], out: dict[str, Json], place: Place, withheld: frozenset[str]
    ) -> None:
        """Write the properties; a required one counts as declared, or a closed object would admit nothing.

        If all properties are read-only, the object identifies something that exists: the required ones are sent, unless
        schemas around it declare more.
        """
        declared: dict[str, Json] = node["properties"]
        server_set = self._server_set(declared) if place.request else ()
        required = _required_of(node, withheld.difference(server_set))
        properties = declared | {wire: True for wire in required if wire not in declared}
        identifies_only = len(server_set) == len(properties) and not self._declared(place.around)
        hidden = [wire for wire in server_set if not identifies_only or wire not in required]
        out["properties"] = {}
        for wire in filterfalse(hidden.__contains__, properties):
            field = self._write(properties[wire], place.within(wire))
            out["properties"][names[wire]] = _spelled(field, wire, names[wire], sent=identifies_only)
        for key, wires in (("required", [wire for wire in required if wire not in hidden]), ("x-read-only", hidden)):
            if wires:
                out[key] = [names.get(wire, wire) for wire in wires]
        if spellings := {names[wire]: wire for wire in hidden if names.get(wire, wire) != wire}:
            out["x-read-only-names"] = spellings  # an object may say by one of them which one it is

    def _server_set(self, declared: Mapping[str, Json]) -> list[str]:
        return [wire for wire, raw in declared.items() if self.read_only(raw)]

    def _key_rules(self, node: Node, names: Mapping[str, str], out: dict[str, Json], place: Place) -> None:
        """Write the keywords about field names and about undeclared fields."""
        renamed = {wire: name for wire, name in names.items() if name != wire}
        is_open = "patternProperties" in node and bool(renamed)  # the patterns are about the API's names
        for key in ("additionalProperties", "unevaluatedProperties"):
            if key in node and not is_open:
                name = "unevaluatedProperties" if node[key] is False and self._has_more_fields(node) else key
                out[name] = self._rest(node[key], place.within("value"))
        if is_open:
            out["additionalProperties"] = True
        elif "patternProperties" in node:
            out["patternProperties"] = {
                pattern: self._write(schema, place.within("value"))
                for pattern, schema in node["patternProperties"].items()
            }
        if "propertyNames" in node:
            out["propertyNames"] = self._property_names(node["propertyNames"], renamed, place)

    def _property_names(self, raw: Json, renamed: Mapping[str, str], place: Place) -> Json:
        """Write the schema of the names, which admits those of agents, too, whose API's name fits it."""
        value = self._write(raw, place.within("key"))
        spelled = [name for wire, name in renamed.items() if fits(self._views, raw, wire)]
        return {"anyOf": [{"enum": spelled}, value]} if spelled else value

    def _has_more_fields(self, node: Node) -> bool:
        """Return True if alternatives declare fields that the closed object around them does not."""
        declared = node.get("properties", {}).keys()
        branches = (self._views.view(branch) for branch in node.get("anyOf", ()))
        return any(view is not None and view.get("properties", {}).keys() - declared for view in branches)

    def _rest(self, value: Json, place: Place) -> Json:
        """Write the schema of what is not declared."""
        return value if isinstance(value, bool) else self._write(value, place)

    def _items(self, node: Node, out: dict[str, Json], place: Place) -> None:
        if "items" in node:
            out["items"] = self._rest(node["items"], place.within("item"))
        if "prefixItems" in node:
            out["prefixItems"] = [self._write(schema, place.within("item")) for schema in node["prefixItems"]]

    def _union(
        self,
        node: Node,
        out: dict[str, Json],
        place: Place,
        around: tuple[Json, ...],
        branches: list[Json],
        discriminator: Discriminator | None,
    ) -> None:
        """Write alternatives: constants as an enumeration, one beside null as nullable, others as `anyOf`."""
        null = len(branches) < len(node["anyOf"])
        values = None if "properties" in node or out.keys() & {"enum", "const"} else self._constants(branches)
        if values is not None:
            out["enum"] = [*values, None] if null and None not in values else values
            return
        part = place.beside("option" if len(branches) > 1 else "", around)
        written = [self._write(branch, part) for branch in branches]
        written = written if discriminator is not None else _agreed(written)
        if len(written) == 1 and _can_join(node, written[0]):
            whole = {**out, **written[0], **out}
            out.clear()
            out.update(with_null(whole) if null else whole)
            return
        if discriminator is not None:
            self._discriminate(discriminator, written, self._spelling.names_of(branches) or {}, out, place)
        out["anyOf"] = [*written, {"type": "null"}] if null else written

    def _constants(self, branches: list[Json]) -> list[Json] | None:
        """Return the values of alternatives that are constants, None for others."""
        return constants([self._views.node(each) if isinstance(each, dict) else each for each in branches])

    def _discriminate(
        self,
        discriminator: Discriminator,
        written: list[dict[str, Json]],
        names: Mapping[str, str],
        out: dict[str, Json],
        place: Place,
    ) -> None:
        """Write the discriminator of alternatives, and narrow those that have further values of it."""
        mapping: dict[str, Json] = {}
        for index, (schema, narrowing) in enumerate(zip(written, discriminator.narrowing, strict=True)):
            if "$ref" in schema:
                mapping |= dict.fromkeys(discriminator.values[index], schema["$ref"])
            if "$ref" in schema or not schema:
                written[index] = _narrowed(schema, discriminator.property, names, narrowing)
        self._write_discriminator(discriminator, mapping, names, out, place)

    def _write_discriminator(
        self,
        discriminator: Discriminator,
        mapping: dict[str, Json],
        names: Mapping[str, str],
        out: dict[str, Json],
        place: Place,
    ) -> None:
        """Write the discriminator and the mapping of its values, for introspection and for decoding."""
        for value, target in discriminator.others.items():
            schema = self._write({"$ref": f"#{target}"}, place.within("other"))
            if "$ref" in schema:
                mapping[value] = schema["$ref"]
        if mapping:
            out["discriminator"] = {
                "propertyName": names.get(discriminator.property, discriminator.property),
                "mapping": mapping,
            }


def _list_tags(discriminator: Discriminator, names: Mapping[str, str], out: dict[str, Json]) -> None:
    """List the values of all alternatives for a property beside them that is any string."""
    if discriminator.tags:
        tag = out.get("properties", {}).get(names.get(discriminator.property, discriminator.property), {})
        if tag.get("type") == "string":
            tag.setdefault("enum", list(discriminator.tags))


def _spelled(field: Mapping[str, Json], wire: str, name: str, *, sent: bool) -> dict[str, Json]:
    """Return the schema of a field with its name in the API; one that is sent is not read-only."""
    kept = dict(field) if name == wire else {**field, "x-name": wire}
    if sent:
        kept.pop("readOnly", None)
    return kept


def _can_join(node: Node, only: Mapping[str, Json]) -> bool:
    """Return True if the only alternative of a schema can stand in it: no keyword that admits or rejects is in both."""
    return not only.keys() & {"$ref", "anyOf"} and not (node.keys() & only.keys()) - _DESCRIBING


def _required_of(node: Node, withheld: Collection[str]) -> list[str]:
    return [wire for wire in node.get("required", ()) if wire not in withheld]


def _narrowed(schema: dict[str, Json], wire: str, names: Mapping[str, str], values: tuple[str, ...]) -> dict[str, Json]:
    """Return a branch that admits only its own values of the discriminator, where it does not say so itself."""
    if not values:
        return schema
    name = names.get(wire, wire)
    field: dict[str, Json] = {"enum": list(values)}
    return {**schema, "properties": {name: field if name == wire else {**field, "x-name": wire}}}


def _agreed(written: list[dict[str, Json]]) -> list[dict[str, Json]]:
    """Return alternatives without those that admit what an earlier one does, which then has both descriptions."""
    unique: dict[str, dict[str, Json]] = {}
    for schema in written:
        key = dumps({name: value for name, value in schema.items() if name not in _DESCRIBING}, sort_keys=True)
        same = unique.setdefault(key, schema)
        if same is not schema:
            unique[key] = _in_common(same, schema)
    return list(unique.values())


def _in_common(first: dict[str, Json], second: dict[str, Json]) -> dict[str, Json]:
    """Return a schema with what is said of both of two alternatives that admit the same."""
    either = {key: value for key, value in first.items() if key not in _DESCRIBING or second.get(key) == value}
    if "examples" in first:
        either["examples"] = first["examples"]
    texts = [text.rstrip(".") for schema in (first, second) if (text := str(schema.get("description", "")))]
    if texts:
        separate = len(texts) == 2 and texts[1] not in texts[0]
        either["description"] = shorten(f"{'; or '.join(texts) if separate else texts[0]}.", MAX_DESCRIPTION)
    return either


def _unstructured(node: Node, names: Mapping[str, str]) -> dict[str, Json]:
    """Return the keywords that hold no schemas; not enumerated objects, whose fields would have the API's spelling."""
    out: dict[str, Json] = {key: value for key, value in node.items() if key not in STRUCTURED}
    listed = (out.get("const"), *out.get("enum", ()))
    if any(isinstance(value, dict) for value in listed) and any(name != wire for wire, name in names.items()):
        out.pop("const", None)
        out.pop("enum", None)
    return out


_DESCRIBING = frozenset({"description", "default", "deprecated", "readOnly", "writeOnly", "examples"})
_NAMING = frozenset({"required", "patternProperties", "propertyNames", "anyOf"})
_BY_KEY = frozenset({"additionalProperties", "unevaluatedProperties", "patternProperties", "propertyNames"})
STRUCTURED = frozenset(
    {
        "properties", "required", "items", "additionalProperties", "propertyNames", "patternProperties",
        "prefixItems", "anyOf", "allOf", "nullable", "unevaluatedProperties", "discriminator", "$ref",
    }
)  # fmt: skip
"""Keywords that hold schemas or names of fields; a node without them is written unchanged."""
