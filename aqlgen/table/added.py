"""The adapter's own parameters: `fields`, `first`, `after`, `dry_run`, `if_match` (R-SEL-2, 3, 5; R-OPS-5).

They are of no place in the request. Where the adapter pages, they take the place of the API's own parameters for it,
which are accepted under their names still, but not shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from aqlgen.decide.decision import Category, Decision
from aqlgen.ir import Json
from aqlgen.table.model import TableParameter

__all__ = ["PLACE", "added", "backward", "page_of", "paged", "paging_parameters", "tagged"]

PLACE: Final = "adapter"
SELECTION: Final[Mapping[str, Json]] = {"$ref": "#/types/FieldSelection"}
DEFAULT_SIZE: Final = 20
MOST: Final = 100

_NO_FIELDS: Final = frozenset({"none", "string", "integer", "number", "boolean"})
_ROLES: Final = ("page_param", "offset_param", "cursor_param", "before_param", "size_param")
_SEARCHES: Final = frozenset({"search", "find", "query", "lookup"})
_LEADS: Final = {
    "page": ("page_param",),
    "offset": ("offset_param",),
    "cursor": ("next", "item_cursor"),
    "token": ("next",),
}


def paged(decision: Decision) -> Mapping[str, Json] | None:
    """Give how the operation pages, where the adapter can do it: the list is known, and what leads to the next page."""
    trait = decision.trait("pagination")
    if trait is None or decision.category is not Category.READ:
        return None
    value = trait.value
    leads = _LEADS.get(str(value["style"]), ("next",))
    return value if "items" in value and any(key in value for key in leads) else None


def backward(value: Mapping[str, Json]) -> bool:
    """Whether the API can page backwards, from any place and from the end."""
    return value["style"] == "offset" and "total" in value and "size_param" in value


def tagged(decisions: Iterable[Decision]) -> frozenset[str]:
    """Give the operations that read what an update guards by its ETag."""
    traits = (decision.trait("update") for decision in decisions)
    return frozenset(str(one.value["read"]) for one in traits if one is not None and one.value.get("etag"))


def added(decision: Decision, parameters: Iterable[TableParameter], returns: Mapping[str, str]) -> list[TableParameter]:
    """Give the adapter's own parameters of an operation."""
    if decision.category is not Category.READ:
        found = [_own("dry_run", {"type": "boolean", "default": False}, "Show the request, and send nothing")]
        update = decision.trait("update")
        declared = any(one.location == "header" and one.wire.lower() == "if-match" for one in parameters)
        if update is not None and update.value.get("etag") and not declared:
            found.append(_own("if_match", {"type": "string"}, "Only if the resource still has this `_etag`"))
        return found
    found = []
    value = paged(decision)
    if value is not None:
        found += _pages(value)
    if value is not None or returns["name"] not in _NO_FIELDS:
        usual = "full"
        if decision.verb in _SEARCHES:
            usual = "minimal"
        elif value is not None or decision.verb == "list" or returns["name"] == "array":
            usual = "standard"
        schema = {**SELECTION, "default": usual}
        found.append(_own("fields", schema, "Fields to return: minimal, standard or full, or paths such as 'owner.id'"))
    return found


def _pages(value: Mapping[str, Json]) -> list[TableParameter]:
    size_max = value.get("size_max")
    most = min(MOST, size_max) if isinstance(size_max, int) else MOST
    size: dict[str, Json] = {"type": "integer", "minimum": 1}
    text: dict[str, Json] = {"type": "string", "minLength": 1}
    found = [
        _own("first", {**size, "default": min(DEFAULT_SIZE, most)}, f"How many items; at most {most} are given"),
        _own("after", text, "Go on after `pageInfo.endCursor` of the page before; give `first` too"),
    ]
    if backward(value):
        found += [
            _own("last", size, f"How many items from the end; at most {most} are given"),
            _own("before", text, "Items before `pageInfo.startCursor` of a page; give `last` too"),
        ]
    return found


def _own(name: str, schema: Mapping[str, Json], description: str) -> TableParameter:
    return TableParameter(name=name, wire=name, location=PLACE, required=False, schema=schema, description=description)


def paging_parameters(
    value: Mapping[str, Json], parameters: Iterable[TableParameter]
) -> tuple[tuple[TableParameter, ...], tuple[TableParameter, ...]]:
    """Part the parameters: those that are shown, and those that `first` and `after` stand for."""
    wires = {value[role] for role in _ROLES if role in value}
    places = () if "within" in value else (str(value.get("in", "query")),)
    shown, hidden = [], []
    for one in parameters:
        if one.location in places and one.wire in wires:
            hidden.append(one)
        else:
            shown.append(one)
    return tuple(shown), tuple(hidden)


def page_of(returns: Mapping[str, str]) -> dict[str, str]:
    """Give what a paged operation returns."""
    of = returns.get("description", "") if returns["name"] == "array" else f"Of a {returns['name']}"
    items = f"`items`: {of[:1].lower()}{of[1:]}" if of else "`items`"
    return {"name": "object", "kind": "object", "description": f"{items}; `pageInfo`: a PageInfo"}
