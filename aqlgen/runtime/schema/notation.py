"""The shape of a value in one line: `{name*: string(1..40), tags: [string], owner: {id*: int≥1}, status: 'a'|'b'}`.

Required fields come first and are marked `*`. What is left out for its depth or its length is named by its type and
required fields, or else its first ones; introspection shows the type in full; a type within itself is its name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..table import JsonSchema
from ..text import first_ones, line, shown
from . import (
    Types,
    alternatives,
    as_schema,
    enum_values,
    is_object,
    only_type,
    referred,
    union_of,
    without_null,
)

_MOST_PARTS, _PROPERTIES_OF_PART = 200, 20
"""How many values are written of one shape; so many properties of an object count as one more."""
_MOST_VALUES, _MOST_OPTIONS, _MOST_REQUIRED = 8, 5, 30
_MOST_NEEDED = 5
_ENVELOPE = 0.5
"""The depth of an object of one field, which only wraps what a call gives."""
_LONGEST_VALUE, _LONGEST_PATTERN, _LONGEST_DEFAULT, _LONGEST_ENUMERATION = 30, 40, 20, 160
_LARGEST_BOUND = 2**53
_WORDS = {"integer": "int", "boolean": "bool"}
_NAME = re.compile(r"[\w$.-]{1,100}")
_UNIT = re.compile(
    r"(?:\A|\b(?:in|of) (?:the |whole )?|\((?:in )?)((?:(?:milli|micro|nano)?second|minute|hour|day|week|month|year"
    r"|cent|minor(?: currency)? unit|(?:kilo|mega|giga|kibi|mebi|gibi)?byte|bit|pixel|basis point|(?:kilo)?met(?:er|re)"
    r"|mile|(?:kilo)?gram|degree)s|ms|[KMGT]i?B|pence|percent|smallest currency unit)\b",
    re.IGNORECASE,
)
SIZES = frozenset({"int32", "int64", "float", "double", "string", "password"})
"""Formats that say nothing that the type and the bounds do not say."""


@dataclass(frozen=True, slots=True)
class _Extent:
    """How deep the required and the optional objects go, and how many fields each object has, at most."""

    required: int
    optional: int
    fields: int
    is_of_names: bool = False
    """Whether optional fields are only named."""


_EXTENTS = (
    _Extent(6, 3, 20),
    _Extent(5, 2, 16),
    _Extent(4, 1, 16),
    _Extent(3, 1, 10),
    _Extent(2, 1, 6),
    _Extent(1, 1, 12),
    _Extent(1, 1, 40, is_of_names=True),
    _Extent(1, 1, 5),
    _Extent(1, 1, 2),
)
"""From the fullest to the tersest."""
_NAMES, _BRIEF = 400, 60
"""Characters that a shape may have whose optional fields are only named: names are cheap, and without them none is
known. A brief shape is not lengthened.
"""


class _Object(NamedTuple):
    """The fields of an object, those that only the API sets left out; the schema is kept, so that its id stays."""

    schema: JsonSchema
    needed: set[str]
    properties: dict[str, JsonSchema]


Objects = dict[int, _Object]
"""The objects that were read, by the id of their schema."""


def notation(
    schema: JsonSchema, types: Types, most: int, objects: Objects | None = None, type_name: str | None = None
) -> str:
    """Return the shape of a value, of a type of the API if that has a name, as deep as `most` characters allow.

    `objects` are what shapes of the same types read before, so that each is read once.
    """
    text, at = "", 0
    objects = {} if objects is None else objects
    while at < len(_EXTENTS):
        writer = _Writer(types, _EXTENTS[at], objects)
        text = writer.value(schema, 0, frozenset(), required=True, type_name=type_name)
        if len(text) <= max(most, _NAMES if _EXTENTS[at].is_of_names and most > _BRIEF else 0):
            return text
        at += 1 if writer.parts <= _MOST_PARTS else 4
    return line(text, most)


@dataclass(slots=True)
class _Writer:
    """Writes one shape to an extent; the number of its parts is bounded. `objects` are those read so far, by id."""

    types: Types
    extent: _Extent
    objects: Objects
    parts: int = field(default=0)

    def value(
        self, schema: JsonSchema, depth: float, seen: frozenset[str], *, required: bool, type_name: str | None = None
    ) -> str:
        """Return the shape of a value at a depth of objects; `seen` are the types around it."""
        self.parts += 1
        target, _ = without_null(schema)
        name = referred(target)
        if name is not None:
            shown = name not in seen and name in self.types and self.parts <= _MOST_PARTS
            return (
                self.value(self.types[name], depth, seen | {name}, required=required, type_name=name) if shown else name
            )
        options = alternatives(target)
        if len(options) > 1 and not is_object(target, self.types):
            return self._union(options, depth, seen, required=required, type_name=type_name)
        if "const" in target:
            return _literal(target["const"])
        values = enum_values(target)
        if values:
            return _enumeration(values, type_name) + _default(target)
        if is_object(target, self.types):
            return self._object(target, depth, seen, required=required, type_name=type_name)
        if only_type(target) == "array":
            return self._array(target, depth, seen, required=required) or type_name or "array"
        return _scalar(target, only_type(target) or "any") + _default(target)

    def _array(self, schema: JsonSchema, depth: float, seen: frozenset[str], *, required: bool) -> str:
        """Return the shape of an array, "" where there is no room for that of its items."""
        items = as_schema(schema.get("items"))
        if not items or self.parts > _MOST_PARTS or depth > self.extent.required:
            return ""
        deeper = depth + (only_type(items) == "array")
        return f"[{self.value(items, deeper, seen, required=required)}]{_bounds(schema, 'minItems', 'maxItems')}"

    def _union(
        self, options: list[JsonSchema], depth: float, seen: frozenset[str], *, required: bool, type_name: str | None
    ) -> str:
        """Return alternatives; where there is little room, those that are objects only by name."""
        if self.parts > _MOST_PARTS or depth > self.extent.required:
            return type_name or "any"
        texts = []
        for option in options[: _MOST_OPTIONS + 1]:
            name = referred(without_null(option)[0])
            target = self.types.get(name, {}) if name else option
            plain = name is None or not (is_object(target, self.types) or alternatives(target))
            written = plain or self.extent.optional > 1
            texts.append(self.value(option, depth + 1, seen, required=required) if written else str(name))
        texts = [text for text in dict.fromkeys(texts) if text != "object"] or texts  # of others it says nothing
        more = [f"{len(options) - _MOST_OPTIONS} more"] if len(options) > _MOST_OPTIONS else []
        return "|".join([*texts[:_MOST_OPTIONS], *more])

    def _object(
        self, schema: JsonSchema, depth: float, seen: frozenset[str], *, required: bool, type_name: str | None
    ) -> str:
        if depth >= (self.extent.required if required else self.extent.optional) or self.parts > _MOST_PARTS:
            return f"{type_name or 'object'}{self._needed(schema)}"
        fields = list(self._fields(schema, depth, seen, required=required, type_name=type_name))
        if fields:
            return f"{{{', '.join(fields)}}}"
        extra = as_schema(schema.get("additionalProperties"))
        if extra:
            return f"{{key: {self.value(extra, depth + 1, seen, required=required)}}}"
        return type_name or "object"

    def _needed(self, schema: JsonSchema) -> str:
        """Return the names of the required fields of an object that is not written out: ` {name*, image*}`."""
        _, needed, properties = self.objects.get(id(schema)) or self._read(schema)
        names = [f"{named(name)}*" for name in properties if name in needed] or [*map(named, properties)]
        more = ", …" * (len(names) > _MOST_NEEDED and not needed)
        return f" {{{', '.join(names[:_MOST_NEEDED])}{more}}}" if names and self.parts <= _MOST_PARTS else ""

    def _fields(
        self, schema: JsonSchema, depth: float, seen: frozenset[str], *, required: bool, type_name: str | None
    ) -> Iterator[str]:
        """Yield the fields of an object, the required ones first."""
        _, needed, properties = self.objects.get(id(schema)) or self._read(schema)
        self.parts += len(properties) // _PROPERTIES_OF_PART
        first = [name for name in properties if name in needed][:_MOST_REQUIRED]
        ordered = list(dict.fromkeys((*first, *properties)))
        ordered = first_ones(ordered, max(len(first), self.extent.fields), type_name)
        for name in ordered:
            if name not in properties:
                yield name
                break
            must = name in needed
            if self.extent.is_of_names and not must:
                yield named(name)
                continue
            is_envelope = len(properties) == 1
            inner = depth + (_ENVELOPE if is_envelope else 1)
            text = self.value(properties[name], inner, seen, required=required and (must or is_envelope))
            yield f"{named(name)}{'*' if must else ''}: {text}"

    def _read(self, schema: JsonSchema) -> _Object:
        shape = union_of(self.types, schema)
        properties = {
            name: inner
            for name, (_, inner) in shape.properties.items()
            if name in shape.required or not (inner.get("readOnly") is True or inner.get("deprecated") is True)
        }
        self.objects[id(schema)] = _Object(schema, shape.required, properties)
        return self.objects[id(schema)]


def is_number(value: Any) -> bool:
    """Return True for an integer or float, False for a boolean."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_count(value: Any) -> bool:
    """Return True for a whole number that can be one of items or characters."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def named(name: str) -> str:
    """Return the name of a field as a sentence has it: as it is, in quotes if it is more than a word."""
    return name if _NAME.fullmatch(name) else shown(name)


def _enumeration(values: list[Any], type_name: str | None) -> str:
    """Return the values; of many, the first ones or the name of their type."""
    text = "|".join(map(_literal, values))
    if len(values) <= _MOST_VALUES or (type_name is None and len(text) <= _LONGEST_ENUMERATION):
        return text
    return type_name or f"{'|'.join(map(_literal, values[:3]))}|… {len(values) - 3} more"


def _literal(value: Any) -> str:
    return line(shown(value), _LONGEST_VALUE)


def _default(schema: JsonSchema) -> str:
    """Return ` = 20`, or "" for a default that is long or no scalar."""
    default = schema.get("default")
    if default is None or not isinstance(default, str | int | float):
        return ""
    text = json.dumps(default, ensure_ascii=False) if not isinstance(default, str) else shown(default)
    return f" = {text}" if len(text) <= _LONGEST_DEFAULT else ""


def _scalar(schema: JsonSchema, kind: str) -> str:
    word, form, pattern = _WORDS.get(kind, kind), schema.get("format"), schema.get("pattern")
    if isinstance(form, str) and form not in SIZES:
        return line(form, _LONGEST_VALUE) if kind == "string" else f"{word} {line(form, _LONGEST_VALUE)}"
    if kind == "string":
        size = _bounds(schema, "minLength", "maxLength")
        return word + (f" /{pattern}/" if isinstance(pattern, str) and len(pattern) <= _LONGEST_PATTERN else size)
    low, high = _bound(schema, "minimum"), _bound(schema, "maximum")
    if low is not None and high is not None:
        word += f" {low}..{high}"
    else:
        word += f"≥{low}" if low is not None else f"≤{high}" if high is not None else ""
    return f"{word} {unit_of(schema, kind)}".rstrip()


def unit_of(schema: JsonSchema, kind: str) -> str:
    """Return the unit that the description of a number says, "" if it says none or the kind is another."""
    match = _UNIT.search(str(schema.get("description", "")))
    return match[1].lower() if match and kind in ("integer", "number") else ""


def _bound(schema: JsonSchema, key: str) -> float | None:
    """Return a bound of a number, None if there is none or it is that of the machine's numbers."""
    bound: float | None = schema.get(key)
    return bound if is_number(bound) and abs(bound or 0) < _LARGEST_BOUND else None


def _bounds(schema: JsonSchema, least_key: str, most_key: str) -> str:
    """Return how long a text or an array is: `(1..40)`, `(≤40)`, or "" if it may be of any length but empty."""
    least, most = schema.get(least_key, 0), schema.get(most_key)
    low: float = least if is_number(least) and least > 1 else 0
    if is_number(most) and low == most:
        return f"({most})"
    if is_number(most):
        return f"({low}..{most})" if low else f"(≤{most})"
    return f"(≥{low})" if low else ""
