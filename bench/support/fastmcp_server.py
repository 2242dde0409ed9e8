"""Serve a document by FastMCP over stdio, in one of its forms; `bench.peers` runs this file.

It runs in a Python that has fastmcp, and imports nothing of this repository. Arguments: the document, the address of
the API, and `plain` (a tool for each operation), `search` (its BM25 search) or `code` (its code mode).
"""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path
from typing import Any

import httpx2
from fastmcp import FastMCP


def transforms(form: str) -> list[Any]:
    """Return what FastMCP puts before its tools in a form."""
    if form == "search":
        from fastmcp.server.transforms.search import BM25SearchTransform

        return [BM25SearchTransform()]
    if form == "code":
        from fastmcp.experimental.transforms.code_mode import CodeMode

        return [CodeMode()]
    return []


def serve() -> None:
    """Serve until the input ends."""
    logging.disable(logging.CRITICAL)
    path, base, form = sys.argv[1:]
    text = Path(path).read_text(encoding="utf-8")
    if path.endswith("json"):
        document = json.loads(text)
    else:
        import yaml

        document = json.loads(json.dumps(yaml.load(text, yaml.CSafeLoader), default=str))
    client = httpx2.AsyncClient(base_url=base)
    server = FastMCP.from_openapi(document, client=client, validate_output=False, transforms=transforms(form))
    server.run(show_banner=False)


serve()
