# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""Fields as a form, in a body or as the whole query (OpenAPI 3.1.1, Encoding Object and its defaults).

A field without a style is written by its content type, which for objects is JSON (3.0.4 and 3.1.1 say so; the older
texts' default of `form` would lose the field's own name). A field with a style is written by that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any
from urllib.parse import quote, quote_plus

from .styles import as_json, query_pairs, text
from .table import Parameter

__all__ = ["form_pairs", "joined"]

_STYLES = frozenset({"form", "spaceDelimited", "pipeDelimited", "deepObject"})
_SEPARATORS = {"spaceDelimited": " ", "pipeDelimited": "|"}
_NONE: Mapping[str, Parameter] = MappingProxyType({})


def form_pairs(fields: Mapping[str, Any], declared: Mapping[str, Parameter] = _NONE) -> list[str]:
    """Give the pairs of a form, by wire name; `declared` are the fields that say how they are written.

    Otherwise an array repeats its name, an object is written as JSON, and null is left out.
    """
    return [pair for name, value in fields.items() for pair in _pairs(name, value, declared.get(name))]


def _pairs(name: str, value: Any, field: Parameter | None) -> Iterator[str]:
    if field is not None and field.style in _STYLES:
        key = quote(name, safe="")
        yield from query_pairs(key, value, field.style, explode=field.explode, allow_reserved=field.allow_reserved)
    elif field is not None and _is_json(field.content_type) and value is not None:
        yield f"{quote_plus(name)}={quote_plus(value if isinstance(value, str) else as_json(value))}"
    else:
        for one in value if isinstance(value, list | tuple) else (value,):
            if one is not None:
                yield f"{quote_plus(name)}={quote_plus(text(one))}"


def _is_json(kind: str | None) -> bool:
    return kind is not None and kind.partition(";")[0].strip().lower().endswith(("/json", "+json"))


def joined(value: Any, field: Parameter | None) -> Any:
    """Give a field of a multipart form, an array in one text where its style says so."""
    if field is None or field.explode or field.style not in _STYLES or not isinstance(value, list | tuple):
        return value
    return _SEPARATORS.get(field.style, ",").join(text(one) for one in value if one is not None)
