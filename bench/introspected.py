"""Start the adapter of a project on its mock, introspect every operation and type, and call every example.

    python bench/introspected.py PROJECT [--schemas DIR] [--sample N]

DIR holds the protocol's JSON Schemas; answers are held against `introspection-response.schema.json` and
`operation-result.schema.json` in it. Prints what is wrong and how many answers were looked at; 1 when any is wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jsonschema_rs

Valid = Callable[[Any], bool]
Ask = Callable[[str, Mapping[str, Any]], Any]


def validity(schemas: Path | None, name: str) -> Valid:
    """Give the check of one kind of answer."""
    if schemas is None:
        return lambda answer: "success" in answer
    return jsonschema_rs.validator_for(json.loads((schemas / name).read_bytes())).is_valid


def spread(names: list[str], count: int) -> list[str]:
    """Give `count` of the names, spread evenly; all of them when `count` is 0."""
    return names[:: max(1, len(names) // count)][:count] if count else names


class Look:
    """One adapter, looked at; `wrong` are the findings."""

    def __init__(self, project: Path, schemas: Path | None) -> None:
        package = next(project.glob("src/*/adapter.json")).parent
        sys.path.insert(0, str(package.parent))
        assembly = importlib.import_module(f"{package.name}.runtime.assembly")
        environ = {"MCP_AQL_CONFIG": os.devnull, "MCP_AQL_STATE_URL": "memory:", "MCP_AQL_POLICY": "open"}
        self.dispatcher = assembly.assemble(package, environ=environ, mock=True).dispatcher
        self.rows: dict[str, Any] = {}
        for path in sorted(package.glob("operations/*.json")):
            self.rows |= json.loads(path.read_bytes())
        self.described = validity(schemas, "introspection-response.schema.json")
        self.result = validity(schemas, "operation-result.schema.json")
        self.wrong: list[str] = []
        self.answers = 0

    async def ask(self, about: str, operation: str, params: Mapping[str, Any], valid: Valid) -> Any:
        """Send one request and hold the answer against its schema."""
        answer = await self.dispatcher.handle(None, {"operation": operation, "params": dict(params)})
        self.answers += 1
        if not valid(answer):
            self.wrong.append(f"{about}: not valid: {json.dumps(answer)[:300]}")
        return answer

    async def introspect(self, query: str, **params: Any) -> Any:
        """Introspect; give the data."""
        about = f"introspect {query} {params.get('name', '')}"
        return (await self.ask(about, "introspect", {"query": query, **params}, self.described)).get("data") or {}

    async def operations(self, sample: int) -> None:
        """Introspect the operations, and call them by their examples."""
        listed: list[str] = []
        after: dict[str, str] = {}
        while True:
            page = await self.introspect("operations", **after)
            listed += [one["name"] for one in page["operations"]]
            following = page["_protocol"].get("page", {}).get("next")
            if following is None:
                break
            after = {"after": following}
        missing = self.rows.keys() - set(listed)
        if missing:
            self.wrong.append(f"not listed: {sorted(missing)[:10]}")
        for name in spread(listed, sample):
            if not (await self.introspect("operations", name=name)).get("operation"):
                self.wrong.append(f"operation {name} is not shown")
            row = self.rows.get(name)
            if row is not None and "example" in row:
                answer = await self.ask(name, name, row["example"], self.result)
                if answer.get("success") is not True:
                    self.wrong.append(f"{name}: its example fails: {json.dumps(answer)[:300]}")

    async def types(self, sample: int) -> None:
        """Introspect the types."""
        listed = [one["name"] for one in (await self.introspect("types"))["types"]]
        for name in spread(listed, sample):
            if not (await self.introspect("types", name=name)).get("type"):
                self.wrong.append(f"type {name} is not shown")


async def look(project: Path, schemas: Path | None, sample: int) -> Look:
    """Look at all of it."""
    one = Look(project, schemas)
    await one.operations(sample)
    await one.types(sample)
    return one


def main() -> int:
    """Print what is wrong."""
    parser = argparse.ArgumentParser(description="Introspect an adapter.")
    parser.add_argument("project", type=Path)
    parser.add_argument("--schemas", type=Path)
    parser.add_argument("--sample", type=int, default=0)
    options = parser.parse_args()
    found = asyncio.run(look(options.project.resolve(), options.schemas, options.sample))
    print("\n".join([*found.wrong[:50], f"{found.answers} answers, {len(found.wrong)} wrong"]))
    return 1 if found.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
