"""Data of the API beside their type: fields that are missing, null, of another type or format, or not declared.

Paths hold names that the document declares, and nothing of the data. Of hostile data so many values are looked at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ..table import JsonSchema, Table
from ..text import counted
from . import Types, admitted_types, json_type, parts, union_of
from .validators import Schemas

_MOST_VALUES: Final = 20_000
_MOST_ITEMS: Final = 50
_MOST_MEMBERS: Final = 500
_DEEPEST: Final = 12
_MOST_NAMED: Final = 10
_LONGEST_TEXT: Final = 200
_FORMATS: Final = frozenset({"date", "date-time", "email", "ipv4", "ipv6", "uri", "uuid"})


@dataclass(slots=True)
class Deviations:
    """Counts of differences between answers and their type, by the path of a field (`[]` for items) and the kind.

    A kind is `missing`, `null`, a JSON type, or `not FORMAT`. `extra` counts fields that are not declared, `values`
    those that may still be looked at.
    """

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    extra: int = 0
    values: int = _MOST_VALUES

    def __str__(self) -> str:
        """Return the text of the deviations, with how often each occurs."""
        texts = [f"'{path or 'the answer'}' is {kind} {count} times" for (path, kind), count in self.counts.items()]
        texts = texts[:_MOST_NAMED] + ([f"{len(texts) - _MOST_NAMED} more differ"] if len(texts) > _MOST_NAMED else [])
        return ", ".join(texts + ([counted(self.extra, "undeclared field")] if self.extra else []))


def deviations(data: Any, schema: JsonSchema, table: Table) -> Deviations:
    """Compare data under the API's names with their type."""
    walk = _Walk(table.types, Schemas(table), Deviations())
    walk.value(data, schema, "", 0)
    return walk.seen


@dataclass(slots=True)
class _Walk:
    types: Types
    schemas: Schemas
    seen: Deviations
    formats: dict[str, Any] = field(default_factory=dict)

    def value(self, value: Any, schema: JsonSchema, path: str, depth: int) -> None:
        """Look at a value and what is in it."""
        self.seen.values -= 1
        if self.seen.values < 0 or depth > _DEEPEST:
            return
        admitted, kind = admitted_types(schema, self.types), json_type(value)
        if kind not in admitted and not (kind == "number" and "integer" in admitted and value.is_integer()):
            self.seen.counts[path, kind] += 1
        elif kind == "string":
            self._text(value, schema, path)
        elif kind == "array":
            items = union_of(self.types, schema).items[:1]
            for item in value[:_MOST_ITEMS] if items else ():
                self.value(item, items[0], f"{path}[]", depth + 1)
        elif kind == "object":
            self._object(value, schema, path, depth)

    def _object(self, value: Mapping[str, Any], schema: JsonSchema, path: str, depth: int) -> None:
        shape = union_of(self.types, schema)
        wires = {wire for wire, _ in shape.properties.values()}
        if shape.properties and not shape.extra:
            self.seen.extra += sum(key not in wires and key not in shape.hidden for key in value)
        for name, (wire, inner) in list(shape.properties.items())[:_MOST_MEMBERS]:
            here = f"{path}.{wire}" if path else wire
            if wire in value:
                self.value(value[wire], inner, here, depth + 1)
            elif name in shape.required:
                self.seen.counts[here, "missing"] += 1

    def _text(self, value: str, schema: JsonSchema, path: str) -> None:
        stated = next((part["format"] for part in parts(schema, self.types) if part.get("format") in _FORMATS), None)
        if stated is None or len(value) > _LONGEST_TEXT:
            return
        if stated not in self.formats:
            self.formats[stated] = self.schemas.schema({"type": "string", "format": stated})
        if self.formats[stated] is not None and not self.formats[stated].is_valid(value):
            self.seen.counts[path, f"not {stated}"] += 1
