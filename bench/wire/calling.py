"""Call every operation of a generated adapter over MCP, built from introspection alone; a line of JSON for each call.

Each line has the operation, which parameters were sent (`required` or `all`), their values, every exchange with the
server as it was sent (an update may read first; what redirects lead to is left out) and, if it refuses, the adapter's
error. `steady` and `prism` run this module in a process of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.support.arguments import add_sample
from bench.support.documents import package_of
from bench.support.runtime import load_generated
from bench.wire.values import Values

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
"""How much of a body is kept."""


class Types(dict[str, Any]):
    """The details of types by name."""


class Caller:
    """One adapter, called as a client calls it."""

    def __init__(self, project: Path, base: str) -> None:
        self._package = package_of(project)
        about = json.loads((self._package / "adapter.json").read_bytes())
        schemes = [scheme for scheme in about["security_schemes"].values() if scheme.get("type") != "awsSigv4"]
        secrets = {variable: "secret" for scheme in schemes for variable in scheme["variables"]}
        environ = {**secrets, **SETTINGS, "MCP_AQL_BASE_URL": base}
        assembly = load_generated("assembly", self._package)
        self.exchanges: list[dict[str, Any]] = []
        self._watch(load_generated("client", self._package).HttpTransport)
        self.parts = assembly.assemble(self._package, environ=environ)

    def _watch(self, transport: Any) -> None:
        """Note the first answer to everything that the adapter sends."""
        send, opened = transport.send, transport.opened
        awaited = [False]

        async def sending(self_: Any, request: Any, row: Any) -> Any:
            awaited[0] = True
            answer = await send(self_, request, row)
            if self.exchanges:
                self.exchanges[-1]["answer"] = answer.content.decode("latin-1")[:MOST]
            return answer

        async def answered(response: Any) -> None:
            if awaited[0]:
                awaited[0] = False
                self.exchanges.append(_exchange(response))

        def opening(self_: Any) -> Any:
            pool = opened(self_)
            if answered not in pool.event_hooks["response"]:
                pool.event_hooks = {**pool.event_hooks, "response": [answered]}
            return pool

        transport.send, transport.opened = sending, opening

    async def run(self, only: str, sample: int = 0, seed: int = 0) -> None:
        """Call everything; with `sample` no more than that many operations, chosen by a seed."""
        from mcp import Client

        server = load_generated("server", self._package).build_server(self.parts.dispatcher)
        async with Client(server, mode="auto") as client:
            self._client = client
            listed = (await self.introspect("operations"))["operations"]
            families = {"create", "read", "update", "delete", "execute"}
            names = {name for name, _ in self.parts.table.names()}
            types = Types()
            for row in (await self.introspect("types", first=10000))["types"]:
                types[row["name"]] = (await self.introspect("types", name=row["name"]))["type"]
            wanted = [
                row["name"]
                for row in listed
                if row["name"] in names and row["endpoint"] in families and only in row["name"]
            ]
            if 0 < sample < len(wanted):
                wanted = random.Random(seed).sample(sorted(wanted), sample)
            for name in wanted:
                await self.operation(name, types)

    async def operation(self, name: str, types: Types) -> None:
        """Call one operation, with its required parameters and with all."""
        shown = (await self.introspect("operations", name=name))["operation"]
        example: dict[str, Any] = next((case["request"]["params"] for case in shown.get("examples", ())), {})
        needed, complete = Values(types, everything=False), Values(types, everything=True)
        required = dict(example)  # where alternatives want more than each of them requires, only the example tells
        for parameter in shown["parameters"]:
            if parameter["required"] and parameter["name"] not in required:
                required[parameter["name"]] = needed.of(parameter)
        further = {value["name"]: complete.of(value) for value in shown["parameters"] if _usable(value)}
        merged = {name: _both(further.get(name), value) for name, value in required.items()}
        await self.call("required", shown, required)
        await self.call("all", shown, {**further, **merged})

    async def call(self, parameters: str, shown: Mapping[str, Any], params: Mapping[str, Any]) -> None:
        """Make a call and print its result."""
        self.exchanges.clear()
        line: dict[str, Any] = {"operation": shown["name"], "given": parameters, "params": dict(params)}
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
        """Return the data of an introspection."""
        arguments = {"operation": "introspect", "params": {"query": query, **params}}
        result = await self._client.call_tool("mcp_aql_read", arguments)
        return json.loads(text_of(result))["data"]


def _exchange(response: Any) -> dict[str, Any]:
    """Return an exchange: what was sent, and the verdict from the headers of the answer."""
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
    """Return the text of a tool's result."""
    return str(result.content[0].text)


def _both(further: Any, required: Any) -> Any:
    """Return a value for a call with all parameters: of an object the fields of both, unless they are alternatives."""
    if isinstance(further, dict) and isinstance(required, dict) and required.keys() <= further.keys():
        return {**further, **required}
    return required


def _usable(parameter: Mapping[str, Any]) -> bool:
    """Return True if a parameter belongs in a call with all; not what shows a call instead of making it."""
    return parameter["name"] not in ("dry_run", "fields", "preset", "if_match", "first", "after", "last", "before")


def main() -> int:
    """Call the operations of a project and print a line for each call."""
    arguments = argparse.ArgumentParser(description="Call every operation.")
    arguments.add_argument("project", type=Path)
    arguments.add_argument("base", help="the address of the API")
    arguments.add_argument("--only", default="", metavar="NAME")
    add_sample(arguments)
    options = arguments.parse_args()
    caller = Caller(options.project.resolve(), options.base)
    asyncio.run(caller.run(options.only, options.sample, options.seed))
    return 0


if __name__ == "__main__":
    sys.exit(main())
