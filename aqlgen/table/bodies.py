"""Request bodies as parameters: fields for CREATE and EXECUTE, `input` for UPDATE, one parameter for others.

(MCP-AQL specification, 4.5; R-UPD-1.)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from aqlgen.decide.decision import Category, Decision
from aqlgen.decide.traits.sensitive import is_secret
from aqlgen.ir import Body, Json, MediaType
from aqlgen.runtime.table import Body as TableBody
from aqlgen.runtime.table import Parameter as TableParameter
from aqlgen.runtime.wire import FORM, JSON, JSON_PATCH, OCTETS, admits_json, is_json, is_json_lines, is_text, is_xml
from aqlgen.schemas import Place, Types, shorten
from aqlgen.table.fields import Fields, ShapedBody, fields_of, of_fields
from aqlgen.table.form_fields import (
    FILE_MARKS,
    FORMS,
    as_field,
    file_reference,
    is_bytes,
    is_file,
    is_form,
    is_stated,
    with_encoding,
)
from aqlgen.table.parameters import MAX_DESCRIPTION, as_property
from aqlgen.table.xml_hints import xml_hints
from aqlgen.words import pascal, split

FREE_FORM = "Fields of the form; the API's document does not declare them."
MORE_FIELDS = frozenset({"allOf", "anyOf", "oneOf", "patternProperties", "required", "$ref"})
"""Keywords that may bring fields to an object without properties of its own."""
SEVERAL_KINDS = frozenset({0, 2, 3, 5, 6, 8})
"""Ranks of representations that a call may choose: with fields, as lines, as text or as a file."""
SENDABLE = re.compile(r"[\x21-\x7e]+(?:; [\x20-\x7e]+)?")
TEXT_KEYWORDS = ("description", "examples", "default", "enum", "const", "format", "minLength", "maxLength", "pattern")
"""What a body of text keeps of its schema: its texts, and if it is declared as a string, what that string may be."""


class UnservedBodyError(Exception):
    """An adapter can send no representation of the body. `offered` are the content types."""

    def __init__(self, offered: tuple[str, ...]) -> None:
        super().__init__(", ".join(offered))
        self.offered = offered


def rank(media: MediaType, types: Types) -> int | None:
    """Return the rank of a representation, 0 for the preferred one; None if it cannot be sent."""
    kind = media.content_type
    if admits_json(kind):
        return 1 if kind == JSON_PATCH else 0
    if is_form(kind):
        fields = fields_of(media, types)
        if fields is None:
            return 9 if _undeclared(media, types) else None
        if kind == FORM and any(is_bytes(field, types) for field in fields.properties.values()):
            return 4  # a text, which has no place for the bytes of a file
        return 2 + (FORMS.index(kind) if kind in FORMS else len(FORMS))
    if is_json_lines(kind):
        return 5
    if is_xml(kind):
        return 5 if fields_of(media, types) is not None else 7
    return 6 if is_text(kind) else 8  # any other kind is bytes


def _undeclared(media: MediaType, types: Types) -> bool:
    """Return True if a form declares no fields, so that any can be sent; a file or a list has to be a field."""
    raw = media.value_schema
    if media.content_type not in FORMS or types.alternatives(raw) or is_bytes(raw, types):
        return False
    return {*types.kinds(raw)} <= {"object", "string"}


def sendable(body: Body, types: Types) -> list[str]:
    """Return the content types of a body that an adapter can send."""
    return [media.content_type for media in body.media if rank(media, types) is not None]


def choose(body: Body, types: Types, wanted: str | None = None) -> MediaType:
    """Return the representation that an adapter sends, the wanted one if it is offered. Raises UnservedBodyError."""
    for media in body.media:
        if media.content_type == wanted:
            return media
    ranked = [(order, index) for index, media in enumerate(body.media) if (order := rank(media, types)) is not None]
    if not ranked:
        raise UnservedBodyError(tuple(media.content_type for media in body.media))
    return body.media[min(ranked)[1]]


def shape(decision: Decision, types: Types, wanted: str | None = None) -> ShapedBody | None:
    """Return the operation's body, of the wanted content type if there is one. Raises UnservedBodyError."""
    body = decision.operation.body
    if body is None:
        return None
    media, content_type = _typed(choose(body, types, wanted), types)
    is_update = decision.category is Category.UPDATE
    if _takes_nothing(media, types) and not (is_update and body.required):
        is_optional = is_form(media.content_type) if body.required is None else not body.required
        if is_optional:
            return None
        if not is_update:
            return ShapedBody(TableBody(content_type=content_type, shape="fields", required=True), ())
    hint = pascal(split(decision.name))
    fields = fields_of(media, types)
    is_patch = is_update and _is_json_patch(media, types)
    if is_patch and (fields is None or _is_that_of_another(media, body, types)):
        return _patch(fields, media, content_type, body, types, hint)
    if fields is None:
        whole = _unshaped(media, content_type, body, types, hint)
        return _as_input(whole) if is_update else whole
    shaped = (_update if is_update else _fields)(fields, media, content_type, body, types, hint)
    return replace(shaped, body=replace(shaped.body, xml=_xml(media, types)), example=media.example)


def _typed(media: MediaType, types: Types) -> tuple[MediaType, str]:
    """Return a representation with the content type that is sent; under a range, a file or JSON."""
    if media.content_type not in ("*/*", "application/*"):
        return media, sent_as(media)
    if is_bytes(media.schema, types):
        return replace(media, content_type=OCTETS), sent_as(media)  # a file has a type of its own
    return replace(media, content_type=JSON), JSON


def _xml(media: MediaType, types: Types) -> dict[str, Json] | None:
    return xml_hints(media.value_schema, types.follow) if is_xml(media.content_type) else None


def _fields(fields: Fields, media: MediaType, content_type: str, body: Body, types: Types, hint: str) -> ShapedBody:
    """Return the body of a CREATE or EXECUTE, a parameter for each field."""
    shaped = of_fields(fields, media, content_type, body, types, hint)
    return replace(shaped, parameters=with_encoding(shaped.parameters, media, fields.properties, types))


def _patch(
    fields: Fields | None, media: MediaType, content_type: str, body: Body, types: Types, hint: str
) -> ShapedBody:
    """Return the body of an update that takes the operations of JSON Patch (RFC 6902), or what changes."""
    raw = media.value_schema
    schema = types.schema(raw, Place(request=True, hint=f"{hint}Body"))
    operations = schema if "array" in types.kinds(raw) else {"type": "array", "items": {"type": "object"}}
    change = {"type": "object"} if fields is None else schema
    either = {"anyOf": [operations, change], "description": "Changed fields, or operations of JSON Patch"}
    return _whole("input", content_type, either, body, required=body.required is not False)


def _is_json_patch(media: MediaType, types: Types) -> bool:
    """Return True for a JSON Patch (RFC 6902), unless the entries of its list declare fields without `path`."""
    if media.content_type != JSON_PATCH:
        return False
    schema = types.target(media.value_schema)
    entries = types.object_view(schema.get("items")) if isinstance(schema, Mapping) else None
    declared = {} if entries is None else entries.get("properties")
    return not isinstance(declared, Mapping) or not declared or "path" in declared


def _is_that_of_another(media: MediaType, body: Body, types: Types) -> bool:
    """Return True if a representation has the schema of the preferred one: it says what changes, not how it is told."""
    preferred = choose(body, types)
    return media is not preferred and bool(media.schema == preferred.schema)


def _takes_nothing(media: MediaType, types: Types) -> bool:
    """Return True if a form or an object declares that it has no fields: an empty list of properties, and no others.

    That additional ones are formally admitted does not say that there are any.
    """
    schema, kind = types.target(media.schema), media.content_type
    if not isinstance(schema, Mapping) or schema.get("properties") != {} or not (is_form(kind) or is_json(kind)):
        return False
    return not schema.get("additionalProperties") and schema.keys().isdisjoint(MORE_FIELDS)


def fields_of_update(
    decision: Decision, types: Types, wanted: str | None, names: frozenset[str]
) -> tuple[TableParameter, ...]:
    """Return the fields of an update's body that have these names, as parameters of their own."""
    body = decision.operation.body
    if decision.category is not Category.UPDATE or body is None or not names:
        return ()
    media = choose(body, types, wanted)
    fields = fields_of(media, types)
    if fields is None or names.isdisjoint(fields.properties):
        return ()
    shaped = of_fields(fields, media, sent_as(media), body, types, pascal(split(decision.name)))
    return tuple(field for field in shaped.parameters if field.location == "body" and field.wire in names)


def sent_as(media: MediaType) -> str:
    """Return the content type to send, with its parameters except a boundary, which each form chooses itself."""
    first, *rest = (part.strip() for part in media.written.split(";"))
    kept = [part for part in rest if "=" in part and not part.lower().startswith("boundary")]
    whole = "; ".join([media.content_type, *kept])
    return whole if first and SENDABLE.fullmatch(whole) else media.content_type


def _unshaped(media: MediaType, content_type: str, body: Body, types: Types, hint: str) -> ShapedBody:
    """Return a body that is one parameter: JSON of any kind, a list of lines, a text, or a file."""
    kind, raw = media.content_type, media.value_schema
    schema = types.schema(raw, Place(request=True, hint=f"{hint}Body"))
    if is_form(kind):
        schema = {"type": "object"} if "object" not in types.kinds(raw) else schema
        return _whole("body", content_type, {**schema, "description": FREE_FORM}, body, required=body.required is True)
    hints = _xml(media, types)
    if hints and hints.get("root", {}).get("wrapped") and "array" in types.kinds(raw):
        whole = _whole("body", content_type, schema, body, required=body.required is not False)
        return replace(whole, body=replace(whole.body, xml=hints))
    if is_json_lines(kind) and "string" not in types.kinds(raw):
        schema = schema if "array" in types.kinds(raw) else {"type": "array", "items": schema}
    elif not admits_json(kind):
        schema = _as_text(kind, schema, types)
    whole = _whole("body", content_type, schema, body, required=body.required is not False)
    is_readable = admits_json(kind) or (is_text(kind) and isinstance(media.example, str))
    return replace(whole, example=media.example) if is_readable else whole


def _update(fields: Fields, media: MediaType, content_type: str, body: Body, types: Types, hint: str) -> ShapedBody:
    """Return an update's body, `input`, and for a form how its fields are written."""
    raw = media.value_schema
    encoded: tuple[TableParameter, ...] = ()
    if is_form(media.content_type):
        single = of_fields(fields, media, content_type, replace(body, required=None), types, hint)
        encoded = with_encoding(single.parameters, media, fields.properties, types)
    written = {parameter.wire: field for parameter in encoded if (field := _as_field(parameter)) is not None}
    if any(_has_file(parameter.schema) for parameter in encoded):
        described = (types.object_view(raw) or {}).get("description")
        schema = {"$ref": f"#/types/{types.own(f'{hint}Input', _with_files(encoded, raw, types))}"}
        schema |= {"description": described} if described else {}
    else:
        schema = types.schema(raw, Place(request=True, hint=f"{hint}Input"))
    whole = _whole("input", content_type, schema, body, required=body.required is not False)
    return replace(whole, body=replace(whole.body, fields=written))


def _as_input(whole: ShapedBody) -> ShapedBody:
    """Return a body that is one parameter as that of an update (R-UPD-1); its usual name is understood still."""
    (parameter,) = whole.parameters
    return replace(whole, body=replace(whole.body, parameter="input"), parameters=(replace(parameter, name="input"),))


def _as_field(parameter: TableParameter) -> TableParameter | None:
    """Return how one field of an update's form is written; None if it is written as usual."""
    entry = as_field(parameter)
    if _has_file(parameter.schema):
        listed = parameter.schema.get("type") == "array"
        field_schema = parameter.schema["items"] if listed else parameter.schema
        file = {key: field_schema[key] for key in FILE_MARKS if key in field_schema}
        entry = replace(entry, schema={"items": file} if listed else file)
    return entry if is_stated(entry) else None


def _has_file(schema: Mapping[str, Json]) -> bool:
    items = schema.get("items")
    return any(isinstance(candidate, Mapping) and is_file(candidate) for candidate in (schema, items))


def _with_files(parameters: tuple[TableParameter, ...], raw: Json, types: Types) -> dict[str, Json]:
    """Return the type of an update whose fields may be files; the type of its body does not declare these."""
    properties = {parameter.name: as_property(parameter) for parameter in parameters if parameter.location == "body"}
    whole: dict[str, Json] = {"type": "object", "properties": properties}
    needed = [parameter.name for parameter in parameters if parameter.required]
    hidden = [
        name for name, field in (types.object_view(raw) or {}).get("properties", {}).items() if types.read_only(field)
    ]
    whole |= {"required": needed} if needed else {}
    return whole | ({"x-read-only": hidden} if hidden else {})


def _as_text(content_type: str, schema: Mapping[str, Json], types: Types) -> dict[str, Json]:
    """Return the schema of a body that is a text or a file."""
    described = str(schema.get("description", ""))
    if is_xml(content_type):
        return {"type": "string", "description": " ".join(filter(None, (described, "An XML document, as text.")))}
    if not is_text(content_type):
        return file_reference(types, described)
    if schema.get("type") in ("integer", "number", "boolean"):
        return dict(schema)
    kept = TEXT_KEYWORDS if schema.get("type") == "string" else TEXT_KEYWORDS[:2]
    return {"type": "string"} | {key: schema[key] for key in kept if key in schema}


def _whole(name: str, content_type: str, schema: Mapping[str, Json], body: Body, *, required: bool) -> ShapedBody:
    described = shorten(body.description or str(schema.get("description", "")), MAX_DESCRIPTION)
    bare = {key: value for key, value in schema.items() if key != "description"}
    parameter = TableParameter(
        name=name, wire=name, location="body", required=required, schema=bare, description=described,
        sensitive=is_secret(name, bare),
    )  # fmt: skip
    table_body = TableBody(content_type=content_type, shape="whole", required=required, parameter=name, schema=bare)
    return ShapedBody(table_body, (parameter,))
