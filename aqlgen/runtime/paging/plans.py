# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""How an operation pages, by what the generator found of it, under the agent's names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..schema.reader import agent_path, schema_at
from .parameters import number

if TYPE_CHECKING:
    from ..table import JsonSchema, Parameter, Row, Table

__all__ = ["Plan", "prepare"]

_MOST, _USUAL = 100, 20
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
    surely: int
    start: int
    items: tuple[str, ...]
    next: tuple[str, ...] | str | None
    has_more: tuple[str, ...] | None
    total: tuple[str, ...] | None
    item_cursor: tuple[str, ...] | None
    within: tuple[str, ...]
    by_url: bool
    depth: int


def prepare(row: Row, table: Table) -> Plan:
    """Return the plan of an operation that the adapter pages."""
    paging = row.paging
    assert paging is not None  # noqa: S101 - asked of such operations only
    good = sorted(status for status in row.responses if status.startswith("2")) or ["default"]
    schema: JsonSchema = row.responses.get(good[0], {}).get("schema") or {}
    parameters = list(row.parameters.values())

    def path(pointer: str | None, of: JsonSchema = schema) -> tuple[str, ...] | None:
        return None if pointer is None else agent_path(table.types, of, pointer)

    def named(wire: str | None) -> str | None:
        place = paging.location or "query"
        name = next((one.name for one in parameters if one.wire == wire and one.location == place), None)
        return wire if name is None and paging.within is not None else name

    lead, size = named(paging.lead_param), named(paging.size_param)
    most = min(_MOST, _MOST if paging.size_max is None else paging.size_max)
    items = path(paging.items) or ()
    sized = row.parameters.get(size or "")
    usual = 0 if sized is None else number(sized.schema.get("default")) or 0
    within = path(paging.within, {} if row.body is None else row.body.schema) or ()
    return Plan(
        style=paging.style,
        lead=lead,
        size=size,
        before=named(paging.before_param),
        most=most,
        usual=min(_USUAL, most),
        surely=max(usual, paging.size_max or 0),
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
            told = number(parameter.schema.get(key))
            if told is not None and (key == "default" or told > 0 or style == "page") and told in (0, 1):
                return told
        if _FROM_ZERO.search(parameter.description):
            return 0
    return 1 if style == "page" else 0
