"""Parameters, fields and types as introspection shows them (introspection document, 3.4 to 3.6), to a detail.

A ParameterInfo is closed, and its `type` is a name: of a JSON type, of one of the API's types, or `any`. What has no
key of its own (the shape of an object, null, item counts, exclusive bounds, alternatives) is said in the description.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..schema import (
    Types,
    alternatives,
    as_schema,
    enum_values,
    follow,
    is_object,
    kind_of,
    only_type,
    referred,
    string_enum,
    union_of,
    without_null,
)
from ..schema.field_names import NAMED_AS
from ..schema.notation import Objects, is_count, is_number, notation, unit_of
from ..schema.wording import (
    bound_notes,
    discriminator_notes,
    group_notes,
    item_notes,
    key_notes,
    shown_type,
    union_notes,
    union_type,
)
from ..table import ADAPTER, JsonSchema, Parameter
from ..text import brief, clean, line, listed, shown, tokens_of
from . import UNBOUNDED, Bounds

Info = dict[str, Any]
_MOST_VALUES = 50
_MOST_QUOTED, _LONGEST_VALUE = 8, 40
_QUOTED_VALUE = re.compile(r"(?<!\w)(?:'[\w.-]{1,30}'|`[\w.-]{1,30}`|\"[\w.-]{1,30}\")")
"""A value of one word that a description has in quotes."""
_LONGEST_DEFAULT = 200
_BOUNDS = (("minimum", "exclusiveMinimum", 1), ("maximum", "exclusiveMaximum", -1))


@dataclass(frozen=True, slots=True)
class Detail:
    """How much is said of a value: characters of its text and of its shape, and how many values are listed.

    `named` says whether the shape of a type that has a name is written, too; `objects` are those read for it so far.
    """

    text: int
    shape: int
    values: int
    named: bool = True
    objects: Objects | None = field(default=None, compare=False)

    def sharing(self, objects: Objects) -> Detail:
        """Return this detail, for parameters that are described together."""
        return replace(self, objects=objects)


IN_FULL = Detail(text=2000, shape=700, values=1000)
OF_TYPES = Detail(text=2000, shape=700, values=1000, named=False)
_BRIEFLY = Detail(text=200, shape=200, values=8, named=False)


def within(tokens: int | None, full: Detail, make: Callable[[Detail], Info]) -> Info:
    """Return a field in full, briefly if that has more than half of `tokens`, and else its name and type alone."""
    info = make(full)
    if tokens is None or tokens_of(info) <= tokens // 2:
        return info
    info = make(_BRIEFLY)
    return info if tokens_of(info) <= tokens // 2 else {key: info[key] for key in ("name", "type", "required")}


def parameter_info(parameter: Parameter, types: Types, place: str = "", detail: Detail = IN_FULL) -> Info:
    """Describe one parameter of an operation; `place` says where it goes, if others have its name.

    A choice of the adapter, such as `as`, has all its values: nothing else tells them.
    """
    schema: JsonSchema = parameter.schema
    if parameter.location == ADAPTER:
        detail = replace(detail, values=IN_FULL.values)
    if parameter.description:
        schema = {**schema, "description": parameter.description}
    if parameter.deprecated:
        schema = {**schema, "deprecated": True}
    info = field_info(parameter.name, schema, parameter.required, types, detail, sensitive=parameter.sensitive)
    if place:
        info["description"] = with_notes(info.get("description", ""), [place])
    return info


def field_info(name: str, schema: JsonSchema, required: bool, types: Types, detail: Detail, *, sensitive: bool) -> Info:
    """Describe a field of an object."""
    info: Info = {"name": name, "type": "any", "required": required}
    value, notes = _value(schema, types, detail)
    read = referred(as_schema(as_schema(schema.get(NAMED_AS)).get("")))
    if read is not None:
        notes.append(f"Has the fields of {read}.")
    text = _with_values(clean(str(schema.get("description", ""))), detail.text)
    unit = unit_of(schema, value["type"])
    if unit not in text.lower():
        notes.append(f"In {unit}.")
    if schema.get("deprecated") is True:
        notes.insert(0, "Deprecated.")
    if schema.get("readOnly") is True:
        notes.append("Read-only.")
    if schema.get("writeOnly") is True:
        notes.append("Never given back.")
    info.update(value)
    description = with_notes(text, notes)
    if description:
        info["description"] = description
    if "default" in schema and len(str(schema["default"])) <= _LONGEST_DEFAULT:
        info["default"] = schema["default"]
    if sensitive or schema.get("format") == "password":
        info["sensitive"] = True
    return info


def _with_values(text: str, limit: int) -> str:
    """Return a text in brief, with the values that it quotes beyond that in one sentence: no schema lists them."""
    short = brief(text, limit)
    values = [value for value in dict.fromkeys(_QUOTED_VALUE.findall(text)) if value not in short]
    if not short or not 1 < len(values) <= _MOST_QUOTED:
        return short
    return with_notes(short, [f"Also: {', '.join(values)}."])


def _value(schema: JsonSchema, types: Types, detail: Detail) -> tuple[Info, list[str]]:
    """Return type and constraints of a value, and what only words can say."""
    target, null = without_null(schema)
    notes = ["May be null."] if null else []
    name = referred(target)
    if name is not None:
        return _named_type(name, types, detail, notes, null=null)
    options = alternatives(target)
    kind = only_type(target) or "any"
    if len(options) > 1 and "properties" not in target:
        union, more = _union(target, kind, options, types, detail)
        return union, [*notes, *more]
    info: Info = {"type": kind, **_constraints(target, kind)}
    if len(info.get("enum", ())) > detail.values:
        notes.append(_many_values(info.pop("enum")))
    if kind in ("integer", "number"):
        notes += bound_notes(target, whole=kind == "integer")
    elif kind == "array":
        notes += item_notes(target)
        info["items"] = _items(as_schema(target.get("items")), types, detail)
    elif kind == "object":
        notes += _object_notes(target, types, detail)
    elif kind == "any" and isinstance(target.get("type"), list):
        notes.append(f"One of: {', '.join(name for name in target['type'] if name != 'null')}.")
    return info, notes


def _union(
    schema: JsonSchema, kind: str, options: Sequence[JsonSchema], types: Types, detail: Detail
) -> tuple[Info, Iterable[str]]:
    """Return the type of a value of several alternatives, and what only words can say."""
    info: Info = {"type": union_type(options) if kind == "any" else kind}
    if info["type"] == "array":
        info["items"] = _items({"anyOf": [as_schema(option.get("items")) for option in options]}, types, detail)
    elif detail.named and any(is_object(follow(option, types), types) for option in options):
        return info, _shape_note(schema, types, detail)
    return info, union_notes(options)


def _object_notes(schema: JsonSchema, types: Types, detail: Detail) -> list[str]:
    """Return the notes on the members of an object that is not a type of its own."""
    extra = as_schema(schema.get("additionalProperties"))
    notes = [] if extra and not as_schema(schema.get("properties")) else _shape_note(schema, types, detail)
    if extra:
        written = detail.named and detail.shape and is_object(follow(extra, types), types)
        text = notation(extra, types if written else {}, detail.shape or _LONGEST_VALUE, detail.objects)
        notes.append(f"Every value is {text}.")
    return [*notes, *key_notes(schema)]


def _named_type(name: str, types: Types, detail: Detail, notes: list[str], *, null: bool) -> tuple[Info, list[str]]:
    """Return the entry and notes of a value of one of the API's types: name, and shape, or the values of an enum."""
    schema = types.get(name, {})
    info: Info = {"type": name}
    values = enum_values(schema)
    if values and len(values) <= min(detail.values, _MOST_VALUES):
        info["enum"] = values
    elif values:
        notes.append(f"{_many_values(values)[:-1]}: introspect the type for all.")
    elif detail.named:
        notes += _shape_note(schema, types, detail, name)
    if not null and without_null(schema)[1]:
        notes.insert(0, "May be null.")
    return info, notes


def _many_values(values: list[Any]) -> str:
    few = [text for text in map(shown, values[:3]) if len(text) <= _LONGEST_VALUE]
    return f"One of {len(values)} values{', such as ' if few else ''}{', '.join(few)}."


def _shape_note(schema: JsonSchema, types: Types, detail: Detail, name: str = "") -> list[str]:
    """Return a sentence with the shape of a value, none if there is no room or it says no more than the type."""
    text = notation(schema, types, detail.shape, detail.objects, name or None) if detail.shape else ""
    if text in ("", "any", "object", "array", name):
        return []
    if not text.startswith("{"):
        return [f"Is {text}."]
    return [f"Fields (* required): {text}." if "*: " in text else f"Fields: {text}."]


def _items(schema: JsonSchema, types: Types, detail: Detail) -> Info:
    items, notes = _value(schema, types, detail)
    description = with_notes(brief(clean(str(schema.get("description", ""))), detail.text), notes)
    return {**items, "description": description} if description else items


def _constraints(schema: JsonSchema, kind: str) -> Info:
    """Return the constraints that have keys of their own."""
    info: Info = {}
    if isinstance(schema.get("enum"), list):
        info["enum"] = [value for value in schema["enum"] if value is not None]
    elif "const" in schema:
        info["enum"] = [schema["const"]]
    if kind in ("integer", "number"):
        for key, exclusive, step in _BOUNDS:
            if is_number(schema.get(key)):
                info[key] = schema[key]
            bound = schema.get(exclusive)
            if kind == "integer" and type(bound) is int:
                info[key] = bound + step
    if kind in ("string", "any"):
        info.update({key: schema[key] for key in ("minLength", "maxLength") if is_count(schema.get(key))})
        if isinstance(schema.get("pattern"), str):
            info["pattern"] = schema["pattern"]
    if isinstance(schema.get("format"), str):
        info["format"] = schema["format"]
    return info


def with_notes(text: str, notes: list[str]) -> str:
    """Return the text followed by the notes, each a sentence of its own."""
    if text and notes and text[-1] not in ".!?:;…。":
        text += "."
    return " ".join(part for part in (text, *notes) if part)


_PARTS = {"enum": "values", "object": "fields", "union": "members"}
"""What the details of a type list, by its kind."""


def type_info(name: str, schema: JsonSchema, types: Types) -> Info:
    """Return name, kind and one line of description."""
    target = follow(schema, types)
    kind = kind_of(target, types)
    info = {"name": name, "kind": kind}
    text = line(_description(schema, target, kind, types), 160)
    if text:
        info["description"] = text
    return info


def type_details(name: str, schema: JsonSchema, types: Types, bounds: Bounds = UNBOUNDED) -> Info:
    """Describe one of the API's types; of its values, fields or members those that are wanted. Raises Failure."""
    target = follow(schema, types)
    kind = kind_of(target, types)
    info: Info = {"name": name, "kind": kind}
    text = _description(schema, target, kind, types)
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
    shape = union_of(types, target)

    def field(name: str) -> Info:
        inner = shape.properties[name][1]
        sensitive, required = inner.get("format") == "password", name in shape.required
        return within(
            bounds.tokens,
            OF_TYPES,
            lambda detail: field_info(name, inner, required, types, detail, sensitive=sensitive),
        )

    return bounds.taken(list(shape.properties), field)


def _description(schema: JsonSchema, target: JsonSchema, kind: str, types: Types) -> str:
    text = clean(str(schema.get("description") or target.get("description") or ""))
    notes: list[str] = []
    if kind == "object":
        notes += _type_notes(target, types)
    elif kind == "union":
        options = alternatives(target)
        if not all(referred(without_null(option)[0]) for option in options):  # the names of the members do not say it
            notes += union_notes(options)
    elif kind == "scalar" and enum_values(target):
        notes.append(f"One of {listed(enum_values(target), _MOST_VALUES)}.")
    elif kind == "scalar" and (not text or only_type(target) == "array"):
        notes.append(f"Is {notation(target, {}, _LONGEST_VALUE)}.")
    notes += discriminator_notes(target)
    return with_notes(text, notes)


def _type_notes(schema: JsonSchema, types: Types) -> Iterator[str]:
    yield from group_notes(schema, types)
    extra = schema.get("additionalProperties")
    if isinstance(extra, Mapping) and extra:
        yield f"Keys of any other name hold {notation(extra, {}, _LONGEST_VALUE)}."
    yield from key_notes(schema)
