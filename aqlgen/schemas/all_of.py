"""`allOf` merged into one schema where that is sound, so that an object's fields can be named, shown and validated.

Branches merge exactly, with three leniencies: what a branch says of undeclared properties (additionalProperties,
unevaluatedProperties) does not hold for the properties of the others, since otherwise nothing could extend a closed
object; where two branches contradict one another (types or values with nothing in common), the later wins; and a
property that a branch redeclares and requires is not read-only because another branch says so.
Branches that are more than constraints of one value (alternatives) stay in `allOf`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from json import dumps
from typing import Protocol, TypeAlias

from aqlgen.ir import Json
from aqlgen.schemas.normalise import ANNOTATIONS

Node: TypeAlias = dict[str, Json]


class Join(Protocol):
    """A function that joins two schemas of the same value; a `writable` result is never read-only."""

    def __call__(self, first: Json, second: Json, /, *, writable: bool = False) -> Json:
        """Return the schema."""


APPLICATORS = frozenset({"anyOf", "allOf"})
"""Keywords whose schemas speak of the same value; branches with one stay in `allOf`."""

NULL: Json = {"type": "null"}
BOUNDS: Mapping[str, Callable[[Json, Json], Json]] = {
    **dict.fromkeys(("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"), max),
    **dict.fromkeys(("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"), min),
}
"""Which of two bounds is the tighter one."""
SAME = ("pattern", "format", "prefixItems", "multipleOf")
"""Keywords of which two different ones cannot be one."""

DECLARED = ("properties", "patternProperties")
REST = ("additionalProperties", "unevaluatedProperties")


def merge(node: Node, parts: Iterable[tuple[Json, Node | None]], join: Join) -> Node:
    """Return a node with the branches of its `allOf` merged in; each part is a branch and its view, if it has one."""
    nullable = node.get("nullable") is True or "null" in types_of(node)
    result = {key: value for key, value in node.items() if key not in ("allOf", "nullable")}
    rest: list[tuple[Json, Node | None]] = []
    for branch, view in reversed(list(parts)):
        combined = None if view is None or not view.keys().isdisjoint(APPLICATORS) else combine(view, result, join)
        if combined is None:
            rest.append((branch, view))
        else:
            result = combined
    if len(rest) == 1 and rest[0][1] is not None and result.keys() <= ANNOTATIONS:
        result = {**rest[0][1], **result}
    elif rest:
        result["allOf"] = [branch for branch, _ in reversed(rest)]
    return with_null(closed(result)) if nullable else closed(result)


def closed(node: Node) -> Node:
    """Return a node with unevaluatedProperties written as additionalProperties where they mean the same."""
    if "unevaluatedProperties" not in node or not node.keys().isdisjoint(APPLICATORS):
        return node
    rest = {key: value for key, value in node.items() if key != "unevaluatedProperties"}
    return {"additionalProperties": node["unevaluatedProperties"], **rest}


def with_null(node: Node) -> Node:
    """Return a node that also admits null."""
    plain = {key: value for key, value in node.items() if key != "nullable"}
    if plain.keys() <= ANNOTATIONS | {"anyOf", "discriminator"} and "anyOf" in plain:
        plain["anyOf"] = plain["anyOf"] if NULL in plain["anyOf"] else [*plain["anyOf"], NULL]
        return plain
    others = [kind for kind in types_of(plain) if kind != "null"]
    if not plain.keys().isdisjoint(APPLICATORS | {"const"}):
        annotations = {key: plain.pop(key) for key in ANNOTATIONS if key in plain}
        plain |= _typed(others) if others else {}
        return {"anyOf": [plain, NULL], **annotations}
    if "type" in plain:
        plain |= _typed(list(dict.fromkeys((*types_of(plain), "null"))))
    if "enum" in plain and None not in plain["enum"]:
        plain["enum"] = [*plain["enum"], None]
    return plain


def _typed(types: list[str]) -> Node:
    """Return the keyword `type` for types."""
    return {"type": types[0] if len(types) == 1 else types}


def combine(first: Node, second: Node, join: Join) -> Node | None:
    """Return one node for both, with annotations of the second; None if they cannot be one."""
    shared = first.keys() & second.keys()
    if any(first[key] != second[key] for key in shared.intersection(SAME)):
        return None
    if ("prefixItems" in first) != ("prefixItems" in second) and "items" in first.keys() | second.keys():
        return None
    result = {**first, **second}
    result.pop("discriminator", None)
    if "discriminator" in second:
        result["discriminator"] = second["discriminator"]
    result |= {key: BOUNDS[key](first[key], second[key]) for key in shared & BOUNDS.keys()}
    result |= {key: join(first[key], second[key]) for key in shared & {"items", "propertyNames"}}
    _values(first, second, result)
    _properties(first, second, result, join)
    return result


def types_of(node: Mapping[str, Json]) -> list[str]:
    """Return the types that a normalised node names."""
    types = node.get("type", [])
    return types if isinstance(types, list) else [types]


def _values(first: Node, second: Node, result: Node) -> None:
    """Intersect types and enumerated values; in a contradiction the second wins."""
    if "type" in first and "type" in second:
        common = _common_types(types_of(first), types_of(second))
        result |= _typed(common) if common else {}
    if "enum" in first and "enum" in second:
        present = {_identity(value) for value in first["enum"]}
        common = [value for value in second["enum"] if _identity(value) in present]
        if common:
            result["enum"] = common
    if first.get("uniqueItems") is True:
        result["uniqueItems"] = True


def _common_types(first: list[str], second: list[str]) -> list[str]:
    """Return the types that both name, and null if one does: `nullable` beside a reference speaks of the whole."""

    def admitted(kind: str, types: list[str]) -> bool:
        return kind in types or (kind == "integer" and "number" in types)

    common = [kind for kind in second if admitted(kind, first)]
    common += [kind for kind in first if kind not in common and admitted(kind, second)]
    is_nullable = common and "null" in {*first, *second} - {*common}
    return [*common, "null"] if is_nullable else common


def _identity(value: Json) -> tuple[bool, Json]:
    """Return a key that equal values of JSON share; `true` is no 1."""
    return isinstance(value, bool), dumps(value, sort_keys=True) if isinstance(value, dict | list) else value


def _properties(first: Node, second: Node, result: Node, join: Join) -> None:
    required = [(branch, frozenset(branch.get("required", ()))) for branch in (first, second)]
    for key in DECLARED:
        if key in first and key in second:
            merged = {**first[key], **second[key]}
            merged.update(
                {
                    name: join(first[key][name], second[key][name], writable=_redeclared(name, required))
                    for name in first[key]
                    if name in second[key]
                }
            )
            result[key] = merged
    if "required" in first and "required" in second:
        result["required"] = list(dict.fromkeys([*first["required"], *second["required"]]))
    for key in REST:
        _rest(key, first, second, result)


def _redeclared(name: str, branches: Iterable[tuple[Node, frozenset[str]]]) -> bool:
    """Return True if a branch requires a property and redeclares it without the other branch's `readOnly`.

    Such a model extends a model of responses: what it requires itself has to be sent.
    """
    return any(
        name in required
        and isinstance(raw := branch.get("properties", {}).get(name), dict)
        and "$ref" not in raw
        and raw.get("readOnly") is not True
        for branch, required in branches
    )


def _rest(key: str, first: Node, second: Node, result: Node) -> None:
    """Join the rules of two branches for undeclared properties, leniently where the other declares some."""
    if key in first and key in second:
        if first[key] != second[key]:
            del result[key]
    elif key in result and not (
        key == "unevaluatedProperties" and key in second
    ):  # beside `allOf` it applies to all of them
        holder, other = (first, second) if key in first else (second, first)
        declared = other.get("properties", {}).keys() - holder.get("properties", {}).keys()
        if result[key] is False and (declared or "patternProperties" in other):
            del result[key]
