# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The operation `introspect`: what can be called, how, and what comes back (specification, 7; R-INT-1 to 7).

Its answers are closed: nothing beside success and data, and errors of code and message only.
Its parameters are checked as those of any operation are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from ..errors import Code, Failure, unknown_operation
from ..safety.loop_operations import active_operations, inactive, types_of
from ..schema.reader import json_type
from ..settings.config import Config
from ..table import Adapter, Row, Table
from ..text import folded, line
from . import protocol
from .info import (
    PARAMETERS,
    introspect_details,
    operation_details,
    operation_info,
    operation_type,
    protocol_operation_details,
    type_details,
    type_info,
)
from .names import Alias, Aliases, Spellings
from .postings import Hit, plain_entry
from .ranking import Ranking
from .search import Search, search_of
from .workflows import workflow_operations

__all__ = ["Introspection"]

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
    if query not in protocol.QUERIES:
        raise Failure(
            Code.INVALID_VALUE,
            f"Parameter 'query' is '{line(query, 40)}'; allowed values: {', '.join(map(repr, protocol.QUERIES))}. "
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


class Introspection:
    """Answers from the operation table alone (R-INT-7); lists are built once."""

    def __init__(self, adapter: Adapter, table: Table, config: Config) -> None:
        self._adapter = adapter
        self._table = table
        self._config = config
        self._aliases = Aliases(table)
        self._spellings = Spellings(table)
        self.workflows = tuple(workflow_operations(table))
        operations = (*active_operations(adapter, config), *self.workflows)
        self._protocol_operations = {operation.name: operation for operation in operations}
        self._search = Search(table, self._protocol_operations.values())

    def answer(self, params: Mapping[str, Any], session_id: str | None) -> dict[str, Any]:
        """Answer one introspection, always with an envelope."""
        try:
            return {"success": True, "data": self._data(params, session_id)}
        except Failure as failure:
            return {"success": False, "error": {"code": failure.code.value, "message": failure.message}}

    def unknown(self, operation: str) -> Failure:
        """Return NOT_FOUND_OPERATION with the nearest operations."""
        reason = inactive(operation)
        if reason is not None:
            return Failure(Code.NOT_FOUND_OPERATION, reason, {"operation": operation})
        ended = self._aliases.ended(operation)
        if ended is not None:
            reason = f"Operation '{ended.name}' ended after {ended.until}. Use '{ended.operation}'."
            return Failure(Code.NOT_FOUND_OPERATION, reason, {"operation": ended.name, "available": [ended.operation]})
        shown = line(operation, 200)
        if not shown:
            return unknown_operation("", {})
        near = self._search.near(shown, self._spellings)
        return unknown_operation(line(shown, 64), {hit.name: hit.summary for hit in near.hits}, near.sure)

    def find(self, name: str, first: str | None = None) -> Row | None:
        """Find a row by the agent's name, or else by an alias or the API's own spelling of it (R-REQ-2)."""
        row = self._table.find(name, first)
        if row is not None:
            return row
        alias = self.alias(name)
        operation = self._spellings.find(name) if alias is None else alias.operation
        return None if operation is None else self._table.find(operation, first)

    def alias(self, name: str) -> Alias | None:
        """Return the alias of that name, as long as it is answered; the name of an operation is no alias."""
        return self._aliases.find(name)

    def _data(self, params: Mapping[str, Any], session_id: str | None) -> dict[str, Any]:
        query = checked_query(params, self._config.max_list)
        name = params.get("name")
        if query == protocol.QUOTA_STATUS:
            return {"adapter": self._adapter.name, "api_limits": {}, "quotas": []}
        if query == "operations":
            if name is not None:
                return {"operation": self._operation(name)}
            return self._operations(params, session_id)
        if name is not None:
            return {"type": self._type(name)}
        return {"types": self._types(params)}

    # Operations

    @cached_property
    def _operation_list(self) -> list[dict[str, Any]]:
        introspect = protocol.INTROSPECT
        return [
            operation_info(introspect["name"], introspect["endpoint"], introspect["description"]),
            *(
                operation_info(operation.name, operation.family, operation.description)
                for operation in self._protocol_operations.values()
            ),
            *(
                operation_info(name, family, line(summary, 200))
                for name, family, (summary,) in self._table.values("summary")
            ),
        ]

    @cached_property
    def _resources(self) -> dict[str, str]:
        return {name: resource for name, _, (resource,) in self._table.values("resource")}

    def _operations(self, params: Mapping[str, Any], session_id: str | None) -> dict[str, Any]:
        """List the operations, searched and filtered, with `_protocol` in full only before the whole list."""
        search, category, resource = params.get("search"), params.get("category"), params.get("resource")
        family = None if category is None else category.lower()
        spellings = None if resource is None else _spellings_of(resource)
        known = True
        if search is not None:
            hits, known = self._search.find(search, _wanted(family, spellings))
            infos = [operation_info(hit.name, hit.family, hit.summary) for hit in hits]
        else:
            infos = [info for info in self._operation_list if family in (None, info["endpoint"])]
            if spellings is not None:
                infos = [info for info in infos if self._resources.get(info["name"], "").lower() in spellings]
        narrowed = any(key in params for key in ("search", "category", "resource", "after"))
        page, bounds = page_of(params, infos, self._config.max_list, ranked=search is not None)
        metadata: dict[str, Any] = (
            {"version": self._adapter.spec_version}
            if narrowed
            else protocol.metadata(self._adapter, self._config, session_id)
        )
        if narrowed or len(page) < len(infos):
            metadata["page"] = bounds
        if not known:
            metadata["search"] = {"match": "nearest", "resources": self._search.resources}
        return {"_protocol": metadata, "operations": page}

    def _operation(self, name: str) -> dict[str, Any] | None:
        if name == "introspect":
            last = self._operation_list[-1]["name"]
            return introspect_details(self._config, last, next(iter(self._resources.values()), "introspect"))
        if name in self._protocol_operations:
            return protocol_operation_details(self._protocol_operations[name], self._config)
        row = self.find(name)
        if row is None:
            return None
        alias = None if row.name == name else self.alias(name)
        return operation_details(row, self._table, self._config, alias)

    # Types

    @cached_property
    def _protocol_types(self) -> Mapping[str, Mapping[str, Any]]:
        return {**protocol.TYPES, **types_of(self._protocol_operations.values())}

    @cached_property
    def _type_list(self) -> list[dict[str, Any]]:
        types = self._table.types
        return [
            *(type_info(name, schema, types) for name, schema in types.items() if name not in self._protocol_types),
            *(
                {"name": name, "kind": details["kind"], "description": details["description"]}
                for name, details in self._protocol_types.items()
            ),
        ]

    @cached_property
    def _type_search(self) -> Ranking:
        return search_of(plain_entry(info["name"], "", "", "", info.get("description", "")) for info in self._type_list)

    def _types(self, params: Mapping[str, Any]) -> list[dict[str, Any]]:
        """List the types. The answer has no room for a page's bounds, so past the bound it is whole but terse."""
        infos = self._type_list
        search = params.get("search")
        if search is not None:
            by_name = {info["name"]: info for info in infos}
            infos = [by_name[hit.name] for hit in self._type_search.search(search)]
        if search is not None or "first" in params or "after" in params:
            return page_of(params, infos, self._config.max_list, ranked=search is not None)[0]
        if len(infos) > self._config.max_list:
            return [{"name": info["name"], "kind": info["kind"]} for info in infos]
        return list(infos)

    def _type(self, name: str) -> dict[str, Any] | None:
        details = self._protocol_types.get(name)
        if details is not None:
            return {"name": name, **details}
        types = self._table.types
        row = self._table.find(name.removesuffix(PARAMETERS)) if name.endswith(PARAMETERS) else None
        if row is not None:
            return operation_type(row, self._table)
        if name not in types:
            name = next((other for other in types if folded(other) == folded(name)), name)
        schema = types.get(name)
        return None if schema is None else type_details(name, schema, types)


def _spellings_of(resource: str) -> set[str]:
    wanted = resource.strip().lower().replace("-", "_").replace(" ", "_")
    return {wanted, wanted.removesuffix("s")}


def _wanted(family: str | None, resources: set[str] | None) -> Callable[[Hit], bool] | None:
    """Return what a search is narrowed to; None for a search of all."""
    if family is None and resources is None:
        return None
    return lambda hit: family in (None, hit.family) and (resources is None or hit.resource.lower() in resources)
