"""What the command prints for people: `operations`, `call`, `doctor`. Nothing here imports mcp."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import config as settings
from .config import SETTINGS
from .table import FAMILIES, Adapter, Table

__all__ = ["as_json", "call", "doctor", "list_operations", "render_doctor", "render_operations"]


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
    """Make a table of them, a line each."""
    wide = max((len(one["name"]) for one in operations), default=0)
    return "\n".join(
        f"{one['semantic_category']:<7}  {one['name']:<{wide}}  {one['description']}" for one in operations
    )


async def call(
    folder: Path, hooks: object | None, operation: str, params: Any, environ: Mapping[str, str], *, mock: bool
) -> dict[str, Any]:
    """Perform one operation as an agent's call would be, and give its envelope."""
    from .assembly import assemble
    from .session import Session

    parts = assemble(folder, hooks, environ=environ, mock=mock)
    try:
        return await parts.dispatcher.handle(None, {"operation": operation, "params": params}, Session.new())
    finally:
        await parts.transport.aclose()


def doctor(folder: Path, environ: Mapping[str, str]) -> dict[str, Any]:
    """Say what is configured: base_url, settings by key, and the credentials without their values."""
    from .credentials import report
    from .servers import server_url

    config = settings.load(folder, environ)
    adapter = Adapter.load(folder)
    return {
        "base_url": config.base_url or (server_url(adapter.servers[0]) if adapter.servers else None),
        "settings": {
            one.key: {
                "value": getattr(config, one.attribute),
                "source": config.sources[one.attribute],
                "variable": one.variable,
            }
            for one in SETTINGS
        },
        "credentials": report(adapter, environ),
    }


def render_doctor(found: Mapping[str, Any]) -> str:
    """Make it readable."""
    lines = [f"Base URL     {found['base_url'] or 'none: set MCP_AQL_BASE_URL'}", "", "Settings"]
    for key, one in found["settings"].items():
        value = "" if one["value"] is None else one["value"]
        lines.append(f"  {key:<26} {value!s:<12} {one['source']:<12} {one['variable']}")
    lines += ["", "Credentials"]
    for one in found["credentials"]:
        state = "set" if one["set"] else "missing"
        lines.append(f"  {one['scheme']:<26} {state:<12} {one['type']:<12} {', '.join(one['variables'])}")
    if not found["credentials"]:
        lines.append("  the API asks for none")
    return "\n".join(lines)


def as_json(value: Any) -> str:
    """Make JSON for a reader."""
    return json.dumps(value, indent=2, ensure_ascii=False)
