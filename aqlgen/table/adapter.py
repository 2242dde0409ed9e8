"""Data of `adapter.json`: servers, security schemes, headers, counts and a first operation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from urllib.parse import urljoin

from aqlgen import __version__
from aqlgen.decide.decision import Category
from aqlgen.decide.overrides import HeaderOverride
from aqlgen.ir import Document
from aqlgen.ir import Server as DocumentServer
from aqlgen.runtime.table import (
    FORMAT,
    Adapter,
    SecurityScheme,
    Server,
)
from aqlgen.schemas import shorten
from aqlgen.table.identity import Identity
from aqlgen.table.model import FAMILIES, DecidedRow, Table

__all__ = ["SPEC_VERSION", "addressed", "build_adapter", "server_entry"]

SPEC_VERSION = "1.0.0-draft"
PROJECT_VERSION = "0.1.0"
SCHEMA_FILE = "../../schema/adapter.schema.json"
"""Where the JSON Schema of `adapter.json` lies, seen from there."""

MAX_DESCRIPTION = 1000


def build_adapter(
    document: Document,
    identity: Identity,
    rows: tuple[DecidedRow, ...],
    field_case: str,
    base: str | None,
    schemes: Mapping[str, SecurityScheme],
    headers: Iterable[HeaderOverride] = (),
) -> Adapter:
    """Return what `adapter.json` says; `base` is the URL of the document."""
    families = {family: [row for row in rows if row.family == family] for family in FAMILIES}
    return Adapter(
        schema_file=SCHEMA_FILE,
        format=FORMAT,
        name=identity.name,
        package=identity.package,
        title=shorten(document.title, 200) or identity.name,
        description=shorten(document.description, MAX_DESCRIPTION),
        version=PROJECT_VERSION,
        api_version=document.version,
        spec_version=SPEC_VERSION,
        generator=f"aqlgen {__version__}",
        field_case=field_case,
        servers=tuple(server_entry(server, base) for server in document.servers),
        security=document.security,
        scopes=document.scopes,
        security_schemes=schemes,
        headers={header.name: header.value for header in headers if not header.variable},
        counts={family: len(members) for family, members in families.items()},
        quick_start={family: _quick_start(members, family) for family, members in families.items() if members},
    )


def _quick_start(rows: Iterable[DecidedRow], family: str) -> str:
    """Return the operation that shows a family best: the canonical verb, few required parameters, a short name."""
    verb = {Category.READ.family: "list"}.get(family, family)

    def order(decided_row: DecidedRow) -> tuple[bool, bool, int, int, str]:
        row = decided_row.row
        required = sum(parameter.required for parameter in row.shown_parameters.values())
        return (row.example is None, row.verb != verb, required, len(row.name), row.name)

    return min(rows, key=order).name


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
