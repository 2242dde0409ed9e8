"""Changes of the adapter as a whole and of access: credentials and scopes."""

from __future__ import annotations

from aqlgen.compare.grouping import Notes
from aqlgen.compare.pairing import Pairing
from aqlgen.compare.surface import Operation, Surface
from aqlgen.ir import Json
from aqlgen.runtime.table import SecurityScheme

__all__ = ["compare_access"]


def compare_access(old: Surface, new: Surface, pairing: Pairing, notes: Notes) -> None:
    """Note what changed of the adapter, and of operations whose credentials differ from it."""
    names = tuple(side.adapter.name for side in (new, old))
    if names[0] != names[1]:
        notes.add("adapter-renamed", "", *names)
    cases = tuple(side.adapter.field_case for side in (new, old))
    if cases[0] != cases[1]:
        notes.add("field-case-changed", "", *cases)
    _compare_schemes(old, new, notes)
    for before, after in pairing.kept:
        _compare_operation(before, after, old, new, notes)


def _compare_schemes(old: Surface, new: Surface, notes: Notes) -> None:
    before, after = old.adapter.security_schemes, new.adapter.security_schemes
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


def _variables(scheme: SecurityScheme) -> str:
    """Return the environment variables of a credential as the end of a sentence; the adapter names them."""
    variables = scheme.get("variables", ())
    return f": {', '.join(variables)}" if variables else ""


def _kind(scheme: SecurityScheme) -> tuple[Json, ...]:
    return scheme.get("type"), scheme.get("scheme"), scheme.get("in"), scheme.get("name")


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


def _credentials(operation: Operation, side: Surface) -> frozenset[frozenset[str]]:
    """Return the sets of credentials of which one is needed, at least one; the empty set is a call without any."""
    alternatives = side.adapter.security if operation.security is None else operation.security
    return frozenset(map(frozenset, alternatives)) or frozenset((frozenset(),))


def _scopes(operation: Operation, side: Surface) -> frozenset[str]:
    scopes = operation.scopes or side.adapter.scopes
    return frozenset(scope for names in scopes.values() for scope in names)
