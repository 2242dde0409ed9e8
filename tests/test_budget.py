"""What a stage of generation costs for each operation, in calls of functions, and what a petstore's project weighs.

Beside it the modules of the runtime that an ordinary session loads: what is switched off is not to be among them.

A bound stands a few percent above what the stage takes today, so that a tenth more is seen where it is added. Take the
work out again, or raise the bound in the same commit and say there what it buys.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import subprocess
import sys
import traceback
from pathlib import Path
from types import FrameType
from typing import Any

import httpx2
from mcp import Client

from aqlgen.runtime.assembly import assemble
from aqlgen.runtime.server.mcp import build_server
from bench.size import house
from bench.support.size import project_size
from tests.generator.commands import FIXTURES, run

MOST_FILES = 20  # what is the same in every adapter is in the archive, or added by `aqlgen add`: 20
MOST_LINES = 2_500  # of text, without the API's document; 500 of them say something of this API
"""The size of the petstore's project."""

BOUNDS = {
    "reading": 251,  # parses, assembles, and looks at each text for instructions once: 241
    "building": 550,  # makes operations, parameters and bodies of one model: 520
    "deciding": 2600,  # names, categories, effects with their proof (clauses, fields, removals), and traits: 2,590
    "tabulating": 3398,  # types, rows, examples, answers, and the keys of what is listed: 3,375
    "rendering": 1380,  # table and OPERATIONS.md with effects, evidence, ordered reviews, index and hashes: 1,328
}
"""The most calls an operation, by stage: what it does, and what that takes today by Python 3.11."""

MODULES = 95
"""The most modules of the runtime that an ordinary session loads."""

COROUTINES = 8
"""The most nested coroutines of the runtime in a warm read: what a reader follows from the tool to the socket."""

HOUSE = {
    "aqlgen/ without runtime, lines": 46_626,  # to become 33,000; a failed step loses nothing of a project
    "aqlgen/runtime/, lines": 50_422,  # to become 31,000; an update loses nothing of a resource that its read trims
    "aqlgen/, statements": 56_608,  # to become 37,500; removals are proven by what adds the same again
    "aqlgen/, functions over a complexity of 15": 40,  # at most 40
    "tests, lines": 74_757,  # to become 50,000; each of 60 blind mutants of the runtime fails one
    "bench, lines": 6_425,  # at most 6,500; the words of a command line, which only the jobs write
}
"""How much there is to hold, by `python -m bench size`; beside a figure that grows stands why."""

SERVED = """
import atexit, sys
from pathlib import Path
from aqlgen.runtime.cli import main
atexit.register(lambda: print(*(name for name in sys.modules if name.startswith("aqlgen.runtime")), file=sys.stderr))
folder = Path(sys.argv.pop(1))
sys.exit(main(folder))
"""

RESOURCES = 8
OPERATIONS = 5

COUNTED = """
import json, sys
from collections import Counter
from pathlib import Path
from aqlgen.cli.from_openapi import generate
from aqlgen.document.request import Request
from aqlgen.pipeline import Options

def counts(path):
    stages, calls = ["reading"], Counter()
    def profile(frame, event, argument):
        if event in ("call", "c_call"):
            calls[stages[-1]] += 1
    sys.setprofile(profile)
    try:
        options = Options((Request(path),))
        generate(options, output=Path(path + ".out"), license="", dry_run=True, progress=stages.append)
    finally:
        sys.setprofile(None)
    return calls

warm, small, large = map(counts, sys.argv[1:])
print(json.dumps({stage: large[stage] - small[stage] for stage in large}))
"""


def test_no_stage_takes_more_calls_an_operation_than_its_bound(tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.json" for name in ("warm", "small", "large")]
    for path, count in zip(paths, (1, RESOURCES, 2 * RESOURCES), strict=True):
        path.write_text(json.dumps(_document(path.stem, count)), encoding="utf-8")

    environment = os.environ | {"PYTHONHASHSEED": "0"}
    command = [sys.executable, "-c", COUNTED, *map(str, paths)]
    output = subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout
    calls = {stage: count // (RESOURCES * OPERATIONS) for stage, count in json.loads(output).items()}

    assert calls.keys() == BOUNDS.keys()
    assert {stage: count for stage, count in calls.items() if count > BOUNDS[stage]} == {}


def test_an_ordinary_session_loads_nothing_that_is_switched_off() -> None:
    package = Path(__file__).parent.parent / "fixtures/golden/petstore/src/petstore_adapter"
    environment = os.environ | {"MCP_AQL_CONFIG": os.devnull, "MCP_AQL_STATE_URL": "memory:"}
    client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    with subprocess.Popen(
        [sys.executable, "-c", SERVED, str(package), "--mock"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None

        def send(method: str, params: dict[str, Any], **more: Any) -> None:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}) + "\n")
            process.stdin.flush()

        def call(family: str, operation: str, **params: Any) -> dict[str, Any]:
            arguments = {"operation": operation, "params": params}
            send("tools/call", {"name": f"mcp_aql_{family}", "arguments": arguments}, id=2)
            return dict(json.loads(process.stdout.readline())["result"]["structuredContent"])

        send("initialize", client, id=1)
        process.stdout.readline()
        send("notifications/initialized", {})
        send("tools/list", {}, id=1)
        process.stdout.readline()
        question = call("delete", "delete_pet", pet_id=1)
        token = question["error"]["details"]["confirmation_token"]
        answers = [
            call("read", "list_pets"),
            call("read", "introspect", query="operations", search="delete a pet"),
            call("read", "get_pet", pet_id=1),
            call("create", "create_pet", name="Rosa", kind="cat"),
            call("delete", "delete_pet", pet_id=1, confirmation_token=token),
        ]
        process.stdin.close()
        modules = set(process.stderr.read().split())

    assert [answer["success"] for answer in answers] == [True] * 5
    off = (
        "quota",
        "client.quotas",
        "decode.outcome",
        "dispatch.run",
        "steps",
        "executions.handles",
        "operator",
        "server.elicitation",
        "server.notifications",
        "telemetry.tracing",
        "telemetry.metrics",
        "state.redis",
        "warnings.deprecation",
    )
    assert modules.isdisjoint(f"aqlgen.runtime.{name}" for name in off)
    assert len({name for name in modules if name.startswith("aqlgen.runtime")}) <= MODULES


def test_there_is_no_more_to_hold() -> None:
    assert {name: figure for name, figure in house().items() if figure > HOUSE[name]} == {}


def test_the_first_commit_of_a_petstore_is_small(tmp_path: Path) -> None:
    assert run("from-openapi", FIXTURES / "petstore.yaml", "-o", tmp_path / "petstore", "-q").code == 0
    size = project_size(tmp_path / "petstore")
    assert [path for path, lines in size.lines.items() if lines is None] == ["vendor/runtime.zip"]
    assert size.files <= MOST_FILES, sorted(size.lines)
    assert size.total <= MOST_LINES, size.lines


def test_a_warm_read_nests_no_more_coroutines_than_a_reader_can_follow() -> None:
    package = Path(__file__).parent.parent / "fixtures/golden/petstore/src/petstore_adapter"
    settings = {"MCP_AQL_CONFIG": os.devnull, "MCP_AQL_STATE_URL": "memory:", "MCP_AQL_AUTH": "none"}
    parts = assemble(package, environ=settings | {"MCP_AQL_BASE_URL": "https://pets.test"})
    pet = {"id": 7, "name": "Rosa", "kind": "cat", "status": "available"}
    parts.transport._transport = httpx2.MockTransport(lambda _: httpx2.Response(200, json=pet))  # type: ignore[attr-defined]
    deepest: list[str] = []

    def profile(frame: FrameType, event: str, _: object) -> None:
        nonlocal deepest
        if event == "call" and frame.f_code.co_flags & inspect.CO_COROUTINE:
            frames = (each for each, _ in traceback.walk_stack(frame) if each.f_code.co_flags & inspect.CO_COROUTINE)
            chain = [each.f_code.co_name for each in frames if "aqlgen/runtime" in each.f_code.co_filename]
            deepest = max(deepest, chain, key=len)

    async def read() -> None:
        call = {"operation": "get_pet", "params": {"pet_id": 7}}
        async with Client(build_server(parts.dispatcher)) as client:
            await client.call_tool("mcp_aql_read", call)
            sys.setprofile(profile)
            try:
                answer = await client.call_tool("mcp_aql_read", call)
            finally:
                sys.setprofile(None)
        assert answer.structured_content["success"]
        await parts.close()

    asyncio.run(read())

    assert deepest[-1] == "call_tool"
    assert len(deepest) <= COROUTINES, deepest


def _document(seed: str, count: int) -> dict[str, Any]:
    """Return a document of so many resources, each with five operations; no text of it is that of another seed."""
    paths: dict[str, Any] = {}
    schemas: dict[str, Any] = {}
    for number in range(count):
        name = f"{seed}{number}".capitalize()
        shown = {"$ref": f"#/components/schemas/{name}"}
        schemas[name] = _schema(name)
        answer = {"200": {"description": f"The {name}.", "content": {"application/json": {"schema": shown}}}}
        items = {"type": "array", "items": shown}
        answers = {"200": {"description": f"Each {name}.", "content": {"application/json": {"schema": items}}}}
        body = {"required": True, "content": {"application/json": {"schema": shown}}}
        key = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
        page = {"name": "page", "in": "query", "description": "The page.", "schema": {"type": "integer", "minimum": 1}}
        described = f"Works on a {name}. It is what **customers** of `{name}` see. See [more](https://example.com)."
        paths[f"/{name}"] = {
            "get": {"operationId": f"list{name}", "parameters": [page], "responses": answers},
            "post": {"operationId": f"create{name}", "requestBody": body, "responses": answer},
        }
        paths[f"/{name}/{{id}}"] = {
            "parameters": [key],
            "get": {"operationId": f"get{name}", "responses": answer},
            "patch": {"operationId": f"update{name}", "requestBody": body, "responses": answer},
            "delete": {"operationId": f"delete{name}", "responses": {"204": {"description": "Gone"}}},
        }
        operations = [item for path in (f"/{name}", f"/{name}/{{id}}") for item in paths[path].values()]
        for operation in (item for item in operations if isinstance(item, dict)):
            operation |= {"summary": f"{operation['operationId']} of the shop", "description": described}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Shop", "version": "1"},
        "servers": [{"url": "https://api.example.com"}],
        "paths": paths,
        "components": {"schemas": schemas},
    }


def _schema(name: str) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "id": {"type": "string", "readOnly": True},
        "displayName": {"type": "string", "maxLength": 80, "description": f"The name of the {name}."},
        "state": {"type": "string", "enum": ["open", "closed"]},
        "createdAt": {"type": "string", "format": "date-time"},
        "labels": {"type": "array", "items": {"type": "string"}},
        "owner": {"type": "object", "properties": {"login": {"type": "string"}, "siteAdmin": {"type": "boolean"}}},
        "size": {"oneOf": [{"type": "integer"}, {"type": "object", "properties": {"inBytes": {"type": "integer"}}}]},
    }
    return {"type": "object", "required": ["displayName"], "properties": fields}
