"""`allOf` seen as one object where that is sound, so that an object's fields can be named, shown and validated."""

from __future__ import annotations

from collections.abc import Mapping

from aqlgen.ir import Json
from aqlgen.resolve import Resolver, UnresolvedError
from aqlgen.schemas.dialect import normalise

COMBINATORS = ("anyOf", "not", "enum", "const", "items", "prefixItems", "patternProperties")
ANNOTATIONS = frozenset(
    {"description", "deprecated", "readOnly", "writeOnly", "default", "examples", "nullable", "type"}
)
MAX_DEPTH = 40


def only_reference(node: Mapping[str, Json]) -> str | None:
    """Give the reference of a node that says nothing more than `allOf: [{$ref}]`, with annotations beside it."""
    branches = node.get("allOf", ())
    if len(branches) != 1 or not set(node) <= ANNOTATIONS | {"allOf"}:
        return None
    branch = branches[0]
    reference = branch.get("$ref") if isinstance(branch, dict) else None
    return reference if isinstance(reference, str) else None


def merged(node: dict[str, Json], resolver: Resolver, depth: int = 0) -> dict[str, Json]:
    """Give a normalised node with its `allOf` branches merged in as far as they are plain objects.

    Branches that are more than that (alternatives, enumerations) stay in `allOf`. `additionalProperties: false` of a
    single branch is dropped, since it would refuse the fields of the others.
    """
    branches = node.get("allOf")
    if not branches or depth > MAX_DEPTH:
        return node
    plain: list[dict[str, Json]] = []
    rest: list[Json] = []
    for branch in branches:
        view = _plain(branch, resolver, depth)
        if view is None:
            rest.append(branch)
        else:
            plain.append(view)
    if not any("properties" in view or "type" in view for view in plain):
        scalars = [view for view in plain if view]
        result = {key: value for key, value in node.items() if key != "allOf"}
        for view in scalars:
            result = {**view, **result}
    else:
        result = _join(node, plain)
    if rest:
        result["allOf"] = rest
    return result


def _plain(branch: Json, resolver: Resolver, depth: int) -> dict[str, Json] | None:
    if branch is True:
        return {}
    if not isinstance(branch, dict):
        return None
    try:
        target, _ = resolver.follow(branch, "")
    except UnresolvedError:
        return None
    if not isinstance(target, dict):
        return None
    view = merged(normalise(target), resolver, depth + 1)
    if any(key in view for key in COMBINATORS) or "allOf" in view:
        return None
    kinds = view.get("type", "object")
    if "object" not in (kinds if isinstance(kinds, list) else [kinds]):
        return None
    return view


def _join(node: Mapping[str, Json], plain: list[dict[str, Json]]) -> dict[str, Json]:
    result: dict[str, Json] = {}
    properties: dict[str, Json] = {}
    required: dict[str, None] = {}
    for view in (*plain, {key: value for key, value in node.items() if key != "allOf"}):
        for name, schema in view.get("properties", {}).items():
            properties[name] = _both(properties[name], schema) if name in properties else schema
        required.update(dict.fromkeys(view.get("required", ())))
        closed = view.get("additionalProperties") is False
        result.update({key: value for key, value in view.items() if not (closed and key == "additionalProperties")})
    nullable = "null" in node["type"] if isinstance(node.get("type"), list) else False
    result["type"] = ["object", "null"] if nullable else "object"
    if properties:
        result["properties"] = properties
    if required:
        result["required"] = list(required)
    return result


def _both(first: Json, second: Json) -> Json:
    """Give one schema for a property that two branches declare: the later one, with what only the earlier says."""
    if not isinstance(first, dict) or not isinstance(second, dict) or first == second:
        return second
    if any("$ref" in one or any(key in one for key in ("allOf", "oneOf", "anyOf")) for one in (first, second)):
        return {**second, "allOf": [first, *second.get("allOf", ())]} if not _shape(second) else second
    return {**first, **second}


def _shape(schema: Mapping[str, Json]) -> bool:
    return any(key in schema for key in ("$ref", "type", "properties", "allOf", "oneOf", "anyOf", "enum"))
