"""The protocol's own part: capabilities, tool names, types and the operation `introspect` (specification, 7 and 9)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..text import line

if TYPE_CHECKING:
    from ..settings.config import Config
    from ..table import Adapter

TOOL = "mcp_aql"

QUOTA_STATUS = "quota_status"
"""The query about quotas (rate limiting document, 6.1)."""
ADAPTER_INFO = "adapter_info"
"""The query about the adapter and who vouches for it (trust levels, 6.4)."""
REVOKE_TOKEN = "revoke_token"  # noqa: S105
"""The query that makes a confirmation token void (confirmation tokens, 5.3)."""
QUERIES = ("operations", "types", "search", "options", "danger", "warnings", QUOTA_STATUS, ADAPTER_INFO, REVOKE_TOKEN)
"""What introspect answers: two queries of the specification, and those that go beyond it."""
EXTENSIONS: Mapping[str, Any] = {"queries": list(QUERIES[2:]), "parameters": ["where", "order_by", "dry_run", "as"]}
"""What goes beyond the specification: queries, and parameters that operations of the API may have (10.3)."""

OPTIONS: Mapping[str, str] = {
    "first": "How many items of a list; without it the API's own page. The API's own paging parameters are understood",
    "after": "`pageInfo.endCursor` of the last page, to continue",
    "last": "How many items from the end",
    "before": "`pageInfo.startCursor` of a page, for the items before it; with `last`",
    "fields": "What to return: minimal, standard, full, or paths such as ['id', 'owner.name', 'body[2000:]']",
    "where": "Only items like {'state': 'open', 'size': {'gt': 3}}; eq, ne, gt, gte, lt, lte, in, contains, startswith",
    "order_by": "The field to order by, over all pages: '-size' has the highest first; with `first` the top items",
    "aggregate": "Numbers, not items: {'group_by': 'state', 'sum': 'size'}; count, sum, avg, min, max",
    "dry_run": "true: show the request, and send nothing",
    "as": "How the answer is written; the first is the default",
    "if_match": "Only if the resource still has this `_etag`",
    "confirmation_token": "Of the CONFIRMATION_REQUIRED answer to this call",
}
"""The adapter's own parameters, which many operations have, as the query `options` explains them."""

CATEGORIES = ("CREATE", "READ", "UPDATE", "DELETE", "EXECUTE")

CAPABILITIES: Mapping[str, Any] = {
    "batch": True,
    "field_selection": True,
    "aggregations": True,
    "pagination": True,
    "warnings": True,
    "confirmation": True,
    "dangerous_operations": True,
    "execution_safety_loop": "disabled",
}
"""Capabilities of this runtime; the mode of the safety loop is a setting, see `capabilities`."""

CONFORMANCE = "level-2"

PERMISSIONS: Mapping[str, Mapping[str, bool]] = {
    "CREATE": {"readOnly": False, "destructive": False},
    "READ": {"readOnly": True, "destructive": False},
    "UPDATE": {"readOnly": False, "destructive": True},
    "DELETE": {"readOnly": False, "destructive": True},
    "EXECUTE": {"readOnly": False, "destructive": True},
}
"""Flags by semantic category (specification, 6.1)."""


def tool_name(config: Config, family: str) -> str:
    """Return the name of the tool that serves a family in the configured mode, with the prefix."""
    return f"{config.tool_prefix}{TOOL}" if config.mode == "single" else f"{config.tool_prefix}{TOOL}_{family}"


def capabilities(config: Config) -> dict[str, Any]:
    """Return the capabilities with the safety loop's mode, which is always shown (specification, 8.6.1 and 8.6.7)."""
    return {**CAPABILITIES, "execution_safety_loop": config.safety_loop}


def metadata(adapter: Adapter, config: Config, session_id: str | None) -> dict[str, Any]:
    """Build `_protocol` (introspection document, 4.1.1; R-INT-3), with the loop's settings unless disabled."""
    metadata = {
        "version": adapter.spec_version,
        "conformance": CONFORMANCE,
        "mode": config.mode,
        "capabilities": capabilities(config),
        "limits": config.limits(),
        "concurrency": config.concurrency,
        "session_id": session_id,
        "trust_level": config.trust_level,
        "profile": "crude",
    }
    if config.safety_loop != "disabled":
        from ..safety.loop.operations import loop_settings

        metadata["safety_loop"] = loop_settings(config)
    if adapter.apis:
        metadata["apis"] = apis_of(adapter)
    return metadata


def apis_of(adapter: Adapter) -> dict[str, Any]:
    """Return several APIs by name, each with its title and how many operations it has."""
    return {
        name: {"title": line(section.title, 60), "operations": sum(section.counts.values())}
        for name, section in adapter.apis.items()
    }


def field(name: str, type: str, required: bool, description: str, **more: Any) -> dict[str, Any]:
    """Describe a parameter or a field of the protocol."""
    return {"name": name, "type": type, "required": required, "description": description, **more}


INTROSPECT: Mapping[str, Any] = {
    "name": "introspect",
    "semantic_category": "READ",
    "endpoint": "read",
    "description": "Discover operations and types: list them, search them, or show one in full",
    "parameters": [
        field(
            "query",
            "string",
            True,
            "What to discover; search finds operations by words and describes the best, or all that are named; options "
            "explains the parameters that the adapter adds; danger says how much harm operations can do and whether "
            "they must be confirmed; warnings are those given so far; adapter_info says who vouches for the adapter",
            enum=list(QUERIES),
        ),
        field(
            "name",
            "string",
            False,
            "Show this operation or type in full; of query search several, as a list; of danger an operation or a "
            "level, of warnings an operation or a code",
        ),
        field("search", "string", False, "Words to find, the best matches first"),
        field("category", "SemanticCategory", False, "Only operations of this category", enum=list(CATEGORIES)),
        field("resource", "string", False, "Only operations on this resource"),
        field("first", "integer", False, "How many to list", minimum=1),
        field("after", "string", False, "Go on after this one: the last of the page before"),
        field("all", "boolean", False, "The whole, however long"),
        field("token", "string", False, "Of query revoke_token: the confirmation token that shall be void"),
    ],
    "returns": {"name": "object", "kind": "object", "description": "operations, operation, types, type or warnings"},
    "examples": [
        {"description": "Find an operation", "params": {"query": "search", "search": "{resource}"}},
        {"description": "Show one operation", "params": {"query": "operations", "name": "{operation}"}},
    ],
}

API: Mapping[str, Any] = field("api", "string", False, "Only operations of this API")
"""The parameter that adapters of several APIs have besides."""

TYPES: Mapping[str, Mapping[str, Any]] = {
    "SemanticCategory": {
        "kind": "enum",
        "description": "Effect of an operation on state",
        "values": list(CATEGORIES),
    },
    "OperationInput": {
        "kind": "object",
        "description": "Arguments of every tool: one operation with its parameters, or a batch",
        "fields": [
            field("operation", "string", False, "Operation to perform; required unless operations is given"),
            field("params", "object", False, "Its parameters"),
            field("operations", "array", False, "A batch, performed in order", items={"type": "OperationInput"}),
            field("confirmation_token", "string", False, "Beside operations: token of the halted batch"),
        ],
    },
    "OperationResult": {
        "kind": "union",
        "description": "Result of every operation",
        "members": ["OperationSuccess", "OperationFailure"],
    },
    "OperationSuccess": {
        "kind": "object",
        "description": "Result of an operation that succeeded",
        "fields": [
            field("success", "boolean", True, "Always true", enum=[True]),
            field("data", "any", True, "Result of the operation; null for a batch"),
            field("warnings", "array", False, "Conditions that did not stop it", items={"type": "object"}),
            field("results", "array", False, "Of a batch: index, operation and result", items={"type": "object"}),
            field("summary", "object", False, "Of a batch: total, succeeded, failed; halted and pending if it halted"),
            field("halted_at", "object", False, "In a batch: index, operation and result of the call to confirm"),
            field(
                "pending_operations", "array", False, "In a batch: remaining calls, not done", items={"type": "object"}
            ),
            field("_meta", "object", False, "request_id and duration_ms"),
        ],
    },
    "OperationFailure": {
        "kind": "object",
        "description": "Result of an operation that failed",
        "fields": [
            field("success", "boolean", True, "Always false", enum=[False]),
            field("error", "object", True, "code, message and, if useful, details"),
        ],
    },
    "EndpointPermissions": {
        "kind": "object",
        "description": "Whether an operation only reads, and whether it may destroy",
        "fields": [
            field("readOnly", "boolean", True, "Only reads"),
            field("destructive", "boolean", True, "May change or remove existing data"),
        ],
    },
    "FieldSelection": {
        "kind": "union",
        "description": "Fields to return: the name of a preset (minimal, standard, full), or paths, which may end "
        "with a part of a text or a list: body[2000:]",
        "members": ["string", "array"],
    },
    "WhereCondition": {
        "kind": "object",
        "description": "A value or {operator: value} by field, as a path with dots; all hold. Operators: eq, ne, gt, "
        "gte, lt, lte, in (a list), contains, startswith",
        "fields": [],
    },
    "AggregateRequest": {
        "kind": "object",
        "description": "By a name of your choice: {count: true} or a field by function (sum, avg, min, max), for "
        "each value of `group_by` if given",
        "fields": [],
    },
    "PageInfo": {
        "kind": "object",
        "description": "Position of a page in the whole list",
        "fields": [
            field("hasNextPage", "boolean", True, "True if more items follow"),
            field("hasPreviousPage", "boolean", True, "True if items precede it"),
            field("startCursor", "string", False, "Cursor of the first item, for `before`, if supported"),
            field("endCursor", "string", False, "Cursor of the last item, for `after`, if there is more"),
            field("totalCount", "integer", False, "Total number, if the API returns it"),
        ],
    },
    "string": {
        "kind": "scalar",
        "description": "A JSON string. date-time: RFC 3339 with an offset, Z for UTC; date: a day in the time zone "
        "of the API; byte, binary: base64 (RFC 4648); amounts and ids that are strings keep all their digits",
    },
    "integer": {"kind": "scalar", "description": "A JSON number without a fraction, of any size"},
    "number": {"kind": "scalar", "description": "A JSON number with all its digits"},
    "boolean": {"kind": "scalar", "description": "true or false"},
    "array": {"kind": "scalar", "description": "A JSON array"},
    "object": {"kind": "object", "description": "A JSON object with keys of any name", "fields": []},
    "any": {"kind": "scalar", "description": "Any JSON value"},
    "none": {"kind": "scalar", "description": "Nothing: data is null"},
}
"""Types that every adapter has. Their names are reserved: the generator renames an API's type that has one."""
