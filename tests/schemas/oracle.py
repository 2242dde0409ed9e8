"""The meaning of a schema of OpenAPI 3.0 or 3.1 by its specification, independent of the generator.

With `lenient`, what the generator documents to be lenient in is allowed for: `nullable` counts in 3.1 too, `oneOf`
admits a value of several branches, what is nullable by its own type or that of a part of its `allOf` admits null
whatever stands beside it, and a property that is required counts as declared. Conditions are left to the API.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jsonschema_rs

LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
MAPS = ("properties", "patternProperties", "dependentSchemas", "$defs")
SINGLE = (
    "items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedProperties",
    "unevaluatedItems",
)  # fmt: skip
CONDITIONS = frozenset("not if then else contains minContains maxContains dependentSchemas unevaluatedItems".split())


def meaning(schema: Any, openapi: str, *, lenient: bool) -> Any:
    """Return a schema in plain JSON Schema 2020-12."""
    if not isinstance(schema, dict):
        return schema
    nullable = schema.get("nullable") is True and (lenient or openapi == "3.0")
    nulled = nullable or _names_null(schema)
    if "$ref" in schema and openapi == "3.0":
        schema = {"$ref": schema["$ref"]}
        return {"anyOf": [schema, {"type": "null"}]} if nullable and lenient else schema
    out = dict(schema)
    if lenient:
        out = {key: value for key, value in schema.items() if key not in CONDITIONS}
        if {"if", "dependentSchemas"} & schema.keys():
            out = {"additionalProperties": True, **out}
            out.pop("unevaluatedProperties", None)
    for key in LISTS:
        if key in out:
            out[key] = [meaning(schema, openapi, lenient=lenient) for schema in out[key]]
    for key in MAPS:
        if key in out:
            out[key] = {name: meaning(schema, openapi, lenient=lenient) for name, schema in out[key].items()}
    for key in SINGLE:
        if key in out:
            out[key] = meaning(out[key], openapi, lenient=lenient)
    for flag, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if out.get(flag) is True:
            out[flag] = out.pop(bound)
        elif out.get(flag) is False:
            del out[flag]
    out.pop("nullable", None)
    if lenient and "properties" in out:
        out["properties"] = {**dict.fromkeys(out.get("required", ()), True), **out["properties"]}
    if nullable and "type" in out:
        out["type"] = [out["type"], "null"]
    if lenient and "oneOf" in out:
        out = {"allOf": [{key: value for key, value in out.items() if key != "oneOf"}, {"anyOf": out["oneOf"]}]}
    return {"anyOf": [out, {"type": "null"}]} if lenient and nulled else out


def _names_null(schema: Any) -> bool:
    is_nullable = schema.get("nullable") is True or "null" in schema.get("type", ())
    return is_nullable or any(_names_null(part) for part in schema.get("allOf", ()) if isinstance(part, dict))


def validator(
    schema: Any, components: Mapping[str, Any], openapi: str, *, lenient: bool
) -> jsonschema_rs.Draft202012Validator:
    """Return a validator for a schema and the components that it refers to."""
    document = {
        "allOf": [meaning(schema, openapi, lenient=lenient)],
        "components": {
            "schemas": {name: meaning(schema, openapi, lenient=lenient) for name, schema in components.items()}
        },
    }
    return jsonschema_rs.Draft202012Validator(document, validate_formats=True)
