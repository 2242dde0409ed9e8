# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""A parameter that is the whole query: an object as a form, or a value as JSON or text (OpenAPI 3.2, `querystring`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..table import Parameter
from .form import form_pairs
from .styles import as_json, encoded

__all__ = ["whole_query"]


def whole_query(value: Any, kind: str, fields: Mapping[str, Parameter]) -> list[str]:
    """Give the parts of a query that one value makes, by its media type; none for null and for an empty object."""
    if value is None:
        return []
    if kind == "application/x-www-form-urlencoded" and isinstance(value, Mapping):
        return form_pairs(value, fields)
    text = encoded(value) if isinstance(value, str) and not kind.endswith("json") else encoded(as_json(value))
    return [text] if text else []
