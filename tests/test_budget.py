"""What a stage of generation costs for each operation, in calls of functions, which no load of the machine changes.

A bound stands a few percent above what the stage takes today, so that a tenth more is seen where it is added. Take the
work out again, or raise the bound in the same commit and say there what it buys.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

BOUNDS = {
    "reading": 285,  # parses, assembles, and looks at each text for instructions: 274
    "building": 645,  # makes operations, parameters and bodies of one model: 620
    "deciding": 2450,  # names, categories, danger, and traits, most of them pagination and what a body carries: 2,360
    "tabulating": 3560,  # types, rows, examples, what answers are made of, and the search index: 3,428
    "rendering": 1885,  # writes the table and the adapter's element, and hashes the texts: 1,815
}
"""The most calls an operation, by stage: what it does, and what that takes today by Python 3.11."""

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
        options = Options(Request(path))
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
