"""`aqlgen explain`: every decision with its reason, before anything is generated (R-NAME-4)."""

from __future__ import annotations

from aqlgen.decisions import Decision
from aqlgen.ir import Json
from aqlgen.pipeline import Options, Prepared, Progress, prepare


def explain(options: Options, progress: Progress) -> Prepared:
    """Decide everything about a document and write nothing. Raises AqlgenError."""
    return prepare(options, progress)


def as_json(prepared: Prepared, diagnostics: list[Json]) -> dict[str, Json]:
    """Give the JSON form of the decisions."""
    parameters = {row.name: [one.name for one in row.parameters] for row in prepared.table.rows}
    return {
        "operations": [_operation(one, parameters[one.name]) for one in prepared.decisions],
        "skipped": [
            {
                "method": one.method.upper(),
                "path": one.path,
                "code": one.diagnostic.code,
                "message": one.diagnostic.message,
            }
            for one in prepared.skipped
        ],
        "diagnostics": diagnostics,
    }


def _operation(decision: Decision, parameters: list[str]) -> dict[str, Json]:
    operation = decision.operation
    return {
        "method": operation.method.upper(),
        "path": operation.path,
        "operation_id": operation.operation_id,
        "name": decision.name,
        "category": decision.category.value,
        "resource": decision.resource,
        "verb": decision.verb,
        "danger": decision.danger.value,
        "rule": decision.category_reason.rule,
        "confidence": round(decision.confidence, 2),
        "needs_review": bool(decision.review_reasons),
        "review_reasons": list(decision.review_reasons),
        "parameters": parameters,
    }
