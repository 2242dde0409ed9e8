# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The MCP tools of each mode, small enough for any API (R-REQ-5, R-REQ-7, R-REQ-11).

They need only what is in `adapter.json`. `tools/list` stays under 750 tokens with five tools and 320 with one, so
the texts are short, and what comes from the API is bounded by its cost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..introspection.protocol import TOOL
from ..safety.loop_operations import active_operations
from ..settings.config import Config
from ..table import FAMILIES, Adapter
from ..text import line

if TYPE_CHECKING:
    from mcp.types import Tool

__all__ = ["build_tools", "routes"]

_PURPOSE = {
    "create": "Add to {title}",
    "read": "Read from {title}",
    "update": "Change what is in {title}",
    "delete": "Remove from {title}",
    "execute": "Run actions of {title}",
}
_PROTOCOL_PURPOSE = {
    "create": "Report an agent's steps beside {title}",
    "execute": "Confirm operations of {title}",
}
"""Purposes of families that hold only operations of the protocol."""

_SEARCH = '{operation:"introspect",params:{query:"operations",search:"words"}}'
_TITLE_COST = 48
_SHORT_TITLE_COST = 24


def routes(adapter: Adapter, config: Config) -> dict[str, str | None]:
    """Return the family of each tool that is offered; None stands for every family."""
    families: dict[str, str | None] = {}
    of_protocol = {operation.family for operation in active_operations(adapter, config)}
    if config.mode != "single":
        for family in FAMILIES:
            if family == "read" or family in of_protocol or adapter.counts.get(family, 0):
                families[f"{config.tool_prefix}{TOOL}_{family}"] = family
    if config.mode != "semantic":
        families[f"{config.tool_prefix}{TOOL}"] = None
    return families


def build_tools(adapter: Adapter, config: Config) -> list[Tool]:
    """Build the tools that are offered."""
    from mcp.types import Tool, ToolAnnotations

    tools = []
    for name, family in routes(adapter, config).items():
        reads = family == "read" or (family is None and config.read_only)
        annotations = ToolAnnotations(read_only_hint=reads, destructive_hint=not reads and family != "create")
        tools.append(
            Tool(
                name=name,
                description=_description(adapter, config, family),
                input_schema=_input_schema(),
                output_schema=_output_schema(),
                annotations=annotations,
            )
        )
    return tools


def _input_schema() -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            "operation": {"type": "string"},
            "params": {"type": "object"},
            "operations": {"type": "array", "items": {"type": "object"}},
        },
    }


def _output_schema() -> dict[str, Any]:
    return {"type": "object", "required": ["success"]}


def _description(adapter: Adapter, config: Config, family: str | None) -> str:
    quick_start = adapter.quick_start
    if family in ("read", None):
        title = _bounded(adapter.title, _TITLE_COST) or adapter.name
        purpose = _PURPOSE["read"].format(title=title) if family else f"Every operation of {title}"
        example = next(
            (quick_start[key] for key in ("read", *FAMILIES) if key in quick_start and family in (key, None)), None
        )
        if config.read_only:
            purpose += " (this adapter is read only)"
        everywhere = " of every tool" if family else ""
        return (
            f"{purpose}. Find operations{everywhere}: {_SEARCH}; then introspect one: name instead of search. "
            f"{_example(example)} Batch: operations:[{{operation,params}},...]"
        )
    title = _bounded(adapter.title, _SHORT_TITLE_COST) or adapter.name
    if adapter.counts.get(family, 0):
        purpose, example = _PURPOSE[family], quick_start.get(family)
    else:
        purpose = _PROTOCOL_PURPOSE[family]
        example = next(operation.name for operation in active_operations(adapter, config) if operation.family == family)
    return f"{purpose.format(title=title)}. Introspect with the read tool. {_example(example)}"


def _example(operation: str | None) -> str:
    return f'E.g. {{operation:"{operation}",params:{{...}}}}' if operation else ""


def _bounded(title: str, max_cost: int) -> str:
    """Cut a title to a cost: a character outside ASCII counts six, as it may in tokens when it is escaped."""
    text = line(title, 200)
    cost = 0
    for position, char in enumerate(text):
        cost += 1 if char.isascii() else 6
        if cost > max_cost:
            return text[:position].rstrip() + "..."
    return text
