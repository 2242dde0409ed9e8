"""What cannot be changed is refused and told (conformance testing, 3.5)."""

from __future__ import annotations

from typing import Any

from aqlgen.conformance.operations import Operation
from aqlgen.conformance.results import Category, Result
from aqlgen.conformance.run import Connected, check
from aqlgen.runtime.schema.reader import union_of


@check("CD-1", "A read-only field cannot be written", Category.CONSTRAINTS, "R-ERR-1", must=False)
async def read_only_fields(run: Connected, result: Result) -> None:
    """Send the fields that the document makes read-only."""
    kept = run.setup.evidence.setdefault("constraint_tests", [])
    for operation in run.setup.callable:
        for name, parameter in operation.row.shown_parameters.items():
            field = _read_only(operation, parameter.schema)
            value = (operation.params or {}).get(name)
            if parameter.location != "body" or field is None or not isinstance(value, dict):
                continue
            envelope, arrived = await run.sent(operation, {**(operation.params or {}), name: {**value, field: "x"}})
            error = envelope.get("error") or {}
            code = str(error.get("code"))
            right = code.startswith("VALIDATION_") and field in str(error)
            result.expect(right, operation.name, f"takes the read-only field {field}", envelope)
            result.expect(not arrived, operation.name, f"sends the read-only field {field}", envelope)
            if right:
                kept.append({"name": f"{operation.name}.{field}", "documented": True, "response": envelope})
            break


def _read_only(operation: Operation, schema: Any) -> str | None:
    shape = union_of(operation.table.types, schema) if schema else None
    fields = shape.properties.items() if shape is not None else ()
    return next((key for key, (_, inner) in fields if isinstance(inner, dict) and inner.get("readOnly")), None)
