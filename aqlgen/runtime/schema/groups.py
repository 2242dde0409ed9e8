# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The alternatives of an object: which fields go together in each, and what tells them apart.

Introspection says it in the details of an operation, validation in the refusal of a call that fits none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

from ..table import JsonSchema, Row
from ..text import listed
from .reader import Shape, Types, alternatives, fixed_values, parts, referred, shape_of, union_of
from .wording import joined, named, presence_notes

__all__ = ["MOST_OPTIONS", "Group", "body_notes", "choices", "parameters_by_field"]

MOST_OPTIONS = 50
"""How many alternatives are looked at."""

_NOTHING = "nothing else"
_MOST_GROUPS, _MOST_FIELDS, _MOST_TAGGED, _MOST_VALUES = 12, 12, 2, 4


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
        tags = (f"{named(name)} {listed(values, _MOST_VALUES)}" for name, values in self.tags.items())
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
    tags = _tags(part, unions, types)

    def ordered(names: Iterable[str]) -> tuple[str, ...]:
        return tuple(sorted(names, key=lambda name: (order.get(name, len(order)), name)))

    return [
        Group(
            referred(option),
            {name: values[index] for name, values in tags.items() if values[index]},
            ordered({*union.properties, *shape.required}),
            ordered(shape.required),
        )
        for index, (option, shape, union) in enumerate(zip(options, shapes, unions, strict=True))
    ]


def _tags(part: JsonSchema, unions: Sequence[Shape], types: Types) -> dict[str, list[list[Any]]]:
    """Return the values of each alternative for the fields that tell them apart; a discriminator does so alone."""
    shape = shape_of(types, {key: value for key, value in part.items() if key in ("discriminator", "properties")})
    names = [shape.discriminator[0]] if shape.discriminator else list(unions[0].properties)
    tags: dict[str, list[list[Any]]] = {}
    for name in names:
        values = [_values(union, name, types) for union in unions]
        seen = [repr(value) for listed in values for value in listed]
        if len(tags) < _MOST_TAGGED and sum(map(bool, values)) > 1 and len(seen) == len(set(seen)):
            tags[name] = values
    return tags


def _values(union: Shape, name: str, types: Types) -> list[Any]:
    declared = union.properties.get(name)
    values = fixed_values(declared[1], types) if declared else None
    return [value for value in values or () if isinstance(value, str | int)]


def _group_notes(
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
        only_demands = not any(group.tags or len(group.fields) > len(group.required) for group in groups)
        if only_demands and _NOTHING in texts:
            continue
        more = [f"one of {len(texts) - _MOST_GROUPS} more"] if len(texts) > _MOST_GROUPS else []
        if only_demands and (len(texts) > 1 or (texts and not all(possible))):
            yield f"{f'{of} needs' if of else 'Needs'} {', or '.join([*texts[:_MOST_GROUPS], *more])}."
        elif len(texts) > 1:
            yield f"Fields{f' of {of}' if of else ''} that go together: {'; or '.join([*texts[:_MOST_GROUPS], *more])}."


def _texts(groups: Sequence[Group], names: Mapping[str, str] | None) -> Iterator[str]:
    """Yield what distinguishes each group from the others: its tags, and fields that not all of them have."""
    demanded = frozenset.intersection(*(frozenset(group.required) for group in groups))
    everywhere = frozenset.intersection(*(frozenset(group.fields) for group in groups))
    for group in groups:
        required = [name for name in group.required if name not in group.tags and name not in demanded]
        known = {*everywhere, *group.tags, *group.required}
        optional = [name for name in group.fields if name not in known]
        needed, offered = _spelled(required, names), _spelled(optional, names)
        if len(offered) > _MOST_FIELDS:
            offered = [*offered[:_MOST_FIELDS], f"{len(offered) - _MOST_FIELDS} more"]
        also = f"optionally {', '.join(offered)}" if offered else ""
        text = ", ".join(filter(None, (joined(needed), also)))
        label = group.label if group.tags else ""
        yield " with ".join(filter(None, (label, text))) or _NOTHING


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
        yield from _group_notes(body.schema, types, of=body.parameter or "")
    elif body.validate:
        names = parameters_by_field(row, types)
        yield from _group_notes(body.schema, types, names)
        for part in parts(body.schema, types):
            yield from presence_notes(part, list(names), names)
