"""The security requirements that hold in practice, where a document states them badly, and the notes on that.

- A parameter that is a credential becomes a security scheme, or the one that sends the same already.
- A scheme that is declared and required nowhere is sent wherever its variable is set. Where other schemes are required,
  it is sent beside them if it is the only such scheme and sends something else; otherwise it takes their place where
  they are not set.
- Where nearly all operations that state requirements state the same, and others, which write, say nothing, the
  credential is sent with all that say nothing, wherever its variable is set.
- `security: []` is believed, as long as at most half of the operations lift what the document requires; where more do,
  the credential is sent wherever its variable is set.
- Neither concerns logins and token endpoints, nor an operation that is public by its own `security: []` otherwise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Final

from aqlgen.decide.credentials.alternatives import Alternatives, combined, parted, with_added, with_fallback
from aqlgen.decide.credentials.formats import with_format
from aqlgen.decide.credentials.names import CLIENT_SECRET, issues_credentials
from aqlgen.decide.credentials.parameters import (
    CredentialParameter,
    credential_fields,
    credential_parameters,
    is_token,
    scheme_of,
    without_fields,
)
from aqlgen.decide.credentials.placement import TOKENS, sends, sends_parameter
from aqlgen.decide.credentials.submitted import SubmittedField, submitted_fields
from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.diagnostics.plain import counted
from aqlgen.document.positions import escape
from aqlgen.document.resolve import Resolver
from aqlgen.ir import SIGNATURE, Document, Location, Operation, Origin, SecurityScheme
from aqlgen.runtime.auth.usage import ADDED_SCHEME
from aqlgen.words import split

__all__ = ["DEPARTURES", "FORMAT", "NO_SCHEME", "with_effective_security"]

NO_SCHEME: Final = "no-security-scheme"
PARAMETER: Final = "credential-parameter"
ASSUMED: Final = "security-assumed"
LIFTED: Final = "security-lifted"
SIGNED: Final = "signed-requests"
FORMAT: Final = "key-format"
UNSTATED: Final = "security-unstated"
DEPARTURES: Final = frozenset({PARAMETER, ASSUMED, LIFTED, SIGNED, UNSTATED})


_FEWEST_LIFTED: Final = 2
_UNIFORM: Final = 0.9
_MANY: Final = 0.2
"""The share of operations that declare a key, from which on the others are taken to have left it out."""


@dataclass(slots=True)
class _Findings:
    """The recognised schemes by name, and those that operations demand or accept beside their own requirements."""

    schemes: dict[str, SecurityScheme]
    demanded: dict[str, list[str]] = field(default_factory=dict)
    accepted: dict[str, list[str]] = field(default_factory=dict)
    added: dict[str, list[str]] = field(default_factory=dict)
    """The schemes for other systems, which are sent beside what an operation requires and never in its place."""
    members: set[tuple[str, Location, str]] = field(default_factory=set)
    """The parameters that are credentials: operation, location and name."""
    fields: dict[str, list[str]] = field(default_factory=dict)
    """The fields of each operation's body that are credentials."""
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def note(self, code: str, message: str, pointer: str, help: str = "") -> None:
        self.diagnostics.append(Diagnostic(code, Severity.NOTE, message, pointer=pointer, help=help))


def with_effective_security(document: Document, resolver: Resolver) -> tuple[Document, list[Diagnostic]]:
    """Return the document with the requirements that hold, and a note on each departure from its text."""
    document = replace(document, schemes=tuple(with_format(scheme, document) for scheme in document.schemes))
    findings = _Findings({scheme.name: scheme for scheme in document.schemes})
    is_stated = any(map(any, (document.security, *(operation.security or () for operation in document.operations))))
    floating = _from_parameters(document, findings)
    _from_bodies(document, findings, resolver)
    withheld = _from_submitted(document, findings, resolver)
    fallback = _unrequired(document, findings, is_stated=is_stated)
    if is_stated:
        floating = []
    else:
        floating, fallback = list(dict.fromkeys([*fallback, *floating])), []
    doubted = dict.fromkeys(_lifted(document, findings, resolver), document.security)
    doubted |= _unstated(document, findings, resolver)
    for scheme in document.schemes:
        if scheme.kind == SIGNATURE:
            message = f"requests are signed for AWS by the security scheme {scheme.name!r}"
            advice = "Install the adapter with its extra `aws`: without it the credential cannot be made."
            findings.note(SIGNED, message, scheme.origin.pointer, advice)
        if scheme.format:
            message = f"the key of the security scheme {scheme.name!r} is sent as {scheme.format!r}, as it is described"
            findings.note(FORMAT, message, scheme.origin.pointer)
    if all("_".join(split(name)) == CLIENT_SECRET for name in findings.schemes):
        advice = f"If the API wants one, say so in overrides.yaml:\n{ADDED_SCHEME}"
        findings.note(NO_SCHEME, "the document names no credential", "", advice)
    operations = []
    for operation in document.operations:
        stated = document.security if operation.security is None else operation.security
        needs = [*doubted[operation.key], ()] if operation.key in doubted else parted(stated, findings.schemes)
        is_open = not stated and (operation.security is not None or issues_credentials(operation, resolver))
        accepted = [*findings.accepted.get(operation.key, ()), *(() if is_open else floating)]
        needs = combined(needs, findings.demanded.get(operation.key, []), accepted, findings.schemes)
        if any(needs):
            needs = with_fallback(needs, fallback, findings.schemes)
        if operation.key in findings.added:
            needs = with_added(needs, findings.added[operation.key], findings.schemes)
        if needs != list(stated):
            alternatives = dict.fromkeys([*filter(None, needs), *(need for need in needs if not need)])
            operation = replace(operation, security=tuple(alternatives))
        operations.append(operation)
    schemes = tuple(findings.schemes.values())
    effective = replace(document, schemes=schemes, operations=tuple(operations), credential_fields=withheld)
    effective = _without_credentials(effective, findings, document.schemes, resolver)
    return _with_common_default(effective) if floating else effective, findings.diagnostics


def _from_parameters(document: Document, findings: _Findings) -> list[str]:
    """Find the scheme of each parameter that is a credential; return those of parameters that many operations have."""
    synthesised: list[str] = []
    operations = {operation.key: operation for operation in document.operations}
    for member in credential_parameters(document):
        placed = [scheme.name for scheme in document.schemes if sends_parameter(scheme, member.example)]
        if not placed and is_token(member):
            placed = [scheme.name for scheme in document.schemes if _takes_token(scheme)]
        if not placed:
            scheme = scheme_of(member, frozenset(findings.schemes))
            findings.schemes[scheme.name] = scheme
        if len(member.operations) >= len(operations) * _MANY:
            synthesised.append((placed or [scheme.name])[0])
        _note_parameter(member, (placed or [scheme.name])[0], findings)
        for key, parameter in member.operations.items():
            findings.members.add((key, parameter.location, parameter.name))
            stated = operations[key].security
            stated = document.security if stated is None else stated
            if placed and (any(stated) if is_token(member) or not parameter.required else _is_met(stated, placed)):
                continue
            target = findings.demanded if parameter.required else findings.accepted
            target.setdefault(key, []).append((placed or [scheme.name])[0])
    _demand_declared(document, findings)
    return synthesised


def _from_bodies(document: Document, findings: _Findings, resolver: Resolver) -> None:
    """Find the fields of bodies that are credentials, and a scheme for those that no declared scheme replaces."""
    operations = {operation.key: operation for operation in document.operations}
    for member in credential_fields(document, resolver):
        scheme = replace(scheme_of(member, frozenset(findings.schemes)), location="body")
        for key, parameter in member.operations.items():
            findings.fields.setdefault(key, []).append(member.name)
            stated = operations[key].security
            if any(document.security if stated is None else stated) and "_".join(split(member.name)) != CLIENT_SECRET:
                continue  # APIs that take it in the body as well take it from their scheme
            findings.schemes[scheme.name] = scheme
            target = findings.demanded if parameter.required else findings.accepted
            target.setdefault(key, []).append(scheme.name)
        name = scheme.name if scheme.name in findings.schemes else next(iter(findings.schemes))
        _note_parameter(member, name, findings, "body")


def _from_submitted(document: Document, findings: _Findings, resolver: Resolver) -> frozenset[str]:
    """Find the fields in which a credential travels a second time, or one for another system; return their pointers."""
    headers = frozenset(name for place, name in map(sends, document.schemes) if place == Location.HEADER.value)
    groups: dict[tuple[str, ...], dict[str, SubmittedField]] = {}
    for operation, submitted in submitted_fields(document, headers, resolver):
        groups.setdefault(submitted.path, {})[operation.key] = submitted
    for path, uses in groups.items():
        example = next(iter(uses.values()))
        place = f"the field {'.'.join(path)!r} (body, {counted(len(uses), 'operation')})"
        message = f"{place} is a credential: agents neither see nor give it"
        if example.place is None or (example.is_for_this_api and findings.schemes):
            findings.note(PARAMETER, f"{message}, and it is not sent there", example.pointer)
            continue
        name = ".".join(path)
        while name in findings.schemes:
            name = f"{name}_body"
        texts = example.schema.get("description") if isinstance(example.schema, dict) else None
        findings.schemes[name] = SecurityScheme(
            name=name,
            kind="apiKey",
            description=texts if isinstance(texts, str) else "",
            location="body",
            parameter=example.place,
            http_scheme="",
            origin=Origin(example.pointer),
        )
        findings.note(PARAMETER, f"{message}, and it is sent as the security scheme {name!r}", example.pointer)
        for key, submitted in uses.items():
            (findings.demanded if submitted.is_required else findings.added).setdefault(key, []).append(name)
    return frozenset(submitted.pointer for uses in groups.values() for submitted in uses.values())


def _demand_declared(document: Document, findings: _Findings) -> None:
    """Demand the schemes that an operation also declares as a required parameter.

    Documents that list them as alternatives of each other mean that both are sent.
    """
    for operation in document.operations:
        required = [parameter for parameter in operation.parameters if parameter.required]
        demanded = findings.demanded.get(operation.key, [])
        names = [
            scheme.name
            for scheme in document.schemes
            if scheme.name not in demanded
            and any(scheme.kind == "apiKey" and sends_parameter(scheme, parameter) for parameter in required)
        ]
        if names:
            findings.demanded[operation.key] = [*demanded, *names]


def _takes_token(scheme: SecurityScheme) -> bool:
    return scheme.kind in TOKENS or (scheme.kind == "http" and scheme.http_scheme.lower() == "bearer")


def _is_met(stated: Alternatives, schemes: Iterable[str]) -> bool:
    """Return True if each alternative names one of the schemes."""
    return bool(stated) and all(not set(schemes).isdisjoint(requirement) for requirement in stated)


def _note_parameter(member: CredentialParameter, scheme: str, findings: _Findings, place: str = "") -> None:
    count = len(member.operations)
    message = (
        f"the parameter {member.name!r} ({place or member.location.value}, {count} operation{'s'[: count - 1]}) is a "
        f"credential: agents neither see nor give it, and it is sent as the security scheme {scheme!r}"
    )
    findings.note(PARAMETER, message, member.example.origin.pointer)


def _unrequired(document: Document, findings: _Findings, *, is_stated: bool) -> list[str]:
    """Return the declared schemes that no operation requires."""
    stated = [document.security, *(operation.security or () for operation in document.operations)]
    required = {name for alternatives in stated for requirement in alternatives for name in requirement}
    recognised = (findings.demanded, findings.accepted, findings.added)
    required |= {name for names in chain(*(names.values() for names in recognised)) for name in names}
    unrequired = [scheme.name for scheme in document.schemes if scheme.name not in required]
    where = "beside those that are, or in their place where these are not set" if is_stated else "with each"
    for name in unrequired:
        message = (
            f"the security scheme {name!r} is required by no operation; it is sent {where}, if its variable is set"
        )
        findings.note(ASSUMED, message, f"/components/securitySchemes/{escape(name)}")
    return unrequired


def _lifted(document: Document, findings: _Findings, resolver: Resolver) -> set[str]:
    """Return the operations whose `security: []` is doubted, since most lift what the document requires."""
    if not any(document.security):
        return set()
    lifted = [operation for operation in document.operations if operation.security == ()]
    if len(lifted) < _FEWEST_LIFTED or len(lifted) * 2 <= len(document.operations):
        return set()
    message = (
        f"{len(lifted)} of {len(document.operations)} operations lift the security that the document requires, which "
        "is doubted: the credential is sent with each of them too, where its variable is set"
    )
    findings.note(LIFTED, message, f"{lifted[0].origin.pointer}/security")
    return {operation.key for operation in lifted if not issues_credentials(operation, resolver)}


def _unstated(document: Document, findings: _Findings, resolver: Resolver) -> dict[str, Alternatives]:
    """Return the requirements of operations that say nothing, some of which write, where all others state the same."""
    stated = Counter(filter(None, (operation.security for operation in document.operations)))
    silent = [
        operation
        for operation in document.operations
        if operation.security is None and not issues_credentials(operation, resolver)
    ]
    common = max(stated, key=lambda alternatives: stated[alternatives], default=())
    is_uniform = any(common) and stated[common] >= stated.total() * _UNIFORM
    if any(document.security) or not is_uniform or not any(map(_writes, silent)):
        return {}
    message = (
        f"{len(silent)} of {len(document.operations)} operations state no security, and some of them write: the "
        "credential that the others state is sent with each of them too, where its variable is set"
    )
    findings.note(UNSTATED, message, silent[0].origin.pointer)
    return dict.fromkeys((operation.key for operation in silent), common)


def _writes(operation: Operation) -> bool:
    return operation.method in ("post", "put", "patch", "delete")


def _with_common_default(document: Document) -> Document:
    """Make the requirements of most operations those of the document, if the document states none."""
    if document.security or not document.operations:
        return document
    counts: dict[Alternatives | None, int] = {}
    for operation in document.operations:
        counts[operation.security] = counts.get(operation.security, 0) + 1
    common = max(counts, key=lambda security: counts[security])
    if not common or counts[common] * 2 <= len(document.operations):
        return document
    operations = tuple(
        replace(operation, security=() if operation.security is None else operation.security)
        if operation.security != common
        else replace(operation, security=None)
        for operation in document.operations
    )
    return replace(document, security=common, operations=operations)


def _without_credentials(
    document: Document, findings: _Findings, declared: tuple[SecurityScheme, ...], resolver: Resolver
) -> Document:
    """Return the document without what is a credential, or stands where a scheme puts its own.

    The secret of an application is one only where it was found to be, unless a scheme is declared for it.
    """
    added = [scheme for name, scheme in findings.schemes.items() if "_".join(split(name)) != CLIENT_SECRET]
    schemes = [*declared, *added]
    operations = []
    for operation in document.operations:
        kept = tuple(
            parameter
            for parameter in operation.parameters
            if (operation.key, parameter.location, parameter.name) not in findings.members
            and (
                parameter.location is Location.PATH or not any(sends_parameter(scheme, parameter) for scheme in schemes)
            )
        )
        operation = operation if kept == operation.parameters else replace(operation, parameters=kept)
        names = frozenset(findings.fields.get(operation.key, ()))
        operations.append(without_fields(operation, names, resolver))
    return replace(document, operations=tuple(operations))
