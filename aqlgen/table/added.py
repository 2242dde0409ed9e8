"""The adapter's own parameters: `fields`, `first`, `after`, `dry_run`, `if_match` (R-SEL-2, 3, 5; R-OPS-5).

They are of no place in the request. Where the adapter pages, they take the place of the API's own parameters for it,
which are accepted under their names still, but not shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from aqlgen.decide.decision import Category, Decision
from aqlgen.ir import Json
from aqlgen.runtime.table import ADAPTER, Pagination, Parameter, ReturnType, Update

__all__ = ["added", "backward", "page_of", "paged", "paging_parameters", "tagged"]

SELECTION: Final[Mapping[str, Json]] = {"$ref": "#/types/FieldSelection"}
DEFAULT_SIZE: Final = 20
MOST: Final = 100

_NO_FIELDS: Final = frozenset({"none", "string", "integer", "number", "boolean"})
_SEARCHES: Final = frozenset({"search", "find", "query", "lookup"})


def paged(decision: Decision) -> Pagination | None:
    """Return how the operation pages, if the adapter can page it: list and way to the next page are known."""
    paging = decision.trait(Pagination)
    if paging is None or paging.items is None or decision.category is not Category.READ:
        return None
    return paging if _leads_on(paging) else None


def _leads_on(paging: Pagination) -> bool:
    """Return True if it is known what asks for the next page."""
    if paging.style in ("page", "offset"):
        return paging.lead_param is not None
    return paging.next is not None or (paging.style == "cursor" and paging.item_cursor is not None)


def backward(paging: Pagination) -> bool:
    """Return True if the API can page backwards, from any place and from the end."""
    return paging.style == "offset" and paging.total is not None and paging.size_param is not None


def tagged(decisions: Iterable[Decision]) -> frozenset[str]:
    """Return the operations that read what an update guards by its ETag."""
    updates = (decision.trait(Update) for decision in decisions)
    return frozenset(update.read for update in updates if update is not None and update.etag and update.read)


def added(decision: Decision, parameters: Iterable[Parameter], returns: ReturnType) -> list[Parameter]:
    """Return the adapter's own parameters of an operation."""
    if decision.category is not Category.READ:
        adapter_parameters = [
            _adapter_parameter("dry_run", {"type": "boolean", "default": False}, "Show the request, and send nothing")
        ]
        update = decision.trait(Update)
        declared = any(
            parameter.location == "header" and parameter.wire.lower() == "if-match" for parameter in parameters
        )
        if update is not None and update.etag and not declared:
            adapter_parameters.append(
                _adapter_parameter("if_match", {"type": "string"}, "Only if the resource still has this `_etag`")
            )
        return adapter_parameters
    adapter_parameters = []
    paging = paged(decision)
    if paging is not None:
        adapter_parameters += _pages(paging)
    if paging is not None or returns["name"] not in _NO_FIELDS:
        usual = "full"
        if decision.verb in _SEARCHES:
            usual = "minimal"
        elif paging is not None or decision.verb == "list" or returns["name"] == "array":
            usual = "standard"
        schema = {**SELECTION, "default": usual}
        adapter_parameters.append(
            _adapter_parameter(
                "fields", schema, "Fields to return: minimal, standard or full, or paths such as 'owner.id'"
            )
        )
    return adapter_parameters


def _pages(paging: Pagination) -> list[Parameter]:
    most = MOST if paging.size_max is None else min(MOST, paging.size_max)
    size: dict[str, Json] = {"type": "integer", "minimum": 1}
    text: dict[str, Json] = {"type": "string", "minLength": 1}
    page_parameters = [
        _adapter_parameter(
            "first", {**size, "default": min(DEFAULT_SIZE, most)}, f"How many items; at most {most} are given"
        ),
        _adapter_parameter("after", text, "Go on after `pageInfo.endCursor` of the page before; give `first` too"),
    ]
    if backward(paging):
        page_parameters += [
            _adapter_parameter("last", size, f"How many items from the end; at most {most} are given"),
            _adapter_parameter("before", text, "Items before `pageInfo.startCursor` of a page; give `last` too"),
        ]
    return page_parameters


def _adapter_parameter(name: str, schema: Mapping[str, Json], description: str) -> Parameter:
    return Parameter(name=name, wire=name, location=ADAPTER, required=False, schema=schema, description=description)


def paging_parameters(
    paging: Pagination, parameters: Iterable[Parameter]
) -> tuple[tuple[Parameter, ...], tuple[Parameter, ...]]:
    """Split the parameters into those that are shown and those that `first` and `after` replace."""
    wires = {wire for _, wire in paging.roles}
    places = () if paging.within is not None else (paging.location or "query",)
    shown, hidden = [], []
    for parameter in parameters:
        if parameter.location in places and parameter.wire in wires:
            hidden.append(parameter)
        else:
            shown.append(parameter)
    return tuple(shown), tuple(hidden)


def page_of(returns: ReturnType) -> ReturnType:
    """Return what a paged operation returns."""
    of = returns.get("description", "") if returns["name"] == "array" else f"Of a {returns['name']}"
    items = f"`items`: {of[:1].lower()}{of[1:]}" if of else "`items`"
    return {"name": "object", "kind": "object", "description": f"{items}; `pageInfo`: a PageInfo"}
