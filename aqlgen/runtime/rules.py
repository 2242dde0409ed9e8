# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Rules of a schema that introspection has no keys for, in words: which keys an object takes, what an array holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .meaning import phrase, schema_of
from .speech import listed, shown
from .table import JsonSchema

__all__ = ["choice_notes", "item_notes", "key_notes", "kind_notes"]

_MOST = 20
_ONLY_REQUIRING = frozenset({"required", "type", "title", "description", "properties"})


def key_notes(schema: JsonSchema) -> Iterator[str]:
    """Say which keys an object takes besides its fields, and which go together."""
    for pattern, one in schema_of(schema.get("patternProperties")).items():
        yield f"Keys that match {shown(pattern)} hold {phrase(schema_of(one))}."
    if schema.get("additionalProperties") is False or schema.get("unevaluatedProperties") is False:
        yield "No other keys."
    for name, needed in schema_of(schema.get("dependentRequired")).items():
        if needed:
            yield f"With {shown(name)} also {listed(needed)}."
    least, most = schema.get("minProperties"), schema.get("maxProperties")
    if least or most is not None:
        yield f"Keys: {least or 0} to {most}." if most is not None else f"Keys: {least} or more."


def choice_notes(schema: JsonSchema, alternatives: Sequence[JsonSchema]) -> Iterator[str]:
    """Say which fields have to be given, or may not be given together, where only that is asked for."""
    needed = [_required(one) for one in alternatives]
    if len(needed) > 1 and all(needed):
        yield f"Needs {', or '.join(' and '.join(names) for names in needed)}."
    excluded = _required(schema_of(schema.get("not")))
    if excluded:
        yield f"Not {' and '.join(excluded)}{' together' if len(excluded) > 1 else ''}."


def _required(schema: JsonSchema) -> list[str]:
    """Give the fields that a schema requires, and does nothing else; none otherwise."""
    return [str(one) for one in schema.get("required", ())] if schema.keys() <= _ONLY_REQUIRING else []


def item_notes(schema: JsonSchema) -> Iterator[str]:
    """Say what the first items are, and what one of them must be."""
    first = schema.get("prefixItems")
    if isinstance(first, list) and first:
        more = "" if schema.get("items") is not False else ", and no more"
        yield f"In this order: {', '.join(phrase(schema_of(one)) for one in first[:_MOST])}{more}."
    if "contains" in schema:
        least, most = schema.get("minContains", 1), schema.get("maxContains")
        bounds = f"{least} to {most}" if most is not None else f"{least} or more"
        yield f"Of them {bounds} must be {phrase(schema_of(schema['contains']))}."


def kind_notes(schema: JsonSchema) -> Iterator[str]:
    """Say which value of which field means which type."""
    told: Any = schema.get("discriminator")
    mapping = told.get("mapping") if isinstance(told, Mapping) else None
    if isinstance(told, Mapping) and isinstance(mapping, Mapping) and mapping:
        pairs = [f"{shown(value)} is {str(target).rpartition('/')[2]}" for value, target in mapping.items()]
        more = f" and {len(pairs) - _MOST} more" if len(pairs) > _MOST else ""
        yield f"Told apart by {told.get('propertyName')}: {', '.join(pairs[:_MOST])}{more}."
