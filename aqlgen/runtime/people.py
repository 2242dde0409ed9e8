# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""What the command prints for people: `operations`, `call`. Nothing here imports mcp."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .table import FAMILIES, Table
from .text import line

if TYPE_CHECKING:
    from .registry import Person

__all__ = ["as_json", "call", "list_operations", "render_operations"]


def list_operations(folder: Path, *, category: str | None, search: str | None) -> list[dict[str, Any]]:
    """Give the operations of a package as introspection lists them, with method and path; searched, the best first."""
    from .search import Index

    table = Table(folder)
    listed = {
        name: {
            "name": name,
            "semantic_category": family.upper(),
            "endpoint": family,
            "description": row["summary"],
            "method": row["method"],
            "path": row["path"],
            "resource": row["resource"],
            "danger": row["danger"],
        }
        for family in FAMILIES
        if category is None or family == category.lower()
        for name, row in table.raw(family).items()
    }
    if search is None:
        return list(listed.values())
    index = Index((name, one["resource"], one["description"]) for name, one in listed.items())
    return [listed[name] for name in index.search(search)]


def render_operations(operations: list[dict[str, Any]]) -> str:
    """Make a table of them, a line each, for a terminal."""
    wide = max((len(one["name"]) for one in operations), default=0)
    return "\n".join(
        f"{one['semantic_category']:<7}  {one['name']:<{wide}}  {line(one['description'], 120)}" for one in operations
    )


async def call(
    folder: Path,
    hooks: object | None,
    operation: str,
    params: Any,
    environ: Mapping[str, str],
    *,
    mock: bool,
    person: Person | None = None,
) -> dict[str, Any]:
    """Perform one operation as an agent's call would be, and give its envelope; `person` is who can confirm it."""
    from .assembly import assemble
    from .session import Session

    parts = assemble(folder, hooks, environ=environ, mock=mock)
    try:
        return await parts.dispatcher.handle(None, {"operation": operation, "params": params}, Session.new(), person)
    finally:
        await parts.transport.aclose()


def as_json(value: Any) -> str:
    """Make JSON for a reader."""
    return json.dumps(value, indent=2, ensure_ascii=False)
