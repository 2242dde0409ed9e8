"""Servers as the table names them, and whether they say where the API is (OpenAPI, Server Object)."""

from __future__ import annotations

from urllib.parse import urljoin

from aqlgen.ir import Server as DocumentServer
from aqlgen.runtime.table import Server
from aqlgen.schemas import shorten
from aqlgen.table.model import Table

__all__ = ["addressed", "server_entry"]


def server_entry(server: DocumentServer, base: str | None) -> Server:
    """Return a server's entry; `base` is the URL of the document, to which a relative URL is resolved."""
    entry: Server = {"url": _server_url(server, base)}
    if server.description:
        entry["description"] = shorten(server.description, 200)
    if server.variables:
        entry["variables"] = server.variables
    return entry


def addressed(table: Table) -> bool:
    """Return True if the document says where the API is; otherwise its base URL has to be configured."""
    servers = [*table.adapter.servers, *(server for row in table.rows for server in row.row.servers)]
    return any("://" in server["url"] or server["url"].startswith("{") for server in servers)


def _server_url(server: DocumentServer, base: str | None) -> str:
    try:
        url = urljoin(base, server.url) if base and "{" not in server.url else server.url
    except ValueError:  # no URL at all, such as http://[
        url = server.url
    return f"https:{url}" if url.startswith("//") else url  # the scheme of a file's own address says nothing
