"""Data of `adapter.json`: servers, security schemes, headers, counts and a first operation; several APIs as one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from urllib.parse import urljoin

from aqlgen import __version__
from aqlgen.decide.decision import Category
from aqlgen.decide.overrides import AdapterOverride
from aqlgen.ir import DEFAULT_SERVER, Document
from aqlgen.ir import Server as DocumentServer
from aqlgen.runtime.hosts import Origin
from aqlgen.runtime.hosts.gate import by_generating, pattern_of
from aqlgen.runtime.table import (
    FORMAT,
    Accepted,
    Adapter,
    ApiSection,
    SecurityScheme,
    Server,
    scheme_of,
)
from aqlgen.schemas import shorten
from aqlgen.table.identity import Identity
from aqlgen.table.model import FAMILIES, DecidedRow, Table

SPEC_VERSION = "1.0.0-draft"
PROJECT_VERSION = "0.1.0"
SCHEMA_FILE = "../../schema/adapter.schema.json"
"""Where the JSON Schema of `adapter.json` lies, seen from there."""

MAX_DESCRIPTION = 1000
_LEAST_OPERATIONS, _NEARLY_ALL = 20, 0.8
"""How many operations, and which share of all, have a parameter that is common to the API."""


def build_adapter(
    document: Document,
    identity: Identity,
    rows: tuple[DecidedRow, ...],
    field_case: str,
    base: str | None,
    schemes: Mapping[str, SecurityScheme],
    overrides: AdapterOverride,
    accepted: Accepted | None = None,
) -> Adapter:
    """Return the data of `adapter.json`; `base` is the URL of the document, the rest is as in `tabulate`."""
    default = (DEFAULT_SERVER,) if base is not None and any(not row.row.servers for row in rows) else ()
    servers = tuple(server_entry(server, base) for server in document.servers or default)
    adapter = Adapter(
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
        servers=servers,
        accepted=_accepted(by_generating(_first_server(servers, rows), schemes), accepted, overrides, schemes),
        security=document.security,
        scopes=document.scopes,
        security_schemes=schemes,
        headers={header.name: header.value for header in overrides.headers if not header.variable},
        counts={},
        quick_start={},
    )
    return _with_operations(adapter, rows)


def _with_operations(adapter: Adapter, rows: tuple[DecidedRow, ...]) -> Adapter:
    """Return an adapter with what it says of its operations."""
    families = {family: [row for row in rows if row.family == family] for family in FAMILIES}
    return replace(
        adapter,
        counts={family: len(members) for family, members in families.items()},
        idempotent=tuple(name for name, members in families.items() if name != "read" and _are_idempotent(members)),
        quick_start={family: _quick_start_of(members, family) for family, members in families.items() if members},
        executions=any(row.row.long_running is not None for row in rows),
        common=_common_parameters(rows),
    )


def own_first(document: Document, base: str | None) -> Document:
    """Return the document with the server at the origin of its own URL before the others, if that is one of them.

    A copy of an API, as on this machine, mostly names the public one first. A relative server is at that origin, too.
    """
    at_home = [server for server in document.servers if _is_own(server, base)]
    if not at_home or at_home[0] is document.servers[0] or "://" not in document.servers[0].url:
        return document
    return replace(document, servers=(at_home[0], *(server for server in document.servers if server is not at_home[0])))


def _is_own(server: DocumentServer, base: str | None) -> bool:
    """Return True for a server at the origin of the document's URL, or at the same over https."""
    origin, at = Origin.of(server.url), Origin.of(base or "")
    return at is not None and origin in (at, Origin.of(f"https://{at.place}"))


def base_of(document: Document, base: str | None) -> str | None:
    """Return the URL of the document, without its query: that may hold a credential.

    None if neither relative servers go on from it, nor one of several comes first because of it.
    """
    servers = [server for operation in document.operations for server in operation.servers]
    servers += document.servers or (DEFAULT_SERVER,)
    is_first = len(document.servers) > 1 and _is_own(document.servers[0], base)
    if base is None or (all("://" in server.url for server in servers) and not is_first):
        return None
    return base.partition("#")[0].partition("?")[0]


def _first_server(servers: tuple[Server, ...], rows: tuple[DecidedRow, ...]) -> tuple[Server, ...]:
    """Return the API's first server; for a document that names none, that of its operations if all have the same."""
    if any(map(pattern_of, servers[:1])):
        return servers[:1]
    named = {pattern_of(row.row.servers[0]): row.row.servers[:1] for row in rows if row.row.servers}
    return next(iter(named.values())) if len(named) == 1 else ()


def _accepted(
    named: Accepted, before: Accepted | None, overrides: AdapterOverride, schemes: Mapping[str, SecurityScheme]
) -> Accepted:
    """Return the accepted origins: of those that the document names, only such as were accepted before, if any were.

    So a document that changes its server after the adapter was generated takes no credentials along. What the owner's
    own security schemes name is the owner's word.
    """
    if before is not None:
        owners = {name: scheme for name, scheme in schemes.items() if name in overrides.security_schemes}
        oauth = {*before.get("oauth", ()), *by_generating((), owners)["oauth"]}
        named = {
            "api": [origin for origin in named["api"] if origin in before.get("api", ())],
            "oauth": [origin for origin in named["oauth"] if origin in oauth],
        }
    return {**named, "hosts": list(overrides.hosts)} if overrides.hosts else named


def _common_parameters(rows: Sequence[DecidedRow]) -> dict[str, str]:
    """Return the parameters of queries and headers that nearly all operations have and none requires: their texts."""
    counts = Counter(
        (name, parameter.description)
        for row in rows
        for name, parameter in row.row.parameters.items()
        if parameter.location in ("query", "header")
    )
    required = {name for row in rows for name, parameter in row.row.parameters.items() if parameter.required}
    least = max(_LEAST_OPERATIONS, _NEARLY_ALL * len(rows))
    return {name: text for (name, text), count in sorted(counts.items()) if count >= least and name not in required}


def _are_idempotent(rows: Iterable[DecidedRow]) -> bool:
    """Return True if every one of the operations has the same effect however often it is called (RFC 9110, 9.2.2)."""
    methods = {decided_row.row.method for decided_row in rows}
    return bool(methods) and methods <= {"PUT", "DELETE"}


def _quick_start_of(rows: Iterable[DecidedRow], family: str) -> str:
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
    servers = [server for part in table.adapter.of_each_api().values() for server in part.servers]
    servers += [server for row in table.rows for server in row.row.servers]
    return any("://" in server["url"] or server["url"].startswith("{") for server in servers)


def _server_url(server: DocumentServer, base: str | None) -> str:
    try:
        url = urljoin(base, server.url) if base and "{" not in server.url else server.url
    except ValueError:  # no URL at all, such as http://[
        url = server.url
    return f"https:{url}" if url.startswith("//") else url  # the scheme of a file's own address says nothing


_TITLE = 200


def with_api(security: Sequence[Sequence[str]] | None, api: str) -> tuple[tuple[str, ...], ...] | None:
    """Return security requirements with the names that the schemes have among those of several APIs."""
    if security is None:
        return None
    return tuple(tuple(scheme_of(api, name) for name in schemes) for schemes in security)


def joined(tables: Mapping[str, Table], prefixes: Mapping[str, str]) -> Table:
    """Return the tables of several APIs, by their names, as one. No two have a row or a type of the same name.

    `prefixes` are the words before names that the owner chose.
    """
    first = next(iter(tables.values())).adapter
    rows = tuple(sorted((row for table in tables.values() for row in table.rows), key=lambda row: row.name))
    types = {name: schema for table in tables.values() for name, schema in table.types.items()}
    sections = {
        api: ApiSection(
            name=api,
            title=adapter.title,
            description=adapter.description,
            api_version=adapter.api_version,
            servers=adapter.servers,
            accepted=adapter.accepted,
            security=with_api(adapter.security, api) or (),
            scopes={scheme_of(api, name): scopes for name, scopes in adapter.scopes.items()},
            headers=adapter.headers,
            counts=adapter.counts,
            prefix=prefixes.get(api, ""),
        )
        for api, adapter in ((api, table.adapter) for api, table in tables.items())
    }
    titles = [section.title for section in sections.values()]
    adapter = replace(
        first,
        title=shorten(_listed(titles), _TITLE),
        description=shorten(f"The APIs {_listed(list(sections))}.", MAX_DESCRIPTION),
        api_version=shorten(", ".join(f"{api} {section.api_version}" for api, section in sections.items()), _TITLE),
        servers=(),
        accepted={"api": [], "oauth": []},
        security=(),
        scopes={},
        security_schemes={
            scheme_of(api, name): scheme
            for api, table in tables.items()
            for name, scheme in table.adapter.security_schemes.items()
        },
        headers={},
        apis=sections,
    )
    workflows = sorted((item for table in tables.values() for item in table.workflows), key=lambda item: item.name)
    return Table(rows, dict(sorted(types.items())), _with_operations(adapter, rows), tuple(workflows))


def _listed(titles: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(titles[:-1]), titles[-1])))
