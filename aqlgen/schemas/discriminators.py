"""Discriminators: the property whose value selects a branch of a union (OpenAPI 3.1.1, 4.8.25).

JSON Schema does not have them, so each branch of a union is narrowed to its own values: then a value is validated
against the branch that it names, and introspection shows the possible values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from aqlgen.document.positions import escape
from aqlgen.document.resolve import UnresolvedError
from aqlgen.ir import Json
from aqlgen.runtime.schema import unescape
from aqlgen.schemas.all_of import Node
from aqlgen.schemas.views import Views

PREFIX = "/components/schemas/"


@dataclass(frozen=True, slots=True)
class Discriminator:
    """A discriminating property by the API's name.

    `values` has the values of each branch, `narrowing` those that a branch does not declare itself. `others`
    maps values whose schemas are no branches to the pointers of these schemas.
    """

    property: str
    values: tuple[tuple[str, ...], ...]
    narrowing: tuple[tuple[str, ...], ...]
    others: Mapping[str, str]


class Discriminators:
    """The discriminators of a document."""

    def __init__(self, views: Views, components: Mapping[str, Json]) -> None:
        self._views = views
        self._components = components
        self._children: dict[str, list[str]] | None = None

    def find(self, node: Node, branches: list[Json]) -> Discriminator | None:
        """Return the discriminator of a union with these branches, or of an object (without branches), or None."""
        declared = node.get("discriminator")
        if declared is None:
            return None
        wire: str = declared["propertyName"]
        mapped = self._mapping(declared)
        targets = [self._pointer(branch) for branch in branches]
        known = {value: target for value, target in mapped.items() if target is not None}
        pairs = [
            self._values(self._own_values(branch, wire), pointer, known)
            for branch, pointer in zip(branches, targets, strict=True)
        ]
        others = {value: target for value, target in known.items() if target not in targets}
        return Discriminator(wire, tuple(pair[0] for pair in pairs), tuple(pair[1] for pair in pairs), others)

    def _values(
        self, declared: tuple[str, ...], pointer: str | None, mapped: Mapping[str, str]
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the values of a branch that declares some, and those that narrow what it declares.

        These are the values that the mapping gives to it, else the declared ones that it gives to no branch.
        """
        named = tuple(value for value, target in mapped.items() if target == pointer)
        common = tuple(value for value in named if value in declared) if declared else named
        common = common or tuple(value for value in declared if value not in mapped)
        implicit = (unescape(pointer.rsplit("/", 1)[-1]),) if pointer is not None and pointer.startswith(PREFIX) else ()
        return common or declared or implicit, common if len(common) != len(declared) else ()

    def children(self, pointer: str) -> dict[str, str]:
        """Return pointers, by name, of the component schemas that extend this one by `allOf`."""
        if self._children is None:
            self._children = {}
            for name, schema in self._components.items():
                listed = schema.get("allOf") if isinstance(schema, dict) else None
                for branch in listed if isinstance(listed, list) else ():
                    parent = self._pointer(branch)
                    if parent is not None:
                        self._children.setdefault(parent, []).append(name)
        return {name: f"{PREFIX}{escape(name)}" for name in self._children.get(pointer, ())}

    def _mapping(self, declared: Mapping[str, Json]) -> dict[str, str | None]:
        mapping = declared.get("mapping")
        listed = mapping.items() if isinstance(mapping, dict) else ()
        return {str(value): self._target(target) for value, target in listed if isinstance(target, str)}

    def _target(self, target: str) -> str | None:
        """Return the pointer for an entry of a mapping, which is the name of a component or a reference."""
        reference = f"#{PREFIX}{escape(target)}" if target in self._components else target
        return self._pointer({"$ref": reference})

    def _pointer(self, branch: Json) -> str | None:
        if not isinstance(branch, dict) or not isinstance(branch.get("$ref"), str):
            return None
        try:
            self._views.resolver.lookup(branch["$ref"])
        except UnresolvedError:
            return None
        return str(branch["$ref"][1:])

    def _own_values(self, branch: Json, wire: str) -> tuple[str, ...]:
        """Return the values that a branch itself declares for the property."""
        view = self._views.view(branch) or {}
        field = self._views.view(view.get("properties", {}).get(wire)) or {}
        listed = [field["const"]] if "const" in field else field.get("enum", ())
        return tuple(value for value in listed if isinstance(value, str))
