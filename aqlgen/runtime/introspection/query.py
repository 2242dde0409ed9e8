# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""The parameters of `introspect`: checked as those of any operation are, and the page that they ask for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import Code, Failure
from ..schema.reader import json_type
from ..text import line
from . import protocol

__all__ = ["checked_query", "page_of"]

_SEARCH_FIRST = 10
"""Results of a search unless more are asked for; what is sought is nearly always among them."""

_PARAMETERS = tuple(parameter["name"] for parameter in protocol.INTROSPECT["parameters"])


def checked_query(params: Mapping[str, Any], max_list: int) -> str:
    """Check the parameters of introspect and return the query; None counts as absent (R-REQ-3, R-REQ-4).

    Raises Failure.
    """
    unknown = [name for name in params if name not in _PARAMETERS]
    if params.get("query") is None:
        raise Failure(Code.MISSING_PARAM, "Missing required parameter 'query'. It is 'operations' or 'types'.")
    if unknown:
        raise Failure(
            Code.UNKNOWN_PARAM,
            f"Unknown parameter(s) for operation 'introspect': {line(', '.join(unknown), 200)}. "
            f"Valid: {', '.join(_PARAMETERS)}.",
        )
    for name, value in params.items():
        expected, python_type = ("integer", int) if name == "first" else ("string", str)
        if value is not None and (not isinstance(value, python_type) or isinstance(value, bool)):
            raise Failure(Code.INVALID_TYPE, f"Parameter '{name}' expected '{expected}', got '{json_type(value)}'")
    query = str(params["query"])
    if query not in ("operations", "types"):
        raise Failure(
            Code.INVALID_VALUE,
            f"Parameter 'query' is '{line(query, 40)}'; allowed values: 'operations', 'types'. "
            "Give name to describe one of them, search to find some.",
        )
    category = params.get("category")
    if category is not None and category.upper() not in protocol.CATEGORIES:
        raise Failure(Code.INVALID_VALUE, f"Parameter 'category' must be one of {', '.join(protocol.CATEGORIES)}")
    first = params.get("first")
    if first is not None and not 1 <= first <= max_list:
        raise Failure(Code.INVALID_VALUE, f"Parameter 'first' must be from 1 to {max_list}; it is {first}")
    return query


def page_of(
    params: Mapping[str, Any], infos: Sequence[dict[str, Any]], most: int, *, ranked: bool
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the entries of one page, and where it stands in the list. Raises Failure."""
    first = params.get("first") or (min(_SEARCH_FIRST, most) if ranked else most)
    start = 0
    after = params.get("after")
    if after is not None:
        names = [info["name"] for info in infos]
        if after not in names:
            raise Failure(
                Code.INVALID_VALUE,
                "Parameter 'after' is not an entry of this list. Use `_protocol.page.next` of the page before.",
            )
        start = names.index(after) + 1
    page = list(infos[start : start + first])
    more = start + len(page) < len(infos)
    return page, {"total": len(infos), "first": first, "next": page[-1]["name"] if page and more else None}
