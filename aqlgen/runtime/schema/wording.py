"""A schema in words: what a value is, which fields go together, and the rules that introspection has no keys for.

Introspection says it in the details of an operation, validation in the refusal of a call that fits no alternative.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

from ..table import JsonSchema, Row
from ..text import listed, shown
from . import (
    Shape,
    Types,
    alternatives,
    as_schema,
    enum_values,
    fixed_values,
    only_type,
    parts,
    referred,
    shape_of,
    union_of,
    without_null,
)
from .notation import is_count, is_number, named, notation

_OPEN = frozenset({"type", "title", "description"})
"""Keywords that admit any value of a type."""
_SCALARS = ("string", "integer", "number", "boolean")
_LONGEST = 100
_MOST_LISTED, _MOST_PHRASES = 20, 50


def shown_type(schema: JsonSchema) -> str:
    """Return the name by which introspection shows a type: of the API's type, of the JSON type, or `any`."""
    target, _ = without_null(schema)
    return referred(target) or only_type(target) or "any"


def _briefly(schema: JsonSchema) -> str:
    return notation(as_schema(schema), {}, _LONGEST)


def key_notes(schema: JsonSchema) -> Iterator[str]:
    """Describe which keys an object takes besides its properties, how many, and which go together."""
    for pattern, inner in as_schema(schema.get("patternProperties")).items():
        yield f"Keys that match {shown(pattern)} hold {_briefly(inner)}."
    if schema.get("additionalProperties") is False or schema.get("unevaluatedProperties") is False:
        yield "No other keys."
    yield from presence_notes(schema, list(as_schema(schema.get("properties"))))


def presence_notes(schema: JsonSchema, fields: Sequence[str], names: Mapping[str, str] | None = None) -> Iterator[str]:
    """Describe how many of an object's fields it needs and takes.

    `names` are those of the fields that are shown, if not all are.
    """
    spelling = {name: name for name in fields} if names is None else names
    least, most = schema.get("minProperties", 0), schema.get("maxProperties")
    least = 0 if least <= len(schema.get("required", ())) else least
    if not least and most is None:
        return
    known = [named(spelling[name]) for name in fields if name in spelling]
    things = f" of {', '.join(known)}" if 0 < len(known) <= _MOST_LISTED else " keys"
    amount = f"{least} or more" if most is None else str(least) if least == most else f"{least} to {most}"
    yield f"{amount}{things}."


def joined(texts: Iterable[str]) -> str:
    """Return texts as `a`, `a and b` or `a, b and c`; those above a limit are only counted."""
    listing = list(texts) or [""]
    if len(listing) > _MOST_LISTED:
        listing = [*listing[:_MOST_LISTED], f"{len(listing) - _MOST_LISTED} more"]
    *before, last = listing
    return f"{', '.join(before)} and {last}" if before else last


def union_type(options: Sequence[JsonSchema]) -> str:
    """Return the JSON type or the type's name that all alternatives have, else `any`."""
    names = {shown_type(option) for option in options}
    return names.pop() if len(names) == 1 else "any"


def union_notes(options: Sequence[JsonSchema]) -> Iterator[str]:
    """Describe what alternatives admit, each once, unless they admit the same."""
    texts, plain = list(dict.fromkeys(map(_briefly, options))), union_type(options)
    values = [value for option in options if plain in _SCALARS for value in enum_values(option)]
    if values and all(enum_values(option) or option.keys() <= _OPEN for option in options):
        yield f"Known values: {listed(dict.fromkeys(values), _MOST_LISTED)}; others are possible."
    elif len(texts) > 1:
        more = f" and {len(texts) - _MOST_PHRASES} more" if len(texts) > _MOST_PHRASES else ""
        yield f"One of: {', '.join(texts[:_MOST_PHRASES])}{more}."


def item_notes(schema: JsonSchema) -> Iterator[str]:
    """Describe how many items an array has, and what the first items are."""
    least, most = schema.get("minItems"), schema.get("maxItems")
    if (is_count(least) and least) or is_count(most):
        yield f"Items: {least or 0} to {most}." if is_count(most) else f"Items: {least} or more."
    if schema.get("uniqueItems") is True:
        yield "No item twice."
    first = schema.get("prefixItems")
    if isinstance(first, list) and first:
        more = "" if schema.get("items") is not False else ", and no more"
        yield f"In this order: {', '.join(map(_briefly, first[:_MOST_LISTED]))}{more}."


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


MOST_OPTIONS = 50
"""How many alternatives are looked at."""

_NOTHING = "nothing else"
_MOST_GROUPS, _MOST_FIELDS, _MOST_TAGGED, _MOST_TAGS = 12, 12, 2, 4


@dataclass(frozen=True, slots=True)
class Group:
    """One alternative of an object. `tags` are the values that it admits of fields that tell alternatives apart.

    `fields` are all that it declares, `required` those that it demands, both in the order of the document.
    """

    type_name: str | None
    tags: Mapping[str, Sequence[Any]]
    fields: tuple[str, ...]
    required: tuple[str, ...]

    @property
    def label(self) -> str:
        """The name of the alternative: its tags, such as `type 'card'`, else its type, else ""."""
        tags = (f"{named(name)} {listed(values, _MOST_TAGS)}" for name, values in self.tags.items())
        return " and ".join(tags) or self.type_name or ""


def choices(schema: JsonSchema, types: Types) -> Iterator[list[Group]]:
    """Yield the groups of each choice that an object has to make; a choice that is not between objects is left out.

    Of very many alternatives only the first ones are looked at.
    """
    order: dict[str, int] = {}
    for part in parts(schema, types):
        options = alternatives(part)[:MOST_OPTIONS]
        if len(options) > 1:
            order = order or {name: index for index, name in enumerate(union_of(types, schema).properties)}
            groups = _groups(part, options, types, order)
            if groups is not None:
                yield groups


def _groups(
    part: JsonSchema, options: Sequence[JsonSchema], types: Types, order: Mapping[str, int]
) -> list[Group] | None:
    """Return the group of each alternative, in their order; None if one of them is not about fields."""
    shapes = [shape_of(types, option) for option in options]
    unions = [union_of(types, option) for option in options]
    if not all(union.properties or shape.required for shape, union in zip(shapes, unions, strict=True)):
        return None
    common = shape_of(types, {key: part[key] for key in ("discriminator", "properties", "required") if key in part})
    tags = _tags(common, options, unions, types)

    def ordered(names: Iterable[str]) -> tuple[str, ...]:
        return tuple(sorted(names, key=lambda name: (order.get(name, len(order)), name)))

    return [
        Group(
            referred(option),
            {name: values[index] for name, values in tags.items() if values[index]},
            ordered({*common.properties, *union.properties, *shape.required}),
            ordered({*common.required, *shape.required}),
        )
        for index, (option, shape, union) in enumerate(zip(options, shapes, unions, strict=True))
    ]


def _tags(
    common: Shape, options: Sequence[JsonSchema], unions: Sequence[Shape], types: Types
) -> dict[str, list[list[Any]]]:
    """Return the values of each alternative for the fields that tell them apart; a discriminator does so alone."""
    names = [common.discriminator[0]] if common.discriminator else list(unions[0].properties)
    tags: dict[str, list[list[Any]]] = {}
    for name in names:
        values = [_values(option, union, name, types) for option, union in zip(options, unions, strict=True)]
        seen = [repr(value) for listed in values for value in listed]
        if len(tags) < _MOST_TAGGED and sum(map(bool, values)) > 1 and len(seen) == len(set(seen)):
            tags[name] = values
    return tags


def _values(option: JsonSchema, union: Shape, name: str, types: Types) -> list[Any]:
    """Return the values of an alternative for a field: those beside its reference, else those of its own union."""
    declared = option.get("properties", {}).get(name) or union.properties.get(name, (name, None))[1]
    values = fixed_values(declared, types) if declared else None
    return [value for value in values or () if isinstance(value, str | int)]


def group_notes(
    schema: JsonSchema, types: Types, names: Mapping[str, str] | None = None, *, of: str = ""
) -> Iterator[str]:
    """Describe which fields go together, for each choice.

    `names` are the parameters of the fields that are shown; without them all are shown under their own names. A group
    that requires a field without a parameter cannot be chosen.
    `of` is the parameter that holds the fields, if they are no parameters.
    """
    for groups in choices(schema, types):
        possible = [names is None or names.keys() >= {*group.required} for group in groups]
        texts = list(dict.fromkeys(compress(_texts(groups, names), possible)))
        if len(texts) > 1 or (texts and not all(possible)):
            more = [f"one of {len(texts) - _MOST_GROUPS} more"] if len(texts) > _MOST_GROUPS else []
            yield f"Give{f' in {of}' if of else ''} one of: {'; or '.join([*texts[:_MOST_GROUPS], *more])}."


def _texts(groups: Sequence[Group], names: Mapping[str, str] | None) -> Iterator[str]:
    """Yield the distinction of each group from the others: its tags, and fields that not all of them have."""
    demanded = frozenset.intersection(*(frozenset(group.required) for group in groups))
    everywhere = frozenset.intersection(*(frozenset(group.fields) for group in groups))
    for group in groups:
        required = [name for name in group.required if name not in group.tags and name not in demanded]
        known = {*everywhere, *group.tags, *group.required}
        optional = [name for name in group.fields if name not in known]
        needed, offered = _spelled(required, names), _spelled(optional, names)
        if len(offered) > _MOST_FIELDS:
            offered = [*offered[:_MOST_FIELDS], f"{len(offered) - _MOST_FIELDS} more"]
        text = ", ".join(filter(None, (joined(needed), f"optionally {', '.join(offered)}" if offered else "")))
        yield " with ".join(filter(None, (group.label if group.tags else "", text))) or _NOTHING


def _spelled(fields: Sequence[str], names: Mapping[str, str] | None) -> list[str]:
    if names is None:
        return [named(field) for field in fields]
    return [named(names[field]) for field in fields if field in names]


def parameters_by_field(row: Row, types: Types) -> dict[str, str]:
    """Return the parameters that make a body by the names that its schema has for their fields."""
    schema = {} if row.body is None else row.body.schema
    by_wire = {parameter.wire: name for name, parameter in row.parameters.items() if parameter.location == "body"}
    return {field: by_wire[wire] for field, (wire, _) in union_of(types, schema).properties.items() if wire in by_wire}


def body_notes(row: Row, types: Types) -> Iterator[str]:
    """Describe what a body demands of its fields together, which neither a parameter nor a type of one can say."""
    body = row.body
    if body is None:
        return
    if body.shape == "whole":
        yield from group_notes(body.schema, types, of=body.parameter or "")
    elif body.validate:
        names = parameters_by_field(row, types)
        yield from group_notes(body.schema, types, names)
        for part in parts(body.schema, types):
            yield from presence_notes(part, list(names), names)
