"""The merged form of a schema: references followed, `allOf` merged; each schema is looked at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from aqlgen.document.resolve import MAX_CHAIN, Resolver, UnresolvedError
from aqlgen.ir import Json
from aqlgen.runtime.schema import subschemas, unescape
from aqlgen.schemas.all_of import Node, closed, merge, types_of, with_null
from aqlgen.schemas.keywords import Findings
from aqlgen.schemas.normalise import ANNOTATIONS, normalise
from aqlgen.schemas.subtypes import PREFIX, Subtypes

MAX_DEPTH = 40
"""How deep `allOf` may nest before its parts stay unmerged."""

MAX_JOINS = 5000
"""How many properties of two branches are joined; for further ones the later declaration wins."""


MAX_FIELDS = 50_000
"""The number of fields copied from branches to merged schemas; beyond, branches stay in `allOf` as they are."""

MAX_PARTS = 50
"""How many declarations of one property are joined before the later ones win."""

MAX_BRANCHING = 5
MAX_BRANCHES = 1000
"""How deep branches of branches are searched, and how many are enough."""


class Views:
    """The normalised and the merged form of raw schemas; `unresolved` is called for references that lead nowhere."""

    def __init__(
        self, resolver: Resolver, openapi: str, unresolved: Callable[[UnresolvedError], None], subtypes: Subtypes
    ) -> None:
        self.findings = Findings()
        self.subtypes = subtypes
        self.resolver = resolver
        self.unresolved = unresolved
        self._openapi = openapi
        self.kinds: dict[int, tuple[Mapping[str, Json], str]] = {}
        """The kinds of merged schemas by identity, each with its schema."""
        self._nodes: dict[int, tuple[Json, Node]] = {}
        self._views: dict[int, tuple[Json, Node | None]] = {}
        self._branches: dict[int, tuple[Node, list[Node]]] = {}
        self._open: set[int] = set()
        self._joins: dict[tuple[str | int, ...], Json] = {}
        self._parts: dict[int, tuple[Json, ...]] = {}
        self._writable: set[int] = set()
        self._fields = 0

    def forget(self) -> None:
        """Clear the caches; a schema that is needed again is merged again."""
        self._nodes.clear()
        self._views.clear()
        self._branches.clear()
        self.kinds.clear()

    def node(self, raw: Mapping[str, Json]) -> Node:
        """Return a schema in dialect 2020-12; schemas within it stay raw. The caller must not change it."""
        known = self._nodes.get(id(raw))
        if known is None:  # keeping the schema keeps its identity its own
            node = normalise(raw, self._openapi, self.findings)
            known = self._nodes[id(raw)] = (raw, node | self.subtypes.union(raw) if self.subtypes.bases else node)
        return known[1]

    def follow(self, raw: Json, pointer: str = "") -> tuple[Json, str]:
        """Follow references without constraints, and return the target with its pointer. Raises UnresolvedError."""
        chain: list[str] = []
        while isinstance(raw, dict) and "$ref" in raw:
            node = self.node(raw)
            if "$ref" not in node or "nullable" in node:
                break
            reference = str(node["$ref"])
            chain.append(reference)
            if len(chain) > MAX_CHAIN or reference in chain[:-1]:
                circle = " → ".join(step.rsplit("/", 1)[-1] for step in chain[:10])
                raise UnresolvedError(chain[0], f"the reference {chain[0]!r} leads in a circle: {circle}")
            raw, pointer = self.resolver.lookup(node["$ref"]), reference[1:]
        return raw, pointer

    def only_reference(self, node: Node) -> str | None:
        """Return the reference of a node that adds nothing to it, also as the only part of `allOf`; else None."""
        if "$ref" in node:
            return str(node["$ref"])
        branches = node.get("allOf", ())
        if len(branches) != 1 or not node.keys() <= ANNOTATIONS | {"allOf", "type"}:
            return None
        branch = branches[0]
        reference = branch.get("$ref") if isinstance(branch, dict) and "$ref" in self.node(branch) else None
        if not isinstance(reference, str) or self.node(branch).get("nullable"):
            return None
        if "type" in node:
            target = self.view(branch) or {}
            if not set(types_of(target)) <= set(types_of(node)) or "type" not in target:
                return None
        return reference

    def view(self, raw: Json, depth: int = 0) -> Node | None:
        """Return the merged form of a schema; None for a boolean schema, or if it cannot be resolved."""
        if not isinstance(raw, dict) or depth > MAX_DEPTH:
            return None
        known = self._views.get(id(raw))
        if known is not None:
            return known[1]
        if id(raw) in self._open:
            return None
        self._open.add(id(raw))
        try:
            merged = self._view(raw, depth)
        except UnresolvedError as error:
            self.unresolved(error)
            merged = None
        finally:
            self._open.discard(id(raw))
        self._views[id(raw)] = (raw, merged)
        return merged

    def _view(self, raw: Json, depth: int) -> Node | None:
        node = self.node(raw)
        if "$ref" in node:
            return self._annotated(self.view(self.resolver.lookup(node["$ref"]), depth + 1), node)
        branches = node.get("allOf")
        if not branches:
            return closed(with_null(node) if node.get("nullable") else node)
        if self.subtypes.bases:
            reference = None if self.subtypes.extends(raw) else self.only_reference(node)
            if reference is not None and self.subtypes.is_base(reference):
                return self._annotated(self.view(self.resolver.lookup(reference), depth + 1), node)
            branches = list(map(self.subtypes.part, branches))
        parts = [(branch, self.view(branch, depth + 1)) for branch in branches if not self._adds_nothing(branch)]
        self._fields += sum(len(view.get("properties", ())) for _, view in parts if view is not None)
        if self._fields > MAX_FIELDS:
            parts = [(branch, None) for branch, _ in parts]
        merged = merge(node, parts, self.join)
        if id(raw) in self._writable:
            merged.pop("readOnly", None)
        return merged

    def _annotated(self, target: Node | None, node: Node) -> Node | None:
        """Return the target of a reference with the annotations beside that; the target itself if there are none."""
        annotations = {key: value for key, value in node.items() if key in ANNOTATIONS and key != "nullable"}
        if target is None or not (annotations or node.get("nullable")):
            return target
        return with_null({**target, **annotations}) if node.get("nullable") else {**target, **annotations}

    def _adds_nothing(self, branch: Json) -> bool:
        """Return True if a branch of `allOf` adds nothing: it is `true`, or an enclosing schema."""
        if branch is True:
            return True
        try:
            target, _ = self.follow(branch)
        except UnresolvedError as error:
            self.unresolved(error)
            return True
        return target is True or id(target) in self._open

    def same_value(self, raw: Json) -> list[Node]:
        """Return the views of a schema and of every branch that describes the same value, each once."""
        view = self.view(raw)
        if view is None:
            return []
        known = self._branches.get(id(view))
        if known is None:
            known = self._branches[id(view)] = (view, self._same_value(view))
        return known[1]

    def _same_value(self, view: Node) -> list[Node]:
        views: dict[int, Node] = {}
        level = [view]
        for _ in range(MAX_BRANCHING):
            new_views = {id(view): view for view in level if id(view) not in views}
            views |= new_views
            branches = {
                id(branch): branch
                for view in new_views.values()
                for key in ("allOf", "anyOf")
                for branch in view.get(key, ())
            }
            level = [merged for branch in branches.values() if (merged := self.view(branch)) is not None]
            if not level or len(views) > MAX_BRANCHES:
                break
        return list(views.values())

    def join(self, first: Json, second: Json, *, writable: bool = False) -> Json:
        """Return one schema for a property that two branches of `allOf` declare; equal parts give the same object."""
        if first == second:
            return second
        writable = writable or id(first) in self._writable or id(second) in self._writable
        parts: dict[str | int, Json] = {}
        for part in (*self._joined(first), *self._joined(second)):
            if part is not True:
                parts.pop(_identity(part), None)
                parts[_identity(part)] = part
        if len(parts) < 2:
            return next(iter(parts.values()), True)
        key = (*parts, writable)
        if key not in self._joins:
            if len(self._joins) >= MAX_JOINS or len(parts) > MAX_PARTS:
                return second
            joined = self._joins[key] = {"allOf": list(parts.values())}
            self._parts[id(joined)] = tuple(parts.values())
            if writable:
                self._writable.add(id(joined))
        return self._joins[key]

    def _joined(self, raw: Json) -> tuple[Json, ...]:
        return self._parts.get(id(raw), (raw,))

    def is_joined(self, raw: Json) -> bool:
        """Return True if `joint` made this schema: it may contain itself without a reference."""
        return id(raw) in self._parts


def _identity(raw: Json) -> str | int:
    """Return a key for a schema: its content if it is small, such as a bare reference, else its identity."""
    if isinstance(raw, dict) and len(raw) < 3 and not any(isinstance(value, dict | list) for value in raw.values()):
        return repr(raw)
    return id(raw)


def with_read_only(components: Mapping[str, Json], subtypes: Subtypes) -> frozenset[str]:
    """Return the names of component schemas that hold read-only properties, directly or by reference.

    Such a schema gets a second type for requests, without them, so that no agent is offered a field that it cannot set.
    Linear in the size of the schemas.
    """
    direct: set[str] = set()
    users: dict[str, set[str]] = {}
    for name, schema in components.items():
        for node in subschemas(schema):
            if node.get("readOnly") is True:
                direct.add(name)
            for branch in (node, *subtypes.union(node).get("anyOf", ())) if subtypes.bases else (node,):
                reference = branch.get("$ref")
                if isinstance(reference, str) and reference.startswith(f"#{PREFIX}"):
                    component = reference[len(PREFIX) + 1 :].partition("/")[0]
                    users.setdefault(unescape(component), set()).add(name)
    names, queue = set(direct), list(direct)
    while queue:
        further = users.get(queue.pop(), set()) - names
        names |= further
        queue += further
    return frozenset(names)
