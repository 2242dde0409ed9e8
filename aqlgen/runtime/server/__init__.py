"""The MCP server: its tools, its transports, elicitation and log notifications."""

from __future__ import annotations

from typing import Any

FIRST_SESSIONLESS = "2026"
TASKS = "io.modelcontextprotocol/tasks"
"""The extension of the protocol that gives long-running work as tasks."""


def client_name(context: Any) -> str:
    """Return the name of the client; "" for one that does not tell it, as protocol 2026-07-28 permits."""
    client = context.session.client_params
    return "" if client is None else str(client.client_info.name)


def has_tasks(context: Any) -> bool:
    """Return True if the client declares the Tasks extension, in a version of the protocol that has it."""
    capabilities = context.session.client_capabilities
    declared = (capabilities and capabilities.extensions) or {}
    return context.protocol_version >= FIRST_SESSIONLESS and TASKS in declared
