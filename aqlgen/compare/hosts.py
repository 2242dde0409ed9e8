"""Changes of where requests and credentials go: servers, token and authorization URLs, hosts and their acceptance."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Final

from aqlgen.compare.grouping import Notes
from aqlgen.compare.pairing import Pairing
from aqlgen.compare.surface import Surface
from aqlgen.runtime.encode.urls import server_url
from aqlgen.runtime.hosts.origin import Origin
from aqlgen.runtime.hosts.report import HostUse, OperationHost, host_uses
from aqlgen.runtime.table import SecurityScheme, Server

__all__ = ["compare_hosts"]

_ENDPOINTS: Final = ("token_url", "refresh_url", "device_url", "authorization_url")


def compare_hosts(old: Surface, new: Surface, pairing: Pairing, notes: Notes) -> None:
    """Note what changed of servers, of the addresses of authorization servers, and of hosts."""
    servers = tuple(_address(side.adapter.servers) for side in (new, old))
    reported: set[str] = set()
    if servers[0] != servers[1]:
        reported |= set(servers)
        _note_server(notes, *servers)
    for before, after in pairing.kept:
        if before.servers or after.servers:
            urls = [_address(operation.servers) for operation in (after, before)]
            if urls[0] != urls[1]:
                reported |= set(urls)
                notes.add("server-changed", after.name, urls[0] or servers[0], urls[1] or servers[1])
    _compare_endpoints(old, new, notes, reported)
    _compare_uses(_uses(old), _uses(new), {str(Origin.of(url)) for url in reported}, notes)


def _note_server(notes: Notes, now: str, before: str) -> None:
    if now and before:
        wording = "calls and credentials would go to {} now, not to {}"
    elif now:
        wording = "calls and credentials would go to {} now: no server was named before"
    else:
        wording = "no server is named any more, before {}"
    notes.add("server-changed", "", *filter(None, (now, before)), wording=wording)


def _address(servers: Sequence[Server]) -> str:
    """Return the first server's address, with the defaults of its variables; "" if there is none."""
    return next((server_url(server) for server in servers), "")


def _compare_endpoints(old: Surface, new: Surface, notes: Notes, reported: set[str]) -> None:
    """Note each address of an authorization server that is new or another, and add it to those `reported`."""
    before = {name: dict(_endpoints(scheme)) for name, scheme in old.adapter.security_schemes.items()}
    for name, scheme in new.adapter.security_schemes.items():
        for place, url in _endpoints(scheme):
            known = before.get(name, {}).get(place, "")
            if url == known:
                continue
            rule = "authorization-url-changed" if place[1] == "authorization_url" else "token-url-changed"
            wording = "" if known else _FIRST[rule]
            notes.add(rule, "", *filter(None, (url, known, name)), wording=wording)
            reported.add(url)


_FIRST: Final[Mapping[str, str]] = {
    "authorization-url-changed": "credentials would go to {} now, by people who log in for {}",
    "token-url-changed": "credentials would go to {} now, for tokens of {}",
}
"""The wording for an address where there was none."""


def _endpoints(scheme: SecurityScheme) -> Iterator[tuple[tuple[str, str], str]]:
    for grant, flow in scheme.get("flows", {}).items():
        for key in _ENDPOINTS:
            if flow.get(key):
                yield (grant, key), str(flow.get(key))
    if scheme.get("discovery_url"):
        yield ("", "discovery_url"), scheme["discovery_url"]


def _uses(side: Surface) -> dict[str, HostUse]:
    operations = (OperationHost(row.servers, row.security) for row in side.operations.values())
    return {use.origin: use for use in host_uses(side.adapter, operations)}


def _compare_uses(
    before: Mapping[str, HostUse], after: Mapping[str, HostUse], reported: Container[str], notes: Notes
) -> None:
    """Note hosts that are new, gone, accepted or refused; a change that names an origin is `reported` already."""
    for origin, use in after.items():
        known = before.get(origin)
        if use.accepted_by == "overrides" and (known is None or known.accepted_by != "overrides"):
            notes.add("host-accepted", "", origin)
        elif origin in reported:
            pass
        elif use.is_used and not (known is not None and known.is_used):
            what = "credentials" if use.credentials else "requests"
            notes.add("host-added", "", origin, use.summary, wording=f"{what} would go to {{}} now: {{}}")
        elif known is None:
            notes.add("host-added", "", origin, wording="the document names the host {}; nothing goes there by itself")
        if use.is_used and not use.accepted_by and (known is None or not known.is_used or known.accepted_by):
            notes.add("host-refused", "", origin, use.entry)
    for origin, use in before.items():
        if origin not in after and origin not in reported and use.is_used:
            notes.add("host-removed", "", origin)
