"""Kinds of types: enum, object, union or scalar (introspection, TypeKind)."""

from __future__ import annotations

from collections.abc import Mapping

from aqlgen.ir import Json
from aqlgen.schemas.keywords import distinct
from aqlgen.schemas.views import Views

MAX_DEPTH = 8
MAX_PARTS = 1000
"""The depth and the number of parts that are searched for the kind of a schema."""


def kind_of(node: Mapping[str, Json], views: Views) -> str:
    """Return the kind of a merged schema of the document."""
    known = views.kinds.get(id(node))
    if known is None:  # keeping the schema keeps its identity its own
        known = views.kinds[id(node)] = (node, _Search(views).kind(node, 0))
    return known[1]


class _Search:
    """The search for one schema's kind, which counts the parts that it looks at."""

    def __init__(self, views: Views) -> None:
        self._views = views
        self._left = MAX_PARTS

    def kind(self, node: Mapping[str, Json], depth: int) -> str:
        """Return the kind of a merged schema, a part of parts at a depth."""
        if isinstance(node.get("enum"), list):
            return "enum"
        if "properties" in node:
            return "object"
        parts = node.get("allOf", ()) if depth < MAX_DEPTH else ()
        if any(self._part(part, depth) in ("object", "union") for part in parts):
            return "object"
        branches = [branch for branch in node.get("anyOf", ()) if not is_null(branch)]
        if len(branches) > 1:
            return "scalar" if constants(branches) is not None else "union"
        if len(branches) == 1 and depth < MAX_DEPTH:
            return self._part(branches[0], depth)
        kinds = node.get("type")
        return "object" if kinds == "object" or (isinstance(kinds, list) and "object" in kinds) else "scalar"

    def _part(self, raw: Json, depth: int) -> str:
        self._left -= 1
        view = self._views.view(raw) if self._left >= 0 else None
        return "scalar" if view is None else self.kind(view, depth + 1)


def constants(branches: list[Json]) -> list[Json] | None:
    """Return the values, each once, if each branch is a constant or an enumeration, else None."""
    values = []
    for branch in branches:
        if not isinstance(branch, dict):
            return None
        listed = branch.get("enum")
        if "const" in branch:
            values.append(branch["const"])
        elif isinstance(listed, list) and listed and len(branches) > 1:
            values.extend(listed)
        else:
            return None
    return distinct(values) or None


def is_null(branch: Json) -> bool:
    """Return True if a schema admits only null."""
    if not isinstance(branch, dict):
        return False
    return branch.get("type") in ("null", ["null"]) or branch.get("enum") == [None] or branch.get("const", 0) is None
