"""What a schema of the document admits: its kind, the values that it lists, and whether a default fits it.

A default that does not fit would mislead an agent: an obvious meaning is used (`"10"` for an integer, `79` for a
string); any other misfit is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import repeat
from json import dumps

from aqlgen.ir import MISSING, Json
from aqlgen.schemas.all_of import types_of
from aqlgen.schemas.keywords import distinct, has_type, spelled_value
from aqlgen.schemas.patterns import matches
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


MAX_DEPTH = 8
MAX_ITEMS = 100


def intended(views: Views, raw: Json, value: Json) -> Json:
    """Return the obvious meaning of a default that does not fit its schema, MISSING if there is none."""
    other = spelled_value(value) if isinstance(value, str) else value
    if isinstance(value, bool | int | float):
        other = dumps(value)
    return other if other != value and fits(views, raw, other) else MISSING


def same(first: Json, second: Json) -> bool:
    """Return True for equal values of JSON; `true` is no 1."""
    return bool(first == second) and isinstance(first, bool) == isinstance(second, bool)


def fits(views: Views, raw: Json, value: Json, depth: int = 0) -> bool:
    """Return True if a value fits a schema of the document; the content of objects is not checked."""
    view = views.view(raw)
    if view is None or depth > MAX_DEPTH:
        return raw is not False
    if "type" in view and not any(has_type(kind, value) for kind in types_of(view)):
        return False
    items = view.get("items")
    is_listed = isinstance(value, list) and isinstance(items, dict) and "prefixItems" not in view
    parts = [(items, item) for item in value[:MAX_ITEMS]] if is_listed else []
    parts += zip(view.get("allOf", ()), repeat(value))
    branches = view.get("anyOf") or [True]
    return (
        _fits_scalar(view, value)
        and all(fits(views, schema, part, depth + 1) for schema, part in parts)
        and any(fits(views, branch, value, depth + 1) for branch in branches)
    )


def _fits_scalar(view: Mapping[str, Json], value: Json) -> bool:
    """Return True if a value is one of those that are listed, within the bounds of a number, or a text that matches."""
    listed = view.get("enum", [view["const"]] if "const" in view else None)
    if listed is not None and not any(same(member, value) for member in listed):
        return False
    if isinstance(value, str):
        fitting = view.get("minLength", 0) <= len(value) <= view.get("maxLength", len(value))
        return fitting and ("pattern" not in view or matches(view["pattern"], value))
    return (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or (
            view.get("minimum", value) <= value <= view.get("maximum", value)
            and not ("exclusiveMinimum" in view and value <= view["exclusiveMinimum"])
            and not ("exclusiveMaximum" in view and value >= view["exclusiveMaximum"])
        )
    )
