"""Updates that read first: what identifies the resource has to fit the operation that reads too (R-UPD-2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from aqlgen.decide.decision import Decision
from aqlgen.ir import Json
from aqlgen.runtime.encode.urls import paired_placeholders
from aqlgen.runtime.table import Parameter, Update

__all__ = ["narrowed"]

READS_FIRST: Final = frozenset({"put-merge", "json-patch"})
ANNOTATIONS: Final = frozenset({"type", "examples", "default"})


def narrowed(
    decision: Decision,
    parameters: tuple[Parameter, ...],
    operations: Mapping[str, tuple[str, Iterable[Parameter]]],
) -> tuple[Parameter, ...]:
    """Return an update's parameters; a path parameter that accepts any text takes the schema that its reader has.

    `operations` are path and parameters of all by name. A document that calls an identifier a string where it is
    written and an integer where it is read means the same resource, and no other value can be read.
    """
    update = decision.trait(Update)
    name = update.read if update is not None and update.reads_first else None
    if name is None or name not in operations:
        return parameters
    path, reading = operations[name]
    read: dict[str, Mapping[str, Json]] = {
        parameter.wire: parameter.schema for parameter in reading if parameter.location == "path"
    }
    placed = paired_placeholders(decision.operation.path, path)
    return tuple(
        replace(parameter, schema=read[placed[parameter.wire]])
        if parameter.location == "path" and placed.get(parameter.wire) in read and _is_any_text(parameter.schema)
        else parameter
        for parameter in parameters
    )


def _is_any_text(schema: Mapping[str, Json]) -> bool:
    return schema.get("type") == "string" and schema.keys() <= ANNOTATIONS
