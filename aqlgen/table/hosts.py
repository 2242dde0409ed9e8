"""The hosts of a table: what goes to each, and which of them the owner has yet to accept."""

from __future__ import annotations

from collections.abc import Iterable

from aqlgen.runtime.hosts.origin import yaml_entry
from aqlgen.runtime.hosts.report import HostUse, OperationHost, host_uses
from aqlgen.table.model import Table

__all__ = ["overrides_entry", "table_hosts"]


def table_hosts(table: Table) -> list[HostUse]:
    """Return every host that the table names or accepts, the API's own first."""
    operations = (OperationHost(row.row.servers, row.row.security) for row in table.rows)
    return host_uses(table.adapter, operations)


def overrides_entry(entries: Iterable[str]) -> str:
    """Return the lines of `overrides.yaml` that accept hosts."""
    hosts = ", ".join(map(yaml_entry, entries))
    return f"adapter:\n  hosts: [{hosts}]"
