"""Ways into adapter elements for tests: the table of one, and what is wrong with one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aqlgen.diagnostics.errors import DocumentError
from aqlgen.diagnostics.report import as_json
from aqlgen.document.request import Request
from aqlgen.pipeline import Options, prepare
from tests.generator.commands import FIXTURES, Tabulation

ELEMENTS = FIXTURES / "elements"
BOOKS = ELEMENTS / "books-adapter.md"

TARGET = {"base_url": "https://api.example.com", "transport": "http", "protocol": "rest", "serialization": "json"}


def element(*, operations: Mapping[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """Build an element whose only operation reads a status, unless `operations` says otherwise."""
    status = {"read": [{"name": "get_status", "maps_to": "GET /status"}]}
    outline = {"name": "shop", "type": "adapter", "version": "1.0.0", "description": "A shop", "target": TARGET}
    return {**outline, "operations": status if operations is None else operations, **more}


def reading(maps_to: str = "GET /things", **operation: Any) -> dict[str, Any]:
    """Build an element with one operation that reads."""
    return element(operations={"read": [{"name": "get_thing", "maps_to": maps_to, **operation}]})


def written(folder: Path, content: str | bytes | Mapping[str, Any], name: str = "adapter.yaml") -> Path:
    """Write an element, data as JSON."""
    path = folder / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def read(
    folder: Path, content: str | bytes | Mapping[str, Any], name: str = "adapter.yaml", **options: Any
) -> Tabulation:
    """Build the operation table of an element. Raises AqlgenError."""
    return read_file(written(folder, content, name), **options)


def read_file(path: Path, **options: Any) -> Tabulation:
    """Build the operation table of an element's file. Raises AqlgenError."""
    return Tabulation(prepare(Options((Request(str(path), element=True),), **options), lambda _stage: None))


def refused(folder: Path, content: str | bytes | Mapping[str, Any], name: str = "adapter.yaml") -> list[dict[str, Any]]:
    """Return the details of the refusal of an element."""
    try:
        read(folder, content, name)
    except DocumentError as error:
        return as_json(error.diagnostics)
    raise AssertionError("the element was not refused")


def refusal(folder: Path, content: str | Mapping[str, Any], name: str = "adapter.yaml") -> dict[str, Any]:
    """Return the only detail of a refusal."""
    (detail,) = refused(folder, content, name)
    return detail
