"""How the fields of a form are written, where the document says so (OpenAPI 3.1.1, 4.8.15)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from aqlgen.document.resolve import UnresolvedError
from aqlgen.ir import Json, MediaType
from aqlgen.runtime.media import FORM, is_multipart, is_xml, media_type
from aqlgen.runtime.table import Parameter, encode
from aqlgen.table.uploads import is_file
from aqlgen.table.xmlhints import xml_hints

Follow = Callable[[Json], tuple[Json, str]]

FORMS: Final = (FORM, "multipart/form-data")
STYLES: Final = frozenset({"form", "spaceDelimited", "pipeDelimited", "tabDelimited", "deepObject"})
HEADER: Final = re.compile(r"[A-Za-z0-9-]{1,60}")
VALUE: Final = re.compile(r"[\x20-\x7e]{1,200}")


def is_form(content_type: str) -> bool:
    """Return True if a body is a form, whose fields are written one by one."""
    return media_type(content_type) == FORM or is_multipart(content_type)


def with_encoding(
    parameters: tuple[Parameter, ...], media: MediaType, properties: Mapping[str, Json], follow: Follow
) -> tuple[Parameter, ...]:
    """Return the parameters of a body; those of a form get the style and content type that its media type states.

    `properties` are the schemas of the fields, as the document has them.
    """
    if not media.encoding or not is_form(media.content_type):
        return parameters
    return tuple(
        _encoded(parameter, rules, media.content_type, properties.get(parameter.wire), follow)
        if parameter.location == "body" and isinstance(rules := media.encoding.get(parameter.wire), Mapping)
        else parameter
        for parameter in parameters
    )


def encoded_fields(encoding: Mapping[str, Json], follow: Follow) -> dict[str, Parameter]:
    """Return how the fields of a parameter that is a urlencoded form are written, by the API's names."""
    fields: dict[str, Parameter] = {}
    for name, rules in encoding.items():
        if isinstance(rules, Mapping):
            entry = as_field(_encoded(Parameter(name=name, wire=name), rules, FORM, None, follow))
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


def _encoded(parameter: Parameter, rules: Mapping[str, Json], form: str, raw: Json, follow: Follow) -> Parameter:
    """Apply an Encoding Object; a style overrides its content type, except for files, which have no style."""
    whole, items = parameter.schema, parameter.schema.get("items")
    files = is_file(whole) or (isinstance(items, Mapping) and is_file(items))
    if not rules.keys().isdisjoint({"style", "explode", "allowReserved"}) and not files:
        style = rules.get("style") if rules.get("style") in STYLES else "form"
        explode = rules["explode"] if isinstance(rules.get("explode"), bool) else style == "form"
        reserved = rules.get("allowReserved") is True
        return replace(parameter, stated_style=style, stated_explode=explode, allow_reserved=reserved)
    if form != FORM:
        parameter = replace(parameter, headers=_headers(rules.get("headers"), follow))
    kind = rules.get("contentType")
    if not (isinstance(kind, str) and VALUE.fullmatch(kind.strip()) and kind.strip() != "*/*"):
        return parameter
    parameter = replace(parameter, content_type=kind.strip())
    if form != FORM and is_xml(kind.partition(",")[0]):
        return replace(parameter, xml=xml_hints(_of_one(raw, follow), follow))
    return parameter


def _of_one(raw: Json, follow: Follow) -> Json:
    """Return the schema of one part; for an array, which repeats its name, the schema of its items."""
    try:
        schema, _ = follow(raw)
    except UnresolvedError:
        return raw
    return schema["items"] if isinstance(schema, Mapping) and "items" in schema else raw


def _headers(declared: Json, follow: Follow) -> dict[str, str]:
    """Return the headers of a part that have only one value, except Content-Type (OpenAPI 3.1.1, 4.8.15)."""
    headers: dict[str, str] = {}
    for name, raw in declared.items() if isinstance(declared, Mapping) else ():
        try:
            header, _ = follow(raw)
            schema = header.get("schema") if isinstance(header, Mapping) else None
            schema, _ = follow(schema)
        except UnresolvedError:
            continue
        if name.lower() == "content-type" or not HEADER.fullmatch(name) or not isinstance(schema, Mapping):
            continue
        listed = schema.get("enum")
        options: list[Json] = listed if isinstance(listed, list) else []
        value = schema.get("const", schema.get("default", options[0] if len(options) == 1 else None))
        if isinstance(value, str | int) and not isinstance(value, bool) and VALUE.fullmatch(str(value)):
            headers[name] = str(value)
    return headers
