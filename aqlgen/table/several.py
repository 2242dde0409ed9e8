"""The tables of several APIs as one: each row with its API, each API with a section of `adapter.json`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from aqlgen.runtime.table import Adapter, ApiSection, scheme_of
from aqlgen.schemas import shorten
from aqlgen.table.adapter import MAX_DESCRIPTION, with_operations
from aqlgen.table.model import Table

__all__ = ["joined", "with_api"]

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
    sections = {api: _section(api, table.adapter, prefixes.get(api, "")) for api, table in tables.items()}
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
    return Table(rows, dict(sorted(types.items())), with_operations(adapter, rows), tuple(workflows))


def _section(api: str, adapter: Adapter, prefix: str) -> ApiSection:
    return ApiSection(
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
        prefix=prefix,
    )


def _listed(titles: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(titles[:-1]), titles[-1])))
