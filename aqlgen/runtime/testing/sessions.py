# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""A session with the real server, in memory: everything but the network, with every request to the API counted."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from mcp import Client

from ..assembly import assemble
from ..server.mcp import build_server
from .table import FOLDER, variables

ISOLATED = {
    "MCP_AQL_POLICY": "open",
    "MCP_AQL_APPROVAL": "agent",
    "MCP_AQL_READ_ONLY": "0",
    "MCP_AQL_STATE_URL": "memory:",
    "MCP_AQL_AUDIT_PATH": os.devnull,
}
"""Settings of a server that asks nobody, and keeps nothing on this machine."""


class Counting:
    """Hooks that count the requests that are about to be sent, in place of the project's own, and before others."""

    def __init__(self, hooks: object | None = None) -> None:
        self.sent = 0
        self._then = getattr(hooks, "before_send", None)
        for name in ("before_call", "after_response", "on_decision", "on_step"):
            setattr(self, name, getattr(hooks, name, None))

    def before_send(self, request: Any, call: Any) -> Any:
        self.sent += not call.dry_run
        return None if self._then is None else self._then(request, call)


class Session:
    """Calls by family and gives envelopes. `tools` are the names that the server lists."""

    def __init__(self, client: Client, tools: list[str], counting: Counting) -> None:
        self._client = client
        self._counting = counting
        self.tools = tools

    @classmethod
    async def of(cls, client: Client, counting: Counting | None = None) -> Session:
        tools = (await client.list_tools()).tools
        return cls(client, [tool.name for tool in tools], counting or Counting())

    @property
    def sent(self) -> int:
        """Return how many requests went to the API so far."""
        return self._counting.sent

    def tool(self, family: str) -> str:
        """Return the name of the tool that serves a family."""
        return "mcp_aql" if self.tools == ["mcp_aql"] else f"mcp_aql_{family}"

    async def call(self, family: str, operation: str, params: Mapping[str, Any], **beside: Any) -> dict[str, Any]:
        """Call, and return the envelope; it must stand in the text as well (R-ENV-3)."""
        arguments = {"operation": operation, "params": dict(params), **beside}
        result = await self._client.call_tool(self.tool(family), arguments)
        envelope = result.structured_content
        assert isinstance(envelope, dict)
        assert json.loads(result.content[0].text) == envelope  # type: ignore[union-attr]
        assert not ("data" in envelope and "error" in envelope)
        return envelope

    async def introspect(self, query: str, name: str | None = None, *, whole: bool = False) -> dict[str, Any]:
        """Introspect, and return the envelope, which holds nothing beside success and data (R-ENV-2)."""
        asked = {"query": query, "name": name, "all": whole or None}
        params = {key: value for key, value in asked.items() if value is not None}
        envelope = await self.call("read", "introspect", params)
        assert envelope.keys() == {"success", "data"}, envelope
        return envelope

    async def listed(self, query: str) -> list[dict[str, Any]]:
        """Return every entry of the list of operations or types."""
        entries: list[dict[str, Any]] = (await self.introspect(query, whole=True))["data"][query]
        return entries


@asynccontextmanager
async def connect(
    *,
    mock: bool = True,
    credentials: bool = True,
    era: str = "auto",
    hooks: object | None = None,
    person: Callable[..., Any] | None = None,
    **settings: str,
) -> AsyncIterator[Session]:
    """Start the server with these settings and no others, whatever adapter.toml and the environment say.

    It asks nobody unless MCP_AQL_POLICY says so; `person` is called with a question of it, and gives an ElicitResult.
    """
    environment = {"MCP_AQL_CONFIG": os.devnull, **ISOLATED, **settings, **(variables() if credentials else {})}
    counting = Counting(hooks)
    assembled = assemble(FOLDER, counting, environ=environment, mock=mock)
    try:
        built = build_server(assembled.dispatcher)
        async with Client(built, mode=era, elicitation_callback=person) as client:
            yield await Session.of(client, counting)
    finally:
        await assembled.transport.aclose()
