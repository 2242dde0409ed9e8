# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""How an operation pages, under the agent's names, and the API's own parameters for it: page size and position.

A page size is sent only where the call asks for one, or the API does; else the API's own page is what comes back.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..schema.reader import agent_path, schema_at

if TYPE_CHECKING:
    from ..table import JsonSchema, Parameter, Row, Table

__all__ = ["Plan", "first_lead", "number", "prepare", "put", "request_size"]

_MOST = 100
_DIGITS = 18
_FROM_ZERO = re.compile(
    r"\b(?:zero|0)[- ](?:based|indexed)|\b(?:starts?|starting|begins?) (?:at|from|with) (?:0|zero)\b", re.I
)


@dataclass(frozen=True, slots=True)
class Plan:
    """How one operation pages, under the agent's names. `next` is a path in the answer, or the name of a header."""

    style: str
    lead: str | None
    size: str | None
    before: str | None
    most: int
    usual: int
    """The size of the API's own page, 0 if the document does not say."""
    surely: int
    size_demanded: bool
    start: int
    items: tuple[str, ...]
    next: tuple[str, ...] | str | None
    has_more: tuple[str, ...] | None
    total: tuple[str, ...] | None
    item_cursor: tuple[str, ...] | None
    within: tuple[str, ...]
    by_url: bool
    depth: int

    @property
    def in_header(self) -> bool:
        """True if a header has the next one."""
        return isinstance(self.next, str)


def prepare(row: Row, table: Table) -> Plan:
    """Return the plan of an operation that the adapter pages."""
    paging = row.paging
    assert paging is not None  # noqa: S101 - asked of such operations only
    good = min((status for status in row.responses if status.startswith("2")), default="default")
    schema: JsonSchema = row.responses.get(good, {}).get("schema") or {}
    parameters = list(row.parameters.values())

    def path(pointer: str | None, of: JsonSchema = schema) -> tuple[str, ...] | None:
        return None if pointer is None else agent_path(table.types, of, pointer)

    def named(wire: str | None) -> str | None:
        place = paging.location or "query"
        name = next(
            (parameter.name for parameter in parameters if (parameter.wire, parameter.location) == (wire, place)), None
        )
        return wire if name is None and paging.within is not None else name

    lead, size = named(paging.lead_param), named(paging.size_param)
    most = min(_MOST, _MOST if paging.size_max is None else paging.size_max)
    items = path(paging.items) or ()
    sized = row.parameters.get(size or "")
    usual = number(sized.schema.get("default")) or 0 if sized else 0
    within = path(paging.within, {} if row.body is None else row.body.schema) or ()
    return Plan(
        style=paging.style,
        lead=lead,
        size=size,
        before=named(paging.before_param),
        most=most,
        usual=usual,
        surely=max(usual, paging.size_max or 0),
        size_demanded=size in paging.demanded,
        start=_start(row.parameters.get(lead or ""), paging.style),
        items=items,
        next=paging.next.lower() if paging.next and paging.next_in == "header" else path(paging.next),
        has_more=path(paging.has_more),
        total=path(paging.total),
        item_cursor=path(paging.item_cursor, schema_at(table.types, schema, items, items=True)),
        within=within,
        by_url=paging.style in ("link", "next_url"),
        depth=len(row.path.partition("?")[0].strip("/").split("/")),
    )


def _start(parameter: Parameter | None, style: str) -> int:
    """Return the number of the first page, or the first offset."""
    if parameter is not None:
        for key in ("default", "minimum"):
            value = number(parameter.schema.get(key))
            if value is not None and (key == "default" or value > 0 or style == "page") and value in (0, 1):
                return value
        if _FROM_ZERO.search(parameter.description):
            return 0
    return 1 if style == "page" else 0


def first_lead(row: Row, plan: Plan) -> int | str | None:
    """Return the parameter's value for the first page; None if it can be left out.

    A page or an offset is sent if the API's own default may differ, or if it is required; a required cursor is empty,
    since there is none yet.
    """
    parameter = row.parameters.get(plan.lead or "")
    if parameter is None:
        return None
    demanded = parameter.name in (row.paging.demanded if row.paging is not None else ())
    default = parameter.schema.get("default")
    if plan.style in ("page", "offset"):
        return plan.start if demanded or (number(default) is None and plan.start == 0) else None
    if not demanded:
        return None
    if isinstance(default, (int, str)):
        return default
    kinds = parameter.schema.get("type", "string")
    return "" if "string" in kinds else 0


def request_size(row: Row, plan: Plan, wanted: int) -> int | None:
    """Return the size to request from the API, within the bounds of its parameter; None if it has none."""
    if plan.size is None:
        return None
    parameter = row.parameters.get(plan.size)
    schema: Mapping[str, Any] = {} if parameter is None else parameter.schema
    options = sorted(option for option in schema.get("enum", ()) if isinstance(option, int))
    if options:
        return next((option for option in options if option >= wanted), options[-1])
    least, most = number(schema.get("minimum")), number(schema.get("maximum"))
    wanted = wanted if least is None else max(wanted, least)
    return wanted if most is None else min(wanted, most)


def put(params: dict[str, Any], plan: Plan, row: Row, name: str, value: int | str) -> None:
    """Set a parameter of the API, with the type that it has; objects of the body are copied before they are changed."""
    parameter = row.parameters.get(name)
    if parameter is not None:
        kind = parameter.schema.get("type")
        kinds = kind if isinstance(kind, list) else [kind]
        is_number = "integer" in kinds or "number" in kinds
        if isinstance(value, int) and "string" in kinds and not is_number:
            value = str(value)
        elif isinstance(value, str) and value.isdigit() and is_number:
            value = int(value)
        params[name] = value
        return
    body = row.body
    path = plan.within if body is None or body.shape == "fields" else (body.parameter or "", *plan.within)
    here = params
    for step in path:
        inner = here.get(step)
        here[step] = here = dict(inner) if isinstance(inner, Mapping) else {}
    here[name] = value


def number(value: Any) -> int | None:
    """Return a whole number, also one written as text; None for anything else."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= _DIGITS:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
