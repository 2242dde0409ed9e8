# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""The credentials as `doctor` reports them: which there are, where they can come from, what is set; never a value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urljoin

from ..encode.urls import server_url
from ..settings.config import Config
from ..settings.load import Variables
from ..table import Adapter
from .per_user import CLIENT, NOBODY, PerUser
from .sources import Logins, Sources

__all__ = ["lines", "report"]


def report(
    adapter: Adapter, environ: Mapping[str, str], config: Config | None = None, logins: Logins | None = None
) -> list[dict[str, Any]]:
    """Return each security scheme's type, its variables and whether they are set, and the grants that give a token.

    Raises ConfigError when the settings name a scheme that cannot be filled.
    """
    per_user = NOBODY if config is None else PerUser.of(config, adapter)
    sources = Sources(adapter, Variables(environ), per_user=per_user, logins=logins)
    configured = None if config is None else config.base_url
    base = configured or (server_url(adapter.servers[0]) if adapter.servers else "")
    return [_entry(sources, name, scheme, base) for name, scheme in adapter.security_schemes.items()]


def _entry(sources: Sources, name: str, scheme: Mapping[str, Any], base: str) -> dict[str, Any]:
    variables = list(scheme.get("variables", ()))
    options = [
        {
            "grant": option.grant,
            "variables": list(option.variables),
            "set": sources.is_ready(name, option),
            "token_url": urljoin(f"{base.rstrip('/')}/", option.token_url) if option.token_url else None,
        }
        for option in sources.options(name)
    ]
    is_set = bool(variables) and not sources.missing(name)
    entry = {"scheme": name, "type": scheme.get("type", ""), "variables": variables}
    entry["set"] = is_set or any(option["set"] for option in options)
    if scheme.get("type") == "http":
        entry["http_scheme"] = scheme.get("scheme", "")
    if options:
        used = "token" if is_set else next((option["grant"] for option in options if option["set"]), None)
        entry |= {"grants": options, "grant": used}
    if scheme.get("optional_variables"):
        entry["optional_variables"] = dict(scheme["optional_variables"])
    if scheme.get("discovery_url"):
        entry["discovery_url"] = sources.role(name, "discovery_url") or scheme["discovery_url"]
    per_user = _per_user(sources, name)
    if per_user:
        entry["per_user"] = per_user
    unreadable = sources.variables.unreadable((*variables, *scheme.get("optional_variables", {}).values()))
    if unreadable:
        entry["unreadable"] = unreadable
    return entry


def _per_user(sources: Sources, name: str) -> dict[str, Any]:
    exchange = sources.per_user.exchange
    if name in sources.per_user.forward:
        return {"header": sources.per_user.forward[name]}
    if exchange is not None and exchange.scheme == name:
        return {"token_url": exchange.url, "variables": list(CLIENT), "set": not sources.variables.missing(CLIENT)}
    return {}


def lines(entry: Mapping[str, Any]) -> Iterator[str]:
    """Return the lines for a person about the entry of a scheme."""
    state = "set" if entry["set"] else "missing"
    kind = " ".join((entry["type"], entry.get("http_scheme", ""))).strip()
    yield f"  {entry['scheme']:<26} {state:<12} {kind:<12} {', '.join(entry['variables'])}"
    for option in entry.get("grants", ()):
        state = "in use" if entry["grant"] == option["grant"] else "set" if option["set"] else "-"
        place = option["token_url"] or entry.get("discovery_url") or ""
        variables = ", ".join(option["variables"]) + (" and the command login" if option["grant"] == "login" else "")
        yield f"    or {option['grant']:<21} {state:<12} {variables}  {place}".rstrip()
    per_user = entry.get("per_user", {})
    if "header" in per_user:
        yield f"    over HTTP from each caller's header {per_user['header']}"
    elif per_user:
        yield f"    over HTTP by exchange of each caller's token, {', '.join(CLIENT)}  {per_user['token_url']}"
    for name in entry.get("unreadable", ()):
        yield f"    the file that {name} names cannot be read"
