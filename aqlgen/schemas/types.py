"""The types of an adapter, built on demand: a schema that no operation uses costs nothing.

Every object, every union of objects and every long enumeration gets a name, so that introspection can show it (R-INT-4,
R-INT-5). Properties stand under the agent's names, `x-name` beside those that the API spells otherwise.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from hashlib import sha256
from itertools import chain, count
from json import dumps

from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.document.resolve import Resolver, UnresolvedError
from aqlgen.ir import MISSING, Json
from aqlgen.runtime.schema import unescape
from aqlgen.schemas.all_of import Node, types_of, with_null
from aqlgen.schemas.bounds import Level, Nesting, limit_cost
from aqlgen.schemas.descriptions import shorten
from aqlgen.schemas.discriminators import Discriminator, Discriminators
from aqlgen.schemas.names import component_names, cut, type_name
from aqlgen.schemas.patterns import exemplifies
from aqlgen.schemas.subtypes import PREFIX, Subtypes
from aqlgen.schemas.type_kind import constants, fits, intended, is_null, kind_of
from aqlgen.schemas.views import Views, with_read_only
from aqlgen.schemas.writer import STRUCTURED, Place, Writer

__all__ = ["Place", "Types"]

MAX_INLINE = 60
"""How deep schemas may nest, not counting references."""

MAX_INLINE_VALUES = 50
"""A longer enumeration of strings is a named type: operations show its name, and the type shows all values."""

MAX_WRITTEN_OUT = 100
"""How many schemas a referenced scalar or array may hold and still be inlined in each place."""


class Types:
    """The types of one adapter. `unresolved(error)` is called for references that lead nowhere.

    With `xml`, schemas keep their XML Object (OpenAPI 3.1, 4.8.26), which no other content type needs.
    `taken` are the names of the types of other APIs: one of those gets the name of its `owner` before it. `keys` are
    the names, folded, of fields that identify things and only sound like secrets.
    """

    def __init__(
        self,
        resolver: Resolver,
        *,
        preserve: bool,
        unresolved: Callable[[UnresolvedError], None],
        openapi: str = "3.1",
        xml: bool = False,
        taken: Collection[str] = (),
        owner: str = "",
        keys: Collection[str] = (),
    ) -> None:
        components = resolver.root.get("components")
        schemas = components.get("schemas") if isinstance(components, dict) else None
        schemas = schemas if isinstance(schemas, dict) else {}
        self.openapi = openapi
        self.keys = frozenset(keys)
        self._resolver = resolver
        self._xml = xml
        subtypes = Subtypes(resolver, schemas, openapi)
        self._views = Views(resolver, openapi, unresolved, subtypes)
        self._components = component_names(schemas, taken, owner)
        self._discriminators = Discriminators(self._views)
        self._writer = Writer(self._views, self._discriminators, self.schema, preserve=preserve)
        self._nesting = Nesting()
        self._read_only = with_read_only(schemas, subtypes)
        self._taken = {*self._components.values(), *taken}
        self._foreign, self._owner = frozenset(taken), owner
        self._named: dict[tuple[str | int, bool], str] = {}
        self._queue: deque[tuple[str, Node, Place, str]] = deque()
        self._types: dict[str, dict[str, Json]] = {}
        self._written_out: dict[tuple[str, bool], tuple[dict[str, Json], bool]] = {}
        self._open: set[tuple[str, bool]] = set()
        self._cut: dict[str, int] = {}
        self._tried: dict[tuple[str, str], Iterator[str]] = {}

    def finish(self) -> dict[str, dict[str, Json]]:
        """Define every type with a reference to it, and return all by name."""
        while self._queue:
            name, view, place, pointer = self._queue.popleft()
            raw = self._resolver.lookup(f"#{pointer}") if self._xml and pointer else None
            self._types[name] = self._hinted(raw, self._writer.body(view, place))
        self._views.forget()
        del self._writer  # it knows these types, and nothing collects circles
        self._cut = limit_cost(self._types)
        return self._types

    def own(self, name: str, schema: Mapping[str, Json]) -> str:
        """Return the name of a type that aqlgen itself adds to the adapter, also once the others are finished.

        The first schema of a name defines it.
        """
        key = (name, False)
        if key not in self._named:
            self._named[key] = self._free_name(name, name)
            self._types[self._named[key]] = dict(schema)
            self._taken.add(self._named[key])
        return self._named[key]

    def follow(self, raw: Json) -> tuple[Json, str]:
        """Return the target of a schema's references, with its pointer. Raises UnresolvedError."""
        return self._views.follow(raw)

    def target(self, raw: Json) -> Json:
        """Return the target of a schema's references, the schema itself if they lead nowhere."""
        try:
            return self._views.follow(raw)[0]
        except UnresolvedError:
            return raw

    def kinds(self, raw: Json) -> list[str]:
        """Return the JSON types that a schema names."""
        return types_of(self._views.view(raw) or {})

    def diagnostics(self) -> list[Diagnostic]:
        """Return diagnostics about unusable keywords, complete once the types are finished."""
        cut = [
            Diagnostic("schema-too-long", Severity.WARNING, f"the type {name} leaves out {count} schemas of its value")
            for name, count in sorted(self._cut.items())
        ]
        return [*self._views.findings.diagnostics(self._resolver.root), *cut]

    def schema(self, raw: Json, place: Place) -> dict[str, Json]:
        """Return a schema in the adapter's form; objects and unions of objects become references to named types."""
        if not isinstance(raw, dict):
            return {"not": {}} if raw is False else {}
        written = self._hinted(raw, self._schema(raw, place))
        if "default" not in written or fits(self._views, raw, written["default"]):
            return written
        meaning = intended(self._views, raw, written["default"])
        if "default" in raw and raw["default"] is not None:  # null where it does not fit says that there is none
            action = "left out" if meaning is MISSING else f"taken as {_shortened(meaning)}"
            message = f"the default {_shortened(written['default'])} does not fit its own schema; it is {action}"
            self._views.findings.add("bad-default", raw, "default", message)
        bare = {key: value for key, value in written.items() if key != "default"}
        return bare if meaning is MISSING else {**bare, "default": meaning}

    def exemplified(self, schema: dict[str, Json], raw: Json, example: Json) -> dict[str, Json]:
        """Return a written schema of `raw` without its format if an example that stands elsewhere contradicts that."""
        form = schema.get("format")
        if not isinstance(form, str) or exemplifies(form, example):
            return schema
        message = f"the format {form!r} is let go: the document's own {shorten(example, 60)!r} contradicts it"
        holder = self.target(raw)
        if isinstance(holder, dict):
            self._views.findings.add("bad-format", holder, "format", message, Severity.NOTE)
        return {key: value for key, value in schema.items() if key != "format"}

    def _hinted(self, raw: Json, schema: dict[str, Json]) -> dict[str, Json]:
        hints = raw.get("xml") if self._xml and isinstance(raw, dict) else None
        return {**schema, "xml": hints} if isinstance(hints, dict) and hints else schema

    def _schema(self, raw: dict[str, Json], place: Place) -> dict[str, Json]:
        node = self._views.node(raw)
        if node.keys().isdisjoint(STRUCTURED) and not _is_long(node):
            return dict(node)
        reference = self._views.only_reference(node)
        if reference is not None:
            written = self._reference(reference, node, place)
            return _nullable(written) if node.get("nullable") or "null" in types_of(node) else written
        view = self._views.view(raw)
        return {} if view is None else self._structured(raw, view, place)

    def _structured(self, raw: dict[str, Json], view: Node, place: Place) -> dict[str, Json]:
        """Write a schema that is more than a reference, as a type of its own where it is named, joined or nested."""
        named = "properties" in view or _is_long(view) or self._is_union(view)
        if named and self._views.is_joined(raw):
            return self._deferred(raw, view, place)
        key = (id(raw), place.request)
        known = self._met(key, view, named=named)
        if known is not None:
            return known
        if place.depth > MAX_INLINE or self._nesting.is_repeated(key):
            return self._deferred(raw, view, place)
        size = len(view.get("properties", ())) + len(view.get("anyOf", ())) + len(view.get("allOf", ()))
        with self._nesting.within(key, raw, place, size) as level:
            written = self._hoist(view, place, level) if named else self._written(view, place, level)
        if "$ref" in written or named:
            self._nesting.keep(key, level, written)
        return written

    def _met(self, key: tuple[int, bool], view: Node, *, named: bool) -> dict[str, Json] | None:
        """Return the known form of a schema that was written, or a reference to one that is being written around it."""
        known = self._nesting.known(key)
        outer = self._nesting.met_again(key) if known is None else None
        if outer is None:
            return known
        outer.name = outer.name or self._reserved(outer.place)
        return _referring(outer.name, view) if named else {"$ref": f"#/types/{outer.name}"}

    def object_view(self, raw: Json) -> Node | None:
        """Return the merged schema of an object with properties, None for any other schema."""
        view = self._views.view(raw)
        return view if view is not None and "properties" in view else None

    def alternatives(self, raw: Json) -> list[Json]:
        """Return the branches of a union without null; none if the schema is not a union."""
        view = self._views.view(raw) or {}
        return [branch for branch in view.get("anyOf", ()) if not is_null(branch)]

    def parts(self, raw: Json) -> list[Node]:
        """Return the merged schema, and every merged branch that describes the same value."""
        return self._views.same_value(raw)

    def discriminator(self, raw: Json) -> Discriminator | None:
        """Return the discriminator of a union."""
        view = self._views.view(raw)
        return None if view is None else self._discriminators.find(view, self.alternatives(raw))

    def read_only(self, raw: Json) -> bool:
        """Return True if only the server sets a property, or no request offers it."""
        return self._writer.read_only(raw)

    def read_only_in_part(self, raw: Json) -> frozenset[str]:
        """Return the fields of an object that only the server sets in one of its alternatives."""
        return self._writer.read_only_in_part(raw)

    def _reference(self, reference: str, node: Node, place: Place) -> dict[str, Json]:
        try:
            target, pointer = self._views.follow({"$ref": reference})
        except UnresolvedError as error:
            self._views.unresolved(error)
            return {}
        view = self._views.view(target)
        if view is None:
            return {} if isinstance(target, dict) else self.schema(target, place)
        annotations = {key: node[key] for key in _ANNOTATIONS if key in node}
        kind = kind_of(view, self._views)
        short = kind == "enum" and place.inline and not _is_long(view)
        if (kind == "scalar" or short) and place.depth < MAX_INLINE:
            written = self._inlined(pointer, target, place)
            if written is not None:
                return written | annotations
        return {"$ref": f"#/types/{self._name(pointer, view, place)}", **annotations}

    def _inlined(self, pointer: str, target: Json, place: Place) -> dict[str, Json] | None:
        """Return a referenced scalar or array inlined; None if it needs a name: it is large or contains itself."""
        key = (pointer, place.request)
        if key in self._open:
            return None
        known = self._written_out.get(key)
        if known is None or place.around:
            self._open.add(key)
            start = type_name(pointer.rsplit("/", 1)[-1])
            inner = Place(place.request, start, place.depth + 1, place.inline, place.around)
            written = self.schema(target, inner)
            self._open.discard(key)
            known = self._written_out[key] = (written, _count(written) <= MAX_WRITTEN_OUT)
        return dict(known[0]) if known[1] else None

    def _name(self, pointer: str, view: Node, place: Place) -> str:
        component = unescape(pointer[len(PREFIX) :])
        known = pointer.startswith(PREFIX) and component in self._components
        request = place.request and (not known or component in self._read_only)
        key = (pointer, request)
        if key not in self._named:
            base = self._components[component] if known else type_name(pointer.rsplit("/", 1)[-1])
            free = known and not request
            name = base if free else self._free_name(cut(f"{base}Input") if request else base, pointer)
            self._queue_type(key, name, view, Place(request, name), pointer)
        return self._named[key]

    def _deferred(self, raw: Json, view: Node, place: Place) -> dict[str, Json]:
        """Return a reference to a merged schema that may contain itself, which is defined later."""
        key = (id(raw), place.request)
        if key not in self._named:
            name = self._free_name(type_name(place.name), place.name)
            self._queue_type(key, name, view, Place(place.request, name), "")
        return {"$ref": f"#/types/{self._named[key]}"}

    def _queue_type(self, key: tuple[str | int, bool], name: str, view: Node, place: Place, pointer: str) -> None:
        self._named[key] = name
        self._taken.add(name)
        self._queue.append((name, view, place, pointer))

    def _free_name(self, name: str, seed: str, body: Mapping[str, Json] | None = None) -> str:
        """Return a name that no other type has; its suffix is a hash of the content, so that the name is stable."""
        name = cut(f"{self._owner}{name}") if name in self._foreign else name
        tried = self._tried if body is None else {}  # what was taken stays taken: the next goes on behind it
        return next(
            candidate
            for candidate in tried.setdefault((name, seed), _names(name, seed))
            if candidate not in self._taken or (body is not None and self._types.get(candidate) == body)
        )

    def _reserved(self, place: Place) -> str:
        """Return the name of a type that contains itself, before it is defined."""
        name = self._free_name(type_name(place.name), place.name)
        self._taken.add(name)
        return name

    def _written(self, view: Node, place: Place, level: Level) -> dict[str, Json]:
        """Return a schema that needs no name, or a reference to its type if it contains itself."""
        body = self._writer.body(view, place)
        if not level.name:
            return body
        self._types[level.name] = body
        return {"$ref": f"#/types/{level.name}"}

    def _hoist(self, view: Node, place: Place, level: Level) -> dict[str, Json]:
        """Define an anonymous object or union as a named type, and return a reference to it."""
        node = {key: value for key, value in view.items() if key not in ("default", "readOnly")}
        null = "null" in types_of(node)
        if null:
            node["type"] = "object" if "properties" in node else [kind for kind in types_of(node) if kind != "null"]
            node |= {"enum": [value for value in node["enum"] if value is not None]} if "enum" in node else {}
        body = self._writer.body(node, place)
        name = level.name or type_name(place.name)
        if self._types.get(name) != body:
            if name in self._taken and not level.name:
                name = self._free_name(name, dumps(body, sort_keys=True), body)
            self._types[name] = body
            self._taken.add(name)
        return _referring(name, view)

    def _is_union(self, node: Node) -> bool:
        """Return True if a node has two or more alternatives, at least one of which is no scalar."""
        branches = [branch for branch in node.get("anyOf", ()) if not is_null(branch)]
        if len(branches) < 2 or constants(branches) is not None:
            return False
        views = (self._views.view(branch) for branch in branches)
        return any(view is not None and kind_of(view, self._views) in ("object", "union") for view in views)


def _names(name: str, seed: str) -> Iterator[str]:
    yield name
    for each in chain((seed,), (f"{seed} {number}" for number in count())):
        digest = sha256(each.encode("utf-8", "replace")).hexdigest()
        yield from (cut(f"{name}_{digest[:width]}") for width in (4, 8, 16))


def _shortened(value: Json) -> str:
    return shorten(dumps(value, ensure_ascii=False), 60)


def _nullable(written: dict[str, Json]) -> dict[str, Json]:
    """Return a written schema that also admits null; beside a reference, null is an alternative."""
    if "$ref" not in written:
        return with_null(written)
    annotations = {key: value for key, value in written.items() if key in _ANNOTATIONS}
    bare = {key: value for key, value in written.items() if key not in _ANNOTATIONS}
    return {"anyOf": [bare, {"type": "null"}], **annotations}


def _referring(name: str, view: Node) -> dict[str, Json]:
    """Return a reference to the type of an anonymous schema, with what describes this place."""
    written = {"$ref": f"#/types/{name}", **{key: view[key] for key in _ANNOTATIONS if key in view}}
    return _nullable(written) if "null" in types_of(view) else written


def _is_long(node: Mapping[str, Json]) -> bool:
    values = node.get("enum", ())
    return len(values) > MAX_INLINE_VALUES and all(isinstance(value, str) or value is None for value in values)


def _count(schema: Json) -> int:
    """Return the number of objects and lists in a schema, counted up to the limit."""
    total, stack = 0, [schema]
    while stack and total <= MAX_WRITTEN_OUT:
        node = stack.pop()
        if isinstance(node, dict | list):
            total += 1
            stack.extend(node.values() if isinstance(node, dict) else node)
    return total


_ANNOTATIONS = ("description", "default", "deprecated", "readOnly")
