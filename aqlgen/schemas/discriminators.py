"""Discriminators: the property whose value selects a branch of a union (OpenAPI 3.1.1, 4.8.25).

JSON Schema does not have them, so each branch of a union is narrowed to its own values: then a value is validated
against the branch that it names, and introspection shows the possible values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain

from aqlgen.document.resolve import UnresolvedError
from aqlgen.ir import Json
from aqlgen.runtime.schema import unescape
from aqlgen.schemas.all_of import Node
from aqlgen.schemas.subtypes import PREFIX
from aqlgen.schemas.views import Views


@dataclass(frozen=True, slots=True)
class Discriminator:
    """A discriminating property by the API's name.

    `values` has the values of each branch, `narrowing` those that a branch does not declare itself. `others`
    maps values whose schemas are no branches to the pointers of these schemas. `tags` are all values of the branches,
    none if those of a branch are only assumed.
    """

    property: str
    values: tuple[tuple[str, ...], ...]
    narrowing: tuple[tuple[str, ...], ...]
    others: Mapping[str, str]
    tags: tuple[str, ...] = ()


class Discriminators:
    """The discriminators of a document."""

    def __init__(self, views: Views) -> None:
        self._views = views

    def find(self, node: Node, branches: list[Json]) -> Discriminator | None:
        """Return the discriminator of a union with these branches, or of a base with too many, or None."""
        declared = node.get("discriminator")
        if declared is None:
            return None
        wire: str = declared["propertyName"]
        known = self._mapping(declared)
        targets = [self._pointer(branch) for branch in branches]
        listed = frozenset(self._listed(node, wire))
        values, narrowing, is_sure = list[tuple[str, ...]](), list[tuple[str, ...]](), True
        for branch, pointer in zip(branches, targets, strict=True):
            if branch == {}:  # a base beside its subtypes, or what takes any value
                values.append(tuple(declared.get("rest", ())))
                narrowing.append(values[-1])
                is_sure &= bool(values[-1])
                continue
            declared_values = self._listed(self._views.view(branch) or {}, wire)
            branch_values = self._values(declared_values, pointer, known, listed)
            is_stated = bool(declared_values) or pointer in known.values()
            values.append(branch_values)
            narrowing.append(branch_values if is_stated and len(branch_values) != len(declared_values) else ())
            is_sure &= is_stated
        others = {value: target for value, target in known.items() if target not in targets}
        tags = tuple(dict.fromkeys(chain.from_iterable(values))) if is_sure else ()
        return Discriminator(wire, tuple(values), tuple(narrowing), others, tags)

    def _values(
        self, declared: tuple[str, ...], pointer: str | None, mapped: Mapping[str, str], listed: frozenset[str]
    ) -> tuple[str, ...]:
        """Return the values of a branch that declares some.

        These are the values that the mapping gives to it, else the declared ones that it gives to no branch, else the
        name of its component. What is `listed` beside the branches for all of them does not say which one it is.
        """
        named = tuple(value for value, target in mapped.items() if target == pointer)
        common = tuple(value for value in named if value in declared) if declared else named
        common = common or tuple(value for value in declared if value not in mapped) or declared
        if common and (named or not listed or not listed.issubset(common)):
            return common
        return tuple(name for name in _names(pointer) if not listed or name in listed)

    def _mapping(self, declared: Mapping[str, Json]) -> dict[str, str]:
        """Return the pointers to the schemas that the mapping names, by value."""
        mapping = declared.get("mapping")
        listed = mapping.items() if isinstance(mapping, dict) else ()
        references = {
            str(value): self._views.subtypes.reference(each) for value, each in listed if isinstance(each, str)
        }
        pointers = {value: self._pointer({"$ref": reference}) for value, reference in references.items()}
        return {value: pointer for value, pointer in pointers.items() if pointer is not None}

    def _pointer(self, branch: Json) -> str | None:
        if not isinstance(branch, dict) or not isinstance(branch.get("$ref"), str):
            return None
        try:
            self._views.resolver.lookup(branch["$ref"])
        except UnresolvedError:
            return None
        return str(branch["$ref"][1:])

    def _listed(self, node: Node, wire: str) -> tuple[str, ...]:
        """Return the values that a node itself lists for a property."""
        field = self._views.view(node.get("properties", {}).get(wire)) or {}
        listed = [field["const"]] if "const" in field else field.get("enum", ())
        return tuple(value for value in listed if isinstance(value, str))


def _names(pointer: str | None) -> list[str]:
    """Return the name of a component, nothing for any other place."""
    name = (pointer or "").removeprefix(PREFIX)
    return [] if name in ("", pointer) or "/" in name else [unescape(name)]
