"""Differences in the keywords of a single schema: types, listed values, limits, formats, defaults."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from aqlgen.compare.model import Difference, Direction
from aqlgen.compare.nodes import ALL_TYPES, alternatives, listed_values, types_of
from aqlgen.ir import Json
from aqlgen.runtime.schema import referred
from aqlgen.table.model import Schema

_LIMITS: Final = {
    "minimum": ("at least {}", 1),
    "exclusiveMinimum": ("more than {}", 1),
    "maximum": ("at most {}", -1),
    "exclusiveMaximum": ("less than {}", -1),
    "minLength": ("at least {} characters long", 1),
    "maxLength": ("at most {} characters long", -1),
    "minItems": ("at least {} items long", 1),
    "maxItems": ("at most {} items long", -1),
    "minProperties": ("of at least {} fields", 1),
    "maxProperties": ("of at most {} fields", -1),
    "multipleOf": ("a multiple of {}", 0),
    "uniqueItems": ("free of repeats", 0),
}
"""The wording of a limit, and whether a higher value (1), a lower one (-1) or any other one (0) is tighter."""

_CHECKED_FORMATS: Final = frozenset(
    {
        "date", "date-time", "time", "duration", "email", "idn-email", "hostname", "idn-hostname", "ipv4", "ipv6",
        "uri", "uri-reference", "iri", "iri-reference", "uri-template", "uuid", "json-pointer", "regex",
    }
)  # fmt: skip
"""Formats that an adapter checks."""

_NUMERIC_FORMATS: Final = frozenset(
    {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float", "double"}
)
_OTHER_KEYWORDS: Final = (
    "not", "propertyNames", "patternProperties", "unevaluatedProperties", "prefixItems",
)  # fmt: skip


def type_difference(old: Schema, new: Schema, direction: Direction) -> Difference | None:
    """Return how the types of a value changed, None when no agent notices it."""
    before, after = _with_integer(types_of(old)), _with_integer(types_of(new))
    lost, gained = before - after, after - before
    changed = Difference("type-changed", (described(new), described(old)))
    if direction is Direction.OUTPUT:
        if not gained:
            return None
        if after >= ALL_TYPES:
            return Difference("values-freed")
        return changed if lost else Difference("type-widened", (_type_names(gained),))
    if lost:
        return changed if gained else Difference("type-narrowed", changed.values)
    if not gained:
        return None
    return Difference("type-widened", (_type_names(gained),)) if after < ALL_TYPES else Difference("values-freed")


def facet_differences(old: Schema, new: Schema, direction: Direction) -> Iterator[Difference]:
    """Yield the differences between values of the same types."""
    yield from _values(old, new)
    yield from _format(old, new, direction)
    if new.get("deprecated") and not old.get("deprecated"):
        yield Difference("field-deprecated")
    yield from _default(old, new)
    if direction is Direction.OUTPUT:
        return
    for key, (phrase, tighter) in _LIMITS.items():
        if old.get(key) != new.get(key) and not (direction is Direction.PARTIAL and key == "minProperties"):
            yield _limit(old.get(key), new.get(key), phrase, tighter)
    before, after = old.get("pattern"), new.get("pattern")
    if before != after:
        yield Difference("pattern-removed") if after is None else Difference("pattern-changed", (str(after),))
    if any(old.get(key) != new.get(key) for key in _OTHER_KEYWORDS):
        yield Difference("rules-changed")


def described(schema: Schema) -> str:
    """Return a word or two for what a schema admits."""
    name = referred(schema)
    if name:
        return name
    branches = alternatives(schema)
    if len(branches) > 1:
        return " or ".join(dict.fromkeys(map(described, branches)))
    names = _type_names(types_of(schema))
    items = schema.get("items")
    return f"array of {described(items)}" if names == "array" and isinstance(items, dict) and items else names


def _text(value: Json) -> str:
    """Return a value for a reader: texts as they are, anything else as JSON."""
    return value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)


def _with_integer(types: frozenset[str]) -> frozenset[str]:
    """Add integer to number, which admits it."""
    return types | {"integer"} if "number" in types else types


def _type_names(types: frozenset[str]) -> str:
    if types >= ALL_TYPES:
        return "any value"
    return " or ".join(sorted(types - {"integer"} if "number" in types else types)) or "nothing"


def _values(old: Schema, new: Schema) -> Iterator[Difference]:
    before, after = _listed(old), _listed(new)
    if before == after:
        return
    if before is None or after is None:
        yield Difference("values-freed") if after is None else Difference("values-limited", items=after)
        return
    removed = tuple(value for value in before if value not in after)
    added = tuple(value for value in after if value not in before)
    if removed:
        yield Difference("values-removed", items=removed)
    if added:
        yield Difference("values-added", items=added)


def _listed(schema: Schema) -> tuple[str, ...] | None:
    values = listed_values(schema)
    return None if values is None else tuple(map(_text, values))


def _format(old: Schema, new: Schema, direction: Direction) -> Iterator[Difference]:
    before, after = (schema.get("format") or schema.get("contentEncoding") for schema in (old, new))
    if before == after or after is None or after in _NUMERIC_FORMATS:
        return
    if direction is not Direction.OUTPUT and after in _CHECKED_FORMATS and "string" in types_of(new):
        yield Difference("format-required", (after,))
    elif before is not None:
        yield Difference("format-changed", (after, before))


def _default(old: Schema, new: Schema) -> Iterator[Difference]:
    if "default" in new and "default" not in old:
        yield Difference("default-told", (_text(new["default"]),), wording="[has|have] the default {}")
    elif "default" in old and "default" not in new:
        yield Difference("default-told", wording="no longer [has|have] a default")
    elif _text(old.get("default")) != _text(new.get("default")):
        yield Difference("default-changed", (_text(new["default"]), _text(old["default"])))


def _limit(old: Json, new: Json, phrase: str, tighter: int) -> Difference:
    if new is None or new is False:
        return Difference("limit-removed", (_text(old),) if "{}" in phrase else (), wording=phrase)
    is_number = isinstance(old, int | float) and isinstance(new, int | float)
    is_looser = old is not None and old is not False and is_number and tighter * (new - old) < 0
    rule = "limit-loosened" if is_looser else "limit-tightened"
    return Difference(rule, (_text(new),) if "{}" in phrase else (), wording=phrase)
