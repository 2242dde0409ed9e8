"""Validation of values; only the types that a value touches are compiled.

The types of an adapter may all reach one another, and compiling them all for each example would cost the square of
their number.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping

import jsonschema_rs

from aqlgen.ir import Json

Schemas = Mapping[str, Mapping[str, Json]]
SAME_VALUE = ("allOf", "anyOf")
TESTS = ("not", "if", "then", "else")


def name_of(reference: str) -> str:
    """Return the name of the type that a reference leads to."""
    return reference.rsplit("/", 1)[-1]


class Checker:
    """Checks values against schemas of one adapter; `types` are its finished types by name."""

    def __init__(self, types: Schemas) -> None:
        self._types = types

    def valid(self, schema: Mapping[str, Json], value: Json) -> bool:
        """Return True if a value is valid; a schema that cannot be compiled accepts anything."""
        if not schema:
            return True
        if schema.get("contentEncoding") == "base64" and not _is_base64(value):
            return False
        try:
            return jsonschema_rs.is_valid(self._document(schema, value), value, validate_formats=True)
        except (ValueError, jsonschema_rs.ValidationError):
            return True

    def problem(self, schema: Mapping[str, Json], value: Json) -> str | None:
        """Return the reason why a value is invalid, None if it is valid."""
        if self.valid(schema, value):
            return None
        if schema.get("contentEncoding") == "base64" and not _is_base64(value):
            return "it is no base64"
        try:
            jsonschema_rs.validate(self._document(schema, value), value, validate_formats=True)
        except jsonschema_rs.ValidationError as error:
            return str(error.message)
        return None

    def _document(self, schema: Mapping[str, Json], value: Json) -> dict[str, Json]:
        """Return a schema with the types that the value touches; any other type accepts anything."""
        touched: dict[str, Json] = {}
        todo: list[tuple[Json, Json]] = [(schema, value)]
        seen: set[tuple[int, int]] = set()
        while todo:
            node, part = todo.pop()
            if not isinstance(node, Mapping) or (id(node), id(part)) in seen:
                continue
            seen.add((id(node), id(part)))
            if "$ref" in node:
                name = name_of(node["$ref"])
                touched[name] = self._types.get(name, {})
                todo.append((touched[name], part))
            todo += _within(node, part)
        named = {name for written in (schema, *touched.values()) for name in references(written)}
        types = {name: touched.get(name, {}) for name in named}
        return {**schema, "types": types} if types else dict(schema)


def _within(node: Mapping[str, Json], value: Json) -> Iterator[tuple[Json, Json]]:
    """Yield the subschemas, each with the part of the value that it applies to."""
    for key in SAME_VALUE:
        yield from ((subschema, value) for subschema in node.get(key, ()))
    yield from ((node[key], value) for key in TESTS if key in node)
    yield from ((subschema, value) for subschema in node.get("dependentSchemas", {}).values())
    if isinstance(value, dict):
        properties = node.get("properties", {})
        rest = [node.get(key) for key in ("additionalProperties", "unevaluatedProperties")]
        rest += node.get("patternProperties", {}).values()
        for name, part in value.items():
            if name in properties:
                yield properties[name], part
            yield from ((subschema, part) for subschema in rest)
    elif isinstance(value, list):
        listed = node.get("prefixItems", ())
        yield from zip(listed, value, strict=False)
        for part in value:
            yield from ((node.get(key), part) for key in ("items", "contains", "unevaluatedItems"))


def references(schema: Json) -> Iterator[str]:
    """Yield the names of the types that a written schema refers to."""
    todo: list[Json] = [schema]
    while todo:
        node = todo.pop()
        if isinstance(node, Mapping):
            reference = node.get("$ref")
            if isinstance(reference, str):
                yield name_of(reference)
            todo.extend(node.values())
        elif isinstance(node, list):
            todo.extend(node)


def _is_base64(value: Json) -> bool:
    """Return True if a value is text in base64 (RFC 4648, 4), which no schema keyword checks."""
    try:
        return isinstance(value, str) and base64.b64decode(value, validate=True) is not None
    except ValueError:
        return False
