# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Where requests go: the setting, the operation's own server, or the first of the document (OpenAPI, Server Object)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urljoin, urlsplit

from .errors import Code, Failure
from .table import Adapter, Row

__all__ = ["bad_variable", "base_of", "server_url", "unknown_base"]

_VARIABLE = re.compile(r"\{([^{}]+)\}")


def server_url(server: Mapping[str, Any], chosen: Mapping[str, str] | None = None) -> str:
    """Give a server's URL, its variables replaced by the chosen values or else by their defaults."""
    declared = server.get("variables", {})

    def value(found: re.Match[str]) -> str:
        name = found[1]
        if chosen and name in chosen:
            return chosen[name]
        return str(declared.get(name, {}).get("default", found[0]))

    return _VARIABLE.sub(value, server["url"])


def bad_variable(servers: Iterable[Mapping[str, Any]], chosen: Mapping[str, str]) -> str | None:
    """Tell which chosen value fits no server: one that no URL has, or that is not among those allowed."""
    declared: dict[str, list[Any]] = {}
    for server in servers:
        for name in _VARIABLE.findall(server["url"]):
            declared.setdefault(name, []).append(server.get("variables", {}).get(name, {}).get("enum") or ())
    for name, value in chosen.items():
        if name not in declared:
            known = f"they have {', '.join(sorted(declared))}" if declared else "they have none"
            return f"names '{name}', which is no variable of the API's servers: {known}"
        options = [one for allowed in declared[name] for one in allowed]
        if all(declared[name]) and value not in map(str, options):
            return f"gives '{name}' the value '{value}', which is none of {', '.join(map(str, options))}"
    return None


def unknown_base(adapter: Adapter, setting: str | None, chosen: Mapping[str, str]) -> bool:
    """Whether the address of the API is known neither by the setting nor by the document's first server."""
    url = setting or (server_url(adapter.servers[0], chosen) if adapter.servers else "")
    return not _absolute(url)


def base_of(adapter: Adapter, row: Row, setting: str | None, chosen: Mapping[str, str] | None = None) -> str:
    """Give the absolute base URL of an operation, without a slash behind. Raises Failure when there is none."""
    servers = row.servers or adapter.servers
    url = setting or (server_url(servers[0], chosen) if servers else "")
    if row.servers and not setting and not _absolute(url) and adapter.servers:  # relative to the document's own server
        url = urljoin(server_url(adapter.servers[0], chosen), url)
    if not _absolute(url):
        raise Failure(
            Code.INTERNAL_ERROR,
            "Internal error: the address of the API is not known, because its document names no complete one. "
            "Set MCP_AQL_BASE_URL, such as 'https://api.example.com/v1'.",
            {"setting": "MCP_AQL_BASE_URL", **({"server": url} if url else {})},
        )
    return url.strip().partition("#")[0].partition("?")[0].rstrip("/")


def _absolute(url: str) -> bool:
    try:
        parts = urlsplit(url.strip())
        return parts.scheme.lower() in ("http", "https") and bool(parts.hostname) and not _VARIABLE.search(url)
    except ValueError:
        return False
