"""Check one adapter with the Python client of whichever release of `mcp` 1 is imported, as client.mjs does.

usage: python older.py ORDER
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


@asynccontextmanager
async def streams(order: dict[str, Any]) -> AsyncIterator[tuple[Any, Any]]:
    """Yield what is read from and what is written to."""
    if "url" in order:
        from mcp.client.streamable_http import streamablehttp_client  # not in the oldest releases

        async with streamablehttp_client(order["url"]) as (reads, writes, *_):
            yield reads, writes
        return
    server = StdioServerParameters(command=order["command"], args=order["args"], env=order["env"])
    async with stdio_client(server) as pair:
        yield pair


async def check(order: dict[str, Any]) -> None:
    """List the tools, introspect, call, be refused; print the protocol's version."""
    async with streams(order) as (reads, writes), ClientSession(reads, writes) as session:
        version = (await session.initialize()).protocolVersion

        async def call(family: str, operation: str, params: dict[str, Any]) -> dict[str, Any]:
            arguments = {"operation": operation, "params": params}
            result = await session.call_tool(order["tools"][family], arguments)
            envelope: dict[str, Any] = json.loads(result.content[0].text)
            return envelope

        names = {tool.name for tool in (await session.list_tools()).tools}
        assert order["tools"]["read"] in names <= set(order["tools"].values()), names
        listed = await call("read", "introspect", {"query": "operations"})
        assert len(listed["data"]["operations"]) > 1, listed
        answer = await call(order["family"], order["operation"], order["params"])
        assert answer["success"], answer
        refused = await call(order["family"], order["operation"], order["params"] | {"no_such_parameter": 1})
        assert refused["error"]["code"] == "VALIDATION_UNKNOWN_PARAM", refused
        print(json.dumps({"version": version, "tools": len(names)}))


asyncio.run(check(json.loads(sys.argv[1])))
