"""How the fields of a form are written, where the document says so (OpenAPI 3.1.1, 4.8.15)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from aqlgen.ir import Json, MediaType
from aqlgen.table.model import TableParameter

FORMS: Final = ("application/x-www-form-urlencoded", "multipart/form-data")
STYLES: Final = frozenset({"form", "spaceDelimited", "pipeDelimited", "deepObject"})


def with_encoding(parameters: tuple[TableParameter, ...], media: MediaType) -> tuple[TableParameter, ...]:
    """Give the parameters of a body with style and content type, where it is a form and its media type says them."""
    if not media.encoding or media.content_type not in FORMS:
        return parameters
    return tuple(
        _encoded(one, rules)
        if one.location == "body" and isinstance(rules := media.encoding.get(one.wire), Mapping)
        else one
        for one in parameters
    )


def _encoded(parameter: TableParameter, rules: Mapping[str, Json]) -> TableParameter:
    """Apply an Encoding Object; a style makes its content type count for nothing."""
    if not rules.keys().isdisjoint({"style", "explode", "allowReserved"}):
        style = rules.get("style") if rules.get("style") in STYLES else "form"
        explode = rules["explode"] if isinstance(rules.get("explode"), bool) else style == "form"
        reserved = rules.get("allowReserved") is True
        return replace(parameter, style=style, explode=explode, allow_reserved=reserved)
    kind = rules.get("contentType")
    if isinstance(kind, str) and kind and "*" not in kind and "," not in kind:
        return replace(parameter, content_type=kind.strip())
    return parameter
