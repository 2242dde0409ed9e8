# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Fields as a form, in a body or as the whole query (OpenAPI 3.1.1, Encoding Object and its defaults).

A field without a style is written by its content type, which for objects is JSON (3.0.4 and 3.1.1 say so; the older
texts' default of `form` would lose the field's own name). A field with a style is written by that.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any
from urllib.parse import quote, quote_plus, unquote

from .styles import as_json, query_pairs, text
from .table import Parameter

__all__ = ["form_pairs", "json_text", "parts_by_style"]

_STYLES = frozenset({"form", "spaceDelimited", "pipeDelimited", "tabDelimited", "deepObject"})
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
        yield f"{quote_plus(name)}={quote_plus(json_text(value))}"
    else:
        for one in value if isinstance(value, list | tuple) else (value,):
            if one is not None:
                yield f"{quote_plus(name)}={quote_plus(text(one))}"


def _is_json(kind: str | None) -> bool:
    return kind is not None and kind.partition(";")[0].strip().lower().endswith(("/json", "+json"))


def json_text(value: Any) -> str:
    """Give a field's value as JSON; a text that is an object or an array of JSON already stays as it is."""
    if isinstance(value, str) and value.lstrip().startswith(("{", "[")):
        with suppress(ValueError, RecursionError):
            json.loads(value)
            return value
    return as_json(value)


def parts_by_style(name: str, value: Any, field: Parameter | None) -> list[tuple[str, str]] | None:
    """Give the parts of a multipart form that a field's style makes, by name; None for a field without a style.

    (OpenAPI 3.1.1, appendix C: as the pairs of a query, but nothing is percent-encoded.)
    """
    if field is None or field.style not in _STYLES:
        return None
    pairs = query_pairs(quote(name, safe=""), value, field.style, explode=field.explode)
    return [(unquote(key), unquote(one)) for key, _, one in (pair.partition("=") for pair in pairs)]
