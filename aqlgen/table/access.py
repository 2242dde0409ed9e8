"""The access that a table needs: the hosts, which the owner accepts, and the credentials, which the owner sets.

Of each host it is told what goes there, and whether the owner has yet to accept it; of each credential where it is
sent, from which variables, and by how many operations. Hosts that are hardly those of the API, placeholders and local
or incomplete addresses of the document, each have a note.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.diagnostics.plain import counted
from aqlgen.ir import Json
from aqlgen.runtime.auth import Usage, place_of
from aqlgen.runtime.encode.addresses import AddressProblem, operation_problem
from aqlgen.runtime.hosts import yaml_entry
from aqlgen.runtime.hosts.report import HostUse, OperationHost, entry_of, host_uses
from aqlgen.runtime.table import Adapter, Server
from aqlgen.runtime.text import line, visible
from aqlgen.table.model import DecidedRow, Table


def table_hosts(table: Table) -> list[HostUse]:
    """Return every host that the table names or accepts, the API's own first."""
    operations = (OperationHost(row.row.servers, row.row.security, row.row.api) for row in table.rows)
    return host_uses(table.adapter, operations)


def overrides_entry(uses: Iterable[HostUse]) -> str:
    """Return the lines of `overrides.yaml` that accept what is used and not accepted yet, "" if all is."""
    entry = entry_of(uses)
    lines = []
    if "adapter" in entry:
        lines.append(f"adapter:\n  hosts: [{', '.join(map(yaml_entry, entry['adapter']['hosts']))}]")
    if "apis" in entry:
        listed = {api: ", ".join(map(yaml_entry, section["hosts"])) for api, section in entry["apis"].items()}
        lines.append("\n".join(("apis:", *(f"  {api}:\n    hosts: [{hosts}]" for api, hosts in listed.items()))))
    return "\n".join(lines)


_MOST = 20
_STATES = {"generating": "accepted when you generate the adapter", "overrides": "accepted by overrides.yaml"}


def main_address_problem(adapter: Adapter) -> AddressProblem | None:
    """Return the problem of the address of a document's first server, None if it may be the API's."""
    problems = (operation_problem(part.servers, (), None, {}) for part in adapter.of_each_api().values())
    return next(filter(None, problems), None)


def address_notes(adapter: Adapter, rows: Iterable[DecidedRow]) -> list[Diagnostic]:
    """Return a note on each address that has to be set before calls reach the API."""
    notes = []
    problem = main_address_problem(adapter)
    if problem is not None:
        notes.append(_address_note(problem, adapter.servers[0] if adapter.servers else None, "/servers/0/url"))
    by_url = {row.row.servers[0]["url"]: row for row in reversed(list(rows)) if row.row.servers}
    for row in reversed(by_url.values()):
        servers = row.row.servers
        problem = operation_problem(adapter.servers, servers, None, {})
        if problem is not None and problem.rule != "incomplete":
            notes.append(_address_note(problem, servers[0], row.decision.operation.origin.pointer))
    return notes[:_MOST]


def _address_note(problem: AddressProblem, server: Server | None, pointer: str) -> Diagnostic:
    url = line(server["url"], 200) if server is not None else ""
    remedy = f"{problem.remedy[:1].upper()}{problem.remedy[1:]}, or its key in adapter.toml."
    if problem.rule == "incomplete":
        message = f"the document's address {url!r} is not complete" if url else "the document has no URL of the API"
        return Diagnostic("no-server", Severity.NOTE, message, pointer=pointer if url else "", help=remedy)
    message = f"the address {url!r} {problem.judgement}: {problem.reason}"
    return Diagnostic("placeholder-address", Severity.NOTE, message, pointer=pointer, help=remedy)


def table_usage(table: Table) -> Usage:
    """Return how many operations name and need each security scheme, and any at all."""
    parts = table.adapter.of_each_api()
    return Usage.of(
        (parts[row.row.api].security if row.row.security is None else row.row.security for row in table.rows), ()
    )


def table_credentials(table: Table) -> list[dict[str, Json]]:
    """Return each security scheme: name, type, variables by need, where it is sent, and how many operations use it.

    `operations` has `using`, which name it among their alternatives, and `needing`, which are not called without it.
    """
    adapter = table.adapter
    usage = table_usage(table)
    return [
        {
            "name": name,
            "type": scheme.get("type", ""),
            "variables": list(scheme.get("variables", ())),
            "optional_variables": dict(scheme.get("optional_variables", {})),
            "sent": place_of(scheme),
            "operations": {
                "using": usage.naming[name],
                "needing": usage.needing[name],
            },
        }
        for name, scheme in adapter.security_schemes.items()
    ]


def use_lines(uses: Sequence[HostUse]) -> list[str]:
    """Return a line for each host: whether it is accepted, and what goes there."""
    lines = []
    for use in uses[:_MOST]:
        state = _STATES.get(use.accepted_by, "not accepted" if use.is_used else "gets no requests")
        lines.append(visible(f"  {use.origin}  {state}: {use.summary}" if use.is_used else f"  {use.origin}  {state}"))
    if len(uses) > _MOST:
        lines.append(f"  … and {len(uses) - _MOST:,} more")
    return lines


def refusal_lines(uses: Iterable[HostUse]) -> list[str]:
    """Return the lines about hosts that the owner has not accepted, with the entry to paste; nothing without any."""
    refused = [use for use in uses if use.is_used and not use.accepted_by]
    if not refused:
        return []
    hosts = counted(len(refused), "host")
    return [
        f"{hosts} of the document not accepted; no requests or credentials go there:",
        *use_lines(refused),
        "To accept, put into overrides.yaml, with the hosts that you trust, and run `aqlgen update`:",
        *(f"  {text}" for text in overrides_entry(refused).splitlines()),
    ]
