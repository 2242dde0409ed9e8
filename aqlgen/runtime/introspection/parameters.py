# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The parameters of `introspect`, checked as those of any operation are (R-REQ-3, R-REQ-4)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from ..errors import Code, Failure
from ..schema.reader import json_type
from ..text import line
from . import protocol

__all__ = ["checked_query", "names_of"]

_MOST_NAMES = 10
_PARAMETERS = {parameter["name"]: parameter["type"] for parameter in protocol.INTROSPECT["parameters"]}
_QUOTED_QUERIES = ", ".join(f"'{query}'" for query in protocol.QUERIES)
_PYTHON_TYPES = {"integer": int, "boolean": bool}


def checked_query(params: Mapping[str, Any], max_list: int, apis: Collection[str] = ()) -> str:
    """Check the parameters of introspect and return the query; None counts as absent (R-REQ-3, R-REQ-4).

    `apis` are the names of several APIs, of which `api` may be one. Raises Failure.
    """
    known = {**_PARAMETERS, protocol.API["name"]: protocol.API["type"]} if apis else _PARAMETERS
    unknown = [name for name in params if name not in known]
    if params.get("query") is None:
        raise Failure(Code.MISSING_PARAM, f"Missing required parameter 'query'. It is one of {_QUOTED_QUERIES}.")
    if unknown:
        raise Failure(
            Code.UNKNOWN_PARAM,
            f"Unknown parameter(s) for operation 'introspect': {line(', '.join(unknown), 200)}. "
            f"Valid: {', '.join(known)}.",
        )
    for name, value in params.items():
        if value is not None and not (name == "name" and isinstance(value, list)):
            _check_type(name, value, known[name])
    query = str(params["query"])
    if query not in protocol.QUERIES:
        raise Failure(
            Code.INVALID_VALUE,
            f"Parameter 'query' is '{line(query, 40)}'; allowed values: {_QUOTED_QUERIES}. "
            "Give name to describe one of them, search to find some.",
        )
    category = params.get("category")
    if category is not None and category.upper() not in protocol.CATEGORIES:
        raise Failure(Code.INVALID_VALUE, f"Parameter 'category' must be one of {', '.join(protocol.CATEGORIES)}")
    api = params.get("api")
    if api is not None and api not in apis:
        raise Failure(Code.INVALID_VALUE, f"Parameter 'api' is '{line(api, 40)}'; the APIs are {', '.join(apis)}")
    first = params.get("first")
    if first is not None and not 1 <= first <= max_list:
        raise Failure(Code.INVALID_VALUE, f"Parameter 'first' must be from 1 to {max_list}; it is {first}")
    return query


def _check_type(name: str, value: Any, kind: str) -> None:
    python_type = _PYTHON_TYPES.get(kind, str)
    if not isinstance(value, python_type) or (isinstance(value, bool) and python_type is not bool):
        expected = "string" if python_type is str else kind
        raise Failure(Code.INVALID_TYPE, f"Parameter '{name}' expected '{expected}', got '{json_type(value)}'")


def names_of(params: Mapping[str, Any], query: str) -> list[str] | None:
    """Return the names if several are asked for: a list, or of query search a text with commas; None otherwise.

    The protocol's own queries take one name, a text, and answer it as the protocol says. Raises Failure.
    """
    value = params.get("name")
    if isinstance(value, str) and query == "search":
        value = [part.strip(" \t\r\n\"'[]") for part in value.split(",", _MOST_NAMES + 1)]
    if not isinstance(value, list):
        return None
    if not all(isinstance(name, str) for name in value):
        raise Failure(Code.INVALID_TYPE, "Parameter 'name' expected 'string' or a list of them")
    names = [name for name in value if name]
    if not 1 <= len(names) <= _MOST_NAMES:
        count = len(names) if names else "none"
        raise Failure(Code.INVALID_VALUE, f"Parameter 'name' takes 1 to {_MOST_NAMES} names; it has {count}")
    return list(dict.fromkeys(names))
