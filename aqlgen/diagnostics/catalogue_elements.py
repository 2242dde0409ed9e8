"""The codes of adapter elements; in JSON they are the protocol's, as in `SCHEMA_MISSING_FIELD`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from aqlgen.diagnostics.catalogue_commands import Entry

__all__ = ["ELEMENT_ENTRIES"]

ELEMENT_ENTRIES: Final[Mapping[str, Entry]] = {
    # Adapter elements
    "not-an-element": Entry(
        "The file is no adapter element",
        "`aqlgen from-schema` reads `type: adapter`, or `schema_version` with `endpoints`; an OpenAPI document is "
        "neither.",
        "Give an OpenAPI document to `aqlgen from-openapi`; docs/adapter-element.md shows an element.",
    ),
    "no-front-matter": Entry(
        "The Markdown file has no front matter",
        "The first line is not three dashes, or no second line of them follows.",
        "Put the element between two lines of three dashes at the top of the file.",
    ),
    "schema-missing-field": Entry(
        "A field of the element is missing",
        "The protocol requires it, as name, version and target of an element, or name and maps_to of an operation.",
        "Add it; the suggestion shows how.",
    ),
    "schema-invalid-type": Entry(
        "A value of the element has the wrong type",
        "Quotes make a text of a number or a boolean, and none make a number of a version such as 1.0.",
        "Write the value as the suggestion shows.",
    ),
    "schema-invalid-value": Entry(
        "A value of the element cannot be used",
        "It has the right type but is none of the values, is no address, path or content type, or contradicts a bound.",
        "Write one of the values that the message names. Credentials stand in environment variables.",
    ),
    "schema-invalid-name": Entry(
        "A name in the element is not spelled as it must be",
        "Operations, and parameters in the generator document's form, are snake_case; adapters have hyphens.",
        "Take the spelling of the suggestion.",
    ),
    "schema-duplicate-name": Entry(
        "A name in the element stands for two things",
        "Two operations have it, also in different families, or two types, or two parameters of an operation.",
        "Give each a name of its own.",
    ),
    "schema-unresolved-ref": Entry(
        "Something that the element names is not there",
        "A placeholder of a path or a query has no parameter, or `ref` names a type that is not under `types`.",
        "Declare it, or correct the name.",
    ),
    "schema-unknown-field": Entry(
        "The element has a field that there is not",
        "The key is mistyped, stands at the wrong depth, or belongs to another form of the element.",
        "Correct or remove it; the message lists the fields that there are.",
    ),
    "schema-version-unsupported": Entry(
        "The schema version is not read",
        "`schema_version` is another than those of the generator document that this aqlgen reads.",
        'Write `schema_version: "1.0"` if the file is as that version says.',
    ),
    "schema-not-used": Entry(
        "Something in the element has no effect on the adapter",
        "The adapter has it from elsewhere: limits from adapter.toml, trust from `aqlgen check --promote`, hosts from "
        "base_url alone.",
        "Do what the message says, or take it out.",
    ),
}
