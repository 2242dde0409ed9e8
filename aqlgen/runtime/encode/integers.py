"""Whole numbers of a body as integers: `1.0` is one (JSON Schema 2020-12, 4.2.3), and many servers refuse it."""

from __future__ import annotations

from typing import Any

from ..exact_json import is_whole
from ..schema import Types, alternatives, declared_types, parts, union_of
from ..table import JsonSchema

_MOST_OPTIONS = 40


def with_integers(value: Any, schema: JsonSchema, types: Types) -> Any:
    """Return a value with its whole floats as integers where the schema takes integers and no other numbers."""
    if is_whole(value):
        return int(value) if _takes_integers(schema, types) else value
    if not isinstance(value, (dict, list)):
        return value
    shape = union_of(types, schema)
    if isinstance(value, list):
        items = {"anyOf": shape.items}
        return [with_integers(item, items, types) for item in value]
    further: JsonSchema = {"anyOf": shape.extra}
    schemas = {name: inner for name, (_, inner) in shape.properties.items()}
    return {key: with_integers(item, schemas.get(key, further), types) for key, item in value.items()}


def _takes_integers(schema: JsonSchema, types: Types) -> bool:
    todo, kinds = [schema], set[str]()
    for option in todo:
        for part in parts(option, types):
            kinds.update(declared_types(part))
            todo += alternatives(part) if len(todo) < _MOST_OPTIONS else []
    return "integer" in kinds and "number" not in kinds
