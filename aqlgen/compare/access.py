"""Changes of where requests go and of access: servers, hosts and their acceptance, credentials and scopes."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from aqlgen.compare.grouping import Findings
from aqlgen.compare.model import Level
from aqlgen.compare.surface import Operation, Pairing, Surface, part_of
from aqlgen.ir import Json
from aqlgen.runtime.encode.urls import server_url
from aqlgen.runtime.exact_json import write_json
from aqlgen.runtime.hosts import Origin
from aqlgen.runtime.hosts.report import HostUse, OperationHost, host_uses
from aqlgen.runtime.table import Adapter, SecurityScheme, Server


def compare_access(old: Surface, new: Surface, pairing: Pairing, findings: Findings) -> None:
    """Note what changed of the adapter, and of operations whose credentials differ from it."""
    names = tuple(side.adapter.name for side in (new, old))
    if names[0] != names[1]:
        findings.note("adapter-renamed", "", *names)
    cases = tuple(side.adapter.field_case for side in (new, old))
    if cases[0] != cases[1]:
        findings.note("field-case-changed", "", *cases)
    _compare_schemes(old, new, findings)
    for before_part, after_part in _parts(old, new):
        _compare_constants("", _headers(before_part.headers), _headers(after_part.headers), findings)
    known = _known_schemes(old, new)
    for before, after in pairing.kept:
        _compare_operation(before, after, old, new, known, findings)
        _compare_constants(after.name, _constants(before), _constants(after), findings)


def _parts(old: Surface, new: Surface) -> list[tuple[Adapter, Adapter]]:
    """Return the two adapters of each API that both sides have."""
    names = dict.fromkeys((*old.adapter.apis, *new.adapter.apis))
    if not names:
        return [(old.adapter, new.adapter)]
    sides = ({operation.api for operation in side.operations.values()} for side in (old, new))
    both = set.intersection(*({*side} for side in sides))
    return [(part_of(old, name), part_of(new, name)) for name in names if name in both]


def _compare_schemes(old: Surface, new: Surface, findings: Findings) -> None:
    """Note the credentials that are new, gone or others; a call that still needs one of the last ends without it."""
    needed = {name for operation in old.operations.values() for names in _credentials(operation, old) for name in names}
    before, after = old.adapter.security_schemes, new.adapter.security_schemes
    for name in sorted(after.keys() - before.keys()):
        findings.note("credentials-changed", "", name, wording="the credential {} is new" + _variables(after[name]))
    for name in sorted(before.keys() - after.keys()):
        findings.note("credentials-changed", "", name, wording="the credential {} is gone")
    for name in sorted(before.keys() & after.keys()):
        if _kind(before[name]) != _kind(after[name]):
            wording = "the credential {} is of another kind"
        elif before[name].get("variables") != after[name].get("variables"):
            wording = "the credential {} is read from other variables"
        else:
            continue
        level = Level.BREAKING if name in needed else None
        findings.note("credentials-changed", "", name, wording=wording + _variables(after[name]), level=level)


def _variables(scheme: SecurityScheme) -> str:
    """Return the environment variables of a credential as the end of a sentence; the adapter names them."""
    variables = scheme.get("variables", ())
    return f": {', '.join(variables)}" if variables else ""


def _kind(scheme: SecurityScheme) -> tuple[Json, ...]:
    keys = ("type", "scheme", "in", "name", "format")
    return tuple(scheme.get(key) for key in keys)


def _known_schemes(old: Surface, new: Surface) -> dict[str, str]:
    """Return the former names of the schemes that only have another name now: the owner set the same variables."""
    before, after = old.adapter.security_schemes, new.adapter.security_schemes
    by_variables = {tuple(scheme["variables"]): name for name, scheme in before.items() if scheme.get("variables")}
    return {
        name: by_variables[tuple(scheme.get("variables", ()))]
        for name, scheme in after.items()
        if name not in before and tuple(scheme.get("variables", ())) in by_variables
    }


def _compare_operation(
    before: Operation,
    after: Operation,
    old: Surface,
    new: Surface,
    known_schemes: Mapping[str, str],
    findings: Findings,
) -> None:
    """Note the credentials and scopes that an operation needs, if a call that had enough of them has no longer."""
    old_credentials, new_credentials = _credentials(before, old), _credentials(after, new)
    no_credentials: frozenset[str] = frozenset()
    needs = [{known_schemes.get(name, name) for name in needed} for needed in new_credentials]
    if not all(any(needed <= known for needed in needs) for known in old_credentials):
        alternatives = sorted(" and ".join(sorted(needed)) for needed in new_credentials)
        findings.note("credentials-needed", after.name, " or ".join(alternatives))
    elif no_credentials in new_credentials and no_credentials not in old_credentials:
        findings.note("credentials-unneeded", after.name)
    scopes = _scopes(after, new) - _scopes(before, old)
    if scopes and no_credentials not in new_credentials:
        findings.note("scopes-needed", after.name, items=tuple(sorted(scopes)))


@dataclass(frozen=True, slots=True)
class _Constant:
    """The value that every request carries; that of a sensitive parameter is not told."""

    value: Json
    sensitive: bool = False

    def __str__(self) -> str:
        if self.sensitive:
            return "a sensitive value"
        return self.value if isinstance(self.value, str) else write_json(self.value)


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


def _compare_constants(operation: str, before: _Constants, after: _Constants, findings: Findings) -> None:
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
        findings.note("constant-changed", operation, name, *values, wording=wording)


def _credentials(operation: Operation, side: Surface) -> frozenset[frozenset[str]]:
    """Return the sets of credentials of which one is needed, at least one; the empty set is a call without any."""
    alternatives = part_of(side, operation.api).security if operation.security is None else operation.security
    return frozenset(map(frozenset, alternatives)) or frozenset((frozenset(),))


def _scopes(operation: Operation, side: Surface) -> frozenset[str]:
    scopes = operation.scopes or part_of(side, operation.api).scopes
    return frozenset(scope for names in scopes.values() for scope in names)


_ENDPOINTS: Final = ("token_url", "refresh_url", "authorization_url")


def compare_hosts(old: Surface, new: Surface, pairing: Pairing, findings: Findings) -> None:
    """Note what changed of servers, of the addresses of authorization servers, and of hosts."""
    reported: set[str] = set()
    for parts in _parts(old, new):
        addresses = [_address(part.servers) for part in reversed(parts)]
        if addresses[0] != addresses[1]:
            reported |= set(addresses)
            _note_server(findings, *addresses)
    for before, after in pairing.kept:
        if before.servers or after.servers:
            urls = [_address(operation.servers) for operation in (after, before)]
            if urls[0] != urls[1]:
                reported |= set(urls)
                main = [_address(part_of(side, row.api).servers) for side, row in ((new, after), (old, before))]
                findings.note("server-changed", after.name, urls[0] or main[0], urls[1] or main[1])
    _compare_endpoints(old, new, findings, reported)
    _compare_uses(_uses(old), _uses(new), {str(Origin.of(url)) for url in reported}, findings)


def _note_server(findings: Findings, now: str, before: str) -> None:
    if now and before:
        wording = "calls and credentials would go to {} now, not to {}"
    elif now:
        wording = "calls and credentials would go to {} now: no server was named before"
    else:
        wording = "no server is named any more, before {}"
    findings.note("server-changed", "", *filter(None, (now, before)), wording=wording)


def _address(servers: Sequence[Server]) -> str:
    """Return the first server's address, with the defaults of its variables; "" if there is none."""
    return next((server_url(server).rstrip("/") for server in servers), "")


def _compare_endpoints(old: Surface, new: Surface, findings: Findings, reported: set[str]) -> None:
    """Note each address of an authorization server that is new or another, and add it to those `reported`."""
    before = {name: dict(_endpoints(scheme)) for name, scheme in old.adapter.security_schemes.items()}
    for name, scheme in new.adapter.security_schemes.items():
        for place, url in _endpoints(scheme):
            known = before.get(name, {}).get(place, "")
            if url == known:
                continue
            rule = "authorization-url-changed" if place[1] == "authorization_url" else "token-url-changed"
            wording = "" if known else _FIRST[rule]
            findings.note(rule, "", *filter(None, (url, known, name)), wording=wording)
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
    operations = (
        OperationHost(row.servers, row.security, row.api if side.adapter.apis else "")
        for row in side.operations.values()
    )
    uses: dict[str, HostUse] = {}
    for use in host_uses(side.adapter, operations):  # of two APIs at one host, the one whose use is not accepted
        known = uses.get(use.origin)
        if known is None or (use.is_used and not use.accepted_by) or not known.is_used:
            uses[use.origin] = use
    return uses


def _compare_uses(
    before: Mapping[str, HostUse], after: Mapping[str, HostUse], reported: Container[str], findings: Findings
) -> None:
    """Note hosts that are new, gone, accepted or refused; a change that names an origin is `reported` already."""
    for origin, use in after.items():
        _compare_use(before.get(origin), use, findings, is_reported=origin in reported)
    for origin, use in before.items():
        if origin not in after and origin not in reported and use.is_used:
            findings.note("host-removed", "", origin)


def _compare_use(known: HostUse | None, use: HostUse, findings: Findings, *, is_reported: bool) -> None:
    was_used = known is not None and known.is_used
    was_accepted = "" if known is None else known.accepted_by
    if use.accepted_by == "overrides" and was_accepted != "overrides":
        findings.note("host-accepted", "", use.origin)
    elif not is_reported and use.is_used and not was_used:
        noun = "credentials" if use.credentials else "requests"
        findings.note("host-added", "", use.origin, use.summary, wording=f"{noun} would go to {{}} now: {{}}")
    elif not is_reported and known is None:
        findings.note(
            "host-added", "", use.origin, wording="the document names the host {}; nothing goes there by itself"
        )
    if use.is_used and not use.accepted_by and (not was_used or was_accepted):
        findings.note("host-refused", "", use.origin, use.entry)
