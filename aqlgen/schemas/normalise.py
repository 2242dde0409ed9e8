"""One schema of OpenAPI 3.0 or 3.1 in the dialect of JSON Schema 2020-12; the schemas within it stay as they are.

Keywords of OpenAPI 3.0 (nullable, boolean exclusiveMinimum, example) and of older drafts are translated, values that no
validator could use are dropped with a finding, and keywords that no later stage needs are removed (OpenAPI 3.0.4,
4.7.24; OpenAPI 3.1.1, 4.8.24). Three leniencies, since documents are rarely exact there: `oneOf` becomes `anyOf`
(overlapping branches are common and harmless), a nullable schema admits null whatever its `type` and `enum` say, and
conditions (`not`, `if`, `contains`, `dependentRequired`), which hardly a document has, are left to the API to check.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from aqlgen.diagnostics import Severity
from aqlgen.ir import Json
from aqlgen.runtime.schema import DEMANDED
from aqlgen.schemas.descriptions import shorten, useful
from aqlgen.schemas.keywords import BOUNDS, Findings, copy_bounds, copy_enum, read_types
from aqlgen.schemas.patterns import UNUSABLE, contradiction, is_mask, usable

ANNOTATIONS = frozenset({"description", "deprecated", "readOnly", "writeOnly", "default", "examples", "nullable"})
"""Keywords of a normalised node that admit and reject nothing."""

FLAGS = ("deprecated", "readOnly", "writeOnly")
KEPT = ("default", "const", "uniqueItems", "contentEncoding", "contentMediaType", DEMANDED)
MAPS = ("properties", "patternProperties")
SCHEMAS = ("items", "additionalProperties", "propertyNames", "unevaluatedProperties")
BRANCHES = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
CONDITIONS = frozenset({"if", "dependentSchemas"})
OBJECTS = frozenset({*MAPS, *SCHEMAS, *CONDITIONS, "discriminator"})

CONSTRAINTS = BOUNDS | OBJECTS | BRANCHES | {"type", "enum", "const", "required", "pattern", "format", "uniqueItems"}
"""Keywords beside `$ref` that constrain the value: without effect in 3.0, effective since 3.1."""

MAX_DESCRIPTION = 300
MAX_EXAMPLE = 100
SHOWN_EXAMPLE = re.compile(r"[\w.:+/@-]{1,60}")
"""An example that a description may tell: one word, no sentence."""


def normalise(raw: Mapping[str, Json], openapi: str, findings: Findings) -> dict[str, Json]:
    """Return one node in dialect 2020-12. `nullable` stays as a marker if the type is not known yet."""
    if "$ref" in raw:
        return _reference(raw, openapi, findings)
    node: dict[str, Json] = {}
    nullable = _is_nullable(raw)
    types = _types(raw, node, findings, nullable=nullable) if "type" in raw else []
    copy_bounds(raw, node, findings)
    if not raw.keys().isdisjoint(KEPT):
        node.update((key, raw[key]) for key in KEPT if key in raw)
    _texts(raw, node, findings)
    of_items = copy_enum(raw, node, types, findings, nullable=nullable) if "enum" in raw else None
    for keywords, copy in _COPIES:
        if not raw.keys().isdisjoint(keywords):
            copy(raw, node, findings)
    if of_items is not None:
        values = {"enum": of_items}
        node["items"] = {"allOf": [node["items"], values]} if isinstance(node.get("items"), dict) else values
    if nullable and not types and not _UNTYPED.isdisjoint(node):
        node["nullable"] = True
    return node


def _types(raw: Mapping[str, Json], node: dict[str, Json], findings: Findings, *, nullable: bool) -> list[str]:
    types = read_types(raw, findings)
    if nullable and types and "null" not in types:
        types = [*types, "null"]
    if types:
        node["type"] = types[0] if len(types) == 1 else types
    return types


def _is_nullable(raw: Mapping[str, Json]) -> bool:
    return raw.get("nullable") is True or raw.get("x-nullable") is True


def is_reference(raw: Json, openapi: str) -> bool:
    """Return True for a reference that constrains nothing itself; in 3.0, nothing beside one does."""
    is_named = isinstance(raw, dict) and isinstance(raw.get("$ref"), str)
    return is_named and (openapi == "3.0" or raw.keys().isdisjoint(CONSTRAINTS))


def _reference(raw: Mapping[str, Json], openapi: str, findings: Findings) -> dict[str, Json]:
    """Return a reference with its annotations; in 3.1, a reference beside constraints is one part of `allOf`."""
    if is_reference(raw, openapi):
        node: dict[str, Json] = {"$ref": raw["$ref"]}
        _texts(raw, node, findings)
        if "default" in raw:
            node["default"] = raw["default"]
        if _is_nullable(raw):
            node["nullable"] = True
        return node
    rest = normalise({key: value for key, value in raw.items() if key != "$ref"}, openapi, findings)
    rest["allOf"] = [{"$ref": raw["$ref"]}, *rest.get("allOf", ())]
    return rest


def _texts(raw: Mapping[str, Json], node: dict[str, Json], findings: Findings) -> None:
    pattern = raw.get("pattern")
    if isinstance(pattern, str) and pattern:
        compiled = usable(pattern)
        if compiled is None:
            message = f"the pattern {shorten(pattern, 60)!r} {UNUSABLE}; it is left out"
            findings.add("bad-pattern", raw, "pattern", message)
        elif is_mask(pattern, raw.get("format")):
            message = f"the pattern {shorten(pattern, 60)!r} shows how a date is written, and no date matches it"
            findings.add("bad-pattern", raw, "pattern", f"{message}; it is left out")
        else:
            node["pattern"] = compiled
    form = raw.get("format")
    if form and isinstance(form, str):
        node["format"] = form
    described = raw.get("description")
    if isinstance(described, str) and (described := shorten(useful(described), MAX_DESCRIPTION)):
        node["description"] = described
    if not raw.keys().isdisjoint(FLAGS):
        node.update((key, True) for key in FLAGS if raw.get(key) is True)
    if "example" in raw or "examples" in raw:
        _example(raw, node)


def _example(raw: Mapping[str, Json], node: dict[str, Json]) -> None:
    """Copy the first example that is short."""
    examples = (
        raw["examples"] if isinstance(raw.get("examples"), list) else [raw[key] for key in raw if key == "example"]
    )
    for example in examples:
        if isinstance(example, str | int | float) and len(str(example)) <= MAX_EXAMPLE:
            node["examples"] = [example]
            return


def _let_go(raw: Mapping[str, Json], node: dict[str, Json], findings: Findings) -> None:
    """Remove a format that something beside it contradicts; an example says what is meant instead."""
    reason = contradiction(node["format"], node, raw) if "format" in node else None
    if reason is None:
        return
    message = f"the format {node.pop('format')!r} is let go: {reason}"
    findings.add("bad-format", raw, "format", message, Severity.NOTE)
    example = raw.get("example")
    if isinstance(example, str) and SHOWN_EXAMPLE.fullmatch(example) and example not in node.get("description", ""):
        described = node.get("description", "").rstrip(".")
        node["description"] = f"{described}{'. ' if described else ''}Such as {example!r}."


def _branches(raw: Mapping[str, Json], node: dict[str, Json], findings: Findings) -> None:
    def listed(key: str) -> list[Json]:
        if key not in raw:
            return []
        schemas = raw[key]
        branches = (
            [schema for schema in schemas if isinstance(schema, dict | bool)] if isinstance(schemas, list) else []
        )
        if not isinstance(schemas, list) or len(branches) < len(schemas):
            findings.add("bad-schema", raw, key, f"{key} must be a list of schemas; other entries are left out")
        return branches

    first, *others = [schema for schema in (listed("anyOf"), listed("oneOf")) if schema] or [[]]
    together = [*listed("allOf"), *({"anyOf": schema} for schema in others)]
    for key, schemas in (("allOf", together), ("anyOf", first), ("prefixItems", listed("prefixItems"))):
        if schemas:
            node[key] = schemas


def _objects(raw: Mapping[str, Json], node: dict[str, Json], findings: Findings) -> None:
    """Copy the keywords that hold schemas; a value that is not a schema admits anything."""
    for key in filter(raw.__contains__, MAPS):
        if not isinstance(raw[key], dict):
            findings.add("bad-schema", raw, key, f"{key} must be an object of schemas; it is left out")
        elif raw[key]:
            node[key] = {name: _schema(schema, raw[key], name, findings) for name, schema in raw[key].items()}
    for key in filter(raw.__contains__, SCHEMAS):
        if key == "items" and isinstance(raw[key], list):  # a tuple, before 2020-12
            node["prefixItems"] = [schema if isinstance(schema, dict | bool) else True for schema in raw[key]] or [True]
            if isinstance(raw.get("additionalItems"), dict | bool):
                node["items"] = raw["additionalItems"]
        else:
            node[key] = _schema(raw[key], raw, key, findings)
    if not raw.keys().isdisjoint(CONDITIONS):  # they may declare further fields
        node.pop("unevaluatedProperties", None)
        node.setdefault("additionalProperties", True)
    _patterns(raw, node, findings)
    discriminator = raw.get("discriminator")
    if isinstance(discriminator, dict) and isinstance(discriminator.get("propertyName"), str):
        node["discriminator"] = discriminator


def _schema(value: Json, holder: Mapping[str, Json], key: str, findings: Findings) -> Json:
    if isinstance(value, dict | bool):
        return value
    findings.add("bad-schema", holder, key, f"a schema must stand under {key!r}; it is taken as any value")
    return True


def _patterns(raw: Mapping[str, Json], node: dict[str, Json], findings: Findings) -> None:
    """Keep the patterns that compile; without one, no rule for undeclared properties can be exact, so these go too."""
    kept: dict[str, Json] = {}
    for pattern, schema in node.get("patternProperties", {}).items():
        compiled = usable(pattern)
        if compiled is not None:
            kept[compiled] = schema
            continue
        message = f"the pattern {shorten(pattern, 60)!r} {UNUSABLE}; it is left out"
        findings.add("bad-pattern", raw["patternProperties"], pattern, message)
        node.pop("additionalProperties", None)
        node.pop("unevaluatedProperties", None)
    if "patternProperties" in node:
        node["patternProperties"] = kept


def _required(raw: Mapping[str, Json], node: dict[str, Json], findings: Findings) -> None:
    required = raw["required"]
    if not isinstance(required, list):
        message = "required must be a list of names, in the schema that holds the properties; it is left out"
        findings.add("bad-schema", raw, "required", message)
        return
    names = dict.fromkeys(name for name in required if isinstance(name, str))
    if names:
        node["required"] = list(names)


_COPIES = (
    ({"format"}, _let_go),
    (BRANCHES, _branches),
    (OBJECTS, _objects),
    ({"required"}, _required),
)
"""The functions that copy keywords, each with the keywords for which it is called."""
_UNTYPED = frozenset({"allOf", "anyOf", "const"})
"""Keywords beside which null is not admitted by the type."""
