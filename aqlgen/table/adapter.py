"""Data of `adapter.json`: servers, security schemes with the owner's variables, counts and a first operation."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from urllib.parse import urljoin

from aqlgen import __version__
from aqlgen.decide.decision import Category
from aqlgen.ir import SIGNATURE, Document, OAuthFlow
from aqlgen.ir import SecurityScheme as DocumentScheme
from aqlgen.ir import Server as DocumentServer
from aqlgen.runtime.table import (
    FORMAT,
    Adapter,
    Flow,
    SecurityScheme,
    Server,
)
from aqlgen.schemas import shorten
from aqlgen.table.identity import Identity
from aqlgen.table.model import FAMILIES, DecidedRow, Table
from aqlgen.words import snake

__all__ = ["SPEC_VERSION", "addressed", "build_adapter", "server_entry"]

SPEC_VERSION = "1.0.0-draft"
PROJECT_VERSION = "0.1.0"
SCHEMA_FILE = "../../schema/adapter.schema.json"
"""Where the JSON Schema of `adapter.json` lies, seen from there."""

MAX_DESCRIPTION = 1000

RESERVED = ("AWS_", "GIT_", "LD_", "MCP_AQL_", "PIP_", "PYTHON", "SSH_", "SSL_", "UV_", "XDG_")
"""Beginnings of variables that other programs keep their own secrets in: no document's title makes one a credential."""

TOKENS = frozenset({"oauth2", "openIdConnect"})
PAIRS = frozenset({"basic", "digest"})


def build_adapter(
    document: Document, identity: Identity, rows: tuple[DecidedRow, ...], field_case: str, base: str | None
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
        security_schemes=security_schemes(identity, document.schemes),
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


def security_schemes(identity: Identity, schemes: Iterable[DocumentScheme]) -> dict[str, SecurityScheme]:
    """Return the schemes by their names; no two have a variable in common.

    `variables` must all be set; `optional_variables` has the further ones by their roles.
    """
    entries: dict[str, SecurityScheme] = {}
    taken: set[str] = set()
    for scheme in schemes:
        entry = _scheme_entry(scheme, _variable_prefix(identity, scheme.name))
        if taken & _variable_names(entry):
            mark = sha256(scheme.name.encode("utf-8", "surrogatepass")).hexdigest()[:4].upper()
            entry = _scheme_entry(scheme, f"{_variable_prefix(identity, scheme.name)}_{mark}")
        taken |= _variable_names(entry)
        entries[scheme.name] = entry
    return entries


def _variable_prefix(identity: Identity, name: str) -> str:
    """Return the prefix of a scheme's variables. A name that ends in `_FILE` would be taken for the path of a file."""
    words = snake(name).upper() or "CREDENTIAL"
    stem = words if words.startswith(f"{identity.prefix}_") else f"{identity.prefix}_{words}"
    if stem.startswith(RESERVED):
        stem = f"API_{stem}"
    return f"{stem}_KEY" if stem.endswith("_FILE") else stem


def _variable_names(entry: SecurityScheme) -> set[str]:
    return {*entry["variables"], *entry.get("optional_variables", {}).values()}


def _scheme_entry(scheme: DocumentScheme, stem: str) -> SecurityScheme:
    entry: SecurityScheme = {"type": scheme.kind}
    if scheme.kind == "apiKey":
        entry |= {"in": scheme.location, "name": scheme.parameter}
    if scheme.kind == "http":
        entry["scheme"] = scheme.http_scheme
    if scheme.service:
        entry["service"] = scheme.service
    if scheme.kind in TOKENS:
        if scheme.flows:
            entry["flows"] = {flow.grant: _flow(flow) for flow in scheme.flows}
        if scheme.discovery_url:
            entry["discovery_url"] = scheme.discovery_url
    variables, optional = _variables(scheme, stem)
    entry["variables"] = variables
    if optional:
        entry["optional_variables"] = optional
    entry["description"] = scheme.description[:300]
    return entry


def _flow(flow: OAuthFlow) -> Flow:
    entry: Flow = {}
    if flow.authorization_url:
        entry["authorization_url"] = flow.authorization_url
    if flow.token_url:
        entry["token_url"] = flow.token_url
    if flow.refresh_url:
        entry["refresh_url"] = flow.refresh_url
    if flow.device_url:
        entry["device_url"] = flow.device_url
    entry["scopes"] = list(flow.scopes)
    return entry


def _variables(scheme: DocumentScheme, stem: str) -> tuple[list[str], dict[str, str]]:
    if scheme.kind == "http" and scheme.http_scheme.lower() in PAIRS:
        return [f"{stem}_USERNAME", f"{stem}_PASSWORD"], {}
    if scheme.kind in ("apiKey", "http"):
        return [stem], {}
    if scheme.kind == "mutualTLS":
        return [f"{stem}_CERT", f"{stem}_KEY"], {"key_password": f"{stem}_KEY_PASSWORD"}
    if scheme.kind == SIGNATURE:
        return [], {role: f"{stem}_{role.upper()}" for role in ("profile", "region")}
    if scheme.kind not in TOKENS:
        return [], {}
    base = stem.removesuffix("_TOKEN")
    return [f"{base}_TOKEN"], {role: f"{base}_{role.upper()}" for role in _roles(scheme)}


def _roles(scheme: DocumentScheme) -> list[str]:
    """Return the roles of the variables that get a token, if the document says where tokens come from."""
    grants = {flow.grant for flow in scheme.flows if flow.token_url or flow.refresh_url or flow.device_url}
    if not grants and not scheme.discovery_url:
        return []
    roles = ["client_id", "client_secret"]
    if scheme.discovery_url or grants - {"clientCredentials"}:
        roles.append("refresh_token")
    if "password" in grants:
        roles += ["username", "password"]
    roles += ["scopes", "audience"]
    return [*roles, *(["discovery_url"] if scheme.discovery_url else ["token_url"])]


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
