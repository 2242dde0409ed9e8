# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The parameters of `introspect`, checked as those of any operation are (R-REQ-3, R-REQ-4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import protocol
from .arguments import json_type
from .errors import Code, Failure
from .text import line

__all__ = ["checked"]

_PARAMETERS = tuple(one["name"] for one in protocol.INTROSPECT["parameters"])


def checked(params: Mapping[str, Any], max_list: int) -> str:
    """Check the parameters of introspect and give the query; None counts as absent. Raises Failure."""
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
        kind, right = ("integer", int) if name == "first" else ("string", str)
        if value is not None and (not isinstance(value, right) or isinstance(value, bool)):
            raise Failure(Code.INVALID_TYPE, f"Parameter '{name}' expected '{kind}', got '{json_type(value)}'")
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
