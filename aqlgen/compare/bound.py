"""The rules of a body that bind several of its fields: which are needed together, which exclude one another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from aqlgen.compare.nodes import Types, worded
from aqlgen.compare.surface import Operation, Surface
from aqlgen.ir import Json
from aqlgen.table.model import Schema

__all__ = ["bound"]

_ACROSS: Final = (
    "not", "if", "then", "else", "minProperties", "maxProperties", "dependentRequired", "dependentSchemas",
    "patternProperties", "propertyNames", "unevaluatedProperties",
)  # fmt: skip


def bound(operation: Operation, side: Surface) -> Json:
    """Give what binds the fields of a body to one another; equal where it is the same, None where nothing does.

    Of alternatives that is what each needs, not what its fields are: those are parameters and known by themselves.
    """
    body = operation.body
    if body is None or body.shape != "fields" or not body.validate:
        return None
    schema = worded(body.schema, side.types)
    rules = {key: schema[key] for key in _ACROSS if key in schema}
    needs = sorted({_needs(one, side.types) for one in schema.get("anyOf", ())})
    return rules | ({"anyOf": needs} if len(needs) > 1 else {}) or None


def _needs(branch: Schema, types: Types) -> tuple[str, ...]:
    found = worded(branch, types) if isinstance(branch, Mapping) else {}
    return tuple(sorted(found.get("required", ())))
