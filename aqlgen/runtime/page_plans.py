# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""How an operation pages, by what the generator found of it, under the agent's names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .page_params import number
from .pointers import agent_path, schema_at

if TYPE_CHECKING:
    from .table import Parameter, Row, Table

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
    """Give the plan of an operation that pages."""
    trait = row.pagination or {}
    good = sorted(status for status in row.responses if status.startswith("2")) or ["default"]
    schema = row.responses.get(good[0], {}).get("schema") or {}
    style = trait["style"]
    parameters = [row.parameters[name] for name in row.parameters]

    def path(key: str, of: Mapping[str, Any] = schema) -> tuple[str, ...] | None:
        return agent_path(table, of, trait[key]) if key in trait else None

    def named(key: str) -> str | None:
        place = trait.get("in", "query")
        found = [one for one in parameters if one.wire == trait.get(key) and one.location == place]
        return found[0].name if found else trait.get(key) if "within" in trait else None

    lead, size = named(f"{style}_param" if style in ("page", "offset") else "cursor_param"), named("size_param")
    most = min(_MOST, trait.get("size_max", _MOST))
    items = path("items") or ()
    sized = row.parameters.get(size or "")
    usual = 0 if sized is None else number(sized.schema.get("default")) or 0
    within: tuple[str, ...] = ()
    if "within" in trait:
        body = row.body
        within = agent_path(table, {} if body is None else body.schema, trait["within"])
    told = trait.get("next")
    return Plan(
        style=style,
        lead=lead,
        size=size,
        before=named("before_param"),
        most=most,
        usual=min(_USUAL, most),
        surely=max(usual, trait.get("size_max", 0)),
        start=_start(row.parameters.get(lead or ""), style),
        items=items,
        next=told.lower() if trait.get("next_in") == "header" and told else path("next"),
        has_more=path("has_more"),
        total=path("total"),
        item_cursor=path("item_cursor", schema_at(table, schema, items, items=True)),
        within=within,
        by_url=style in ("link", "next_url"),
        depth=len(row.path.partition("?")[0].strip("/").split("/")),
    )


def _start(parameter: Parameter | None, style: str) -> int:
    """Give the number of the first page, or the first offset."""
    if parameter is not None:
        for key in ("default", "minimum"):
            told = number(parameter.schema.get(key))
            if told is not None and (key == "default" or told > 0 or style == "page") and told in (0, 1):
                return told
        if _FROM_ZERO.search(parameter.description):
            return 0
    return 1 if style == "page" else 0
