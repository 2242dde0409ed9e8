"""The codes of adapter elements; in JSON they are the protocol's, as in `SCHEMA_MISSING_FIELD`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from aqlgen.diagnostics.catalogue_commands import Entry

__all__ = ["ELEMENT_ENTRIES"]

ELEMENT_ENTRIES: Final[Mapping[str, Entry]] = {
    # Adapter elements
    "not-an-element": Entry(
        "The file is not an adapter element",
        "`aqlgen from-schema` reads files with `type: adapter`.",
        "Use `aqlgen from-openapi` for an OpenAPI document; docs/adapter-element.md shows an element.",
    ),
    "no-front-matter": Entry(
        "The Markdown file has no front matter",
        "The file does not begin with an element between two lines of three dashes.",
        "Put the element between two lines of three dashes at the top of the file.",
    ),
    "schema-missing-field": Entry(
        "The element lacks a field",
        "The protocol requires it, such as name, version and target of an element, or name and maps_to of an "
        "operation.",
        "Add the field as the suggestion shows.",
    ),
    "schema-invalid-type": Entry(
        "A value of the element has the wrong type",
        "Quotes turn a number or a boolean into a string; an unquoted version such as 1.0 is a number.",
        "Write the value as the suggestion shows.",
    ),
    "schema-invalid-value": Entry(
        "A value of the element is invalid",
        "It is not an allowed value, URL, path or content type, or contradicts a bound.",
        "Write a value that the message allows. Credentials belong in environment variables.",
    ),
    "schema-invalid-name": Entry(
        "A name in the element is misspelt",
        "Operations are snake_case; adapters have hyphens.",
        "Use the spelling in the suggestion.",
    ),
    "schema-duplicate-name": Entry(
        "A name in the element is not unique",
        "Two operations (also of different categories), two types, or two parameters of an operation share it.",
        "Rename one of them.",
    ),
    "schema-unresolved-ref": Entry(
        "The element names something undeclared",
        "A placeholder of a path or a query has no parameter, or `ref` names a type that `types` lacks.",
        "Declare it, or fix the name.",
    ),
    "schema-unknown-field": Entry(
        "The element has an unknown field",
        "The key is misspelt, at the wrong depth, or belongs to another form of the element.",
        "Fix or remove it; the message lists the known fields.",
    ),
    "schema-not-used": Entry(
        "A part of the element has no effect",
        "The adapter takes it from elsewhere: limits from adapter.toml, the trust level from `aqlgen check --promote`, "
        "hosts from base_url.",
        "Follow the message, or remove the part.",
    ),
}
