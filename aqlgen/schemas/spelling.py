"""How the fields of a value are spelled by agents, gathered from every schema that speaks of that value."""

from __future__ import annotations

from collections.abc import Sequence

from aqlgen.ir import Json
from aqlgen.schemas.fields import field_names
from aqlgen.schemas.merge import Node
from aqlgen.schemas.views import Views

MAX_NODES = 20_000
"""How many schemas are looked through for a renamed field before there counts as being one."""


class Spelling:
    """The agent's names of the fields that schemas declare; with `preserve` they are the API's own."""

    def __init__(self, views: Views, *, preserve: bool) -> None:
        self._views = views
        self._preserve = preserve
        self._own: dict[int, tuple[Node, dict[str, str]]] = {}
        self._of: dict[tuple[int, ...], tuple[object, dict[str, str] | None]] = {}
        self._renaming: dict[int, bool] = {}

    def own(self, node: Node) -> dict[str, str]:
        """Give the names of the properties that one node declares; one that it only requires counts beside others."""
        if "properties" not in node:
            return {}
        known = self._own.get(id(node))
        if known is None:
            wires = dict.fromkeys((*node["properties"], *node.get("required", ())))
            known = self._own[id(node)] = (node, field_names(wires, preserve=self._preserve))
        return known[1]

    def of(self, schemas: Sequence[Json]) -> dict[str, str] | None:
        """Give the names of all that schemas of one value declare; None where two of them differ."""
        key = tuple(map(id, schemas))
        if key not in self._of:
            self._of[key] = (schemas, self._names(schemas))
        return self._of[key][1]

    def _names(self, schemas: Sequence[Json]) -> dict[str, str] | None:
        names: dict[str, str] = {}
        for raw in schemas:
            for node in self._views.in_place(raw):
                for wire, name in self.own(node).items():
                    if names.setdefault(wire, name) != name:
                        return None
        return names

    def field(self, schemas: Sequence[Json], wire: str) -> tuple[Json, ...]:
        """Give the schemas of one field of a value: as declared, else those of undeclared ones."""
        nodes = [node for raw in schemas for node in self._views.in_place(raw)]
        declared = tuple(node["properties"][wire] for node in nodes if wire in node.get("properties", ()))
        if declared:
            return declared
        rest = (
            one
            for node in nodes
            for one in (node.get("additionalProperties"), *node.get("patternProperties", {}).values())
        )
        return tuple(one for one in rest if isinstance(one, dict))

    def items(self, schemas: Sequence[Json]) -> tuple[Json, ...]:
        """Give the schemas of the items of a value."""
        nodes = [node for raw in schemas for node in self._views.in_place(raw)]
        return tuple(
            one for node in nodes for one in (node.get("items"), *node.get("prefixItems", ())) if isinstance(one, dict)
        )

    def renaming(self, schemas: Sequence[Json]) -> bool:
        """Whether any field within a value of these schemas is spelled otherwise by agents."""
        return not self._preserve and any(self._renames(raw) for raw in schemas if isinstance(raw, dict))

    def _renames(self, raw: Json) -> bool:
        known = self._renaming.get(id(raw))
        if known is None:
            known = self._renaming[id(raw)] = self._search(raw)
        return known

    def _search(self, raw: Json) -> bool:
        seen: set[int] = set()
        stack = [raw]
        while stack:
            one = stack.pop()
            view = self._views.view(one)
            if view is None or id(view) in seen:
                continue
            if len(seen) > MAX_NODES or any(name != wire for wire, name in self.own(view).items()):
                return True
            seen.add(id(view))
            for key in ("properties", "patternProperties"):
                stack.extend(view.get(key, {}).values())
            for key in ("anyOf", "allOf", "prefixItems"):
                stack.extend(view.get(key, ()))
            stack.extend(view[key] for key in ("items", "additionalProperties") if key in view)
        return False
