"""Show what an agent does with the petstore's adapter: a real MCP client calls it over stdio, in both modes."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

import anyio
from mcp import Client, StdioServerParameters

from bench.support.arguments import parser
from bench.tokens import compact, count

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


def show(label: str, value: Any, operations: list[dict[str, str]] | None, lines: int = 12) -> None:
    """Print a value as indented JSON, cut to some lines, or the operations that it lists, a line each."""
    text = json.dumps(value, ensure_ascii=False, indent=2).splitlines()
    if operations:
        text = [f"{row['semantic_category']:8} {row['name']:20} {row['description']}" for row in operations]
    shown = len(text) if operations else lines
    print(f"  {label} ({count(compact(value))} tokens)")
    for line in text[:shown]:
        print(f"    {line[:WIDTH]}")
    if len(text) > shown:
        print(f"    … {len(text) - shown} more lines")


async def converse(command: str, mode: str) -> bool:
    """Show one mode; return True if every answer is the expected one."""
    environment = {"MCP_AQL_ENDPOINT_MODE": mode, "PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    server = StdioServerParameters(command=command, args=["--mock"], env=environment)
    expected = True
    async with Client(server) as client:
        tools = [tool.model_dump(by_alias=True, exclude_none=True) for tool in (await client.list_tools()).tools]
        size = f"{len(tools)} tools, {count(compact(tools))} tokens for all of them"
        print(f"\n━━ mode {mode}: {client.protocol_version}, {size}")
        for tool in tools:
            print(f"  {tool['name']:16} {tool['description'].splitlines()[0][: WIDTH - 17]}")
        for question, family, operation, params in CALLS:
            called = "mcp_aql" if mode == "single" else f"mcp_aql_{family}"
            print(f"\n  ── {question}")
            request = {"operation": operation, "params": params}
            print(f"  {called} {json.dumps(request, ensure_ascii=False)[:WIDTH]}")
            answer = (await client.call_tool(called, request)).structured_content
            assert isinstance(answer, dict)
            show("→", answer, answer["data"].get("operations") if answer["success"] else None)
            expected = expected and answer["success"] is ("mistake" not in question)
    return expected


def main(argv: Sequence[str]) -> int:
    """Show both modes; return 1 if an answer is not the expected one."""
    options = parser(__name__, __doc__)
    options.add_argument("command", help="the command of the petstore's adapter")
    command = options.parse_args(argv).command
    results = [anyio.run(converse, command, mode) for mode in ("semantic", "single")]
    print(f"\n{'Every answer was as expected.' if all(results) else 'An answer was not as expected.'}")
    return 0 if all(results) else 1
