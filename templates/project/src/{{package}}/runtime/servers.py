"""Where requests go: the setting, the operation's own server, or the first of the document (OpenAPI, Server Object)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from .errors import Code, Failure
from .table import Adapter, Row

__all__ = ["base_of", "server_url"]

_VARIABLE = re.compile(r"\{([^{}]+)\}")


def server_url(server: Mapping[str, Any]) -> str:
    """Give a server's URL, its variables replaced by their defaults."""
    variables = server.get("variables", {})
    return _VARIABLE.sub(lambda found: str(variables.get(found[1], {}).get("default", found[0])), server["url"])


def base_of(adapter: Adapter, row: Row, setting: str | None) -> str:
    """Give the absolute base URL of an operation, without a slash behind. Raises Failure when there is none."""
    servers = row.servers or adapter.servers
    url = setting or (server_url(servers[0]) if servers else "")
    try:
        parts = urlsplit(url.strip())
        absolute = parts.scheme.lower() in ("http", "https") and bool(parts.hostname)
    except ValueError:
        absolute = False
    if not absolute or _VARIABLE.search(url):
        raise Failure(
            Code.INTERNAL_ERROR,
            "Internal error: the address of the API is not known, because its document names no complete one. "
            "Set MCP_AQL_BASE_URL, such as 'https://api.example.com/v1'.",
            {"setting": "MCP_AQL_BASE_URL", **({"server": url} if url else {})},
        )
    return url.strip().partition("#")[0].partition("?")[0].rstrip("/")
