"""Request bodies as parameters: fields for CREATE and EXECUTE, `input` for UPDATE, one parameter for what is no object.

(MCP-AQL specification, 4.5; R-UPD-1.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from aqlgen.decisions import Category, Decision
from aqlgen.ir import MISSING, Body, Json, MediaType
from aqlgen.schemas.dialect import shorten
from aqlgen.schemas.fields import field_names
from aqlgen.schemas.types import Place, Types
from aqlgen.table.encoding import with_encoding
from aqlgen.table.model import TableBody, TableParameter
from aqlgen.table.parameters import MAX_DESCRIPTION, VALID, is_sensitive
from aqlgen.words import pascal, snake, split

FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
TEXTS = frozenset({"yaml", "x-yaml", "javascript", "graphql", "sql", "x-ndjson", "ndjson", "jsonl", "toml", "csv"})
BASE64: Mapping[str, Json] = {"type": "string", "format": "byte", "contentEncoding": "base64"}
"""How an agent gives bytes (MCP-AQL specification, 4.7.4)."""

ACROSS_FIELDS = (
    "anyOf", "allOf", "not", "if", "minProperties", "maxProperties", "dependentRequired", "dependentSchemas",
    "patternProperties", "propertyNames", "unevaluatedProperties",
)  # fmt: skip
"""Keywords that bind several fields, so that the assembled body has to be validated too."""


class UnservedBodyError(Exception):
    """No representation of the body can be made by an adapter. `offered` are the content types."""

    def __init__(self, offered: tuple[str, ...]) -> None:
        super().__init__(", ".join(offered))
        self.offered = offered


@dataclass(frozen=True, slots=True)
class ShapedBody:
    """A body with the parameters that make it."""

    body: TableBody
    parameters: tuple[TableParameter, ...]
    example: Json = MISSING
    """The document's own example of the body, by the API's names."""


def is_json(content_type: str) -> bool:
    """Whether a content type is JSON, by name or by suffix (RFC 6839)."""
    return content_type in ("application/json", "*/*", "application/*") or content_type.endswith("+json")


def is_xml(content_type: str) -> bool:
    """Whether a content type is XML, by name or by suffix (RFC 7303)."""
    return content_type in ("application/xml", "text/xml") or content_type.endswith("+xml")


def is_text(content_type: str) -> bool:
    """Whether a content type is read by people, as the adapter's runtime sees it too; JSON and XML apart."""
    family, _, name = content_type.partition("/")
    return family == "text" or name in TEXTS or name.endswith("+yaml")


def choose(body: Body, types: Types) -> MediaType:
    """Give the representation that an adapter sends. Raises UnservedBodyError."""

    def rank(media: MediaType) -> int | None:
        kind = media.content_type
        if is_json(kind):
            return 1 if kind == "application/json-patch+json" else 0
        if kind in FORMS:  # a form has fields: one that declares none cannot be filled in
            return 2 + FORMS.index(kind) if _fields_of(media, types) is not None else None
        if is_xml(kind):
            return 5
        if is_text(kind):
            return 4
        return None if kind.startswith("multipart/") else 6  # of any other kind are bytes

    ranked = [(order, index) for index, media in enumerate(body.media) if (order := rank(media)) is not None]
    if not ranked:
        raise UnservedBodyError(tuple(media.content_type for media in body.media))
    return body.media[min(ranked)[1]]


def shape(decision: Decision, types: Types) -> ShapedBody | None:
    """Give the operation's body, None when it has none. Raises UnservedBodyError."""
    body = decision.operation.body
    if body is None:
        return None
    media = choose(body, types)
    content_type = "application/json" if media.content_type in ("*/*", "application/*") else media.content_type
    hint = pascal(split(decision.name))
    raw = True if media.schema is None else media.schema
    fields = _fields_of(media, types)
    if decision.category is Category.UPDATE and fields is not None:
        schema = types.schema(raw, Place(request=True, hint=f"{hint}Input"))
        return replace(_whole("input", content_type, schema, body, required=True), example=media.example)
    if fields is not None:
        shaped = _of_fields(fields, raw, content_type, body, types, hint)
        return replace(shaped, parameters=with_encoding(shaped.parameters, media), example=media.example)
    schema = types.schema(raw, Place(request=True, hint=f"{hint}Body"))
    if not is_json(content_type):
        schema = _as_text(content_type, schema)
    whole = _whole("body", content_type, schema, body, required=body.required is not False)
    return replace(whole, example=media.example) if is_json(content_type) else whole


def _as_text(content_type: str, schema: Mapping[str, Json]) -> dict[str, Json]:
    """Give the schema of a body that is a text, or bytes in base64."""
    text: dict[str, Json] = {"type": "string"}
    text |= {key: schema[key] for key in ("description", "examples") if key in schema}
    if is_xml(content_type):
        described = " ".join(filter(None, (str(schema.get("description", "")), "An XML document, as text.")))
        return {"type": "string", "description": described}
    return text if is_text(content_type) else text | dict(BASE64)


@dataclass(frozen=True, slots=True)
class _Fields:
    properties: Mapping[str, Json]
    required: tuple[str, ...]
    rest: Json
    across: bool


def _fields_of(media: MediaType, types: Types) -> _Fields | None:
    """Give the fields of an object body, None for any other; of a union of objects those of every alternative."""
    if not (is_json(media.content_type) or media.content_type in FORMS):
        return None
    raw = True if media.schema is None else media.schema
    view = types.object_view(raw)
    branches = types.alternatives(raw)
    if view is None and not (branches and all(types.object_view(branch) for branch in branches)):
        return None
    base = view or {}
    properties: dict[str, Json] = {}
    for node in types.parts(raw):
        for name, schema in node.get("properties", {}).items():
            known = properties.get(name, MISSING)
            properties[name] = schema if known is MISSING or known == schema else _either(known, schema)
    told = types.discriminator(raw)
    if told is not None and told.values and all(told.values) and told.property in properties:
        every = [value for values in told.values for value in values]
        properties[told.property] = {"allOf": [properties[told.property], {"enum": list(dict.fromkeys(every))}]}
    rest = base.get("additionalProperties")
    open_ = rest is True or "patternProperties" in base
    return _Fields(
        properties,
        tuple(_required(base, view is None, branches, types)),
        rest if isinstance(rest, dict) else ({} if open_ and is_json(media.content_type) else None),
        across=bool(branches) or any(key in base for key in ACROSS_FIELDS),
    )


def _required(base: Mapping[str, Json], union: bool, branches: list[Json], types: Types) -> list[str]:
    """Give the fields that every body has: of a union those that each alternative requires."""
    required = list(base.get("required", ()))
    if union:
        each = [list((types.object_view(branch) or {}).get("required", ())) for branch in branches]
        required += [name for name in each[0] if all(name in one for one in each)]
    return required


def _either(first: Json, second: Json) -> Json:
    known = first["anyOf"] if isinstance(first, dict) and set(first) == {"anyOf"} else [first]
    return {"anyOf": known if second in known else [*known, second]}


def _of_fields(fields: _Fields, raw: Json, content_type: str, body: Body, types: Types, hint: str) -> ShapedBody:
    names = field_names(fields.properties, preserve=False)
    optional = body.required is False
    parameters = []
    for wire, schema in fields.properties.items():
        if types.read_only(schema):
            continue
        name = names[wire] if VALID.fullmatch(names[wire]) else snake(wire) or "field"
        final = types.schema(schema, Place(request=True, hint=hint, inline=True, steps=(name,)))
        if content_type == "multipart/form-data":
            final = _files(final)
        parameters.append(
            TableParameter(
                name=name,
                wire=wire,
                location="body",
                required=wire in fields.required and not optional,
                schema={key: value for key, value in final.items() if key not in ("description", "deprecated")},
                description=shorten(str(final.get("description", "")), MAX_DESCRIPTION),
                deprecated=final.get("deprecated") is True,
                sensitive=is_sensitive(name, final),
            )
        )
    if fields.rest is not None:
        rest = types.schema(fields.rest, Place(request=True, hint=f"{hint}AdditionalProperty", inline=True))
        schema = {"type": "object", "additionalProperties": rest}
        described = "Further fields of the body, by the API's own names."
        parameters.append(
            TableParameter("additional_properties", "additional_properties", "body_rest", False, schema, described)
        )
    validate = fields.across or (optional and bool(fields.required))
    whole = types.schema(raw, Place(request=True, hint=f"{hint}Body")) if validate else {}
    return ShapedBody(TableBody(content_type, not optional, "fields", None, whole, validate), tuple(parameters))


def _files(schema: dict[str, Json]) -> dict[str, Json]:
    """Give the schema of a part, its bytes as base64 where it is a file or an array of files."""
    if schema.get("type") == "array" and isinstance(schema.get("items"), dict):
        return {**schema, "items": _files(schema["items"])}
    binary = schema.get("format") == "binary" or ("contentMediaType" in schema and "contentEncoding" not in schema)
    if not binary or schema.get("type", "string") != "string":
        return schema
    described = " ".join(filter(None, (str(schema.get("description", "")), "The file's bytes in base64.")))
    return {**BASE64, "description": described}


def _whole(name: str, content_type: str, schema: Mapping[str, Json], body: Body, *, required: bool) -> ShapedBody:
    described = shorten(body.description or str(schema.get("description", "")), MAX_DESCRIPTION)
    bare = {key: value for key, value in schema.items() if key != "description"}
    parameter = TableParameter(name, name, "body", required, bare, described)
    return ShapedBody(TableBody(content_type, required, "whole", name, bare, validate=False), (parameter,))
