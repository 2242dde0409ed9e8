"""The security requirements that hold in practice, where a document states them badly, and the notes on that.

- A parameter that is a credential becomes a security scheme, or the one that sends the same already.
- Where no operation states a requirement, each declared scheme is sent wherever its variable is set.
- Where nearly all operations that state requirements state the same, and others, which write, say nothing, the
  credential is sent with all that say nothing, wherever its variable is set.
- `security: []` is believed, as long as at most half of the operations lift what the document requires; where more do,
  the credential is sent wherever its variable is set.
- What an operation demands or accepts beside its own schemes makes alternatives with them.
- Neither concerns logins and token endpoints, nor an operation that is public by its own `security: []` otherwise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, combinations, product
from typing import Final, TypeAlias

from aqlgen.decide.credentials.formats import with_format
from aqlgen.decide.credentials.names import CLIENT_SECRET, TOKENS, sends, sends_parameter, stem
from aqlgen.decide.credentials.parameters import (
    CredentialParameter,
    credential_fields,
    credential_parameters,
    is_token,
    issues_credentials,
    scheme_of,
    without_fields,
)
from aqlgen.decide.schemas import Schemas
from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.document.positions import escape
from aqlgen.document.resolve import Resolver
from aqlgen.ir import SIGNATURE, Document, Location, SecurityScheme
from aqlgen.runtime.auth import added_scheme
from aqlgen.words import split

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
_WRITES: Final = frozenset({"post", "put", "patch", "delete"})
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
    schemas = Schemas(resolver)
    _from_bodies(document, findings, schemas)
    floating = [] if is_stated else list(dict.fromkeys([*_unrequired(document, findings), *floating]))
    doubted = dict.fromkeys(_lifted(document, findings, schemas), document.security)
    doubted |= _unstated(document, findings, schemas)
    _note_schemes(document, findings)
    operations = []
    for operation in document.operations:
        stated = document.security if operation.security is None else operation.security
        needs = [*doubted[operation.key], ()] if operation.key in doubted else parted(stated, findings.schemes)
        is_open = not stated and (operation.security is not None or issues_credentials(operation, schemas))
        accepted = [*findings.accepted.get(operation.key, ()), *(() if is_open else floating)]
        needs = combined(needs, findings.demanded.get(operation.key, []), accepted, findings.schemes)
        if needs != list(stated):
            alternatives = dict.fromkeys([*filter(None, needs), *(need for need in needs if not need)])
            operation = replace(operation, security=tuple(alternatives))
        operations.append(operation)
    schemes = tuple(findings.schemes.values())
    effective = replace(document, schemes=schemes, operations=tuple(operations))
    return _without_credentials(effective, findings, document.schemes, resolver), findings.diagnostics


def _note_schemes(document: Document, findings: _Findings) -> None:
    for scheme in document.schemes:
        if scheme.kind == SIGNATURE:
            message = f"requests are signed for AWS by the security scheme {scheme.name!r}"
            advice = "Sign them in before_send of hooks.py, and set MCP_AQL_AUTH=none: the adapter does not sign."
            findings.note(SIGNED, message, scheme.origin.pointer, advice)
        if scheme.format:
            message = f"the key of the security scheme {scheme.name!r} is sent as {scheme.format!r}, by its description"
            findings.note(FORMAT, message, scheme.origin.pointer)
    if all("_".join(split(name)) == CLIENT_SECRET for name in findings.schemes):
        api = next((operation.api for operation in document.operations), "")
        advice = f"If the API needs one, add to overrides.yaml:\n{added_scheme(api)}"
        findings.note(NO_SCHEME, "the document names no credential", "", advice)


def _from_parameters(document: Document, findings: _Findings) -> list[str]:
    """Find the scheme of each parameter that is a credential; return those of parameters that many operations have."""
    synthesised: list[str] = []
    operations = {operation.key: operation for operation in document.operations}
    declared = frozenset(findings.schemes)
    for member in credential_parameters(document):
        scheme = _declared(member, document) or scheme_of(member, frozenset(findings.schemes))
        name = findings.schemes.setdefault(scheme.name, scheme).name
        if len(member.operations) >= len(operations) * _MANY:
            synthesised.append(name)
        _note_parameter(member, name, findings)
        for key, parameter in member.operations.items():
            findings.members.add((key, parameter.location, parameter.name))
            stated = operations[key].security
            is_stated = any(document.security if stated is None else stated)
            if name not in declared or (parameter.required and not (is_stated and is_token(member))):
                target = findings.demanded if parameter.required else findings.accepted
                target.setdefault(key, []).append(name)
    _demand_declared(document, findings)
    return synthesised


def _declared(member: CredentialParameter, document: Document) -> SecurityScheme | None:
    """Return the document's scheme that sends a parameter, or else takes its token, None if there is none."""
    placed = (scheme for scheme in document.schemes if sends_parameter(scheme, member.example))
    tokens = (each for each in document.schemes if is_token(member)
              and (each.kind in TOKENS or (each.kind, each.http_scheme.lower()) == ("http", "bearer")))  # fmt: skip
    return next(chain(placed, tokens), None)


def _from_bodies(document: Document, findings: _Findings, schemas: Schemas) -> None:
    """Find the fields of bodies that are credentials, and a scheme for those that no declared scheme replaces."""
    operations = {operation.key: operation for operation in document.operations}
    for member in credential_fields(document, schemas):
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


def _note_parameter(member: CredentialParameter, scheme: str, findings: _Findings, place: str = "") -> None:
    count = len(member.operations)
    message = (
        f"the parameter {member.name!r} ({place or member.location.value}, {count} operation{'s'[: count - 1]}) is a "
        f"credential, sent as the security scheme {scheme!r}; agents do not see it"
    )
    findings.note(PARAMETER, message, member.example.origin.pointer)


def _unrequired(document: Document, findings: _Findings) -> list[str]:
    """Return the declared schemes that no parameter requires, in a document that states no requirements."""
    required = {name for names in (*findings.demanded.values(), *findings.accepted.values()) for name in names}
    unrequired = [scheme.name for scheme in document.schemes if scheme.name not in required]
    for name in unrequired:
        message = (
            f"the security scheme {name!r} is required by no operation; it is sent with each, if its variable is set"
        )
        findings.note(ASSUMED, message, f"/components/securitySchemes/{escape(name)}")
    return unrequired


def _lifted(document: Document, findings: _Findings, schemas: Schemas) -> set[str]:
    """Return the operations whose `security: []` is doubted, since most lift what the document requires."""
    if not any(document.security):
        return set()
    lifted = [operation for operation in document.operations if operation.security == ()]
    if len(lifted) < _FEWEST_LIFTED or len(lifted) * 2 <= len(document.operations):
        return set()
    message = (
        f"{len(lifted)} of {len(document.operations)} operations lift the document's security, probably by habit: "
        "the credential is sent with them too if its variable is set"
    )
    findings.note(LIFTED, message, f"{lifted[0].origin.pointer}/security")
    return {operation.key for operation in lifted if not issues_credentials(operation, schemas)}


def _unstated(document: Document, findings: _Findings, schemas: Schemas) -> dict[str, Alternatives]:
    """Return the requirements of operations that say nothing, some of which write, where all others state the same."""
    stated = Counter(filter(None, (operation.security for operation in document.operations)))
    silent = [
        operation
        for operation in document.operations
        if operation.security is None and not issues_credentials(operation, schemas)
    ]
    common = max(stated, key=lambda alternatives: stated[alternatives], default=())
    is_uniform = any(common) and stated[common] >= stated.total() * _UNIFORM
    if any(document.security) or not is_uniform or not any(operation.method in _WRITES for operation in silent):
        return {}
    message = (
        f"{len(silent)} of {len(document.operations)} operations declare no security, and some of them write: the "
        "credential of the others is sent with them too if its variable is set"
    )
    findings.note(UNSTATED, message, silent[0].origin.pointer)
    return dict.fromkeys((operation.key for operation in silent), common)


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


Alternatives: TypeAlias = tuple[tuple[str, ...], ...]
Requirements: TypeAlias = list[tuple[str, ...]]

_MOST_SUBSETS: Final = 3


def parted(stated: Alternatives, schemes: Mapping[str, SecurityScheme]) -> Requirements:
    """Return the alternatives; one whose schemes would send the same header or parameter twice is several."""
    alternatives: Requirements = []
    for requirement in stated:
        places: dict[tuple[str, str], list[str]] = {}
        for name in requirement:
            scheme = schemes.get(name)  # None is a finding of its own
            places.setdefault(("", name) if scheme is None else sends(scheme), []).append(name)
        alternatives += [requirement] if len(places) == len(requirement) else list(product(*places.values()))
    return alternatives


def combined(
    stated: Requirements, demanded: list[str], accepted: list[str], schemes: Mapping[str, SecurityScheme]
) -> Requirements:
    """Return the alternatives, the fullest first: all with what is demanded, each with and without what is accepted."""
    bases = stated or [()]
    if not all(set(demanded) <= set(requirement) for requirement in bases):
        bases = [_with_demanded(requirement, demanded, schemes) for requirement in bases]
    if not accepted:
        return bases if stated or demanded else []
    subsets = _subsets(_bundles(accepted, schemes))
    alternatives: Requirements = []
    for base in bases:
        fuller = [tuple(dict.fromkeys((*base, *subset))) for subset in subsets]
        alternatives += [requirement for requirement in fuller if _agree(requirement, schemes)] + [base]
    if not demanded:
        alternatives += [subset for subset in subsets if _agree(subset, schemes)]
    return list(dict.fromkeys(alternatives))


def _with_demanded(
    requirement: tuple[str, ...], demanded: list[str], schemes: Mapping[str, SecurityScheme]
) -> tuple[str, ...]:
    """Return a requirement with the demanded schemes, except those that send what another of it sends."""
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
