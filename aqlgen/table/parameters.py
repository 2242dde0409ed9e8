"""Parameters of an operation under names that an agent can use: snake_case, specific, unique within it (R-REQ-2)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from hashlib import sha256

from aqlgen.decide.decision import Decision
from aqlgen.decide.traits.sensitive import is_secret
from aqlgen.ir import Document, Location, Parameter, SecurityScheme
from aqlgen.runtime.table import Parameter as TableParameter
from aqlgen.schemas import Place, Types, shorten
from aqlgen.table.encoding import encoded_fields
from aqlgen.words import pascal, singular, snake, split

MAX_DESCRIPTION = 400
RESERVED = frozenset({"input"})
VALID = re.compile(r"[a-z][a-z0-9_]*")


def sent_by_security(parameter: Parameter, schemes: Iterable[SecurityScheme]) -> bool:
    """Return True if a parameter is a credential that a security scheme sends already."""
    return any(
        scheme.kind == "apiKey" and scheme.location == parameter.location.value and scheme.parameter == parameter.name
        for scheme in schemes
    )


def secured(decision: Decision, document: Document) -> Decision:
    """Return a decision whose security has each credential that its operation also declares as a required parameter.

    Documents that list them as alternatives of each other mean that both are sent.
    """
    operation = decision.operation
    demanded = [
        scheme.name
        for scheme in document.schemes
        if any(parameter.required and sent_by_security(parameter, (scheme,)) for parameter in operation.parameters)
    ]
    stated = document.security if operation.security is None else operation.security
    if not demanded or (stated and all(set(demanded) <= set(requirement) for requirement in stated)):
        return decision
    security = tuple(dict.fromkeys(tuple(sorted({*requirement, *demanded})) for requirement in stated or ((),)))
    return replace(decision, operation=replace(operation, security=security))


BARE = frozenset("id ids uuid guid gid sid name key slug code".split())
"""Names that say nothing without the thing that they belong to."""
NO_THING = re.compile(r"v?\d[\w.-]*|api|rest|by|by[-_]\w+")


def agent_name(wire: str, location: str, path: str, resource: str = "") -> str:
    """Return a parameter's name before uniqueness: a bare `id` takes the noun before it, in a query the resource."""
    name = wire if VALID.fullmatch(wire) else snake(wire)
    if location == Location.PATH and name in BARE:
        noun = _noun_before(path.split("{" + wire + "}")[0], name) or resource
        name = f"{noun}_{name}" if noun else name
    elif location == Location.QUERY and name == "id" and resource:
        name = f"{resource}_id"
    if not name:
        name = f"{location}_{sha256(wire.encode('utf-8', 'surrogatepass')).hexdigest()[:4]}"
    return name


def _noun_before(path: str, name: str) -> str:
    """Return the noun of the last segment that names what a parameter belongs to: for `/pets/by-id/`, pet."""
    for segment in reversed(path.split("/")):
        words = split(segment)
        if words and "{" not in segment and words[-1] != name and not NO_THING.fullmatch(segment.lower()):
            return snake("_".join((*words[:-1], singular(words[-1]))))
    return ""


def unique(parameters: Iterable[TableParameter]) -> tuple[TableParameter, ...]:
    """Make the names unique: the exact spelling or the first one keeps a name, the others get their location.

    (`query_id`.) One that gives way to another in the same location is still found by the API's own spelling of it.
    """
    candidates = tuple(parameters)
    spelled = {(parameter.location, parameter.wire) for parameter in candidates}
    taken: set[str] = set()
    named = []
    for parameter in candidates:
        name = parameter.name
        gives_way = parameter.wire != name and (parameter.location, name) in spelled
        if gives_way or name in taken:
            name = f"{parameter.location.split('_')[0]}_{name}"
        if name in taken:
            name = f"{name}_{sha256(parameter.wire.encode()).hexdigest()[:4]}"
        taken.add(name)
        named.append(parameter if name == parameter.name else replace(parameter, name=name))
    return tuple(named)


def plain_parameters(decision: Decision, types: Types, schemes: Iterable[SecurityScheme]) -> list[TableParameter]:
    """Return the path, query, header and cookie parameters, in that order."""
    operation = decision.operation
    order = list(Location)
    owner = pascal(split(decision.name))
    table_parameters = []
    for parameter in sorted(operation.parameters, key=lambda declared: order.index(declared.location)):
        if parameter.fixed is not None or sent_by_security(parameter, schemes):
            continue
        name = agent_name(parameter.name, parameter.location.value, operation.path, decision.resource)
        schema = types.schema(parameter.schema, Place(request=True, hint=owner, inline=True, steps=(name,)))
        described = parameter.description or str(schema.get("description", ""))
        default_style = "form" if parameter.location in (Location.QUERY, Location.COOKIE) else "simple"
        table_parameters.append(
            TableParameter(
                name=name,
                wire=parameter.name,
                location=parameter.location.value,
                required=parameter.required,
                schema={key: value for key, value in schema.items() if key not in ("description", "deprecated")},
                description=shorten(described, MAX_DESCRIPTION),
                deprecated=parameter.deprecated or schema.get("deprecated") is True,
                sensitive=is_secret(name, schema),
                stated_style=None if parameter.style == default_style else parameter.style,
                stated_explode=None if parameter.explode == (parameter.style == "form") else parameter.explode,
                allow_reserved=parameter.allow_reserved,
                content_type=parameter.content_type,
                fields=encoded_fields(parameter.encoding, types.follow),
            )
        )
    return table_parameters
