"""The command `doctor`: the address, the credentials, what is held back, the settings, and if calls can be made.

What it says of each is a section; the last lines say what to do next.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator, Mapping
from operator import attrgetter
from pathlib import Path
from typing import Any

from ..redaction import redacted, without_userinfo
from ..settings.config import SETTINGS, Config
from ..settings.load import CONFIG_FILE_VARIABLE, SETTINGS_FILE, Variables, load, settings_file
from ..settings.tables import HttpSettings
from ..table import Adapter, Table
from ..text import counted, line, visible


def files_read(folder: Path, environ: Mapping[str, str]) -> dict[str, Any]:
    """Return the owner's files: `settings` by path, None for none, and `hooks`.

    `not_read` is a file of settings in the working directory that is not used, None for none.
    """
    settings = settings_file(folder, environ)
    here = Path(SETTINGS_FILE)
    return {
        "settings": None if settings is None else str(settings.absolute()),
        "hooks": str(folder / "hooks.py") if (folder / "hooks.py").is_file() else None,
        "not_read": str(here)
        if here.is_file() and (settings is None or here.resolve() != settings.resolve())
        else None,
    }


def file_lines(files: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines about the owner's files for people."""
    yield "Files"
    for name, key in (("adapter.toml", "settings"), ("hooks.py", "hooks")):
        yield f"  {name:<26} {line(files[key], 300) if files[key] else 'none'}"
    if files["not_read"]:
        yield f"  {files['not_read']} in this folder is not read; {CONFIG_FILE_VARIABLE}={files['not_read']} reads it"


def doctor(
    folder: Path, environ: Mapping[str, str], hooks: object | None = None, *, call: bool = False, mock: bool = False
) -> dict[str, Any]:
    """Return the configuration: base_url, safety, settings by key, hooks, and the credentials without their values.

    `callable` counts the operations whose security requirements are met, those whose address may be the API's, and
    those that have both; `next` says what is left to do. With `call`, safe reads are made, and `call` is their outcome.
    """
    from ..assembly import adapter_secrets, audit_file, check_settings, checked_keys
    from ..auth.logins import Logins
    from ..auth.sources import config_of_each, report
    from ..encode.urls import has_base_url, server_url
    from ..hooks import Hooks
    from ..state.custody import open_state, state_file
    from .readiness import next_steps, survey

    config = load(folder, environ)
    adapter = Adapter.load(folder)
    table = Table(folder, read_only=config.read_only)
    state, audit = state_file(config.state_url, adapter.name, environ), audit_file(config, adapter, environ)
    untold = check_settings(adapter, Table(folder), config)
    parts, configs = adapter.of_each_api(), config_of_each(config, adapter)
    apis = [(part, configs[name].base_url, configs[name].server_variables) for name, part in parts.items()]
    unknown = not all(has_base_url(part, base_url, variables) for part, base_url, variables in apis)
    servers = [[server_url(server, variables) for server in part.servers] for part, _, variables in apis]
    addresses = [api[1] or next(iter(urls), "") for api, urls in zip(apis, servers, strict=True)]
    base_url = ", ".join(f"{name}={url}".removeprefix("=") for name, url in zip(parts, addresses, strict=True))
    keys = checked_keys(config, environ)
    credentials = report(adapter, environ, config, Logins(open_state(config.state_url, adapter.name, environ)))
    hosts = _host_uses(adapter, table, configs)
    usage, address, counts = survey(adapter, table, config, credentials, hosts)
    shown = {
        "adapter": {"name": adapter.name, "version": adapter.version, "title": adapter.title},
        "base_url": None if unknown else base_url,
        "address": address,
        "servers": [] if adapter.apis else servers[0],
        "hosts": hosts,
        "settings": dict(_settings_of(config)),
        "safety": {
            **_policy_of(config, table),
            "untold": untold,
            "audit": _location(audit, "the log"),
            "state": _store(config.state_url, adapter.name, environ, state, keys.source),
        },
        "http": _http(config.http, Variables(environ)),
        "hooks": [name for name, hook in Hooks.load(hooks)._asdict().items() if hook is not None],
        "files": files_read(folder, environ),
        "credentials": credentials,
        "demanding": usage.demanding,
        "encrypted": config.auth_allow_http or unknown or all(map(_is_encrypted, parts.values(), addresses)),
        "callable": counts,
    }
    shown["next"] = next_steps(shown, usage)
    if call:
        from .probe import call_safely

        shown["call"] = call_safely(folder, hooks, environ, shown, mock=mock)
    masked: dict[str, Any] = redacted(_without_userinfo(shown), adapter_secrets(adapter, environ, config))
    return masked


def _host_uses(adapter: Adapter, table: Table, configs: Mapping[str, Config]) -> list[dict[str, Any]]:
    from ..hosts.report import OperationHost, host_uses

    operations = (OperationHost(*values) for _, _, values in table.values("servers", "security", "api"))
    settings = {name: (of_api.base_url, of_api.server_variables) for name, of_api in configs.items()}
    return [use.as_json() | {"summary": use.summary} for use in host_uses(adapter, operations, settings)]


def _is_encrypted(part: Adapter, url: str) -> bool:
    from ..encode.urls import is_safe
    from ..hosts.gate import is_listed

    return is_safe(url) or is_listed(part, url)


def _settings_of(config: Config) -> Iterator[tuple[str, dict[str, Any]]]:
    for setting in SETTINGS:
        value, source = attrgetter(setting.attribute)(config), config.sources[setting.attribute]
        yield setting.key, {"value": value, "source": source, "variable": setting.variable}


def _without_userinfo(value: Any) -> Any:
    """Return a report without user names and passwords in its URLs."""
    if isinstance(value, str):
        return without_userinfo(value)
    if isinstance(value, Mapping):
        return {key: _without_userinfo(item) for key, item in value.items()}
    return [_without_userinfo(item) for item in value] if isinstance(value, (list, tuple)) else value


def _http(settings: HttpSettings, variables: Variables) -> dict[str, Any]:
    """Return who may use the adapter over HTTP, and under which hosts; tokens are only counted."""
    from ..server.access import Access, AccessError, auth_kind, read_tokens

    report: dict[str, Any] = {"auth": settings.auth, "hosts": [], "origins": [], "problem": None}
    try:
        report["auth"] = auth_kind(settings, variables)
        access = Access.of(settings, variables, address="127.0.0.1", listens_on="http://127.0.0.1/mcp")
    except AccessError as problem:
        return {**report, "problem": str(problem)}
    report.update(hosts=list(access.place.hosts), origins=list(access.place.origins))
    if access.kind == "token":
        report["tokens"] = len(read_tokens(variables))
    if access.kind == "oauth":
        report.update(issuer=access.issuer, resource=access.resource, scopes=list(access.scopes))
    return report


def _policy_of(config: Config, table: Table) -> dict[str, Any]:
    """Return the settings of safety, and how many operations are asked about or refused, whatever is given to them."""
    from ..safety.policy import FIRST_USE, Policy, Subject

    policy = Policy(config, table)
    decisions = [
        policy.usual(Subject(name, family, *values), table.find)[0]
        for name, family, values in table.values("danger", "review", "effects", "asked")
    ]
    outcomes = [decision.outcome for decision in decisions]
    return {
        "policy": config.policy,
        "trust_level": config.trust_level,
        "rules": len(config.policy_rules),
        "approval": config.confirmation.approval,
        "read_only": config.read_only,
        "safety_loop": config.safety_loop,
        "asks_about": outcomes.count("confirm"),
        "asks_at_first_use": [decision.rule for decision in decisions].count(FIRST_USE),
        "refuses": outcomes.count("refuse"),
    }


_CONFIRMS = {"person": "a person, or the call is refused", "operator": "an operator"}
_PLACES = {"audit log": "MCP_AQL_AUDIT_PATH", "state": "MCP_AQL_STATE_URL"}


def _location(file: Path | None, otherwise: str) -> dict[str, Any]:
    """Return where something is kept, and if its folder, or the nearest one that exists, can be written to."""
    if file is None:
        return {"place": otherwise, "writable": True}
    nearest = next((path for path in (file, *file.absolute().parents) if path.exists()), Path("/"))
    return {"place": str(file), "writable": os.access(nearest, os.W_OK)}


def _store(url: str, name: str, environ: Mapping[str, str], file: Path | None, key: str) -> dict[str, Any]:
    """Return the kind of the store, whether it answers in a few seconds (None if nothing is there yet), and its key."""
    from ..state import StoreAway
    from ..state.custody import is_redis, open_store

    async def ask() -> None:
        opened = open_store(url, name, environ)
        try:
            await opened.get("seal", "key")
        finally:
            await opened.close()

    kind = "redis" if is_redis(url) else "memory" if file is None else "sqlite"
    store: dict[str, Any] = {**_location(None if kind == "redis" else file, url or "memory"), "store": kind}
    store |= {"answers": True, "key": key or ("this process" if kind == "memory" else "the store")}
    if kind == "sqlite" and file is not None and not file.exists():
        return {**store, "answers": None}
    try:
        asyncio.run(ask())
    except (StoreAway, ValueError) as problem:
        store |= {"answers": False, "problem": str(problem)}
    return store


def render_doctor(report: Mapping[str, Any], *, all_settings: bool = False) -> str:
    """Return the page for people. Settings with their default are only counted, unless `all_settings`.

    No value that it shows begins a line.
    """
    adapter = report["adapter"]
    title = line(adapter["title"], 80)
    from .readiness import address_lines, call_lines, credential_section, verdict

    lines = [f"{adapter['name']}-adapter {adapter['version']}{f': {title}' if title else ''}", ""]
    lines += address_lines(report)
    lines += ["", "Hosts", *_hosts(report["hosts"])]
    lines += ["", "Credentials", *credential_section(report)]
    lines += ["", "Safety", *_safety(report["safety"])]
    lines.append(f"  {'hooks':<26} {', '.join(report['hooks']) or 'none'}")
    lines += ["", "HTTP", *_http_lines(report["http"])]
    lines += ["", *file_lines(report["files"])]
    lines += ["", *_settings(report["settings"], all_settings=all_settings)]
    if "call" in report:
        lines += ["", "Call", *call_lines(report["call"])]
    lines += ["", *verdict(report)]
    return "\n".join(map(visible, lines))


def _hosts(hosts: list[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the uses of each host, and the entry to add for those that are refused."""
    from ..hosts import yaml_entry

    refused: dict[str, dict[str, None]] = {}
    for host in hosts:
        used = host["operations"] or host["purposes"]
        state = f"accepted by {host['accepted_by']}" if host["accepted"] else "refused" if used else "not accepted"
        yield f"  {host['origin']:<26} {state:<26} {host['summary']}"
        if state == "refused":
            refused.setdefault(host.get("api", ""), {})[host["overrides"]] = None
    for api, entries in refused.items():
        entry = f"{{hosts: [{', '.join(map(yaml_entry, entries))}]}}"
        entry = f"apis: {{{api}: {entry}}}" if api else f"adapter: {entry}"
        yield f"  to accept: '{entry}' in overrides.yaml, then `aqlgen update`"
    if not hosts:
        yield "  none is known"


def _settings(settings: Mapping[str, Mapping[str, Any]], *, all_settings: bool) -> Iterator[str]:
    shown = {key: entry for key, entry in settings.items() if all_settings or entry["source"] != "default"}
    rest = len(settings) - len(shown)
    summary = f"{rest if shown else 'all'} have their defaults; `doctor --all` shows them"
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
    first = f" ({safety['asks_at_first_use']} at the first call)" if safety["asks_at_first_use"] else ""
    held = f"confirmation for {counted(safety['asks_about'], 'operation')}{first}, {safety['refuses']} refused"
    reads = ", read only" if safety["read_only"] else ""
    rules = f", {counted(safety['rules'], 'rule')}" if safety["rules"] else ""
    yield f"  {'policy':<26} {safety['policy']}{reads}{rules}: {held}"
    for text in safety["untold"]:
        yield f"  {'':<26} {text}"
    yield f"  {'trust level':<26} {safety['trust_level']}"
    yield f"  {'confirmed by':<26} {_CONFIRMS.get(safety['approval'], 'a person; if the client cannot ask, the agent')}"
    yield f"  {'safety loop':<26} {safety['safety_loop']}"
    for name, location in (("audit log", safety["audit"]), ("state", safety["state"])):
        missing = "" if location["writable"] else f": cannot be written, set {_PLACES[name]}"
        yield f"  {name:<26} {location['place']}{missing}"
    state = safety["state"]
    away = f"  does not answer: {line(state.get('problem', ''), 200)}" if state["answers"] is False else ""
    yield f"  {'store':<26} {state['store']}, sealed with a key of {state['key']}{away}"


def _http_lines(http: Mapping[str, Any]) -> Iterator[str]:
    auth = {
        "": "none: only on this machine, until you set MCP_AQL_HTTP_AUTH",
        "none": "none: everyone who reaches it can use it",
        "token": f"token: {counted(http.get('tokens', 0), 'token')}",
        "oauth": f"oauth: {http.get('issuer', '')}, for {http.get('resource', '')}",
    }[http["auth"]]
    if http["problem"]:
        yield f"  {'does not start':<26} {http['problem']}"
        return
    yield f"  {'authentication':<26} {auth}"
    yield f"  {'hosts':<26} {', '.join(http['hosts'])}"
    yield f"  {'origins':<26} {', '.join(http['origins']) or 'none'}"
