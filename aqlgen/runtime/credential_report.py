# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""What `doctor` says of the credentials: which there are, how they can be had, what is set; never their values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urljoin

from .config import Config
from .logins import Logins
from .per_user import CLIENT, NOBODY, PerUser
from .servers import server_url
from .table import Adapter
from .variables import Variables
from .ways import Ways

__all__ = ["lines", "report"]


def report(
    adapter: Adapter, environ: Mapping[str, str], config: Config | None = None, logins: Logins | None = None
) -> list[dict[str, Any]]:
    """Tell for each security scheme its type, its variables and whether they are set, and other ways to a token.

    Raises ConfigError when the settings name a scheme that cannot be filled.
    """
    per_user = NOBODY if config is None else PerUser.of(config, adapter)
    ways = Ways(adapter, Variables(environ), per_user=per_user, logins=logins)
    own = None if config is None else config.base_url
    base = own or (server_url(adapter.servers[0]) if adapter.servers else "")
    return [_entry(ways, name, scheme, base) for name, scheme in adapter.security_schemes.items()]


def _entry(ways: Ways, name: str, scheme: Mapping[str, Any], base: str) -> dict[str, Any]:
    variables = list(scheme.get("variables", ()))
    options = [
        {
            "grant": one.grant,
            "variables": list(one.variables),
            "set": ways.is_ready(name, one),
            "token_url": urljoin(f"{base.rstrip('/')}/", one.token_url) if one.token_url else None,
        }
        for one in ways.options(name)
    ]
    is_set = bool(variables) and not ways.missing(name)
    entry = {"scheme": name, "type": scheme.get("type", ""), "variables": variables}
    entry["set"] = is_set or any(one["set"] for one in options)
    if scheme.get("type") == "http":
        entry["http_scheme"] = scheme.get("scheme", "")
    if options:
        used = "token" if is_set else next((one["grant"] for one in options if one["set"]), None)
        entry |= {"grants": options, "grant": used}
    if scheme.get("optional_variables"):
        entry["optional_variables"] = dict(scheme["optional_variables"])
    if scheme.get("discovery_url"):
        entry["discovery_url"] = ways.role(name, "discovery_url") or scheme["discovery_url"]
    per_user = _per_user(ways, name)
    if per_user:
        entry["per_user"] = per_user
    unreadable = ways.variables.unreadable((*variables, *scheme.get("optional_variables", {}).values()))
    if unreadable:
        entry["unreadable"] = unreadable
    return entry


def _per_user(ways: Ways, name: str) -> dict[str, Any]:
    exchange = ways.per_user.exchange
    if name in ways.per_user.forward:
        return {"header": ways.per_user.forward[name]}
    if exchange is not None and exchange.scheme == name:
        return {"token_url": exchange.url, "variables": list(CLIENT), "set": not ways.variables.missing(CLIENT)}
    return {}


def lines(entry: Mapping[str, Any]) -> Iterator[str]:
    """Make the entry of one scheme readable."""
    state = "set" if entry["set"] else "missing"
    kind = " ".join((entry["type"], entry.get("http_scheme", ""))).strip()
    yield f"  {entry['scheme']:<26} {state:<12} {kind:<12} {', '.join(entry['variables'])}"
    for one in entry.get("grants", ()):
        state = "in use" if entry["grant"] == one["grant"] else "set" if one["set"] else "-"
        place = one["token_url"] or entry.get("discovery_url") or ""
        named = ", ".join(one["variables"]) + (" and the command login" if one["grant"] == "login" else "")
        yield f"    or {one['grant']:<21} {state:<12} {named}  {place}".rstrip()
    per_user = entry.get("per_user", {})
    if "header" in per_user:
        yield f"    over HTTP from each caller's header {per_user['header']}"
    elif per_user:
        yield f"    over HTTP by exchange of each caller's token, {', '.join(CLIENT)}  {per_user['token_url']}"
    for name in entry.get("unreadable", ()):
        yield f"    the file that {name} names cannot be read"
