"""Call every operation of a generated adapter over MCP, built from introspection alone; one line of JSON a call.

    python bench/wire/calling.py PROJECT BASE_URL [--only NAME]

Each line tells the operation, which parameters were given (`required` or `all`), what was given, what the server said
(`verdict`: its `x-steady-*` headers) and, where the adapter refused, its error. `steady.py` runs this.
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
    "MCP_AQL_TIMEOUT": "5",
}


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
        self.answers: list[Any] = []
        self.sent: Any = None
        send = client.HttpTransport.send

        async def watched(transport: Any, request: Any, row: Any) -> Any:
            self.sent = request
            answer = await send(transport, request, row)
            self.answers.append(answer)
            return answer

        client.HttpTransport.send = watched
        self.parts = self._module("runtime.assembly").assemble(self._package, environ=environ)

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
        await self.call("all", shown, {**further, **required})

    async def call(self, given: str, shown: Mapping[str, Any], params: Mapping[str, Any]) -> None:
        """Make one call and print what came of it."""
        self.answers.clear()
        self.sent = None
        line: dict[str, Any] = {"operation": shown["name"], "given": given, "params": dict(params)}
        arguments = {"operation": shown["name"], "params": dict(params)}
        result = await self._client.call_tool(shown["mcpTool"], arguments)
        envelope = json.loads(text_of(result))
        if self.answers:
            headers = self.answers[0].headers
            line["status"] = self.answers[0].status
            line["verdict"] = {key: value for key, value in headers.items() if key.startswith("x-steady")}
        if self.sent is not None:
            body = (self.sent.content or b"")[:600].decode("utf-8", "replace")
            line["sent"] = [self.sent.method, self.sent.url, body]
        if not envelope["success"]:
            line["error"] = envelope["error"]
        print(json.dumps(line), flush=True)

    async def introspect(self, query: str, **params: Any) -> Any:
        """Give the data of an introspection."""
        arguments = {"operation": "introspect", "params": {"query": query, **params}}
        result = await self._client.call_tool("mcp_aql_read", arguments)
        return json.loads(text_of(result))["data"]


def text_of(result: Any) -> str:
    """Give the text of a tool's result."""
    return str(result.content[0].text)


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
