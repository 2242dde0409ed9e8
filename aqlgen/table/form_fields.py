"""Fields of forms: their style and content type (OpenAPI 3.1.1, 4.8.15), and files.

Files have one type: base64 alone, or an object with a name and a content type (MCP-AQL specification, 4.7.4).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from aqlgen.ir import Json, MediaType
from aqlgen.runtime.encode import is_framing
from aqlgen.runtime.table import Parameter, encode
from aqlgen.runtime.wire import FORM, is_multipart, is_xml, media_type
from aqlgen.schemas import Types
from aqlgen.table.xml_hints import xml_hints

BASE64: Final[Mapping[str, Json]] = {"type": "string", "format": "byte", "contentEncoding": "base64"}
"""How an agent gives bytes (MCP-AQL specification, 4.7.4)."""

NAME: Final = "FileInput"
FILE: Final[Mapping[str, Json]] = {
    "description": "A file: its bytes as a text in base64, or an object with `content` (base64), `text` or `path`.",
    "type": ["string", "object"],
    "format": "byte",
    "contentEncoding": "base64",
    "properties": {
        "content": {**BASE64, "description": "The bytes in base64."},
        "text": {"type": "string", "description": "Instead: its text, which is sent in UTF-8."},
        "path": {"type": "string", "description": "Instead: a file in the folder that the adapter's owner allows."},
        "filename": {"type": "string", "description": "Its name, with the ending."},
        "mime_type": {"type": "string", "description": "Its content type, such as image/png."},
        "encoding": {"const": "base64", "description": "Optional; `content` suffices."},
        "was": {"type": "string", "description": "Optional; `text` suffices."},
    },
    "additionalProperties": False,
}


BYTES: Final = re.compile(r"(?:image|audio|video|font)/(?!svg)|application/(?:octet-stream|pdf|zip|gzip|x-tar)\b")
"""Content types that are always bytes."""
DESCRIBING: Final = frozenset({"title", "description", "contentMediaType", "deprecated", "xml", "externalDocs"})
TEXTUAL: Final = frozenset({"format", "enum", "const", "pattern"})
"""Keywords that make a string a text."""


def file_reference(types: Types, described: str = "") -> dict[str, Json]:
    """Return the schema of a parameter that is a file."""
    schema: dict[str, Json] = {"$ref": f"#/types/{types.own(NAME, FILE)}", "contentEncoding": "base64"}
    return {**schema, "description": described} if described else schema


FILE_MARKS: Final = frozenset({"contentEncoding", "x-file"})
"""Keywords that tell the runtime that a field is a file: any value of it, or an object."""


def is_file(schema: Mapping[str, Json]) -> bool:
    """Return True if a field's schema, in the adapter's form, is that of a file."""
    return "x-file" in schema or (schema.get("contentEncoding") == "base64" and "type" not in schema)


def is_bytes(raw: Json, types: Types) -> bool:
    """Return True if a schema of the document is that of raw bytes, or of an array of these."""
    schema, seen = types.target(raw), set[int]()
    while isinstance(schema, Mapping) and id(schema) not in seen:
        if schema.get("format") == "binary":
            return True
        seen.add(id(schema))
        schema = types.target(schema.get("items"))
    return False


def with_files(schema: dict[str, Json], raw: Json, rules: Json, types: Types) -> dict[str, Json]:
    """Return the schema of a field of a multipart form; one that holds files becomes a file or an array of files.

    `raw` is the field's schema as the document has it, `rules` its Encoding Object. A schema without a type is one of
    bytes since OpenAPI 3.1 (3.1.1, 4.8.15.1.1), and before where the content type is one of bytes.
    """
    if schema.get("type") == "array" and isinstance(schema.get("items"), dict):
        inner = raw.get("items") if isinstance(raw, Mapping) else None
        return {**schema, "items": with_files(schema["items"], inner, rules, types)}
    if isinstance(schema.get("anyOf"), list):
        return _either(schema, types)
    kinds = schema.get("type", "string")
    kinds = kinds if isinstance(kinds, list) else [kinds]
    if "string" not in kinds or "contentEncoding" in schema or not _means_file(schema, raw, rules, types):
        return schema
    reference = file_reference(types, str(schema.get("description", "")))
    if "type" in schema and "null" in kinds:
        described = {"description": reference.pop("description")} if "description" in reference else {}
        return {"anyOf": [reference, {"type": "null"}], "contentEncoding": "base64", **described}
    return reference


def _either(schema: dict[str, Json], types: Types) -> dict[str, Json]:
    """Return the schema of a field that may be a file or a text, such as the address of a file."""
    files = [branch for branch in schema["anyOf"] if isinstance(branch, dict) and branch.get("format") == "binary"]
    others = [branch for branch in schema["anyOf"] if branch not in files]
    if not files:
        return schema
    texts = [branch for branch in others if branch != {"type": "null"}]
    mark = {"x-file": "object"} if texts else {"contentEncoding": "base64"}
    return {**schema, "anyOf": [file_reference(types), *others], **mark}


def _means_file(schema: Mapping[str, Json], raw: Json, rules: Json, types: Types) -> bool:
    if schema.get("format") == "binary" or "contentMediaType" in schema:
        return True
    stated_type = rules.get("contentType") if isinstance(rules, Mapping) else None
    untyped = isinstance(raw, Mapping) and DESCRIBING.issuperset(raw)
    if untyped and stated_type is None:
        return types.openapi != "3.0"
    of_bytes = isinstance(stated_type, str) and BYTES.match(stated_type.strip().lower()) is not None
    return of_bytes and (untyped or ("type" in schema and TEXTUAL.isdisjoint(schema)))


FORMS: Final = (FORM, "multipart/form-data")
STYLES: Final = frozenset({"form", "spaceDelimited", "pipeDelimited", "tabDelimited", "deepObject"})
HEADER: Final = re.compile(r"[A-Za-z0-9-]{1,60}")
VALUE: Final = re.compile(r"[\x20-\x7e]{1,200}")


def is_form(content_type: str) -> bool:
    """Return True if a body is a form, whose fields are written one by one."""
    return media_type(content_type) == FORM or is_multipart(content_type)


def with_encoding(
    parameters: tuple[Parameter, ...], media: MediaType, properties: Mapping[str, Json], types: Types
) -> tuple[Parameter, ...]:
    """Return the parameters of a body; those of a form get the style and content type that its media type states.

    `properties` are the schemas of the fields, as the document has them.
    """
    if not is_form(media.content_type):
        return parameters
    encoded = []
    for parameter in parameters:
        if parameter.location == "body":
            raw = properties.get(parameter.wire)
            rules = _rules(media, parameter.wire, raw, types)
            parameter = _encoded(parameter, rules, media.content_type, raw, types) if rules else parameter
        encoded.append(parameter)
    return tuple(encoded)


def _rules(media: MediaType, wire: str, raw: Json, types: Types) -> dict[str, Json]:
    """Return the Encoding Object of a field; of a part, its schema may state the type (OpenAPI 3.1.1, 4.8.15)."""
    declared = media.encoding.get(wire)
    rules = dict(declared) if isinstance(declared, Mapping) else {}
    if media.content_type == FORM or "contentType" in rules:
        return rules
    schema = types.target(_of_one(raw, types))
    stated = schema.get("contentMediaType") if isinstance(schema, Mapping) else None
    return rules | {"contentType": stated} if isinstance(stated, str) else rules


def encoded_fields(encoding: Mapping[str, Json], types: Types) -> dict[str, Parameter]:
    """Return how the fields of a parameter that is a urlencoded form are written, by the API's names."""
    fields: dict[str, Parameter] = {}
    for name, rules in encoding.items():
        if isinstance(rules, Mapping):
            entry = as_field(_encoded(Parameter(name=name, wire=name), rules, FORM, None, types))
            fields |= {name: entry} if is_stated(entry) else {}
    return fields


def as_field(parameter: Parameter) -> Parameter:
    """Return only how one field of a form is written."""
    return Parameter(
        name=parameter.wire,
        wire=parameter.wire,
        stated_style=parameter.stated_style,
        stated_explode=parameter.stated_explode,
        allow_reserved=parameter.allow_reserved,
        content_type=parameter.content_type,
        headers=parameter.headers,
        xml=parameter.xml,
    )


def is_stated(field: Parameter) -> bool:
    """Return True if a field of a form is not written as usual."""
    return bool(encode(field, brief=True))


def _encoded(parameter: Parameter, rules: Mapping[str, Json], form: str, raw: Json, types: Types) -> Parameter:
    """Apply an Encoding Object; a style overrides its content type, except for files, which have no style."""
    whole, items = parameter.schema, parameter.schema.get("items")
    files = is_file(whole) or (isinstance(items, Mapping) and is_file(items))
    if not rules.keys().isdisjoint({"style", "explode", "allowReserved"}) and not files:
        style = rules.get("style") if rules.get("style") in STYLES else "form"
        explode = rules["explode"] if isinstance(rules.get("explode"), bool) else style == "form"
        reserved = rules.get("allowReserved") is True
        return replace(parameter, stated_style=style, stated_explode=explode, allow_reserved=reserved)
    if form != FORM:
        parameter = replace(parameter, headers=_headers(rules.get("headers"), types))
    kind = rules.get("contentType")
    if not (isinstance(kind, str) and VALUE.fullmatch(kind.strip()) and kind.strip() != "*/*"):
        return parameter
    parameter = replace(parameter, content_type=kind.strip())
    if form != FORM and is_xml(kind.partition(",")[0]):
        return replace(parameter, xml=xml_hints(_of_one(raw, types), types.follow))
    return parameter


def _of_one(raw: Json, types: Types) -> Json:
    """Return the schema of one part; for an array, which repeats its name, the schema of its items."""
    schema = types.target(raw)
    return schema["items"] if isinstance(schema, Mapping) and "items" in schema else raw


def _headers(declared: Json, types: Types) -> dict[str, str]:
    """Return the headers of a part that have only one value, except those that frame it (OpenAPI 3.1.1, 4.8.15)."""
    headers: dict[str, str] = {}
    for name, raw in declared.items() if isinstance(declared, Mapping) else ():
        header = types.target(raw)
        schema = types.target(header.get("schema")) if isinstance(header, Mapping) else None
        if is_framing(name, of_part=True) or not HEADER.fullmatch(name) or not isinstance(schema, Mapping):
            continue
        listed = schema.get("enum")
        options: list[Json] = listed if isinstance(listed, list) else []
        value = schema.get("const", schema.get("default", options[0] if len(options) == 1 else None))
        if isinstance(value, str | int) and not isinstance(value, bool) and VALUE.fullmatch(str(value)):
            headers[name] = str(value)
    return headers
