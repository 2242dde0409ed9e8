# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The operation `introspect`: what can be called, how, and what comes back (specification, 7; R-INT-1 to 7).

Its answers are closed: nothing beside success and data, and errors of code and message only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from . import protocol
from .aliases import Alias, Aliases
from .config import Config
from .envelope import Envelope
from .errors import Code, Failure, unknown_operation
from .loop_operations import active_operations, inactive, types_of
from .query import checked
from .registry import ProtocolOperation
from .search import Index
from .shapes import folded
from .spellings import Spellings
from .table import FAMILIES, Adapter, JsonSchema, Row, Table
from .text import clean, line
from .tools import tool_name
from .typeinfo import parameter_info, type_details, type_info

__all__ = ["Introspection"]

_SEARCH_FIRST = 10
"""How many are found unless asked for more; what is sought is nearly always among them."""


class Introspection:
    """Answers from the operation table alone (R-INT-7); lists are made once."""

    def __init__(self, adapter: Adapter, table: Table, config: Config) -> None:
        self._adapter = adapter
        self._table = table
        self._config = config
        self._aliases = Aliases(table)
        self._spellings = Spellings(table)
        self._protocol = {one.name: one for one in active_operations(adapter, config)}

    def answer(self, params: Mapping[str, Any], session_id: str | None) -> Envelope:
        """Answer one introspection, always with an envelope."""
        try:
            return {"success": True, "data": self._data(params, session_id)}
        except Failure as failure:
            return {"success": False, "error": {"code": failure.code.value, "message": failure.message}}

    def unknown(self, operation: str) -> Failure:
        """NOT_FOUND_OPERATION with the nearest names."""
        reason = inactive(operation)
        if reason is not None:
            return Failure(Code.NOT_FOUND_OPERATION, reason, {"operation": operation})
        ended = self._aliases.ended(operation)
        if ended is not None:
            reason = f"Operation '{ended.name}' ended after {ended.until}. Use '{ended.operation}'."
            return Failure(Code.NOT_FOUND_OPERATION, reason, {"operation": ended.name, "available": [ended.operation]})
        shown = line(operation, 200)
        names = [info["name"] for info in self._list]
        near = self._spellings.near(shown, names, self._operations_index) if shown else []
        return unknown_operation(line(shown, 64), near)

    def find(self, name: str, first: str | None = None) -> Row | None:
        """Find a row by the agent's name, or else by an alias or the API's own spelling of it (R-REQ-2)."""
        row = self._table.find(name, first)
        if row is not None:
            return row
        alias = self.alias(name)
        known = self._spellings.find(name) if alias is None else alias.operation
        return None if known is None else self._table.find(known, first)

    def alias(self, name: str) -> Alias | None:
        """Give the alias that a name is, as long as it is answered; a name that an operation has is none."""
        return self._aliases.find(name)

    def _data(self, params: Mapping[str, Any], session_id: str | None) -> dict[str, Any]:
        query = checked(params, self._config.max_list)
        name = params.get("name")
        if query == "operations":
            if name is not None:
                return {"operation": self._operation(name)}
            return self._operations(params, session_id)
        if name is not None:
            return {"type": self._type(name)}
        return {"types": self._types(params)}

    # Operations

    @cached_property
    def _list(self) -> list[dict[str, Any]]:
        own = {key: protocol.INTROSPECT[key] for key in ("name", "semantic_category", "endpoint", "description")}
        brought = [
            {
                "name": one.name,
                "semantic_category": one.family.upper(),
                "endpoint": one.family,
                "description": one.description,
            }
            for one in self._protocol.values()
        ]
        return [own, *brought] + [
            {
                "name": name,
                "semantic_category": family.upper(),
                "endpoint": family,
                "description": line(row["summary"], 200),
            }
            for family in FAMILIES
            for name, row in self._table.raw(family).items()
        ]

    @cached_property
    def _resources(self) -> dict[str, str]:
        return {name: row["resource"] for family in FAMILIES for name, row in self._table.raw(family).items()}

    @cached_property
    def _operations_index(self) -> Index:
        return Index((one["name"], self._resources.get(one["name"], ""), one["description"]) for one in self._list)

    def _operations(self, params: Mapping[str, Any], session_id: str | None) -> dict[str, Any]:
        chosen = self._list
        search, category, resource = params.get("search"), params.get("category"), params.get("resource")
        if search is not None:
            by_name = {one["name"]: one for one in chosen}
            chosen = [by_name[name] for name in self._operations_index.search(search)]
        if category is not None:
            chosen = [one for one in chosen if one["semantic_category"] == category.upper()]
        if resource is not None:
            wanted = resource.strip().lower().replace("-", "_").replace(" ", "_")
            singular = {wanted, wanted.removesuffix("s")}
            chosen = [one for one in chosen if self._resources.get(one["name"], "").lower() in singular]
        narrowed = any(key in params for key in ("search", "category", "resource", "after"))
        page, bounds = self._page(params, chosen, search is not None, lambda one: str(one["name"]))
        about: dict[str, Any] = (
            {"version": self._adapter.spec_version}
            if narrowed
            else protocol.metadata(self._adapter, self._config, session_id)
        )
        if narrowed or len(page) < len(chosen):
            about["page"] = bounds
        return {"_protocol": about, "operations": page}

    def _page(
        self, params: Mapping[str, Any], chosen: Sequence[Any], ranked: bool, key: Callable[[Any], str]
    ) -> tuple[list[Any], dict[str, Any]]:
        most = self._config.max_list
        first = params.get("first") or (min(_SEARCH_FIRST, most) if ranked else most)
        start = 0
        after = params.get("after")
        if after is not None:
            keys = [key(one) for one in chosen]
            if after not in keys:
                raise Failure(
                    Code.INVALID_VALUE,
                    "Parameter 'after' is not an entry of this list. Use `_protocol.page.next` of the page before.",
                )
            start = keys.index(after) + 1
        page = list(chosen[start : start + first])
        more = start + len(page) < len(chosen)
        return page, {"total": len(chosen), "first": first, "next": key(page[-1]) if page and more else None}

    def _operation(self, name: str) -> dict[str, Any] | None:
        if name == "introspect":
            return self._introspect()
        if name in self._protocol:
            return self._brought(self._protocol[name])
        row = self.find(name)
        if row is None:
            return None
        alias = None if row.name == name else self.alias(name)
        details: dict[str, Any] = {
            "name": row.name,
            "semantic_category": row.category,
            "endpoint": row.family,
            "mcpTool": tool_name(self._config, row.family),
            "description": self._description(row) if alias is None else alias.describe(self._description(row)),
            "permissions": dict(protocol.PERMISSIONS[row.category]),
            "parameters": [
                parameter_info(one, self._table.types) for name, one in row.parameters.items() if name not in row.hidden
            ],
            "returns": self._returns(row),
        }
        if row.example is not None:
            details["examples"] = [{"request": {"operation": row.name, "params": dict(row.example)}}]
        return details

    def _returns(self, row: Row) -> dict[str, Any]:
        """Give what the row says, with the kind that the type's own details show."""
        returns = dict(row.returns)
        schema = self._table.types.get(returns["name"])
        if schema is not None:
            returns["kind"] = type_details(returns["name"], schema, self._table.types)["kind"]
        return returns

    @staticmethod
    def _description(row: Row) -> str:
        text = clean(row.description, 4000)
        if row.relative:
            text += f" (a kind of {row.relative})"
        return f"Deprecated. {text}" if row.deprecated else text

    def _brought(self, operation: ProtocolOperation) -> dict[str, Any]:
        """Describe an operation that the protocol brings."""
        details: dict[str, Any] = {
            "name": operation.name,
            "semantic_category": operation.family.upper(),
            "endpoint": operation.family,
            "mcpTool": tool_name(self._config, operation.family),
            "description": operation.description,
            "permissions": dict(protocol.PERMISSIONS[operation.family.upper()]),
            "parameters": [dict(one) for one in operation.parameters],
            "returns": dict(operation.returns),
            "examples": [
                {"description": about, "request": {"operation": operation.name, "params": dict(params)}}
                for about, params in operation.examples
            ],
        }
        if operation.lifecycle is not None:
            details["lifecycle"] = dict(operation.lifecycle)
        return details

    def _introspect(self) -> dict[str, Any]:
        own = protocol.INTROSPECT
        names = [one["name"] for one in self._list]
        words = {"{operation}": names[-1], "{resource}": next(iter(self._resources.values()), "introspect")}
        return {
            "name": own["name"],
            "semantic_category": own["semantic_category"],
            "endpoint": own["endpoint"],
            "mcpTool": tool_name(self._config, own["endpoint"]),
            "description": own["description"],
            "permissions": dict(protocol.PERMISSIONS["READ"]),
            "parameters": [
                {**one, "maximum": self._config.max_list} if one["name"] == "first" else one
                for one in own["parameters"]
            ],
            "returns": own["returns"],
            "examples": [
                {
                    "description": one["description"],
                    "request": {
                        "operation": "introspect",
                        "params": {key: words.get(value, value) for key, value in one["params"].items()},
                    },
                }
                for one in own["examples"]
            ],
        }

    # Types

    @cached_property
    def _own_types(self) -> Mapping[str, Mapping[str, Any]]:
        return {**protocol.TYPES, **types_of(self._protocol.values())}

    @cached_property
    def _type_list(self) -> list[dict[str, Any]]:
        own = [
            {"name": name, "kind": one["kind"], "description": one["description"]}
            for name, one in self._own_types.items()
        ]
        types: Mapping[str, JsonSchema] = self._table.types
        return [type_info(name, one, types) for name, one in types.items() if name not in self._own_types] + own

    @cached_property
    def _types_index(self) -> Index:
        return Index((one["name"], "", one.get("description", "")) for one in self._type_list)

    def _types(self, params: Mapping[str, Any]) -> list[dict[str, Any]]:
        """List the types. The answer has no room for a page's bounds, so past the bound it is whole but terse."""
        chosen = self._type_list
        search = params.get("search")
        if search is not None:
            by_name = {one["name"]: one for one in chosen}
            chosen = [by_name[name] for name in self._types_index.search(search)]
        if search is not None or "first" in params or "after" in params:
            return self._page(params, chosen, search is not None, lambda one: str(one["name"]))[0]
        if len(chosen) > self._config.max_list:
            return [{"name": one["name"], "kind": one["kind"]} for one in chosen]
        return list(chosen)

    def _type(self, name: str) -> dict[str, Any] | None:
        own = self._own_types.get(name)
        if own is not None:
            return {"name": name, **own}
        types = self._table.types
        if name not in types:
            name = next((one for one in types if folded(one) == folded(name)), name)
        schema = types.get(name)
        return None if schema is None else type_details(name, schema, types)
