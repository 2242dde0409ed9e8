"""Adapters of several APIs, made in memory."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from aqlgen.document.request import Request
from aqlgen.pipeline import Options, Prepared, prepare
from aqlgen.table.model import table_files
from aqlgen.table.search import search_index
from tests.documents import replies
from tests.generator import commands

Json = dict[str, Any]


def api(title: str, *paths: str, url: str = "", schemes: Json | None = None, **operation: Any) -> Json:
    """Return a document with an operation for each `METHOD /path`, at `url`, each with the first of the schemes."""
    schemes = {"token": {"type": "http", "scheme": "bearer"}} if schemes is None else schemes
    entry = {"responses": replies({"type": "object"}), **operation}
    return commands.api(
        {path: dict(entry) for path in paths or ("GET /users",)},
        info={"title": title, "version": "1"},
        servers=[{"url": url or f"https://{title.lower()}.example.com"}],
        security=[{name: []} for name in list(schemes)[:1]],
        components={"securitySchemes": schemes},
    )


def prepared(folder: Path, documents: Mapping[str, Json], overrides: str | None = None, **options: Any) -> Prepared:
    """Prepare an adapter called company of documents by the names of their APIs."""
    requests = []
    for name, document in documents.items():
        path = folder / f"{name}.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        requests.append(Request(str(path), name=name))
    file = None
    if overrides is not None:
        file = folder / "overrides.yaml"
        file.write_text(overrides, encoding="utf-8")
    known = {request.name: request for request in options.pop("requests", ())}
    requests = [replace(known.get(request.name, request), spec=request.spec) for request in requests]
    return prepare(Options(tuple(requests), name="company", overrides=file, **options), lambda _: None)


def names(result: Prepared) -> dict[str, str]:
    """Return the names of the operations by `NAME:METHOD /path`."""
    return {row.decision.operation.key: row.name for row in result.table.rows}


def package(folder: Path, result: Prepared) -> Path:
    """Write the data of the adapter's package, and return its folder."""
    for path, content in {**dict(table_files(result.table)), "search.txt": search_index(result.table).encode()}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return folder
