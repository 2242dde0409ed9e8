"""Call every operation of a generated adapter over MCP, built from introspection alone; one line of JSON a call.

    python bench/wire/calling.py PROJECT BASE_URL [--only NAME]

Each line tells the operation, which parameters were given (`required` or `all`), what was given, every exchange with
the server as it went over the wire (an update may read first; what redirects lead to is left out) and, where it
refuses, the adapter's error. `steady.py` and `prism.py` run this.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

TREE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE))

from bench.wire.introspected_values import Values  # noqa: E402

SETTINGS = {
    "MCP_AQL_CONFIG": os.devnull,
    "MCP_AQL_STATE_URL": "memory:",
    "MCP_AQL_POLICY": "open",
    "MCP_AQL_WARN_MOST": "1",
    "MCP_AQL_MAX_LIST": "10000",
    "MCP_AQL_LOG_LEVEL": "error",
    "MCP_AQL_TIMEOUT": "30",
}

MOST = 100_000
"""How much of a body is told."""


class Types(dict[str, Any]):
    """The details of types, which `load` brings."""


class Caller:
    """One adapter, called as a client calls it."""

    def __init__(self, project: Path, base: str) -> None:
        self._package = next(project.glob("src/*/adapter.json")).parent
        sys.path.insert(0, str(self._package.parent))
        about = json.loads((self._package / "adapter.json").read_bytes())
        secrets = {one: "secret" for scheme in about["security_schemes"].values() for one in scheme["variables"]}
        environ = {**secrets, **SETTINGS, "MCP_AQL_BASE_URL": base}
        self._module("runtime.assembly")
        client = self._module("runtime.client")
        self.exchanges: list[dict[str, Any]] = []
        self._watch(client.HttpTransport)
        self.parts = self._module("runtime.assembly").assemble(self._package, environ=environ)

    def _watch(self, transport: Any) -> None:
        """Note the first answer to everything that the adapter sends."""
        send, opened = transport.send, transport.opened
        awaited = [False]

        async def sending(own: Any, request: Any, row: Any) -> Any:
            awaited[0] = True
            answer = await send(own, request, row)
            if self.exchanges:
                self.exchanges[-1]["answer"] = answer.content.decode("latin-1")[:MOST]
            return answer

        async def answered(response: Any) -> None:
            if awaited[0]:
                awaited[0] = False
                self.exchanges.append(_exchange(response))

        def opening(own: Any) -> Any:
            pool = opened(own)
            if answered not in pool.event_hooks["response"]:
                pool.event_hooks = {**pool.event_hooks, "response": [answered]}
            return pool

        transport.send, transport.opened = sending, opening

    def _module(self, name: str) -> Any:
        return importlib.import_module(f"{self._package.name}.{name}")

    async def run(self, only: str) -> None:
        """Call everything."""
        from mcp import Client

        server = self._module("runtime.server").build_server(self.parts.dispatcher)
        async with Client(server, mode="auto") as client:
            self._client = client
            listed = (await self.introspect("operations"))["operations"]
            families = {"create", "read", "update", "delete", "execute"}
            own = self.parts.table
            names = {name for name, _ in own.names()}
            types = Types()
            for one in (await self.introspect("types", first=10000))["types"]:
                types[one["name"]] = (await self.introspect("types", name=one["name"]))["type"]
            for one in listed:
                if one["name"] in names and one["endpoint"] in families and only in one["name"]:
                    await self.operation(one["name"], types)

    async def operation(self, name: str, types: Types) -> None:
        """Call one operation, with its required parameters and with all."""
        shown = (await self.introspect("operations", name=name))["operation"]
        example: dict[str, Any] = next((one["request"]["params"] for one in shown.get("examples", ())), {})
        needed, every = Values(types, everything=False), Values(types, everything=True)
        required = dict(example)  # where alternatives want more than each of them requires, only the example tells
        for one in shown["parameters"]:
            if one["required"] and one["name"] not in required:
                required[one["name"]] = needed.of(one)
        further = {one["name"]: every.of(one) for one in shown["parameters"] if _usable(one)}
        await self.call("required", shown, required)
        await self.call(
            "all", shown, {**further, **{name: _both(further.get(name), one) for name, one in required.items()}}
        )

    async def call(self, given: str, shown: Mapping[str, Any], params: Mapping[str, Any]) -> None:
        """Make one call and print what came of it."""
        self.exchanges.clear()
        line: dict[str, Any] = {"operation": shown["name"], "given": given, "params": dict(params)}
        row = self.parts.table.find(shown["name"])
        line["row"] = [row.method, row.path]
        arguments = {"operation": shown["name"], "params": dict(params)}
        result = await self._client.call_tool(shown["mcpTool"], arguments)
        envelope = json.loads(text_of(result))
        line["exchanges"] = list(self.exchanges)
        if not envelope["success"]:
            line["error"] = envelope["error"]
        print(json.dumps(line), flush=True)

    async def introspect(self, query: str, **params: Any) -> Any:
        """Give the data of an introspection."""
        arguments = {"operation": "introspect", "params": {"query": query, **params}}
        result = await self._client.call_tool("mcp_aql_read", arguments)
        return json.loads(text_of(result))["data"]


def _exchange(response: Any) -> dict[str, Any]:
    """Tell one exchange: what was sent, and the verdict, which headers of the answer give."""
    request = response.request
    prefixes = ("x-steady", "sl-")
    return {
        "method": request.method,
        "url": str(request.url),
        "headers": {key: value for key, value in request.headers.items() if key not in ("host", "user-agent")},
        "body": request.content.decode("latin-1")[:MOST],
        "status": response.status_code,
        "verdict": {key: value for key, value in response.headers.items() if key.startswith(prefixes)},
    }


def text_of(result: Any) -> str:
    """Give the text of a tool's result."""
    return str(result.content[0].text)


def _both(further: Any, required: Any) -> Any:
    """Give a value of a call of all: of an object the fields of both."""
    return {**further, **required} if isinstance(further, dict) and isinstance(required, dict) else required


def _usable(parameter: Mapping[str, Any]) -> bool:
    """Whether a parameter belongs in a call of all: not what only shows a call instead of making it."""
    return parameter["name"] not in ("dry_run", "fields", "preset", "if_match", "first", "after", "last", "before")


def main() -> int:
    """Call and print."""
    parser = argparse.ArgumentParser(description="Call every operation.")
    parser.add_argument("project", type=Path)
    parser.add_argument("base")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    asyncio.run(Caller(options.project.resolve(), options.base).run(options.only))
    return 0


if __name__ == "__main__":
    sys.exit(main())
