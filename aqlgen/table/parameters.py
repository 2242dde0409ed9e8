"""Parameters of an operation under names that an agent can use: snake_case, specific, unique within it (R-REQ-2)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from hashlib import sha256

from aqlgen.decisions import Decision
from aqlgen.ir import Json, Location, Parameter, SecurityScheme
from aqlgen.schemas.dialect import shorten
from aqlgen.schemas.types import Place, Types
from aqlgen.table.model import TableParameter
from aqlgen.words import pascal, singular, snake, split

MAX_DESCRIPTION = 400
RESERVED = frozenset({"input"})
SECRET = re.compile(
    r"(^|_)(password|passwd|passphrase|secret|token|api_?key|private_key|access_key|credential)(s)?($|_)"
)
NOT_SECRET = re.compile(r"(^|_)(page|next|continuation|cursor|sync|previous|idempotency|max|min|num|count)_")
VALID = re.compile(r"[a-z][a-z0-9_]*")


def sent_by_security(parameter: Parameter, schemes: Iterable[SecurityScheme]) -> bool:
    """Whether a parameter is a credential that a security scheme sends already."""
    return any(
        scheme.kind == "apiKey" and scheme.location == parameter.location.value and scheme.parameter == parameter.name
        for scheme in schemes
    )


def own_name(wire: str, location: str, path: str) -> str:
    """Give a parameter's name before uniqueness: a bare `id` in a path takes the noun before it."""
    name = wire if VALID.fullmatch(wire) else snake(wire)
    if location == Location.PATH and name in ("id", "uuid", "name", "key", "slug"):
        before = path.split("{" + wire + "}")[0].rstrip("/").rsplit("/", 1)[-1]
        noun = snake(before)
        if noun and "{" not in before:
            head, _, last = noun.rpartition("_")
            name = f"{head}_{singular(last)}_{name}" if head else f"{singular(last)}_{name}"
    if not name:
        name = f"{location}_{sha256(wire.encode()).hexdigest()[:4]}"
    return name


def is_sensitive(name: str, schema: Mapping[str, Json]) -> bool:
    """Whether a value is a secret, by the parameter's name or format."""
    if schema.get("format") == "password" or schema.get("writeOnly") is True:
        return True
    return bool(SECRET.search(name)) and not NOT_SECRET.search(name) and schema.get("type") == "string"


def unique(parameters: Iterable[TableParameter]) -> tuple[TableParameter, ...]:
    """Give each a name of its own: who comes first keeps it, the others say where they travel (`query_id`)."""
    taken: set[str] = set()
    found = []
    for parameter in parameters:
        place = parameter.location.split("_")[0]
        candidates = (
            parameter.name,
            f"{place}_{parameter.name}",
            f"{place}_{parameter.name}_{sha256(parameter.wire.encode()).hexdigest()[:4]}",
        )
        name = next(one for one in candidates if one not in taken)
        taken.add(name)
        found.append(parameter if name == parameter.name else replace(parameter, name=name))
    return tuple(found)


def plain_parameters(decision: Decision, types: Types, schemes: Iterable[SecurityScheme]) -> list[TableParameter]:
    """Give the path, query, header and cookie parameters, in that order."""
    operation = decision.operation
    order = list(Location)
    owner = pascal(split(decision.name))
    found = []
    for parameter in sorted(operation.parameters, key=lambda one: order.index(one.location)):
        if sent_by_security(parameter, schemes):
            continue
        name = own_name(parameter.name, parameter.location.value, operation.path)
        schema = types.schema(parameter.schema, Place(request=True, hint=owner, inline=True, steps=(name,)))
        described = parameter.description or str(schema.get("description", ""))
        default_style = "form" if parameter.location in (Location.QUERY, Location.COOKIE) else "simple"
        found.append(
            TableParameter(
                name=name,
                wire=parameter.name,
                location=parameter.location.value,
                required=parameter.required,
                schema={key: value for key, value in schema.items() if key not in ("description", "deprecated")},
                description=shorten(described, MAX_DESCRIPTION),
                deprecated=parameter.deprecated or schema.get("deprecated") is True,
                sensitive=is_sensitive(name, schema),
                style=None if parameter.style == default_style else parameter.style,
                explode=None if parameter.explode == (parameter.style == "form") else parameter.explode,
                allow_reserved=parameter.allow_reserved,
                content_type=parameter.content_type,
            )
        )
    return found
