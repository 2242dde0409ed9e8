"""Warnings have the shape of their document, and stand where they belong."""

from __future__ import annotations

from typing import Any

from aqlgen.conformance.results import Category, Result
from aqlgen.conformance.run import Connected, check


def warning_problem(warning: Any) -> str | None:
    """Return what is wrong with a warning; None if nothing is."""
    if not isinstance(warning, dict):
        return "is no object"
    code, message = warning.get("code"), warning.get("message")
    if not isinstance(code, str) or not code.isupper():
        return f"has code {code!r}"
    if not isinstance(message, str) or not message:
        return "has no message"
    return None if warning.get("severity") in (None, "info", "low", "medium", "high") else "has no known severity"


@check("WA-1", "A deprecated operation runs, and warns of it", Category.WARNINGS, "R-WARN-2")
async def deprecated_operations(run: Connected, result: Result) -> None:
    """Call each deprecated operation."""
    for operation in run.setup.callable:
        if not operation.row.deprecated:
            continue
        envelope = await run.call(operation, operation.params or {})
        warnings = envelope.get("warnings") or []
        if envelope.get("success"):
            history = await run.adapter.introspect(query="warnings")
            is_told = "DEPRECATION_WARNING" in str(warnings) or operation.name in str(history)
            result.expect(is_told, operation.name, "does not warn of its deprecation", envelope)
        for warning in warnings:
            problem = warning_problem(warning)
            result.expect(problem is None, operation.name, f"a warning {problem}", envelope)


@check("WA-2", "What was understood differently from what was written is told", Category.WARNINGS, "R-WARN-1")
async def understood_values(run: Connected, result: Result) -> None:
    """Send numbers as texts."""
    for operation in run.setup.callable[:100]:
        for name, value in (operation.params or {}).items():
            parameter = operation.row.shown_parameters.get(name)
            if parameter is None or type(value) is not int or operation.schema(parameter).get("type") != "integer":
                continue
            envelope = await run.call(operation, {**(operation.params or {}), name: str(value)})
            is_told = envelope.get("success") is False or name in str(envelope.get("warnings"))
            result.expect(is_told, operation.name, f"says nothing of {name} as a text", envelope)
            for warning in envelope.get("warnings") or []:
                problem = warning_problem(warning)
                result.expect(problem is None, operation.name, f"a warning {problem}", envelope)
            break
