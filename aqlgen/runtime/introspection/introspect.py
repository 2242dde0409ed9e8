"""The operation `introspect`: what can be called, how, and what comes back (specification, 7; R-INT-1 to 7).

Its answers are closed: nothing beside success and data, and errors of code and message only. Each is bounded in
tokens (`max_answer_tokens`). Its parameters are checked as those of any operation are.

The queries `operations` and `types` are the protocol's own, and so are their answers. The query `search` is ours: it
answers words with the description of the operation that they mean most probably, and names with the descriptions of
all of them. So are `danger`, the levels of operations and what the policy does with them, and `warnings`, those given
so far.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..errors import Code, Failure, unknown_operation
from ..safety.operations import SPECIFIED, active_operations, inactive, reserved, types_of
from ..safety.policy import Policy
from ..settings.config import Config
from ..table import ADAPTER, Adapter, Parameter, Row, Table
from ..text import escaped_data, folded, line, tokens_of
from ..warnings import is_among
from . import Bounds, checked_query, names_of, protocol, refuse_narrowing
from .fields import more_note, type_details, type_info, with_notes
from .info import (
    PARAMETERS,
    introspect_details,
    operation_details,
    operation_info,
    operation_type,
    protocol_operation_details,
    workflow_operations,
)
from .outline import Outlines, outline, type_outline
from .ranking import Found
from .search import Alias, Aliases, Search, Spellings, spellings_of_resource

if TYPE_CHECKING:
    from ..warnings import History
    from .danger import Dangers

_SEARCH_FIRST = 10
"""Results of a search unless more are asked for; what is sought is nearly always among them."""
_OTHERS_FIRST, _OTHERS_OF_CLEAR = 4, 2
"""Results that a search names beside the one that it describes, unless more are asked for; fewer if that is clear."""
_MOST_UNKNOWN, _LONGEST_NAME = 8, 500
_ENVELOPE = 60  # tokens of an answer beside its entries
_SUMMARY = 120  # tokens of what stands beside the entries of danger and warnings
_NOBODY = (
    "No warnings are kept: this call has no session, and the adapter does not know who calls. Each answer carries "
    "its own warnings."
)
_TOKEN = Parameter(
    name="confirmation_token", location=ADAPTER, wire="confirmation_token", schema={"type": "string"},
    description=protocol.OPTIONS["confirmation_token"],
)  # fmt: skip


class Introspection:
    """Answers from the operation table alone (R-INT-7); lists are built once."""

    def __init__(
        self, adapter: Adapter, table: Table, config: Config, asks: Callable[[Row], bool] | None = None
    ) -> None:
        """Make it for an adapter; `asks` says whether a call of an operation may have to be confirmed."""
        self._adapter = adapter
        self._table = table
        self._config = config
        self._asks = asks or Policy(config, table).asks
        self._aliases = Aliases(table)
        self._spellings = Spellings(table)
        self.workflows = tuple(workflow_operations(table))
        operations = (*active_operations(adapter, config), *self.workflows)
        self._protocol_operations = {operation.name: operation for operation in operations}
        prefixes = frozenset(section.prefix or name for name, section in adapter.apis.items())
        self._outlines = Outlines(table, self._asks, adapter.common.keys())
        self._search = Search(table, self._protocol_operations.values(), prefixes)

    def answer(
        self, params: Mapping[str, Any], session_id: str | None, history: History | None = None
    ) -> dict[str, Any]:
        """Answer one query (`as_query`), always with an envelope; `history` has the caller's warnings, if kept."""
        try:
            return {"success": True, "data": escaped_data(self._data(params, session_id, history))}
        except Failure as failure:
            return {"success": False, "error": {"code": failure.code.value, "message": failure.message}}

    def unknown(self, operation: str, param_names: Collection[str] = (), family: str | None = None) -> Failure:
        """Return NOT_FOUND_OPERATION with the nearest operations for a call's parameters and the family of its tool."""
        reserved_name = reserved(operation)
        if reserved_name in self._protocol_operations or reserved_name == "introspect":
            reason = f"Unknown operation: '{line(operation, 64)}'. The adapter's own operation is '{reserved_name}'."
            return Failure(
                Code.NOT_FOUND_OPERATION, reason, {"operation": line(operation, 64), "available": [reserved_name]}
            )
        why = None if reserved_name is None else inactive(reserved_name)
        if why is not None:
            return Failure(Code.NOT_FOUND_OPERATION, why, {"operation": line(operation, 64)})
        ended = self._aliases.ended(operation)
        if ended is not None:
            reason = f"Operation '{ended.name}' ended after {ended.until}. Use '{ended.operation}'."
            return Failure(Code.NOT_FOUND_OPERATION, reason, {"operation": ended.name, "available": [ended.operation]})
        shown = line(operation, 200)
        if not shown:
            return unknown_operation("", {})
        hits, sure = self._search.near(shown, self._spellings, param_names, family)
        candidates = {hit.name: hit.summary for hit in hits}
        candidates |= {hit.name: self._in_short(hit.name, hit.summary) for hit in hits[:1]}
        return unknown_operation(line(shown, 64), candidates, sure)

    def find(self, name: str, first: str | None = None) -> Row | None:
        """Find a row by the agent's name, or else by an alias or the API's own spelling of it (R-REQ-2).

        No other name of a row is one that the adapter itself has (8.5.4).
        """
        row = self._table.find(name, first)
        if row is not None:
            return row
        if reserved(name) is not None:
            return None
        alias = self.alias(name)
        operation = self._spellings.find(name) if alias is None else alias.operation
        return None if operation is None else self._table.find(operation, first)

    def alias(self, name: str) -> Alias | None:
        """Return the alias of that name, as long as it is answered; the name of an operation is not an alias."""
        return self._aliases.find(name)

    def _data(self, params: Mapping[str, Any], session_id: str | None, history: History | None) -> dict[str, Any]:
        query = checked_query(params, self._adapter.apis)
        match query:
            case protocol.QUOTA_STATUS:
                return {"adapter": self._adapter.name, "quotas": []}
            case protocol.ADAPTER_INFO:
                trust = {"level": self._config.trust_level, **self._config.trust.shown()}
                apis = {"apis": protocol.apis_of(self._adapter)} if self._adapter.apis else {}
                return {"name": self._adapter.name, "version": self._adapter.version, "trust": trust, **apis}
            case "options":
                return {"options": {**self._adapter.common, **protocol.OPTIONS}}
            case protocol.REVOKE_TOKEN if params.get("token") is None:
                raise Failure(Code.MISSING_PARAM, "Query 'revoke_token' needs token, the confirmation token to revoke.")
            case protocol.REVOKE_TOKEN:
                return {}
            case "warnings" | "danger":
                return self._of_calls(query, params, history)
        names = names_of(params, query)
        if names is not None:
            return self._described(names, whole=params.get("all") is True)
        name = params.get("name")
        match query:
            case "search":
                return self._matches(params)
            case "operations":
                return (
                    self._operations(params, session_id)
                    if name is None
                    else {"operation": self._operation(name, whole=params.get("all") is True)}
                )
        return (
            {"types": self._types(params)}
            if name is None
            else {"type": self._type(name, Bounds.of(params, None, self._tokens))}
        )

    def _of_calls(self, query: str, params: Mapping[str, Any], history: History | None) -> dict[str, Any]:
        """Return the dangers of calls of operations, or the warnings of the calls so far."""
        names = names_of(params, query)
        if names is None:
            names = [] if params.get("name") is None else [params["name"]]
        bounds = Bounds.of(params, self._config.max_list, self._tokens - _SUMMARY)
        if query == "danger":
            return self._dangers.answer(params, names, bounds, self._wanted(params))
        spelled = [row.name for name in names if (row := self.find(name)) is not None]
        return _warnings_so_far(history, params, [*names, *spelled], bounds)

    @property
    def _tokens(self) -> int:
        return self._config.max_answer_tokens - _ENVELOPE

    # The queries of our own: danger, and from words or names to descriptions

    @cached_property
    def _dangers(self) -> Dangers:
        from .danger import Dangers

        return Dangers(self._table, self._config, self._protocol_operations, self.find)

    def _matches(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Describe the operation that a text means most probably, and name others by their summaries."""
        if params.get("search") is None:
            raise Failure(
                Code.MISSING_PARAM,
                "Query 'search' needs search, the words to find an operation by, or name, the operations or types "
                "to describe, as a list.",
            )
        matches = self._found(params)
        hits, data = list(matches.hits), dict[str, Any](operations=[])
        if hits and params.get("after") is None:
            details = self._outline(hits[0].name)
            data["operations"] = [details] if details else []
            del hits[0]
        infos = [{"name": hit.name, "description": hit.summary} for hit in hits]
        first = self._compared(infos, matches) if data["operations"] else _SEARCH_FIRST
        others, _ = Bounds.of(params, first, max(1, self._tokens - tokens_of(data))).page(infos)
        data["others"] = {info["name"]: info["description"] for info in others}
        return data | self._doubt(matches)

    def _compared(self, infos: Sequence[dict[str, str]], matches: Found) -> int:
        """Compare the operations beside the described one with it, and return how many to name."""
        best, equals = matches.hits[0], 0
        for place, info in enumerate(infos[:_OTHERS_FIRST]):
            if info["description"] == best.summary:
                equals += 1
                calls = {self._in_short(name, best.summary) for name in (info["name"], best.name)}
                info["description"] = best.summary if len(calls) > 1 else f"Same tool and parameters as {best.name}"
            elif matches.weak or place < matches.near:
                info["description"] = self._in_short(info["name"], info["description"])
        return _OTHERS_FIRST if matches.near > 1 or equals > 1 or matches.unknown else _OTHERS_OF_CLEAR

    def _in_short(self, name: str, summary: str) -> str:
        """Return an operation's summary, its tool and the names of its parameters: enough for a plain call."""
        row = None if name in self._protocol_operations else self.find(name)
        return summary if row is None else f"{summary} ({self._outlines.names(row, self._config)})"

    def _doubt(self, matches: Found) -> dict[str, Any]:
        """Return the doubt of a search that found nothing, or probably not what is meant; empty for any other."""
        if not matches.weak:
            return {}
        doubt: dict[str, Any] = (
            {"match": "weak"} if matches.hits else {"match": "nothing", "resources": self._search.resources}
        )
        return {**doubt, "unknown": [line(word, 40) for word in matches.unknown[:_MOST_UNKNOWN]]}

    def _outline(self, name: str, *, whole: bool = False) -> dict[str, Any] | None:
        details = self._operation(name, whole=whole)
        row = None if name in self._protocol_operations else self.find(name)
        if details is None or row is None:
            return None if details is None else outline(details)
        return self._outlines.of(details, row, None if _TOKEN.name in row.parameters else _TOKEN.name)

    def _described(self, names: Sequence[str], *, whole: bool = False) -> dict[str, Any]:
        """Describe operations, or else types, as far as an answer holds them; for an unknown name propose others.

        With `whole` their texts are not cut.
        """
        data: dict[str, Any] = {"operations": [], "types": [], "unknown": {}, "left": []}
        room = self._tokens
        for index, name in enumerate(names):
            operation = self._outline(name, whole=whole)
            details = self._type(name, Bounds(tokens=self._tokens)) if operation is None else operation
            if details is not None and operation is None and not whole:
                details = type_outline(details)
            if details is None:
                hits, _ = self._search.near(line(name, 64), self._spellings)
                data["unknown"][line(name, 64)] = [hit.name for hit in hits]
                continue
            room -= tokens_of(details)
            if room < 0 and (data["operations"] or data["types"]):
                data["left"] = list(names[index:])
                break
            data["types" if operation is None else "operations"].append(details)
        return {key: value for key, value in data.items() if value or key == "operations"}

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
    def _owners(self) -> dict[str, tuple[str, str]]:
        """The resource and the API of each operation."""
        return {name: (resource, api) for name, _, (resource, api) in self._table.values("resource", "api")}

    def _wanted(self, params: Mapping[str, Any]) -> Callable[..., bool]:
        """Return the test of whether a list is narrowed to an operation, by its name, family and resource.

        The table is read for what it is not given.
        """
        category, resource, api = params.get("category"), params.get("resource"), params.get("api")
        spellings = None if resource is None else spellings_of_resource(resource)

        def wanted(name: str, family: str, resource: str | None = None) -> bool:
            if category is not None and family != category.lower():
                return False
            if spellings is not None:
                owner = self._owners.get(name, ("", ""))[0] if resource is None else resource
                if owner.lower() not in spellings:
                    return False
            return api is None or self._owners.get(name, ("", ""))[1] == api

        return wanted

    def _found(self, params: Mapping[str, Any]) -> Found:
        """Return the finds of a search among the wanted operations."""
        if all(params.get(name) is None for name in ("category", "resource", "api")):
            return self._search.find(params["search"])
        wanted = self._wanted(params)
        return self._search.find(params["search"], lambda hit: wanted(hit.name, hit.family, hit.resource))

    def _operations(self, params: Mapping[str, Any], session_id: str | None) -> dict[str, Any]:
        """List the operations, searched and filtered, with `_protocol` in full only before the whole list."""
        search = params.get("search")
        doubt: dict[str, Any] = {}
        if search is not None:
            matches = self._found(params)
            doubt = self._doubt(matches)
            infos = [operation_info(hit.name, hit.family, hit.summary) for hit in matches.hits]
        else:
            wanted = self._wanted(params)
            infos = [info for info in self._operation_list if wanted(info["name"], info["endpoint"])]
        narrowed = any(key in params for key in ("search", "category", "resource", "api", "after"))
        metadata: dict[str, Any] = {"version": self._adapter.spec_version}
        if not narrowed:  # with what goes beyond the protocol (specification, 10.3)
            added = [name for name in self._protocol_operations if name not in {*SPECIFIED, *self._table.workflows}]
            extensions = {"extensions": {**protocol.EXTENSIONS, "operations": added}}
            metadata = protocol.metadata(self._adapter, self._config, session_id) | extensions
        first = self._config.max_list if search is None else min(_SEARCH_FIRST, self._config.max_list)
        room = max(1, self._tokens - tokens_of(metadata))
        bounds = Bounds.of(params, first, room, counted=search is None)
        page, left = bounds.page(infos)
        if narrowed or left:
            metadata["page"] = bounds.described(page, len(infos), left)
        if doubt:
            metadata["search"] = doubt
        return {"_protocol": metadata, "operations": page}

    def _operation(self, name: str, *, whole: bool = False) -> dict[str, Any] | None:
        if name == "introspect":
            last = self._operation_list[-1]["name"]
            resource = next((resource for resource, _ in self._owners.values()), "introspect")
            return introspect_details(self._config, last, resource, tuple(self._adapter.apis))
        if name in self._protocol_operations:
            return protocol_operation_details(self._protocol_operations[name], self._config)
        row = self.find(name)
        if row is None:
            return None
        alias = None if row.name == name else self.alias(name)
        return operation_details(self._with_token(row), self._table, self._config, alias, whole=whole)

    def _with_token(self, row: Row) -> Row:
        """Return an operation with the parameter for a confirmation token, if agents may have to send one."""
        names = row.parameters.keys() | row.wire_names.keys()
        if self._config.confirmation.approval != "agent" or _TOKEN.name in names or not self._asks(row):
            return row
        return replace(row, shown_parameters={**row.shown_parameters, _TOKEN.name: _TOKEN})

    # Types

    @cached_property
    def _protocol_types(self) -> Mapping[str, Mapping[str, Any]]:
        return {**protocol.TYPES, **types_of(self._protocol_operations.values())}

    @cached_property
    def _type_list(self) -> list[dict[str, Any]]:
        types = self._table.types
        return [
            *(
                {"name": name, "kind": details["kind"], "description": details["description"]}
                for name, details in self._protocol_types.items()
            ),
            *(type_info(name, schema, types) for name, schema in types.items() if name not in self._protocol_types),
        ]

    def _types(self, params: Mapping[str, Any]) -> list[dict[str, Any]]:
        """List the types. The answer has no room for a page's bounds: the last entry of a page says how to go on."""
        infos = self._type_list
        refuse_narrowing(params, "types", ("search",))
        page, left = Bounds.of(params, self._config.max_list, self._tokens, counted=True).page(infos)
        if left:
            last = page[-1]
            description = with_notes(last.get("description", ""), more_note(left))
            page[-1] = {**last, "description": description}
        return page

    def _type(self, name: str, bounds: Bounds) -> dict[str, Any] | None:
        details = self._protocol_types.get(name)
        if details is not None:
            return {"name": name, **details}
        types = self._table.types
        row = self.find(name.removesuffix(PARAMETERS)) if name.endswith(PARAMETERS) else None
        if row is not None:
            return operation_type(self._with_token(row), self._table, bounds)
        if name not in types and len(name) <= _LONGEST_NAME:
            plain = folded(name)
            name = next((other for other in types if folded(other) == plain), name)
        schema = types.get(name)
        return None if schema is None else type_details(name, schema, types, bounds)


def _warnings_so_far(
    history: History | None, params: Mapping[str, Any], names: Sequence[str], bounds: Bounds
) -> dict[str, Any]:
    """Return the warnings of a history; with `names` only those of these operations and codes. Raises Failure.

    A name that ends with an underscore stands for a whole category of codes.
    """
    refuse_narrowing(params, "warnings", ("search", "category", "resource"))
    if history is None:
        return {"warnings": [], "reason": _NOBODY}
    chosen = [
        entry for entry in history if not names or entry.operation in names or is_among(entry.warning.code, names)
    ]
    # The entry that a page ended with may have come again since, and then has another number.
    before = None if bounds.after is None else _number(bounds.after)
    newer = 0 if before is None else sum(entry.number >= before for entry in chosen)
    page, left = Bounds(None, bounds.first, bounds.tokens).page([entry.as_json() for entry in chosen[newer:]])
    return {"warnings": page, "page": bounds.described(page, len(chosen), left)}


def _number(after: str) -> int:
    if not (after.isascii() and after.isdigit() and len(after) <= 12):
        raise Failure(Code.INVALID_VALUE, "Parameter 'after' is the `name` of a warning, such as `page.next`")
    return int(after)
