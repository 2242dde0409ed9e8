"""The parameters and body fields of a document that are credentials, and those in the place of a scheme's credential.

A parameter is recognised by how many operations have it, and how it looks. A field of request bodies is the key that
an API wants in each body, and not in a header.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from aqlgen.decide.credentials.formats import key_format, texts_of
from aqlgen.decide.credentials.names import CLIENT_SECRET, Likeness, is_proof, is_token_endpoint, likeness, stem
from aqlgen.decide.schemas import Schemas
from aqlgen.document.resolve import Resolver
from aqlgen.ir import Document, Location, Operation, Parameter, SecurityScheme
from aqlgen.schemas.dropped_fields import FieldDropper
from aqlgen.words import split

MOST: Final = 0.5
NEARLY_ALL: Final = 0.8
_NAMED: Final = (Location.HEADER, Location.QUERY)
"""Locations between which documents move a credential, from operation to operation."""
_TOKEN: Final = re.compile(r"^(x_)?((access|oauth|auth|bearer|api|user|bot)_?)?token$")


@dataclass(frozen=True, slots=True)
class CredentialParameter:
    """A parameter that is a credential, with the operations that have it by their keys."""

    location: Location
    name: str
    operations: Mapping[str, Parameter]

    @property
    def example(self) -> Parameter:
        """The parameter as the first operation declares it."""
        return next(iter(self.operations.values()))


def credential_parameters(document: Document) -> list[CredentialParameter]:
    """Return the parameters that are credentials of the caller, in document order."""
    groups: dict[tuple[Location, str], list[tuple[Operation, Parameter]]] = defaultdict(list)
    for operation in document.operations:
        for parameter in operation.parameters:
            groups[parameter.key].append((operation, parameter))
    recognised: dict[tuple[Location, str], CredentialParameter] = {}
    for key, uses in groups.items():
        alike = [groups.get((other, key[1]), []) for other in _NAMED] if key[0] in _NAMED else [uses]
        share = len({operation.key for operation, _ in chain(*alike)}) / len(document.operations)
        members = [use for use in uses if _is_credential(share, *use)]
        if members:
            recognised[key] = _member(uses if share >= MOST and len(members) * 2 > len(uses) else members)
    for key, uses in groups.items():
        if key not in recognised and _is_companion(uses, list(recognised.values())):
            recognised[key] = _member(uses)
    return list(recognised.values())


def _member(uses: list[tuple[Operation, Parameter]]) -> CredentialParameter:
    first = uses[0][1]
    return CredentialParameter(first.location, first.name, {operation.key: parameter for operation, parameter in uses})


def _is_credential(share: float, operation: Operation, parameter: Parameter) -> bool:
    """Return True if a parameter of an operation is a credential; `share` is that of the operations that have it."""
    if parameter.location in _NAMED and "_".join(split(parameter.name)) == CLIENT_SECRET:
        beside = {"_".join(split(other.name)) for other in operation.parameters}
        return "client_id" in beside or "{" not in operation.path
    resource = next((step for step in reversed(operation.path.split("/")) if step and "{" not in step), "")
    words, thing = split(parameter.name), "".join(split(resource))
    if len(words) > 1 and thing in ("".join(words), f"{''.join(words)}s"):
        return False  # the key that the operation is about: `PUT /authkey?auth_key=…`
    degree = likeness(parameter)
    if parameter.location is Location.PATH:
        return degree >= Likeness.LIKELY and share >= NEARLY_ALL
    return degree is Likeness.CERTAIN or share >= {Likeness.LIKELY: MOST, Likeness.POSSIBLE: NEARLY_ALL}.get(degree, 2)


def _is_companion(uses: list[tuple[Operation, Parameter]], recognised: Iterable[CredentialParameter]) -> bool:
    """Return True if a parameter is the other half of a credential: `Api-Username` beside `Api-Key`."""
    first = uses[0][1]
    if first.location not in (Location.HEADER, Location.QUERY):
        return False
    return any(
        member.location is first.location
        and stem(member.name) == stem(first.name) != "_".join(split(first.name))
        and all(operation.key in member.operations for operation, _ in uses)
        and len(uses) * 2 > len(member.operations)
        for member in recognised
    )


def is_token(member: CredentialParameter) -> bool:
    """Return True if a parameter holds the token that a scheme for tokens sends in the header Authorization."""
    return bool(_TOKEN.search("_".join(split(member.name))))


def scheme_of(member: CredentialParameter, taken: frozenset[str]) -> SecurityScheme:
    """Return the security scheme that a parameter stands for, under a name that no other has."""
    parameter = member.example
    name = member.name
    while name in taken:
        name = f"{name}_{member.location.value}"
    in_authorization = member.location is Location.HEADER and member.name.lower() == "authorization"
    return SecurityScheme(
        name=name,
        kind="apiKey",
        description=parameter.description,
        location=member.location.value,
        parameter=member.name,
        http_scheme="",
        origin=parameter.origin,
        format=key_format(texts_of(parameter)) if in_authorization else "",
    )


_ISSUERS: Final = frozenset("token login signin logon oauth authenticate session sessions access_token auth".split())
_OF_PEOPLE: Final = re.compile(r"(^|_)(password|passwd|client_secret|grant_type|refresh_token|code_verifier|api_?key)$")
_SECRETS: Final = frozenset({"secret", "client_secret"})


def credential_fields(document: Document, schemas: Schemas) -> list[CredentialParameter]:
    """Return the fields that most operations have for the caller's credential, as if they were parameters.

    What only some bodies have is data: the key of an integration that is being set up. The secret of the caller's own
    application is none, at a token endpoint and where all fields are those of one.
    """
    bodies = _bodies(document, schemas)
    shared = {id(fields): fields for fields in bodies.values()}.values()
    likely = {name: None for fields in shared for name, field in fields.items() if likeness(field) >= Likeness.LIKELY}
    most = _in_most(likely, document, bodies)
    if any("_".join(split(name)) in _SECRETS for name in most):
        ids = {name: None for fields in shared for name in fields if "_".join(split(name)) == "client_id"}
        most |= _in_most(ids, document, bodies)
    recognised = _application_secrets(document, bodies) | most
    return [CredentialParameter(Location.QUERY, name, members) for name, members in recognised.items()]


def _in_most(
    names: Iterable[str], document: Document, bodies: Mapping[str, Mapping[str, Parameter]]
) -> dict[str, dict[str, Parameter]]:
    """Return the uses of the fields that most operations have, be it as parameters."""
    uses = {name: {key: fields[name] for key, fields in bodies.items() if name in fields} for name in names}
    beside = Counter(
        name
        for operation in document.operations
        for name in {parameter.name for parameter in operation.parameters} - bodies[operation.key].keys()
    )
    enough = len(document.operations) * MOST
    return {name: members for name, members in uses.items() if len(members) + beside[name] >= enough}


def _bodies(document: Document, schemas: Schemas) -> dict[str, Mapping[str, Parameter]]:
    """Return the fields of each operation's bodies by name; those of a body that operations share are one mapping."""
    shared: dict[tuple[object, ...], Mapping[str, Parameter]] = {}
    bodies: dict[str, Mapping[str, Parameter]] = {}
    for operation in document.operations:
        offered = [media.schema for media in (operation.body.media if operation.body is not None else ())]
        key = tuple(
            schema["$ref"] if isinstance(schema, dict) and list(schema) == ["$ref"] else id(schema)
            for schema in offered
        )
        if key not in shared:
            shared[key] = {field.name: field for field in reversed(list(_fields(operation, schemas)))}
        bodies[operation.key] = shared[key]
    return bodies


def _application_secrets(
    document: Document, bodies: Mapping[str, Mapping[str, Parameter]]
) -> dict[str, dict[str, Parameter]]:
    """Return the secrets of the caller's application by name, where all fields are those of a token endpoint."""
    applications: dict[str, tuple[Parameter, set[str]]] = {}
    endpoints: list[set[str]] = []
    named = {
        id(fields): [field for name, field in fields.items() if "_".join(split(name)) == CLIENT_SECRET]
        for fields in bodies.values()
    }
    for operation in document.operations:
        fields = bodies[operation.key]
        for field in named[id(fields)]:
            present = set(fields)
            applications[operation.key] = field, present
            if is_token_endpoint(operation, present):
                endpoints.append(present)
    secrets: dict[str, dict[str, Parameter]] = defaultdict(dict)
    for key, (field, present) in applications.items():
        if any(map(is_proof, present)) and any(present <= endpoint for endpoint in endpoints):
            secrets[field.name][key] = field
    return secrets


def issues_credentials(operation: Operation, schemas: Schemas) -> bool:
    """Return True if an operation gives a credential for another one: a login, or a token endpoint (RFC 6749, 3.2)."""
    last = next((words for segment in reversed(operation.path.split("/")) if (words := split(segment))), ())
    if operation.method != "post" or _ISSUERS.isdisjoint((*last, "".join(last))):
        return False
    fields = chain(operation.parameters, _fields(operation, schemas))
    return any(_OF_PEOPLE.search("_".join(split(field.name))) for field in fields)


def _fields(operation: Operation, schemas: Schemas) -> Iterator[Parameter]:
    for media in operation.body.media if operation.body is not None else ():
        required = schemas.required(media.schema)
        for name, field in schemas.properties(media.schema).items():
            schema = {**schemas.resolve(field), **(field if isinstance(field, dict) else {})}
            yield Parameter(
                name=name,
                location=Location.QUERY,
                required=name in required,
                schema=schema,
                description=str(schema.get("description", "")),
                style="form",
                explode=True,
                origin=media.origin,
            )


def without_fields(operation: Operation, names: frozenset[str], resolver: Resolver) -> Operation:
    """Return an operation whose body has none of these fields."""
    if operation.body is None or not names:
        return operation
    dropper = FieldDropper(resolver, names.__contains__)
    media = tuple(
        replace(part, schema=dropper.without(part.schema, f"{part.origin.pointer}/schema"))
        for part in operation.body.media
    )
    return operation if media == operation.body.media else replace(operation, body=replace(operation.body, media=media))
