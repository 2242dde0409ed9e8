# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""A parameter that is the whole query: an object as a form, or a value as JSON or text (OpenAPI 3.2, `querystring`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .forms import form_pairs
from .styles import as_json, encoded
from .table import Parameter

__all__ = ["whole_query"]


def whole_query(value: Any, kind: str, fields: Mapping[str, Parameter]) -> list[str]:
    """Give the parts of a query that one value makes, by its media type; none for null and for an empty object."""
    if value is None:
        return []
    if kind == "application/x-www-form-urlencoded" and isinstance(value, Mapping):
        return form_pairs(value, fields)
    text = encoded(value) if isinstance(value, str) and not kind.endswith("json") else encoded(as_json(value))
    return [text] if text else []
