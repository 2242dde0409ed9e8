# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The command `doctor`: the address, the credentials, what is held back, the settings, and if calls can be made."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..redaction import redacted, without_userinfo
from ..settings.config import SETTINGS
from ..settings.load import load
from ..table import Adapter, Table
from ..text import counted, line
from .sources_read import file_lines, files_read

__all__ = ["doctor", "render_doctor"]


def doctor(folder: Path, environ: Mapping[str, str], hooks: object | None = None) -> dict[str, Any]:
    """Return what is configured: base_url, safety, settings by key, hooks, and the credentials without their values.

    `callable` counts the operations whose security requirements are met.
    """
    from ..assembly import adapter_secrets, audit_file, check_variables
    from ..auth.sources import Logins, report
    from ..encode.urls import has_base_url, server_url
    from ..hooks import NAMES
    from ..state import SqliteState, state_file

    config = load(folder, environ)
    adapter = Adapter.load(folder)
    table = Table(folder, read_only=config.read_only)
    state, audit = state_file(config.state_url, adapter.name, environ), audit_file(config, adapter, environ)
    check_variables(adapter, table, config)
    unknown = not has_base_url(adapter, config.base_url, config.server_variables)
    first = server_url(adapter.servers[0], config.server_variables) if adapter.servers else None
    credentials = report(adapter, environ, config, Logins(SqliteState(state)))
    secrets = adapter_secrets(adapter, environ, config)
    shown = {
        "adapter": {"name": adapter.name, "version": adapter.version, "title": adapter.title},
        "base_url": None if unknown else config.base_url or first,
        "servers": [server_url(server, config.server_variables) for server in adapter.servers],
        "settings": {
            setting.key: {
                "value": getattr(config, setting.attribute),
                "source": config.sources[setting.attribute],
                "variable": setting.variable,
            }
            for setting in SETTINGS
        },
        "safety": {
            "policy": config.policy,
            "approval": config.approval,
            "read_only": config.read_only,
            **_held_back(table, config.policy),
            "safety_loop": config.safety_loop,
            "audit": _location(audit, "the log"),
            "state": _location(state, "memory"),
        },
        "hooks": [name for name in NAMES if getattr(hooks, name, None) is not None],
        "files": files_read(folder, environ),
        "credentials": credentials,
        "callable": _callable(adapter, table, credentials),
    }
    masked: dict[str, Any] = redacted(_without_userinfo(shown), secrets)
    return masked


def _without_userinfo(value: Any) -> Any:
    """Return a report without user names and passwords in its URLs."""
    if isinstance(value, str):
        return without_userinfo(value)
    if isinstance(value, Mapping):
        return {key: _without_userinfo(item) for key, item in value.items()}
    return [_without_userinfo(item) for item in value] if isinstance(value, (list, tuple)) else value


def _callable(adapter: Adapter, table: Table, credentials: list[dict[str, Any]]) -> dict[str, int]:
    """Count the operations that have the credentials they need, including those that callers bring."""
    ready = {entry["scheme"] for entry in credentials if entry["set"] or "per_user" in entry}
    requirements = [adapter.security if stated is None else stated for _, _, (stated,) in table.values("security")]
    met = sum(1 for security in requirements if not security or any(ready.issuperset(schemes) for schemes in security))
    return {"operations": len(requirements), "with_credentials": met}


def _held_back(table: Table, policy: str) -> dict[str, int]:
    """Count the operations that need a confirmation, and those that are refused."""
    from ..safety.gatekeeper import outcome_of

    outcomes = [
        outcome_of(policy, danger, under_review=bool(review))
        for _, _, (danger, review) in table.values("danger", "review")
    ]
    return {"asks_about": outcomes.count("confirm"), "refuses": outcomes.count("refuse")}


_PLACES = {"audit log": "MCP_AQL_AUDIT_PATH", "state": "MCP_AQL_STATE_URL"}


def _location(file: Path | None, otherwise: str) -> dict[str, Any]:
    """Return where something is kept, and if its folder, or the nearest one that exists, can be written to."""
    if file is None:
        return {"place": otherwise, "writable": True}
    nearest = next((path for path in (file, *file.absolute().parents) if path.exists()), Path("/"))
    return {"place": str(file), "writable": os.access(nearest, os.W_OK)}


def render_doctor(report: Mapping[str, Any], *, all_settings: bool = False) -> str:
    """Return the page for people. Settings with their default are only counted, unless `all_settings`."""
    adapter = report["adapter"]
    title = line(adapter["title"], 80)
    lines = [f"{adapter['name']}-adapter {adapter['version']}{f': {title}' if title else ''}", ""]
    lines.append(f"Base URL     {report['base_url'] or _unknown_base(report['servers'])}")
    lines += [f"  or         {server}" for server in report["servers"] if server != report["base_url"]]
    lines += ["", "Credentials"]
    from ..auth.sources import lines as credential_lines

    for entry in report["credentials"]:
        lines += credential_lines(entry)
    if not report["credentials"]:
        lines.append("  the API asks for none")
    lines += ["", "Safety", *_safety(report["safety"])]
    lines.append(f"  {'hooks':<26} {', '.join(report['hooks']) or 'none'}")
    lines += ["", *file_lines(report["files"])]
    lines += ["", *_settings(report["settings"], all_settings=all_settings), "", _verdict(report)]
    return "\n".join(lines)


def _unknown_base(servers: list[str]) -> str:
    if any("{" in server for server in servers[:1]):
        return f"{servers[0]}: set MCP_AQL_BASE_URL, or MCP_AQL_SERVER_VARIABLES"
    return "none: set MCP_AQL_BASE_URL"


def _settings(settings: Mapping[str, Mapping[str, Any]], *, all_settings: bool) -> Iterator[str]:
    shown = {key: entry for key, entry in settings.items() if all_settings or entry["source"] != "default"}
    rest = len(settings) - len(shown)
    summary = f"{rest if shown else 'all'} as they come; `doctor --all` shows them"
    yield f"Settings     {summary}" if rest else "Settings"
    values = {key: _value(entry["value"]) for key, entry in shown.items()}
    key_width = max(map(len, shown), default=0)
    value_width = max(map(len, values.values()), default=0)
    for key, entry in shown.items():
        yield f"  {key:<{key_width}}  {values[key]:<{value_width}}  {entry['source']:<11}  {entry['variable']}"


def _value(value: Any) -> str:
    if value is None or value in ("", (), [], {}):
        return "-"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _safety(safety: Mapping[str, Any]) -> Iterator[str]:
    held = f"asks about {counted(safety['asks_about'], 'operation')}, refuses {safety['refuses']}"
    reads = ", read only" if safety["read_only"] else ""
    yield f"  {'policy':<26} {safety['policy']}{reads}: {held}"
    confirms = "a person, or the call is refused" if safety["approval"] == "person" else "a person, else a token"
    yield f"  {'confirmed by':<26} {confirms}"
    yield f"  {'safety loop':<26} {safety['safety_loop']}"
    for name, location in (("audit log", safety["audit"]), ("state", safety["state"])):
        missing = "" if location["writable"] else f": cannot be written, set {_PLACES[name]}"
        yield f"  {name:<26} {location['place']}{missing}"


def _verdict(report: Mapping[str, Any]) -> str:
    """Return a sentence on whether calls can be made."""
    if not report["safety"]["audit"]["writable"] and report["safety"]["asks_about"]:
        return "Not ready: the audit log cannot be written, so what is destructive or worse would be refused."
    total, met = report["callable"]["operations"], report["callable"]["with_credentials"]
    if report["base_url"] is None:
        return "Not ready: the address of the API is not known. `--mock` answers without it."
    if met == total:
        return f"Ready: nothing is missing for any of {counted(total, 'operation')}."
    if met == 0:
        return "Not ready: no credential is set. `--mock` answers without one."
    return f"Ready for {met} of {counted(total, 'operation')}; the others want a credential that is missing."
