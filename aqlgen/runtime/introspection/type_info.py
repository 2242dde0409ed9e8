# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The API's types as introspection shows them (introspection document, 3.5 and 3.6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..schema.reader import (
    Types,
    alternatives,
    enum_values,
    follow,
    kind_of,
    shape_of,
    string_enum,
)
from ..schema.wording import (
    alternative_notes,
    discriminator_notes,
    key_notes,
    phrase,
    shown_type,
    union_notes,
)
from ..table import JsonSchema
from ..text import clean, line, listed
from .bounds import UNBOUNDED, Bounds
from .fields import OF_TYPES, Info, field_info, with_notes, within

__all__ = ["more_note", "type_details", "type_info"]

_MOST_VALUES = 50
_PARTS = {"enum": "values", "object": "fields", "union": "members"}
"""What the details of a type list, by its kind."""


def type_info(name: str, schema: JsonSchema, types: Types) -> Info:
    """Return name, kind and one line of description."""
    target = follow(schema, types)
    kind = kind_of(target, types)
    info = {"name": name, "kind": kind}
    text = line(_description(schema, target, kind), 160)
    if text:
        info["description"] = text
    return info


def type_details(name: str, schema: JsonSchema, types: Types, bounds: Bounds = UNBOUNDED) -> Info:
    """Describe one of the API's types; of its values, fields or members those that are wanted. Raises Failure."""
    target = follow(schema, types)
    kind = kind_of(target, types)
    info: Info = {"name": name, "kind": kind}
    text = _description(schema, target, kind)
    if kind in _PARTS:
        entries, left = _parts(target, kind, types, bounds)
        info[_PARTS[kind]] = entries
        text = with_notes(text, more_note(left))
    if text:
        info["description"] = text
    return info


def more_note(left: int) -> list[str]:
    """Return the sentence that says how many entries follow and how to have them; none if none follow."""
    return [f"{left} more follow: introspect with the last one here as after, or all: true."] if left else []


def _parts(target: JsonSchema, kind: str, types: Types, bounds: Bounds) -> tuple[list[Any], int]:
    if kind == "enum":
        return bounds.taken(string_enum(target), str)
    if kind == "union":
        return bounds.taken(list(dict.fromkeys(map(shown_type, alternatives(target)))), str)
    shape = shape_of(types, target)

    def field(name: str) -> Info:
        inner = shape.properties[name][1]
        sensitive, required = inner.get("format") == "password", name in shape.required
        return within(
            bounds.tokens,
            OF_TYPES,
            lambda detail: field_info(name, inner, required, types, detail, sensitive=sensitive),
        )

    return bounds.taken(list(shape.properties), field)


def _description(schema: JsonSchema, target: JsonSchema, kind: str) -> str:
    text = clean(str(schema.get("description") or target.get("description") or ""))
    notes: list[str] = []
    if kind == "object":
        notes += _object_notes(target)
    elif kind == "union":
        options = alternatives(target)
        if any(phrase(option).endswith(")") for option in options):  # what a name alone does not say
            notes += union_notes(options)
    elif kind == "scalar":
        meaning = phrase(target, values=False)
        if not text or meaning.startswith("array of "):
            notes.append(f"{meaning[:1].upper()}{meaning[1:]}.")
        if enum_values(target):
            notes.append(f"One of {listed(enum_values(target), _MOST_VALUES)}.")
    notes += discriminator_notes(target)
    return with_notes(text, notes)


def _object_notes(schema: JsonSchema) -> Iterator[str]:
    options = alternatives(schema)
    requirements = list(alternative_notes(options))
    yield from requirements
    if len(options) > 1 and not any(note.startswith("Needs") for note in requirements):
        yield f"The rest is one of: {', '.join(phrase(option) for option in options)}."
    extra = schema.get("additionalProperties")
    if isinstance(extra, Mapping) and extra:
        yield f"Keys of any other name hold {phrase(extra)}."
    yield from key_notes(schema)
