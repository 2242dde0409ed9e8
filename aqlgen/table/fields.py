"""The fields of an object body as parameters; a union of objects has the fields of all its alternatives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain

from aqlgen.decide.traits.sensitive import is_secret
from aqlgen.ir import MISSING, Body, Json, MediaType
from aqlgen.runtime.schema import without_null
from aqlgen.runtime.table import Body as TableBody
from aqlgen.runtime.table import Parameter as TableParameter
from aqlgen.runtime.wire import admits_json, is_multipart, is_xml
from aqlgen.schemas import Place, Types, field_names, shorten
from aqlgen.table.form_fields import is_form, with_files
from aqlgen.table.parameters import MAX_DESCRIPTION, VALID
from aqlgen.words import pascal, snake, split

ACROSS_FIELDS = (
    "anyOf", "allOf", "minProperties", "maxProperties", "patternProperties", "propertyNames",
    "unevaluatedProperties",
)  # fmt: skip
"""Keywords that bind several fields, so that the assembled body has to be validated too."""

MAX_NESTING = 5
"""How deep alternatives of alternatives are searched for what all of them require."""


@dataclass(frozen=True, slots=True)
class ShapedBody:
    """A body with the parameters that make it."""

    body: TableBody
    parameters: tuple[TableParameter, ...]
    example: Json = MISSING
    """The document's own example of the body, by the API's names."""


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of an object body, as the document has them; `rest` is the schema of further ones."""

    properties: Mapping[str, Json]
    required: tuple[str, ...]
    rest: Json
    across: bool


def fields_of(media: MediaType, types: Types) -> Fields | None:
    """Return the fields of an object body, None for other bodies; a union of objects has those of all alternatives."""
    kind = media.content_type
    if not (admits_json(kind) or is_form(kind) or is_xml(kind)):
        return None
    raw = media.value_schema
    view = types.object_view(raw)
    branches = types.alternatives(raw)
    if view is None and not (branches and all(types.object_view(branch) for branch in branches)):
        return None
    base = view or {}
    withheld = types.read_only_in_part(raw)
    return Fields(
        _properties_of(raw, base, types),
        tuple(wire for wire in _required_of(raw, types, 0, {}) if wire not in withheld),
        _rest_of(base, kind),
        across=bool(branches) or not base.keys().isdisjoint(ACROSS_FIELDS),
    )


def _properties_of(raw: Json, base: Mapping[str, Json], types: Types) -> dict[str, Json]:
    """Return the declared fields of all alternatives, the required ones, and the discriminator with its values."""
    properties: dict[str, Json] = {}
    parts = types.parts(raw)
    for name, schema in chain.from_iterable(node.get("properties", {}).items() for node in parts):
        if not (name in properties and types.read_only(properties[name]) and types.read_only(schema)):
            properties[name] = _either(properties[name], schema) if name in properties else schema
    requiring = [base] if base.get("additionalProperties") is False else parts
    for name in chain.from_iterable(node.get("required", ()) for node in requiring):
        properties.setdefault(name, True)  # the server requires it, though nothing else is known of it
    discriminator = types.discriminator(raw)
    tags = discriminator.values if discriminator is not None and discriminator.property in properties else ()
    listed = list(dict.fromkeys(chain.from_iterable(tags)))
    if discriminator is not None and listed:
        declared = properties[discriminator.property]
        shown = {"allOf": [declared, {"examples": listed[:1]}]}
        properties[discriminator.property] = _with_tags(declared, listed) if all(tags) else shown
    return properties


def _rest_of(base: Mapping[str, Json], content_type: str) -> Json:
    """Return the schema of further fields, None if there are none."""
    rest = base.get("additionalProperties")
    if isinstance(rest, dict):
        return rest
    return {} if (rest is True or "patternProperties" in base) and admits_json(content_type) else None


def _required_of(
    schema: Json, types: Types, depth: int, known: dict[tuple[int, int], dict[str, None]]
) -> dict[str, None]:
    """Return the fields that a schema always requires; alternatives may share some, of which `known` has each."""
    view = next(iter(types.parts(schema)), None)
    if view is None:
        return {}
    key = (id(view), depth)
    if key not in known:
        required = dict.fromkeys(view.get("required", ()))
        branches = types.alternatives(schema) if depth < MAX_NESTING else []
        each = [_required_of(branch, types, depth + 1, known) for branch in branches] or [{}]
        known[key] = required | {name: None for name in each[0] if all(name in names for names in each)}
    return known[key]


def _with_tags(schema: Json, tags: list[str]) -> Json:
    """Return the schema of a discriminator; where each alternative declares its own values, these are all of them."""
    if not (isinstance(schema, dict) and schema.keys() == {"anyOf"}):
        return {"allOf": [schema, {"enum": tags}]}
    texts = (branch.get("description") for branch in schema["anyOf"] if isinstance(branch, dict))
    described = next((text for text in texts if isinstance(text, str)), None)
    return {"type": "string", "enum": tags, **({"description": described} if described else {})}


def _either(first: Json, second: Json) -> Json:
    """Return the schema of a field that alternatives declare."""
    if first == second:
        return second
    known = first["anyOf"] if isinstance(first, dict) and set(first) == {"anyOf"} else [first]
    return {"anyOf": known if second in known else [*known, second]}


def of_fields(fields: Fields, media: MediaType, content_type: str, body: Body, types: Types, hint: str) -> ShapedBody:
    """Return the body with a parameter for each field, except those that only the server sets."""
    names = field_names(fields.properties, preserve=False)
    optional = body.required is False
    examples = media.example if isinstance(media.example, Mapping) else {}
    required = frozenset() if optional else frozenset(fields.required)
    parameters = []
    for wire, schema in fields.properties.items():
        if types.read_only(schema):
            continue
        name = names[wire] if VALID.fullmatch(names[wire]) else snake(wire) or "field"
        final = types.schema(schema, Place(request=True, hint=hint + pascal(split(name)), inline=True))
        if wire in examples:
            final = types.exemplified(final, schema, examples[wire])
        if is_multipart(content_type):
            final = with_files(final, schema, media.encoding.get(wire), types)
        parameters.append(
            TableParameter(
                name=name,
                wire=wire,
                location="body",
                required=wire in required,
                schema={key: value for key, value in final.items() if key not in ("description", "deprecated")},
                description=shorten(str(final.get("description", "")), MAX_DESCRIPTION),
                deprecated=final.get("deprecated") is True,
                sensitive=is_secret(name, final, types.keys),
            )
        )
    if fields.rest is not None:
        rest = types.schema(fields.rest, Place(request=True, hint=f"{hint}AdditionalProperty", inline=True))
        parameters.append(
            TableParameter(
                name="additional_properties",
                wire="additional_properties",
                location="body_rest",
                schema={"type": "object", "additionalProperties": rest},
                description="Further fields of the body, by the API's own names.",
            )
        )
    validate = fields.across or (optional and bool(fields.required))
    place = Place(request=True, hint=f"{hint}Body")
    whole, _ = without_null(types.schema(media.value_schema, place) if validate else {})
    table_body = TableBody(
        content_type=content_type, shape="fields", required=not optional, validate=validate, schema=whole
    )
    return ShapedBody(table_body, tuple(parameters))
