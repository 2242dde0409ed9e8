"""Search the tools that FastMCP makes of a document, by its search transforms; `bench.described` runs this file.

It runs in a Python that has fastmcp, and imports nothing of this repository. Tasks are read from standard input as
`[{query, right}]`. For each transform it prints the list of tools and, for each task, the request, the answer, and
whether a right operation is described in it. A regular expression has the words of a search in their order.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import sys
from typing import Any

import httpx2
from fastmcp import Client, FastMCP
from fastmcp.server.providers.openapi import OpenAPIProvider
from fastmcp.server.transforms.search import BM25SearchTransform, RegexSearchTransform
from fastmcp.server.transforms.search.base import serialize_tools_for_output_markdown

SMALL_WORDS = frozenset("a an the of for to in on by with and or from is all my that this".split())


def address(text: str) -> str:
    """Return a method and path without the names of its parameters."""
    return re.sub(r"\{[^}]*\}", "{}", text.rstrip("/"))


def pattern(query: str) -> str:
    """Return the regular expression for the words of a search."""
    words = [word for word in re.findall(r"[a-z0-9]+", query.lower()) if word not in SMALL_WORDS]
    return ".*".join(word[:-1] if len(word) > 3 and word.endswith("s") else word for word in words)


async def searched(
    provider: OpenAPIProvider, names: dict[str, str], transform: Any, argument: str, tasks: list[dict[str, Any]]
) -> Any:
    """Return the list of tools, and the answers to all tasks."""
    server = FastMCP("peer", providers=[provider], transforms=[transform])
    answers = []
    async with Client(server) as client:
        tools = [tool.model_dump(by_alias=True, exclude_none=True, mode="json") for tool in await client.list_tools()]
        for task in tasks:
            arguments = {argument: pattern(task["query"]) if argument == "pattern" else task["query"]}
            result = await client.call_tool("search_tools", arguments)
            text = "".join(getattr(block, "text", "") for block in result.content)
            described = re.findall(r'(?m)^### (\S+)$|\{"name":\s*"([^"]+)"', text)
            right = {names.get(first or second) for first, second in described} & set(task["right"])
            answers.append({"request": json.dumps(arguments), "answer": text, "described": bool(right)})
    return {"tools": json.dumps(tools, separators=(",", ":")), "answers": answers}


async def main() -> None:
    """Print the results of all transforms as JSON."""
    with open(sys.argv[1], encoding="utf-8") as file:
        document = json.load(file)
    tasks = json.load(sys.stdin)
    provider = OpenAPIProvider(document, client=httpx2.AsyncClient(base_url="http://127.0.0.1"))
    names = {}
    for tool in await FastMCP("all", providers=[provider]).list_tools():
        route = tool._route
        names[tool.name] = address(f"{route.method.upper()} {route.path}")
    markdown = {"search_result_serializer": serialize_tools_for_output_markdown}
    transforms = {
        "FastMCP BM25": (BM25SearchTransform(), "query"),
        "FastMCP BM25, Markdown": (BM25SearchTransform(**markdown), "query"),
        "FastMCP regex": (RegexSearchTransform(), "pattern"),
        "FastMCP regex, Markdown": (RegexSearchTransform(**markdown), "pattern"),
    }
    results = {}
    for title, (transform, argument) in transforms.items():
        results[title] = await searched(provider, names, transform, argument, tasks)
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    asyncio.run(main())
