"""Defaults that do not fit their own schema, which would mislead an agent.

An obvious meaning is used (`"10"` for an integer, `79` for a string); any other misfit is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from json import dumps

from aqlgen.ir import MISSING, Json
from aqlgen.schemas.all_of import types_of
from aqlgen.schemas.keywords import has_type, spelled_value
from aqlgen.schemas.patterns import matches
from aqlgen.schemas.views import Views

MAX_DEPTH = 8
MAX_ITEMS = 100


def intended(views: Views, raw: Json, value: Json) -> Json:
    """Return the obvious meaning of a default that does not fit its schema, MISSING if there is none."""
    other = spelled_value(value) if isinstance(value, str) else value
    if isinstance(value, bool | int | float):
        other = dumps(value)
    return other if other != value and fits(views, raw, other) else MISSING


def fits(views: Views, raw: Json, value: Json, depth: int = 0) -> bool:
    """Return True if a value fits a schema of the document; the content of objects is not checked."""
    view = views.view(raw)
    if view is None or depth > MAX_DEPTH:
        return raw is not False
    if "type" in view and not any(has_type(kind, value) for kind in types_of(view)):
        return False
    options = view.get("enum", [view["const"]] if "const" in view else None)
    if options is not None and not any(
        option == value and isinstance(option, bool) == isinstance(value, bool) for option in options
    ):
        return False
    if isinstance(value, str) and not _fits_text(view, value):
        return False
    if isinstance(value, int | float) and not isinstance(value, bool) and not _fits_number(view, value):
        return False
    items = view.get("items")
    checked = value[:MAX_ITEMS] if isinstance(value, list) and "prefixItems" not in view else ()
    if isinstance(items, dict) and not all(fits(views, items, item, depth + 1) for item in checked):
        return False
    branches = view.get("anyOf", ())
    if branches and not any(fits(views, branch, value, depth + 1) for branch in branches):
        return False
    return all(fits(views, branch, value, depth + 1) for branch in view.get("allOf", ()))


def _fits_text(view: Mapping[str, Json], value: str) -> bool:
    if not view.get("minLength", 0) <= len(value) <= view.get("maxLength", len(value)):
        return False
    return "pattern" not in view or matches(view["pattern"], value)


def _fits_number(view: Mapping[str, Json], value: float) -> bool:
    return (
        view.get("minimum", value) <= value <= view.get("maximum", value)
        and not ("exclusiveMinimum" in view and value <= view["exclusiveMinimum"])
        and not ("exclusiveMaximum" in view and value >= view["exclusiveMaximum"])
    )
