"""Changes of the adapter as a whole, of access (credentials and scopes), and of constants that requests carry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from aqlgen.compare.grouping import Notes
from aqlgen.compare.pairing import Pairing
from aqlgen.compare.surface import Operation, Surface
from aqlgen.ir import Json
from aqlgen.runtime.encode.styles import as_json
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
    _compare_constants("", _headers(old.adapter.headers), _headers(new.adapter.headers), notes)
    for before, after in pairing.kept:
        _compare_operation(before, after, old, new, notes)
        _compare_constants(after.name, _constants(before), _constants(after), notes)


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
    keys = ("type", "scheme", "in", "name", "format")
    return tuple(scheme.get(key) for key in keys)


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


@dataclass(frozen=True, slots=True)
class _Constant:
    """The value that every request carries; that of a sensitive parameter is not told."""

    value: Json
    sensitive: bool = False

    def __str__(self) -> str:
        if self.sensitive:
            return "a sensitive value"
        return self.value if isinstance(self.value, str) else as_json(self.value)


_Constants: TypeAlias = Mapping[str, _Constant]
"""What requests carry, by location and name: `header X-Version`."""


def _headers(headers: Mapping[str, str]) -> dict[str, _Constant]:
    return {f"header {name}": _Constant(value) for name, value in headers.items()}


def _constants(operation: Operation) -> dict[str, _Constant]:
    constants = _headers(operation.headers)
    constants |= {f"query {name}": _Constant(value) for name, value in operation.query.items()}
    for parameter in operation.fixed.values():
        location = parameter.location.partition("_")[0]
        constants[f"{location} {parameter.wire}"] = _Constant(parameter.preset, parameter.sensitive)
    return constants


def _compare_constants(operation: str, before: _Constants, after: _Constants, notes: Notes) -> None:
    """Note the constants that are new, gone and of another value; those of the whole adapter without an operation."""
    subject = "" if operation else "every request "
    sends = "[sends|send]" if operation else "sends"
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) == after.get(name):
            continue
        values = [str(side[name]) for side in (after, before) if name in side]
        wording = f"{subject}{sends} {{}} as {{}} now" + (", not as {}" if len(values) > 1 else "")
        if name not in after:
            values, wording = [], f"{subject}no longer {sends} {{}}"
        notes.add("constant-changed", operation, name, *values, wording=wording)


def _credentials(operation: Operation, side: Surface) -> frozenset[frozenset[str]]:
    """Return the sets of credentials of which one is needed, at least one; the empty set is a call without any."""
    alternatives = side.adapter.security if operation.security is None else operation.security
    return frozenset(map(frozenset, alternatives)) or frozenset((frozenset(),))


def _scopes(operation: Operation, side: Surface) -> frozenset[str]:
    scopes = operation.scopes or side.adapter.scopes
    return frozenset(scope for names in scopes.values() for scope in names)
