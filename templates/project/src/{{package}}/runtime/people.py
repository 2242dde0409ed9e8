# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""What the command prints for people: `operations`, `call`, `doctor`. Nothing here imports mcp."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import config as settings
from .config import SETTINGS
from .table import FAMILIES, Adapter, Table

if TYPE_CHECKING:
    from .registry import Person

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


def doctor(folder: Path, environ: Mapping[str, str], hooks: object | None = None) -> dict[str, Any]:
    """Say what is configured: base_url, safety, settings by key, hooks, and the credentials without their values."""
    from .assembly import audit_file, check_variables
    from .credential_report import report
    from .hooks import NAMES
    from .logins import Logins
    from .servers import server_url, unknown_base
    from .state import SqliteState, state_file

    config = settings.load(folder, environ)
    adapter = Adapter.load(folder)
    state, audit = state_file(config.state_url, adapter.name, environ), audit_file(config, adapter, environ)
    check_variables(adapter, Table(folder), config)
    unknown = unknown_base(adapter, config.base_url, config.server_variables)
    first = server_url(adapter.servers[0], config.server_variables) if adapter.servers else None
    return {
        "base_url": None if unknown else config.base_url or first,
        "servers": [server_url(one, config.server_variables) for one in adapter.servers],
        "settings": {
            one.key: {
                "value": getattr(config, one.attribute),
                "source": config.sources[one.attribute],
                "variable": one.variable,
            }
            for one in SETTINGS
        },
        "safety": {
            "policy": config.policy,
            **_held_back(Table(folder), config.policy),
            "safety_loop": config.safety_loop,
            "audit": _place(audit, "the log"),
            "state": _place(state, "memory"),
        },
        "hooks": [name for name in NAMES if getattr(hooks, name, None) is not None],
        "credentials": report(adapter, environ, config, Logins(SqliteState(state))),
    }


def _held_back(table: Table, policy: str) -> dict[str, int]:
    """Count the operations that are asked about, and those that are refused."""
    levels = [row["danger"] for family in FAMILIES for row in table.raw(family).values()]
    if policy == "open":
        return {"asks_about": 0, "refuses": 0}
    asked = sum(1 for level in levels if level in ("destructive", "dangerous"))
    return {"asks_about": asked, "refuses": levels.count("forbidden")}


def _place(file: Path | None, otherwise: str) -> dict[str, Any]:
    """Say where something is kept, and whether it can be: its folder, or the nearest there is, can be written to."""
    if file is None:
        return {"place": otherwise, "writable": True}
    nearest = next((one for one in (file, *file.absolute().parents) if one.exists()), Path("/"))
    return {"place": str(file), "writable": os.access(nearest, os.W_OK)}


def render_doctor(found: Mapping[str, Any]) -> str:
    """Make it readable."""
    asked = "none: set MCP_AQL_BASE_URL"
    if found["base_url"] is None and any("{" in one for one in found["servers"][:1]):
        asked = f"{found['servers'][0]}: set MCP_AQL_BASE_URL, or MCP_AQL_SERVER_VARIABLES"
    lines = [f"Base URL     {found['base_url'] or asked}"]
    lines += [f"  or         {one}" for one in found["servers"] if one != found["base_url"]]
    lines += ["", "Settings"]
    for key, one in found["settings"].items():
        value = "" if one["value"] is None else one["value"]
        lines.append(f"  {key:<26} {value!s:<12} {one['source']:<12} {one['variable']}")
    lines += ["", "Safety", *_safety(found["safety"])]
    lines.append(f"  {'hooks':<26} {', '.join(found['hooks']) or 'none'}")
    lines += ["", "Credentials"]
    from .credential_report import lines as told

    for one in found["credentials"]:
        lines += told(one)
    if not found["credentials"]:
        lines.append("  the API asks for none")
    return "\n".join(lines)


def _safety(safety: Mapping[str, Any]) -> Iterator[str]:
    held = f"asks about {safety['asks_about']} operations, refuses {safety['refuses']}"
    yield f"  {'policy':<26} {safety['policy']}: {held}"
    yield f"  {'safety loop':<26} {safety['safety_loop']}"
    for name, about in (("audit log", safety["audit"]), ("state", safety["state"])):
        yield f"  {name:<26} {about['place']}{'' if about['writable'] else ': cannot be written'}"


def as_json(value: Any) -> str:
    """Make JSON for a reader."""
    return json.dumps(value, indent=2, ensure_ascii=False)
