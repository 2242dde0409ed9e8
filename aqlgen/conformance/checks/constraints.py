"""Tests of constraints: read-only fields are refused, and documented as such (conformance testing, 3.5)."""

from __future__ import annotations

from aqlgen.conformance.results import Category, Result
from aqlgen.conformance.run import Connected, check
from aqlgen.runtime.schema.reader import shape_of


@check("CD-1", "A read-only field cannot be written", Category.CONSTRAINTS, "R-UPD-1, R-ERR-1")
async def read_only_fields(run: Connected, result: Result) -> None:
    """Update the fields that only the server sets."""
    kept = run.setup.evidence.setdefault("constraint_tests", [])
    for operation in run.setup.callable:
        entry, params = operation.row.shown_parameters.get("input"), operation.params or {}
        if operation.row.update is None or entry is None or not isinstance(params.get("input"), dict):
            continue
        shape = shape_of(operation.table.types, entry.schema)
        field = next(iter(sorted(shape.hidden - shape.properties.keys())), None)
        if field is None:
            continue
        params = {**params, "input": {**params["input"], field: "x"}}
        what = f"the read-only field {field}"
        envelope = await run.refused(result, operation, params, what, "VALIDATION_", field)
        if envelope.code:
            kept.append({"name": f"{operation.name}.{field}", "documented": True, "response": envelope})
