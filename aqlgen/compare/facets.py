"""What one schema says of its values by itself, and how that changed: types, values, limits, formats, defaults."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from aqlgen.compare.model import Direction
from aqlgen.compare.nodes import ANY, alternatives, kinds, named
from aqlgen.ir import Json
from aqlgen.table.model import Schema

__all__ = ["Aspect", "described", "facets", "shown", "type_aspect"]


@dataclass(frozen=True, slots=True)
class Aspect:
    """Something that changed about a schema. `phrase` takes the place of the first `{}` in the words of the rule."""

    rule: str
    values: tuple[str, ...] = ()
    listed: tuple[str, ...] = ()
    phrase: str = ""


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
"""How a limit reads, and whether a higher value (1), a lower one (-1) or any other one (0) is tighter."""

_ENFORCED: Final = frozenset(
    {
        "date", "date-time", "time", "duration", "email", "idn-email", "hostname", "idn-hostname", "ipv4", "ipv6",
        "uri", "uri-reference", "iri", "iri-reference", "uri-template", "uuid", "json-pointer", "regex",
    }
)  # fmt: skip
"""Formats that an adapter holds values against."""

_NUMERIC: Final = frozenset(
    {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float", "double"}
)
_RULES: Final = (
    "not", "if", "then", "else", "dependentSchemas", "dependentRequired", "propertyNames", "patternProperties",
    "contains", "unevaluatedProperties", "unevaluatedItems", "prefixItems",
)  # fmt: skip


def type_aspect(old: Schema, new: Schema, direction: Direction) -> Aspect | None:
    """Give how the types of a value changed, None when no agent feels it."""
    before, after = _whole(kinds(old)), _whole(kinds(new))
    lost, gained = before - after, after - before
    values = (described(new), described(old))
    if direction is Direction.OUTPUT:
        if before == after or not gained:
            return None
        if after >= ANY - {"null"}:
            return Aspect("values-freed")
        return Aspect("type-widened", (_kinds(gained),)) if not lost else Aspect("type-changed", values)
    if lost and gained:
        return Aspect("type-changed", values)
    if lost:
        return Aspect("type-narrowed", values)
    if not gained:
        return None
    return Aspect("type-widened", (_kinds(gained),)) if after < ANY - {"null"} else Aspect("values-freed")


def facets(old: Schema, new: Schema, direction: Direction) -> Iterator[Aspect]:
    """Give what changed about values of the same types."""
    yield from _values(old, new, direction)
    yield from _format(old, new, direction)
    if new.get("deprecated") and not old.get("deprecated"):
        yield Aspect("field-deprecated")
    if direction is Direction.OUTPUT:
        return
    yield from _default(old, new)
    for key, (phrase, tighter) in _LIMITS.items():
        if old.get(key) != new.get(key) and not (direction is Direction.PARTIAL and key == "minProperties"):
            yield _limit(old.get(key), new.get(key), phrase, tighter)
    before, after = old.get("pattern"), new.get("pattern")
    if before != after:
        yield Aspect("pattern-removed") if after is None else Aspect("pattern-changed", (str(after),))
    if any(old.get(key) != new.get(key) for key in _RULES):
        yield Aspect("rules-changed")


def described(schema: Schema) -> str:
    """Say in a word or two what a schema admits."""
    name = named(schema)
    if name:
        return name
    branches = alternatives(schema)
    if len(branches) > 1:
        return " or ".join(dict.fromkeys(described(one) for one in branches))
    kind = _kinds(kinds(schema))
    items = schema.get("items")
    return f"array of {described(items)}" if kind == "array" and isinstance(items, dict) and items else kind


def shown(value: Json) -> str:
    """Write a value for a reader: texts as they are."""
    return value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)


def _whole(found: frozenset[str]) -> frozenset[str]:
    return found | {"integer"} if "number" in found else found


def _kinds(found: frozenset[str]) -> str:
    if found >= ANY - {"null"}:
        return "any value"
    return " or ".join(sorted(found - {"integer"} if "number" in found else found)) or "nothing"


def _values(old: Schema, new: Schema, direction: Direction) -> Iterator[Aspect]:
    before, after = _listed(old), _listed(new)
    if before == after:
        return
    if before is None or after is None:
        yield Aspect("values-limited", listed=after) if after is not None else Aspect("values-freed")
        return
    gone = tuple(one for one in before if one not in set(after))
    come = tuple(one for one in after if one not in set(before))
    if gone and direction is not Direction.OUTPUT:
        yield Aspect("values-removed", listed=gone)
    if come:
        yield Aspect("values-added", listed=come)


def _listed(schema: Schema) -> tuple[str, ...] | None:
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    return None if values is None else tuple(map(shown, values))


def _format(old: Schema, new: Schema, direction: Direction) -> Iterator[Aspect]:
    before, after = (one.get("format") or one.get("contentEncoding") for one in (old, new))
    if before == after or after is None or after in _NUMERIC:
        return
    if direction is not Direction.OUTPUT and after in _ENFORCED and "string" in kinds(new):
        yield Aspect("format-required", (after,))
    elif before is not None:
        yield Aspect("format-changed", (after, before))


def _default(old: Schema, new: Schema) -> Iterator[Aspect]:
    if ("default" in old) != ("default" in new):
        told = "default" in new
        phrase = "[means|mean] {} when left out" if told else "no longer [says|say] what leaving it out means"
        yield Aspect("default-told", (shown(new["default"]),) if told else (), phrase=phrase)
    elif shown(old.get("default")) != shown(new.get("default")):
        yield Aspect("default-changed", (shown(new["default"]), shown(old["default"])))


def _limit(before: Json, after: Json, phrase: str, tighter: int) -> Aspect:
    if after is None or after is False:
        return Aspect("limit-removed", (shown(before),) if "{}" in phrase else (), phrase=phrase)
    numbers = isinstance(before, int | float) and isinstance(after, int | float)
    looser = before is not None and before is not False and numbers and tighter * (after - before) < 0
    rule = "limit-loosened" if looser else "limit-tightened"
    return Aspect(rule, (shown(after),) if "{}" in phrase else (), phrase=phrase)
