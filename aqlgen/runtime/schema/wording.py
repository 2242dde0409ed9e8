# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""A schema in words: what a value is, and the rules that introspection has no keys for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..table import JsonSchema
from ..text import listed, shown
from .reader import as_schema, enum_values, only_type, referred, without_null

__all__ = [
    "alternative_notes", "bound_notes", "discriminator_notes", "is_number", "item_notes", "key_notes", "phrase",
    "shown_type",
]  # fmt: skip

_SCALARS = ("string", "integer", "number", "boolean")
_MOST_VALUES, _LONGEST_PATTERN = 10, 150
_MOST_LISTED = 20
_ONLY_REQUIRING = frozenset({"required", "type", "title", "description", "properties"})


def shown_type(schema: JsonSchema) -> str:
    """Return the name by which introspection shows a type: of the API's type, of the JSON type, or `any`."""
    target, _ = without_null(schema)
    return referred(target) or only_type(target) or "any"


def phrase(schema: JsonSchema, *, values: bool = True) -> str:
    """Describe a value in a few words: `array of Pet`, `string (uuid)`, `integer (1 to 5)`, `string ('a' | 'b')`."""
    target, _ = without_null(schema)
    name = shown_type(target)
    if name == "array" and as_schema(target.get("items")):
        return f"array of {phrase(target['items'])}"
    if "const" in target:
        return repr(target["const"])
    constraint = _constraint(target, values=values) if name in _SCALARS else ""
    return f"{name} ({constraint})" if constraint else name


def _constraint(schema: JsonSchema, *, values: bool) -> str:
    """Describe in a few words the allowed values of a scalar type."""
    options = enum_values(schema)
    if options:
        return " | ".join(map(repr, options)) if values and len(options) <= _MOST_VALUES else ""
    if isinstance(schema.get("format"), str):
        return str(schema["format"])
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None or high is not None:
        return f"{low} to {high}" if None not in (low, high) else f"{low} or more" if high is None else f"up to {high}"
    pattern = schema.get("pattern")
    return f"pattern {pattern}" if isinstance(pattern, str) and len(pattern) <= _LONGEST_PATTERN else ""


def key_notes(schema: JsonSchema) -> Iterator[str]:
    """Describe which keys an object takes besides its properties, and which go together."""
    for pattern, inner in as_schema(schema.get("patternProperties")).items():
        yield f"Keys that match {shown(pattern)} hold {phrase(as_schema(inner))}."
    if schema.get("additionalProperties") is False or schema.get("unevaluatedProperties") is False:
        yield "No other keys."
    for name, needed in as_schema(schema.get("dependentRequired")).items():
        if needed:
            yield f"With {shown(name)} also {listed(needed)}."
    least, most = schema.get("minProperties"), schema.get("maxProperties")
    if least or most is not None:
        yield f"Keys: {least or 0} to {most}." if most is not None else f"Keys: {least} or more."


def alternative_notes(schema: JsonSchema, options: Sequence[JsonSchema]) -> Iterator[str]:
    """Describe which properties are required, or not allowed together, if alternatives and `not` state only that."""
    needed = [_required(option) for option in options]
    if len(needed) > 1 and all(needed):
        yield f"Needs {', or '.join(' and '.join(names) for names in needed)}."
    excluded = _required(as_schema(schema.get("not")))
    if excluded:
        yield f"Not {' and '.join(excluded)}{' together' if len(excluded) > 1 else ''}."


def _required(schema: JsonSchema) -> list[str]:
    """Return the properties that a schema requires if it does nothing else, else []."""
    return [str(name) for name in schema.get("required", ())] if schema.keys() <= _ONLY_REQUIRING else []


def item_notes(schema: JsonSchema) -> Iterator[str]:
    """Describe how many items an array has, what the first items are, and what some item must be."""
    least, most = schema.get("minItems"), schema.get("maxItems")
    if (_is_count(least) and least) or _is_count(most):
        yield f"Items: {least or 0} to {most}." if _is_count(most) else f"Items: {least} or more."
    if schema.get("uniqueItems") is True:
        yield "No item twice."
    first = schema.get("prefixItems")
    if isinstance(first, list) and first:
        more = "" if schema.get("items") is not False else ", and no more"
        yield f"In this order: {', '.join(phrase(as_schema(inner)) for inner in first[:_MOST_LISTED])}{more}."
    if "contains" in schema:
        least, most = schema.get("minContains", 1), schema.get("maxContains")
        bounds = f"{least} to {most}" if most is not None else f"{least} or more"
        yield f"Of them {bounds} must be {phrase(as_schema(schema['contains']))}."


def bound_notes(schema: JsonSchema, *, whole: bool) -> Iterator[str]:
    """Describe the exclusive bounds of a number and its step; those of integers (`whole`) have keys of their own."""
    for key, word in (("exclusiveMinimum", "Above"), ("exclusiveMaximum", "Below")):
        bound = schema.get(key)
        if is_number(bound) and not (whole and isinstance(bound, int)):
            yield f"{word} {bound}."
    if is_number(schema.get("multipleOf")):
        yield f"A multiple of {schema['multipleOf']}."


def discriminator_notes(schema: JsonSchema) -> Iterator[str]:
    """Describe which value of the discriminator means which type."""
    discriminator: Any = schema.get("discriminator")
    mapping = discriminator.get("mapping") if isinstance(discriminator, Mapping) else None
    if isinstance(discriminator, Mapping) and isinstance(mapping, Mapping) and mapping:
        pairs = [f"{shown(value)} is {str(target).rpartition('/')[2]}" for value, target in mapping.items()]
        more = f" and {len(pairs) - _MOST_LISTED} more" if len(pairs) > _MOST_LISTED else ""
        yield f"Told apart by {discriminator.get('propertyName')}: {', '.join(pairs[:_MOST_LISTED])}{more}."


def is_number(value: Any) -> bool:
    """Return True for an integer or float, False for a boolean."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
