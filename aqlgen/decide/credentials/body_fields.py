"""Fields of request bodies that are credentials: the key that an API wants in each body, and not in a header."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from aqlgen.decide.credentials.names import CLIENT_SECRET, Likeness, is_token_endpoint, likeness
from aqlgen.decide.credentials.parameters import MOST, CredentialParameter
from aqlgen.document.resolve import Resolver, UnresolvedError
from aqlgen.ir import MISSING, Document, Json, JsonSchema, Location, Operation, Parameter
from aqlgen.schemas.dropped_fields import FieldDropper
from aqlgen.words import split

__all__ = ["credential_fields", "without_fields"]

_MAX_DEPTH: Final = 3
_MAX_PARTS: Final = 20
_SECRETS: Final = frozenset({"secret", "client_secret"})


def credential_fields(document: Document, resolver: Resolver) -> list[CredentialParameter]:
    """Return the fields that most operations have for the caller's credential, as if they were parameters.

    What only some bodies have is data: the key of an integration that is being set up. The secret of the caller's own
    application at a token endpoint is none.
    """
    uses: dict[str, dict[str, Parameter]] = defaultdict(dict)
    users: dict[str, set[str]] = defaultdict(set)
    secrets: dict[str, dict[str, Parameter]] = defaultdict(dict)
    likely: set[str] = set()
    for operation in document.operations:
        for parameter in operation.parameters:
            users[parameter.name].add(operation.key)
        fields = list(_fields(operation, resolver))
        present = {field.name for field in fields}
        for field in fields:
            users[field.name].add(operation.key)
            uses[field.name].setdefault(operation.key, field)
            if "_".join(split(field.name)) == CLIENT_SECRET and is_token_endpoint(operation, present):
                secrets[field.name].setdefault(operation.key, field)
            if likeness(field, operation) >= Likeness.LIKELY:
                likely.add(field.name)
    most = len(document.operations) * MOST
    names = {name for name in likely if len(users[name]) >= most}
    if any("_".join(split(name)) in _SECRETS for name in names):
        names |= {name for name in uses if "_".join(split(name)) == "client_id" and len(users[name]) >= most}
    recognised = {**secrets, **{name: uses[name] for name in uses if name in names}}
    return [CredentialParameter(Location.QUERY, name, members) for name, members in recognised.items()]


def _fields(operation: Operation, resolver: Resolver) -> Iterator[Parameter]:
    for media in operation.body.media if operation.body is not None else ():
        for name, schema, required in _properties(media.schema, resolver):
            yield Parameter(
                name=name,
                location=Location.QUERY,
                required=required,
                schema=schema,
                description=str(schema.get("description", "")) if isinstance(schema, dict) else "",
                deprecated=False,
                style="form",
                explode=True,
                allow_reserved=False,
                content_type=None,
                example=MISSING,
                origin=media.origin,
            )


def _properties(schema: Json, resolver: Resolver, depth: int = 0) -> Iterator[tuple[str, JsonSchema, bool]]:
    """Yield name, schema and necessity of the fields of an object, of its parts, and of each choice."""
    node = _resolved(schema, resolver)
    if not isinstance(node, dict) or depth > _MAX_DEPTH:
        return
    properties, required = node.get("properties"), node.get("required")
    for name, value in properties.items() if isinstance(properties, dict) else ():
        field = _resolved(value, resolver)
        if isinstance(name, str) and isinstance(field, dict):
            yield name, {**field, **(value if isinstance(value, dict) else {})}, name in (required or ())
    for keyword in ("allOf", "anyOf", "oneOf"):
        parts = node.get(keyword)
        for part in parts[:_MAX_PARTS] if isinstance(parts, list) else ():
            for name, field, is_required in _properties(part, resolver, depth + 1):
                yield name, field, is_required and keyword == "allOf"


def _resolved(schema: Json, resolver: Resolver) -> Json:
    try:
        return resolver.follow(schema, "")[0]
    except UnresolvedError:
        return None


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
