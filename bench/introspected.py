"""Introspect every operation and type of a project's adapter in mock mode, and call every example.

Each operation is also called with exactly the parameters that introspection calls required: it is wrong if validation
refuses that, unless introspection says in words what else is needed. Updates that lack what their read gives in a form
that they do not take are counted apart.

Answers are validated against `introspection-response.schema.json` and `operation-result.schema.json` of the protocol's
schemas, if their folder is given. The exit code is 1 if an answer is wrong.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jsonschema_rs

from bench.support.arguments import parser
from bench.support.documents import package_of
from bench.support.runtime import load_generated

Valid = Callable[[Any], bool]

SAID = ("go together", "needs ", "Needs ")
"""What introspection says where fields are required together, or by the kind of the body."""


def validity(schemas: Path | None, name: str) -> Valid:
    """Return the check of one kind of answer."""
    if schemas is None:
        return lambda answer: "success" in answer
    return jsonschema_rs.validator_for(json.loads((schemas / name).read_bytes())).is_valid


def spread(names: list[str], count: int) -> list[str]:
    """Return `count` of the names, spread evenly; all of them if `count` is 0."""
    return names[:: max(1, len(names) // count)][:count] if count else names


class Inspection:
    """The inspection of one adapter: the findings, and how many answers were inspected."""

    def __init__(self, project: Path, schemas: Path | None) -> None:
        package = package_of(project)
        assembly = load_generated("assembly", package)
        environ = {"MCP_AQL_CONFIG": os.devnull, "MCP_AQL_STATE_URL": "memory:", "MCP_AQL_POLICY": "open"}
        self.dispatcher = assembly.assemble(package, environ=environ, mock=True).dispatcher
        self.rows: dict[str, Any] = {}
        for path in sorted(package.glob("operations/*.json")):
            self.rows |= json.loads(path.read_bytes())
        self.described = validity(schemas, "introspection-response.schema.json")
        self.result = validity(schemas, "operation-result.schema.json")
        self.findings: list[str] = []
        self.answers = 0
        self.told = self.unlike = 0
        """Calls with what is required that lack what words ask for, or what was read in a form that is not taken."""

    async def ask(self, about: str, operation: str, params: Mapping[str, Any], valid: Valid) -> Any:
        """Send a request, validate the answer, and return it."""
        answer = await self.dispatcher.handle(None, {"operation": operation, "params": dict(params)})
        self.answers += 1
        if not valid(answer):
            self.findings.append(f"{about}: not valid: {json.dumps(answer)[:300]}")
        return answer

    async def introspect(self, query: str, **params: Any) -> Any:
        """Introspect; return the data."""
        about = f"introspect {query} {params.get('name', '')}"
        return (await self.ask(about, "introspect", {"query": query, **params}, self.described)).get("data") or {}

    async def operations(self, sample: int) -> None:
        """Introspect the operations, and call them with their examples."""
        listed: list[str] = []
        after: dict[str, str] = {}
        while True:
            page = await self.introspect("operations", **after)
            listed += [row["name"] for row in page["operations"]]
            following = page["_protocol"].get("page", {}).get("next")
            if following is None:
                break
            after = {"after": following}
        missing = self.rows.keys() - set(listed)
        if missing:
            self.findings.append(f"not listed: {sorted(missing)[:10]}")
        for name in spread(listed, sample):
            shown = (await self.introspect("operations", name=name)).get("operation")
            if not shown:
                self.findings.append(f"operation {name} is not shown")
            row = self.rows.get(name)
            if row is not None and "example" in row:
                await self.required(name, shown or {}, row["example"])
                answer = await self.ask(name, name, row["example"], self.result)
                if answer.get("success") is not True:
                    self.findings.append(f"{name}: its example fails: {json.dumps(answer)[:300]}")

    async def required(self, name: str, shown: Mapping[str, Any], example: Mapping[str, Any]) -> None:
        """Call an operation with what introspection calls required and nothing else, as the example has it."""
        needed = [parameter["name"] for parameter in shown.get("parameters", ()) if parameter["required"]]
        params = {parameter: example[parameter] for parameter in needed if parameter in example}
        answer = await self.ask(name, name, params, self.result)
        error = answer.get("error") or {}
        if not str(error.get("code", "")).startswith("VALIDATION_"):
            return
        if "in another form" in error["message"]:
            self.unlike += 1
        elif any(words in json.dumps(shown) for words in SAID):
            self.told += 1
        else:
            self.findings.append(f"{name}: what is required is refused: {json.dumps([params, error])[:300]}")

    async def types(self, sample: int) -> None:
        """Introspect the types."""
        listed = [row["name"] for row in (await self.introspect("types", all=True))["types"]]
        for name in spread(listed, sample):
            if not (await self.introspect("types", name=name)).get("type"):
                self.findings.append(f"type {name} is not shown")


async def inspect(project: Path, schemas: Path | None, sample: int) -> Inspection:
    """Inspect the operations and types of an adapter."""
    inspection = Inspection(project, schemas)
    await inspection.operations(sample)
    await inspection.types(sample)
    return inspection


def main(argv: Sequence[str]) -> int:
    """Print what is wrong and how many answers were inspected."""
    arguments = parser(__name__, __doc__)
    arguments.add_argument("project", type=Path)
    arguments.add_argument("--schemas", type=Path, metavar="DIR", help="the protocol's JSON Schemas")
    arguments.add_argument("--sample", type=int, default=0, metavar="N", help="only N operations and types")
    options = arguments.parse_args(argv)
    inspection = asyncio.run(inspect(options.project.resolve(), options.schemas, options.sample))
    findings = inspection.findings
    kinds = f"{inspection.told} need more as words say, {inspection.unlike} what is read in another form"
    print("\n".join([*findings[:50], f"{inspection.answers} answers, {len(findings)} wrong; {kinds}"]))
    return 1 if findings else 0
