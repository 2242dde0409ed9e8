"""Changes of the adapter as a whole and of access: servers, credentials, scopes."""

from __future__ import annotations

from collections.abc import Mapping

from aqlgen.compare.grouping import Notes
from aqlgen.compare.pairing import Pairing
from aqlgen.compare.surface import Operation, Surface
from aqlgen.ir import Json

__all__ = ["compare_access"]


def compare_access(old: Surface, new: Surface, pairing: Pairing, notes: Notes) -> None:
    """Note what changed of the adapter, and of operations whose servers or credentials differ from it."""
    names = tuple(str(side.adapter.get("name", "")) for side in (new, old))
    if names[0] != names[1]:
        notes.add("adapter-renamed", "", *names)
    cases = tuple(str(side.adapter.get("field_case", "snake")) for side in (new, old))
    if cases[0] != cases[1]:
        notes.add("field-case-changed", "", *cases)
    servers = tuple(_server(side.adapter.get("servers", ())) for side in (new, old))
    if servers[0] != servers[1] and all(servers):
        notes.add("server-changed", "", *servers, wording="calls go to {} now, not to {}")
    elif servers[0] != servers[1]:
        wording = (
            "calls go to {} now: no server was named before" if servers[0] else "no server is named any more, before {}"
        )
        notes.add("server-changed", "", *filter(None, servers), wording=wording)
    _compare_schemes(old, new, notes)
    for before, after in pairing.kept:
        _compare_operation(before, after, old, new, notes)


def _server(servers: Json) -> str:
    return next((str(server["url"]) for server in servers), "")


def _compare_schemes(old: Surface, new: Surface, notes: Notes) -> None:
    before: Mapping[str, Mapping[str, Json]] = old.adapter.get("security_schemes", {})
    after: Mapping[str, Mapping[str, Json]] = new.adapter.get("security_schemes", {})
    for name in sorted(after.keys() - before.keys()):
        notes.add("credentials-changed", "", name, wording="the credential {} is new" + _variables(after[name]))
    for name in sorted(before.keys() - after.keys()):
        notes.add("credentials-changed", "", name, wording="the credential {} is gone")
    for name in sorted(before.keys() & after.keys()):
        if _kind(before[name]) != _kind(after[name]):
            notes.add(
                "credentials-changed",
                "",
                name,
                wording="the credential {} is of another kind" + _variables(after[name]),
            )
        elif before[name].get("variables") != after[name].get("variables"):
            notes.add(
                "credentials-changed",
                "",
                name,
                wording="the credential {} is read from other variables" + _variables(after[name]),
            )


def _variables(scheme: Mapping[str, Json]) -> str:
    """Return the environment variables of a credential as the end of a sentence; the adapter names them."""
    variables = scheme.get("variables", ())
    return f": {', '.join(variables)}" if variables else ""


def _kind(scheme: Mapping[str, Json]) -> tuple[Json, ...]:
    return tuple(scheme.get(key) for key in ("type", "scheme", "in", "name"))


def _compare_operation(before: Operation, after: Operation, old: Surface, new: Surface, notes: Notes) -> None:
    old_credentials, new_credentials = _credentials(before, old), _credentials(after, new)
    no_credentials: frozenset[str] = frozenset()
    if no_credentials not in new_credentials and not any(
        needed <= known for known in old_credentials for needed in new_credentials
    ):
        alternatives = sorted(" and ".join(sorted(needed)) for needed in new_credentials)
        notes.add("credentials-needed", after.name, " or ".join(alternatives))
    elif no_credentials in new_credentials and no_credentials not in old_credentials:
        notes.add("credentials-unneeded", after.name)
    scopes = _scopes(after, new) - _scopes(before, old)
    if scopes:
        notes.add("scopes-needed", after.name, items=tuple(sorted(scopes)))
    if "servers" in before.row or "servers" in after.row:
        urls = [_server(operation.row.get("servers", ())) for operation in (after, before)]
        if urls[0] != urls[1]:
            defaults = [_server(side.adapter.get("servers", ())) for side in (new, old)]
            notes.add("server-changed", after.name, urls[0] or defaults[0], urls[1] or defaults[1])


def _credentials(operation: Operation, side: Surface) -> frozenset[frozenset[str]]:
    """Return the sets of credentials of which one is needed, at least one; the empty set is a call without any."""
    alternatives = operation.row.get("security", side.adapter.get("security", ()))
    return frozenset(map(frozenset, alternatives)) or frozenset((frozenset(),))


def _scopes(operation: Operation, side: Surface) -> frozenset[str]:
    scopes: Mapping[str, Json] = operation.row.get("scopes", side.adapter.get("scopes", {}))
    return frozenset(scope for names in scopes.values() for scope in names)
