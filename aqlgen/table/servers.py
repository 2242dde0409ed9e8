"""Servers as the table names them, and whether they say where the API is (OpenAPI, Server Object)."""

from __future__ import annotations

from urllib.parse import urljoin

from aqlgen.ir import Json, Server
from aqlgen.schemas import shorten
from aqlgen.table.model import Table

__all__ = ["addressed", "server_entry"]


def server_entry(server: Server, base: str | None) -> dict[str, Json]:
    """Give a server's entry; `base` is the URL of the document, which a relative one goes on from."""
    entry: dict[str, Json] = {"url": _url(server, base)}
    if server.description:
        entry["description"] = shorten(server.description, 200)
    if server.variables:
        entry["variables"] = server.variables
    return entry


def addressed(table: Table) -> bool:
    """Whether the document says where the API is; otherwise its base URL has to be configured."""
    servers = [*table.adapter["servers"], *(one for row in table.rows for one in row.as_json().get("servers", ()))]
    return any("://" in one["url"] or one["url"].startswith("{") for one in servers)


def _url(server: Server, base: str | None) -> str:
    try:
        url = urljoin(base, server.url) if base and "{" not in server.url else server.url
    except ValueError:  # no URL at all, such as http://[
        url = server.url
    return f"https:{url}" if url.startswith("//") else url  # the scheme of a file's own address says nothing
