"""Call the tools that FastMCP makes of a document; run by `peer.py`, with the interpreter that has fastmcp.

    python peer_calling.py DOCUMENT BASE_URL

First a line of JSON tells the tools: name, input schema, method and path. Then each line read, `[name, arguments]`, is
called over MCP, and answered with a line of its exchanges and its error. Imports nothing of this repository.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from typing import Any

import httpx2
from fastmcp import Client, FastMCP

MOST = 100_000


async def main() -> None:
    """Serve the calls."""
    logging.disable(logging.CRITICAL)
    with open(sys.argv[1], "rb") as file:
        document = json.load(file)
    exchanges: list[dict[str, Any]] = []

    async def answered(response: Any) -> None:
        request = response.request
        exchanges.append(
            {
                "method": request.method,
                "url": str(request.url),
                "headers": dict(request.headers),
                "body": request.content.decode("latin-1")[:MOST],
                "status": response.status_code,
                "verdict": {key: value for key, value in response.headers.items() if key.startswith("x-steady")},
            }
        )

    api = httpx2.AsyncClient(base_url=sys.argv[2], timeout=5, event_hooks={"response": [answered]})
    server = FastMCP.from_openapi(openapi_spec=document, client=api)
    tools = []
    async with Client(server) as client:
        for one in await client.list_tools():
            route = (await server.get_tool(one.name))._route
            tools.append({"name": one.name, "schema": one.input_schema, "method": route.method, "path": route.path})
        print(json.dumps(tools), flush=True)
        for line in sys.stdin:
            name, arguments = json.loads(line)
            exchanges.clear()
            error = None
            try:
                result = await client.call_tool(name, arguments, raise_on_error=False)
                error = str(result.content)[:500] if result.is_error else None
            except Exception as problem:  # noqa: BLE001 - whatever it is, it is told
                error = f"{type(problem).__name__}: {problem}"[:500]
            print(json.dumps({"exchanges": exchanges, "error": error}), flush=True)


asyncio.run(main())
