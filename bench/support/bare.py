"""The smallest MCP server on the same SDK with the same five tools, which adapters are compared with.

Its transport `stdio` is the SDK's own. `pipe` is the adapters', so that the difference is what they do for a call.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

import anyio
from mcp import types
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server

FAMILIES = ("create", "read", "update", "delete", "execute")
SCHEMA = {"type": "object", "properties": {"operation": {"type": "string"}, "params": {"type": "object"}}}
TOOLS = types.ListToolsResult(
    tools=[types.Tool(name=f"mcp_aql_{family}", description=family, input_schema=SCHEMA) for family in FAMILIES]
)
ANSWER = {"success": True, "data": {"id": 7, "name": "Rosa", "kind": "cat", "status": "available"}}
TEXT = json.dumps(ANSWER, separators=(",", ":"))


async def list_tools(_: ServerRequestContext[Any], __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    """Return the tools."""
    return TOOLS


async def call_tool(_: ServerRequestContext[Any], __: types.CallToolRequestParams) -> types.CallToolResult:
    """Return the same answer to every call."""
    return types.CallToolResult(content=[types.TextContent(type="text", text=TEXT)], structured_content=ANSWER)


server: Server[Any] = Server("bare", version="1.0.0", on_list_tools=list_tools, on_call_tool=call_tool)


async def stdio() -> None:
    """Serve over standard input and output by the SDK's own transport."""
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def main() -> None:
    """Serve."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--transport", choices=["stdio", "pipe", "http"], default="stdio")
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()
    if options.transport == "stdio":
        anyio.run(stdio)
        return
    if options.transport == "pipe":
        from bench.support.runtime import load

        load("pipe").serve_stdio(server, max_line=1024 * 1024, grace=5.0)
        return
    import uvicorn

    app = server.streamable_http_app(json_response=True)
    uvicorn.run(app, host="127.0.0.1", port=options.port, log_level="warning")


if __name__ == "__main__":
    main()
