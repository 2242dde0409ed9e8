"""`allOf` seen as one object where that is sound, so that an object's fields can be named, shown and validated."""

from __future__ import annotations

from collections.abc import Mapping

from aqlgen.ir import Json
from aqlgen.resolve import Resolver, UnresolvedError
from aqlgen.schemas.dialect import normalise

MORE = ("anyOf", "allOf", "not", "enum", "const", "items", "prefixItems", "patternProperties")
"""What makes a branch more than a plain object."""

STRUCTURE = ("anyOf", "allOf", "not", "properties", "required", "items", "prefixItems", "additionalProperties")
"""What makes a branch more than a scalar."""

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
    """Give a normalised node with its `allOf` branches merged in as far as they are plain objects, or all scalars.

    Branches that are more than that (alternatives, mixtures) stay in `allOf`. `additionalProperties: false` of a single
    branch is dropped, since it would refuse the fields of the others.
    """
    branches = node.get("allOf")
    if not branches or depth > MAX_DEPTH:
        return node
    views = [_view(branch, resolver, depth) for branch in branches]
    if all(view is not None and _is_scalar(view) for view in views):
        result: dict[str, Json] = {}
        for view in (*views, {key: value for key, value in node.items() if key != "allOf"}):
            result |= view or {}
        return result
    plain = [view for view in views if view is not None and _is_object(view)]
    rest = [branch for branch, view in zip(branches, views, strict=True) if view is None or not _is_object(view)]
    if "properties" in node or any("properties" in view or "type" in view for view in plain):
        result = _join(node, plain)
    else:  # conditions and annotations beside whatever the node itself is
        result = {key: value for view in (*plain, node) for key, value in view.items() if key != "allOf"}
    if rest:
        result["allOf"] = rest
    return result


def _view(branch: Json, resolver: Resolver, depth: int) -> dict[str, Json] | None:
    """Give a branch normalised and merged itself, None when nothing can be said of it."""
    if not isinstance(branch, dict):
        return {} if branch is True else None
    try:
        target, _ = resolver.follow(branch, "")
    except UnresolvedError:
        return None
    return merged(normalise(target), resolver, depth + 1) if isinstance(target, dict) else None


def _is_object(view: Mapping[str, Json]) -> bool:
    kinds = view.get("type", "object")
    return "object" in (kinds if isinstance(kinds, list) else [kinds]) and not any(key in view for key in MORE)


def _is_scalar(view: Mapping[str, Json]) -> bool:
    kinds = view.get("type", "string")
    return "object" not in (kinds if isinstance(kinds, list) else [kinds]) and not any(key in view for key in STRUCTURE)


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
