# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The kinds of content that a call chooses: the row as it is for this call (RFC 9110, 12; OpenAPI, Media Type Object).

A row shows the parameters of all kinds of its body together. The row of a call has those of its own kinds alone, and
their content types, so that validation, request and answer need not know that there was a choice.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import replace
from functools import reduce
from typing import Any

from .parts import ADAPTER
from .row import Choice, Kind, Row

__all__ = ["chosen"]

_PAGES = frozenset({"first", "after", "last", "before"})


def chosen(row: Row, params: Mapping[str, Any]) -> Row:
    """Return the row of a call with the kinds that it chooses; the row itself if there is no choice.

    A choice that is left out is the default, unless the call has parameters that only one other kind has, or is a list
    of operations, which is a JSON Patch. One that names no kind is taken as left out: validation refuses or
    understands it.
    """
    if not row.choices:
        return row
    names = {row.wire_names.get(name, name) for name in params}
    lists = {row.wire_names.get(name, name) for name, value in params.items() if isinstance(value, list)}
    scripts = row.body is not None and row.body.parameter in lists
    return _row(
        row,
        tuple(_kind(choice, params.get(parameter), names, scripts) for parameter, choice in row.choices.items()),
    )


def _kind(choice: Choice, stated: Any, names: Set[str], scripts: bool) -> str:
    """Return the kind that is stated, else the default, or the one that alone has all parameters of a call."""
    if isinstance(stated, str) and stated in choice.kinds:
        return stated
    if stated is None and scripts:
        return next((name for name, kind in choice.kinds.items() if kind.strategy == "json-patch"), choice.default)
    if not names.isdisjoint(choice.kinds[choice.default].without):
        fitting = [name for name, kind in choice.kinds.items() if names.isdisjoint(kind.without)]
        if len(fitting) == 1:
            return fitting[0]
    return choice.default


def _row(row: Row, kinds: tuple[str, ...]) -> Row:
    known = row.rows_by_kinds.get(kinds)
    if known is None:
        pairs = zip(row.choices.values(), kinds, strict=True)
        variant = reduce(_with_kind, ((choice.kinds[kind], kind != choice.default) for choice, kind in pairs), row)
        known = row.rows_by_kinds[kinds] = replace(variant, kinds=kinds)
    return known


def _with_kind(row: Row, kind_and_other: tuple[Kind, bool]) -> Row:
    """Return a row with one kind; `other` says that it is not the default."""
    kind, other = kind_and_other
    shown = {name: parameter for name, parameter in row.shown_parameters.items() if name not in kind.without}
    row = replace(row, shown_parameters={**shown, **kind.parameters}, body=kind.body or row.body)
    if kind.strategy is not None and row.update is not None:
        row = replace(row, update=replace(row.update, strategy=kind.strategy))
    if not (other and kind.responses):
        return row
    responses = {**row.responses, **kind.responses}
    types = dict.fromkeys(response.get("content_type", "") for response in kind.responses.values())
    headers = {name: value for name, value in row.headers.items() if name.lower() != "accept"}
    row = replace(row, responses=responses, headers={**headers, "Accept": ", ".join(filter(None, types))})
    if row.paging is None:
        return row
    # The adapter pages through the default kind; another is asked for by the API's own parameters.
    shown = {name: item for name, item in row.parameters.items() if name not in _PAGES or item.location != ADAPTER}
    return replace(row, shown_parameters=shown, pagination=None)
