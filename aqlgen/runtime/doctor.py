# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""What `doctor` says: the address, the credentials, what is held back, the settings, and whether calls can be made."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from . import config as settings
from .config import SETTINGS
from .table import FAMILIES, Adapter, Table
from .text import counted, line

__all__ = ["doctor", "render_doctor"]


def doctor(folder: Path, environ: Mapping[str, str], hooks: object | None = None) -> dict[str, Any]:
    """Say what is configured: base_url, safety, settings by key, hooks, and the credentials without their values.

    `callable` counts the operations whose security requirements are met.
    """
    from .assembly import audit_file, check_variables
    from .credential_report import report
    from .hooks import NAMES
    from .logins import Logins
    from .servers import server_url, unknown_base
    from .state import SqliteState, state_file

    config = settings.load(folder, environ)
    adapter = Adapter.load(folder)
    table = Table(folder)
    state, audit = state_file(config.state_url, adapter.name, environ), audit_file(config, adapter, environ)
    check_variables(adapter, table, config)
    unknown = unknown_base(adapter, config.base_url, config.server_variables)
    first = server_url(adapter.servers[0], config.server_variables) if adapter.servers else None
    credentials = report(adapter, environ, config, Logins(SqliteState(state)))
    return {
        "adapter": {"name": adapter.name, "version": adapter.version, "title": adapter.title},
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
            **_held_back(table, config.policy),
            "safety_loop": config.safety_loop,
            "audit": _place(audit, "the log"),
            "state": _place(state, "memory"),
        },
        "hooks": [name for name in NAMES if getattr(hooks, name, None) is not None],
        "credentials": credentials,
        "callable": _callable(adapter, table, credentials),
    }


def _callable(adapter: Adapter, table: Table, credentials: list[dict[str, Any]]) -> dict[str, int]:
    """Count the operations that have the credentials they need, the callers' own included."""
    ready = {one["scheme"] for one in credentials if one["set"] or "per_user" in one}
    every = [row.get("security", adapter.security) for family in FAMILIES for row in table.raw(family).values()]
    met = sum(1 for one in every if not one or any(ready.issuperset(schemes) for schemes in one))
    return {"operations": len(every), "with_credentials": met}


def _held_back(table: Table, policy: str) -> dict[str, int]:
    """Count the operations that are asked about, and those that are refused."""
    levels = [row["danger"] for family in FAMILIES for row in table.raw(family).values()]
    if policy == "open":
        return {"asks_about": 0, "refuses": 0}
    asked = sum(1 for level in levels if level in ("destructive", "dangerous"))
    return {"asks_about": asked, "refuses": levels.count("forbidden")}


_PLACES = {"audit log": "MCP_AQL_AUDIT_PATH", "state": "MCP_AQL_STATE_URL"}


def _place(file: Path | None, otherwise: str) -> dict[str, Any]:
    """Say where something is kept, and whether it can be: its folder, or the nearest there is, can be written to."""
    if file is None:
        return {"place": otherwise, "writable": True}
    nearest = next((one for one in (file, *file.absolute().parents) if one.exists()), Path("/"))
    return {"place": str(file), "writable": os.access(nearest, os.W_OK)}


def render_doctor(found: Mapping[str, Any], *, every: bool = False) -> str:
    """Make it readable; settings that are as they come are only counted, unless `every`."""
    about = found["adapter"]
    title = line(about["title"], 80)
    lines = [f"{about['name']}-adapter {about['version']}{f': {title}' if title else ''}", ""]
    lines.append(f"Base URL     {found['base_url'] or _unknown_base(found['servers'])}")
    lines += [f"  or         {one}" for one in found["servers"] if one != found["base_url"]]
    lines += ["", "Credentials"]
    from .credential_report import lines as told

    for one in found["credentials"]:
        lines += told(one)
    if not found["credentials"]:
        lines.append("  the API asks for none")
    lines += ["", "Safety", *_safety(found["safety"])]
    lines.append(f"  {'hooks':<26} {', '.join(found['hooks']) or 'none'}")
    lines += ["", *_settings(found["settings"], every=every), "", _verdict(found)]
    return "\n".join(lines)


def _unknown_base(servers: list[str]) -> str:
    if any("{" in one for one in servers[:1]):
        return f"{servers[0]}: set MCP_AQL_BASE_URL, or MCP_AQL_SERVER_VARIABLES"
    return "none: set MCP_AQL_BASE_URL"


def _settings(found: Mapping[str, Mapping[str, Any]], *, every: bool) -> Iterator[str]:
    shown = {key: one for key, one in found.items() if every or one["source"] != "default"}
    rest = len(found) - len(shown)
    usual = (
        f"{rest} as they come; `doctor --all` shows them" if shown else "all as they come; `doctor --all` shows them"
    )
    yield f"Settings     {usual}" if rest else "Settings"
    wide = max(map(len, shown), default=0)
    values = {key: _value(one["value"]) for key, one in shown.items()}
    wider = max(map(len, values.values()), default=0)
    for key, one in shown.items():
        yield f"  {key:<{wide}}  {values[key]:<{wider}}  {one['source']:<11}  {one['variable']}"


def _value(value: Any) -> str:
    if value is None or value in ("", (), [], {}):
        return "-"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _safety(safety: Mapping[str, Any]) -> Iterator[str]:
    held = f"asks about {counted(safety['asks_about'], 'operation')}, refuses {safety['refuses']}"
    yield f"  {'policy':<26} {safety['policy']}: {held}"
    yield f"  {'safety loop':<26} {safety['safety_loop']}"
    for name, about in (("audit log", safety["audit"]), ("state", safety["state"])):
        missing = "" if about["writable"] else f": cannot be written, set {_PLACES[name]}"
        yield f"  {name:<26} {about['place']}{missing}"


def _verdict(found: Mapping[str, Any]) -> str:
    """Say in a sentence whether calls can be made."""
    if not found["safety"]["audit"]["writable"] and found["safety"]["asks_about"]:
        return "Not ready: the audit log cannot be written, so what is destructive or worse would be refused."
    every, met = found["callable"]["operations"], found["callable"]["with_credentials"]
    if found["base_url"] is None:
        return "Not ready: the address of the API is not known. `--mock` answers without it."
    if met == every:
        return f"Ready: nothing is missing for any of {counted(every, 'operation')}."
    if met == 0:
        return "Not ready: no credential is set. `--mock` answers without one."
    return f"Ready for {met} of {counted(every, 'operation')}; the others want a credential that is missing."
