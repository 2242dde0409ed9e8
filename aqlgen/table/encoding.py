"""How the fields of a form are written, where the document says so (OpenAPI 3.1.1, 4.8.15)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from aqlgen.ir import Json, MediaType
from aqlgen.resolve import UnresolvedError
from aqlgen.table.model import TableParameter

Follow = Callable[[Json], tuple[Json, str]]

FORMS: Final = ("application/x-www-form-urlencoded", "multipart/form-data")
STYLES: Final = frozenset({"form", "spaceDelimited", "pipeDelimited", "deepObject"})


HEADER: Final = re.compile(r"[A-Za-z0-9-]{1,60}")
VALUE: Final = re.compile(r"[\x20-\x7e]{1,200}")


def is_form(content_type: str) -> bool:
    """Whether a content type is a form, whose fields are written one by one."""
    return content_type == FORMS[0] or content_type.startswith("multipart/")


def with_encoding(
    parameters: tuple[TableParameter, ...], media: MediaType, follow: Follow
) -> tuple[TableParameter, ...]:
    """Give the parameters of a body with style and content type, where it is a form and its media type says them."""
    if not media.encoding or not is_form(media.content_type):
        return parameters
    return tuple(
        _encoded(one, rules, media.content_type, follow)
        if one.location == "body" and isinstance(rules := media.encoding.get(one.wire), Mapping)
        else one
        for one in parameters
    )


def _encoded(parameter: TableParameter, rules: Mapping[str, Json], form: str, follow: Follow) -> TableParameter:
    """Apply an Encoding Object; a style makes its content type count for nothing, but for files, which have none."""
    is_file = "base64" in (_encoding(parameter.schema), _encoding(parameter.schema.get("items")))
    if not rules.keys().isdisjoint({"style", "explode", "allowReserved"}) and not is_file:
        style = rules.get("style") if rules.get("style") in STYLES else "form"
        explode = rules["explode"] if isinstance(rules.get("explode"), bool) else style == "form"
        reserved = rules.get("allowReserved") is True
        return replace(parameter, style=style, explode=explode, allow_reserved=reserved)
    if form != FORMS[0]:
        parameter = replace(parameter, headers=_headers(rules.get("headers"), follow))
    kind = rules.get("contentType")
    if isinstance(kind, str) and VALUE.fullmatch(kind.strip()) and kind.strip() != "*/*":
        return replace(parameter, content_type=kind.strip())
    return parameter


def _encoding(schema: Json) -> Json:
    return schema.get("contentEncoding") if isinstance(schema, Mapping) else None


def _headers(declared: Json, follow: Follow) -> dict[str, str]:
    """Give the headers of a part that have one value only; Content-Type is said elsewhere (OpenAPI 3.1.1, 4.8.15)."""
    found: dict[str, str] = {}
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
            found[name] = str(value)
    return found
