"""What changed about where calls go and by which right: servers, credentials, scopes, the adapter's name."""

from __future__ import annotations

from collections.abc import Sequence

from aqlgen.compare.notes import Notes
from aqlgen.compare.pairing import Pairing
from aqlgen.compare.surface import Operation, Surface
from aqlgen.ir import Json
from aqlgen.runtime.table import SecurityScheme, Server

__all__ = ["compare_access"]

Alternatives = frozenset[frozenset[str]]


def compare_access(old: Surface, new: Surface, pairing: Pairing, notes: Notes) -> None:
    """Note what changed of the adapter as a whole and, where operations differ from it, of those."""
    before, after = (one.adapter.name for one in (old, new))
    if before != after:
        notes.tell("adapter-renamed", "", after, before)
    spelled = tuple(one.adapter.field_case for one in (new, old))
    if spelled[0] != spelled[1]:
        notes.tell("field-case-changed", "", *spelled)
    servers = tuple(_server(one.adapter.servers) for one in (new, old))
    if servers[0] != servers[1] and all(servers):
        notes.tell("server-changed", "", *servers, form="calls go to {} now, not to {}")
    elif servers[0] != servers[1]:
        now = (
            "calls go to {} now: no server was named before" if servers[0] else "no server is named any more, before {}"
        )
        notes.tell("server-changed", "", *filter(None, servers), form=now)
    _schemes(old, new, notes)
    for one, other in pairing.kept:
        _operation(one, other, old, new, notes)


def _server(servers: Sequence[Server]) -> str:
    return next((server["url"] for server in servers), "")


def _schemes(old: Surface, new: Surface, notes: Notes) -> None:
    before, after = old.adapter.security_schemes, new.adapter.security_schemes
    for name in after.keys() - before.keys():
        notes.tell("credentials-changed", "", name, form="the credential {} is new" + _given(after[name]))
    for name in before.keys() - after.keys():
        notes.tell("credentials-changed", "", name, form="the credential {} is gone")
    for name in before.keys() & after.keys():
        if _kind(before[name]) != _kind(after[name]):
            notes.tell(
                "credentials-changed", "", name, form="the credential {} is of another kind" + _given(after[name])
            )
        elif before[name].get("variables") != after[name].get("variables"):
            notes.tell(
                "credentials-changed", "", name, form="the credential {} is read otherwise" + _given(after[name])
            )


def _given(scheme: SecurityScheme) -> str:
    """Say which variables hold a credential; their names are the adapter's own."""
    variables = scheme.get("variables", ())
    return f": {', '.join(variables)}" if variables else ""


def _kind(scheme: SecurityScheme) -> tuple[Json, ...]:
    return scheme.get("type"), scheme.get("scheme"), scheme.get("in"), scheme.get("name")


def _operation(one: Operation, other: Operation, old: Surface, new: Surface, notes: Notes) -> None:
    before, after = _security(one, old), _security(other, new)
    if before and not any(need <= had for had in before for need in after) and after and frozenset() not in after:
        notes.tell("credentials-needed", other.name, " or ".join(sorted(" and ".join(sorted(need)) for need in after)))
    elif frozenset() in after and before and frozenset() not in before:
        notes.tell("credentials-unneeded", other.name)
    scopes = _scopes(other, new) - _scopes(one, old)
    if scopes:
        notes.tell("scopes-needed", other.name, listed=tuple(sorted(scopes)))
    if one.servers or other.servers:
        now, was = (_server(side.servers) for side in (other, one))
        if now != was:
            notes.tell(
                "server-changed", other.name, *(_of_adapter(url, side) for url, side in ((now, new), (was, old)))
            )


def _of_adapter(url: str, side: Surface) -> str:
    return url or _server(side.adapter.servers)


def _security(operation: Operation, side: Surface) -> Alternatives:
    """Give the sets of credentials of which one is needed; the empty set is a call without any."""
    listed = side.adapter.security if operation.security is None else operation.security
    return frozenset(map(frozenset, listed)) or frozenset((frozenset(),))


def _scopes(operation: Operation, side: Surface) -> frozenset[str]:
    scopes = operation.scopes or side.adapter.scopes
    return frozenset(scope for listed in scopes.values() for scope in listed)
