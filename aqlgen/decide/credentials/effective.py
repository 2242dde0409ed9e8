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
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, combinations, product
from typing import Final, TypeAlias

from aqlgen.decide.credentials.formats import with_format
from aqlgen.decide.credentials.names import CLIENT_SECRET, issues_credentials, stem
from aqlgen.decide.credentials.parameters import (
    CredentialParameter,
    credential_fields,
    credential_parameters,
    is_token,
    scheme_of,
    without_fields,
)
from aqlgen.decide.credentials.placement import TOKENS, sends, sends_parameter
from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.document.positions import escape
from aqlgen.document.resolve import Resolver
from aqlgen.ir import SIGNATURE, Document, Location, Operation, SecurityScheme
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


Alternatives: TypeAlias = tuple[tuple[str, ...], ...]
Requirements: TypeAlias = list[tuple[str, ...]]

_FEWEST_LIFTED: Final = 2
_UNIFORM: Final = 0.9
_MOST_SUBSETS: Final = 3
_MANY: Final = 0.2
"""The share of operations that declare a key, from which on the others are taken to have left it out."""


@dataclass(slots=True)
class _Findings:
    """The recognised schemes by name, and those that operations demand or accept beside their own requirements."""

    schemes: dict[str, SecurityScheme]
    demanded: dict[str, list[str]] = field(default_factory=dict)
    accepted: dict[str, list[str]] = field(default_factory=dict)
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
        needs = [*doubted[operation.key], ()] if operation.key in doubted else _parted(stated, findings)
        is_open = not stated and (operation.security is not None or issues_credentials(operation, resolver))
        accepted = [*findings.accepted.get(operation.key, ()), *(() if is_open else floating)]
        needs = _combined(needs, findings.demanded.get(operation.key, []), accepted, findings.schemes)
        if any(needs):
            needs = _with_fallback(needs, fallback, findings.schemes)
        if needs != list(stated):
            alternatives = dict.fromkeys([*filter(None, needs), *(need for need in needs if not need)])
            operation = replace(operation, security=tuple(alternatives))
        operations.append(operation)
    effective = replace(document, schemes=tuple(findings.schemes.values()), operations=tuple(operations))
    effective = _without_credentials(effective, findings, resolver)
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
    required |= {name for names in (*findings.demanded.values(), *findings.accepted.values()) for name in names}
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


def _with_fallback(needs: Requirements, fallback: list[str], schemes: Mapping[str, SecurityScheme]) -> Requirements:
    """Return the alternatives with the schemes that are required nowhere: beside all others, or in their place."""
    bundles = _bundles(fallback, schemes)
    if len(bundles) == 1 and all(_agree((*names, *bundles[0]), schemes) for names in needs):
        needs = [*(names + bundles[0] for names in needs if names), *needs]
    return [*needs, *(bundle for bundle in bundles if bundle not in needs)]


def _parted(stated: Alternatives, findings: _Findings) -> Requirements:
    """Return the alternatives; one whose schemes would send the same header or parameter twice is several."""
    alternatives: Requirements = []
    for requirement in stated:
        places: dict[tuple[str, str], list[str]] = {}
        for name in requirement:
            scheme = findings.schemes.get(name)  # None is a finding of its own
            places.setdefault(("", name) if scheme is None else sends(scheme), []).append(name)
        alternatives += [requirement] if len(places) == len(requirement) else list(product(*places.values()))
    return alternatives


def _combined(
    stated: Requirements, demanded: list[str], accepted: list[str], schemes: Mapping[str, SecurityScheme]
) -> Requirements:
    """Return the alternatives, the fullest first: all with what is demanded, each with and without what is accepted."""
    bases = stated or [()]
    if demanded and not all(set(demanded) <= set(requirement) for requirement in bases):
        bases = [_with_demanded(requirement, demanded, schemes) for requirement in bases]
    if not accepted:
        return bases if stated or demanded else []
    subsets = _subsets(_bundles(accepted, schemes))
    alternatives: Requirements = []
    for base in bases:
        fuller = [tuple(dict.fromkeys((*base, *subset))) for subset in subsets]
        alternatives += [requirement for requirement in fuller if _agree(requirement, schemes)] + [base]
    if demanded:
        alternatives += [_instead(base, bundle, schemes) for base in bases for bundle in _bundles(accepted, schemes)]
    else:
        alternatives += [subset for subset in subsets if _agree(subset, schemes)]
    return list(dict.fromkeys(alternatives))


def _instead(base: tuple[str, ...], bundle: tuple[str, ...], schemes: Mapping[str, SecurityScheme]) -> tuple[str, ...]:
    """Return a requirement with some schemes in place of those that send the same."""
    places = {sends(schemes[name]) for name in bundle}
    kept = tuple(name for name in base if name in schemes and sends(schemes[name]) not in places)
    return base if len(kept) == len(base) else (*kept, *bundle)


def _with_demanded(
    requirement: tuple[str, ...], demanded: list[str], schemes: Mapping[str, SecurityScheme]
) -> tuple[str, ...]:
    """Return a requirement with what is demanded, but for schemes that send what another of it sends."""
    names = list(requirement)
    for name in demanded:
        if name not in names and _agree((*names, name), schemes):
            names.append(name)
    return tuple(sorted(names))


def _bundles(names: Iterable[str], schemes: Mapping[str, SecurityScheme]) -> Requirements:
    """Return the schemes, those that go together in one: `Api-Key` and `Api-Username`."""
    bundles: dict[tuple[str, str], list[str]] = {}
    for name in dict.fromkeys(names):
        scheme = schemes[name]
        key = (scheme.location, stem(scheme.parameter)) if scheme.kind == "apiKey" else ("", name)
        bundles.setdefault(key, []).append(name)
    return [tuple(bundle) for bundle in bundles.values()]


def _subsets(bundles: Requirements) -> Requirements:
    """Return the sets of schemes that may be sent together, the largest first."""
    sizes = range(len(bundles), 0, -1) if len(bundles) <= _MOST_SUBSETS else (len(bundles), 1)
    return [tuple(chain(*chosen)) for size in sizes for chosen in combinations(bundles, size)]


def _agree(names: tuple[str, ...], schemes: Mapping[str, SecurityScheme]) -> bool:
    """Return True if no two schemes send the same header, query parameter or cookie."""
    places = [sends(schemes[name]) for name in dict.fromkeys(names) if name in schemes]
    return len(places) == len(set(places))


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


def _without_credentials(document: Document, findings: _Findings, resolver: Resolver) -> Document:
    """Return the document without what is a credential, or stands where a scheme puts its own."""
    schemes = findings.schemes.values()
    operations = []
    for operation in document.operations:
        kept = tuple(
            parameter
            for parameter in operation.parameters
            if (operation.key, parameter.location, parameter.name) not in findings.members
            and not any(sends_parameter(scheme, parameter) for scheme in schemes)
        )
        operation = operation if kept == operation.parameters else replace(operation, parameters=kept)
        names = frozenset(findings.fields.get(operation.key, ()))
        operations.append(without_fields(operation, names, resolver))
    return replace(document, operations=tuple(operations))
