"""Parameters are handled as they are documented (conformance testing, 3.2)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from aqlgen.check.operations import Operation
from aqlgen.check.results import Category
from aqlgen.check.run import Run, check
from aqlgen.runtime.schema import shape_of

UNKNOWN = "no_such_parameter"


def _without(values: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key != name}


@check("PH-1", "A call without a required parameter is refused by its name, and sends nothing",
       Category.PARAMETERS, "R-REQ-4")  # fmt: skip
async def required_parameters(run: Run) -> None:
    """Leave out each required parameter in turn."""
    missing, code = "missing_required", "VALIDATION_MISSING_PARAM"
    answer = await run.introspect()
    run.expect(answer.code == code, "introspect", "needs no query")
    run.keep(missing, operation="introspect", parameter="query", response=answer)
    for operation in run.callable:
        for name in operation.required:
            params = _without(operation.params, name)
            answer = await run.refused(operation, params, f"a call without {name}", code, f"'{name}'")
            run.keep(missing, operation=operation.name, parameter=name, response=answer)


@check("PH-2", "An unknown parameter is refused with the known ones, and sends nothing", Category.PARAMETERS, "R-REQ-3")
async def unknown_parameters(run: Run) -> None:
    """Send a parameter that no operation has."""
    for operation in run.callable:
        params, code = {**operation.params, UNKNOWN: 1}, "VALIDATION_UNKNOWN_PARAM"
        answer = await run.refused(operation, params, "an unknown parameter", code, UNKNOWN)
        known, message = list(operation.row.shown_parameters), str(answer.error.get("message"))
        right = not known or any(f"'{name}'" in message for name in known)
        run.expect(right, operation, "does not name the known parameters")
        run.keep("unknown_parameter", operation=operation.name, parameter=UNKNOWN, response=answer)
        run.keep("error_tests", name=f"unknown-{operation.name}", must_mention=[UNKNOWN, *known[:1]], response=answer)


@check("PH-3", "A value of another type or beyond its bounds is refused, with what is expected",
       Category.PARAMETERS, "R-REQ-4, R-ERR-1")  # fmt: skip
async def wrong_values(run: Run) -> None:
    """Send values that the schema of a parameter does not allow."""
    for operation in run.callable:
        for name, parameter in operation.row.shown_parameters.items() if not operation.row.choices else ():
            for value in _wrong(operation.schema(parameter)) if parameter.location != "adapter" else ():
                params = {**operation.params, name: value}
                await run.refused(operation, params, f"{name}={str(value)[:40]!r}", "VALIDATION_INVALID_", name)


def _wrong(schema: Any) -> Iterator[Any]:
    """Yield values that a schema does not allow."""
    if any(key in schema for key in ("oneOf", "anyOf", "allOf", "$ref")):
        return
    kind, least, most, longest = (schema.get(key) for key in ("type", "minimum", "maximum", "maxLength"))
    if kind in ("integer", "number"):
        yield from ("not a number", {"a": 1}, *([1.5] if kind == "integer" else []))
        yield from (bound + step for bound, step in ((least, -1), (most, 1)) if isinstance(bound, int))
    elif kind == "boolean":
        yield "perhaps"
    elif kind == "string":
        yield {"a": 1}
        if isinstance(schema.get("enum"), list):
            yield "no-such-value-of-all"
        if isinstance(longest, int) and longest < 1000:
            yield "x" * (longest + 1)


@check("PH-4", "Documented defaults hold: what is left out is as if it were given", Category.PARAMETERS, "R-REQ-5")
async def defaults(run: Run) -> None:
    """Compare the answer without a parameter to that with its default."""
    for operation in run.callable:
        shown = operation.row.shown_parameters
        default = shown["fields"].schema.get("default") if "fields" in shown and operation.row.selects else None
        if operation.is_safe_read and default in ("minimal", "standard", "full"):
            without = await run.call(operation)
            given = await run.call(operation, {**operation.params, "fields": default})
            right = without.ok and _data_of(without) == _data_of(given)
            run.expect(right, operation, f"fields is not '{default}' by default")
            for path, value in list(_scalars(without.get("data"), "data"))[:1]:
                run.keep("optional_defaults", operation=operation.name, parameter="fields", expected_value_path=path,
                         expected_value=value, response=without)  # fmt: skip
        for name, parameter in shown.items():
            if parameter.location == "query" and not parameter.required and parameter.preset is not None:
                await run.call(operation, _without(operation.params, name))
                right = not run.arrived or parameter.wire in dict(run.arrived[-1].query)
                run.expect(right, operation, f"does not send its default of {name}")


def _data_of(answer: Any) -> Any:
    """Return the data of an answer without the cursors, which are new each time."""
    data = answer.get("data")
    return _without(data, "pageInfo") if isinstance(data, dict) else data


def _scalars(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield the values within data with their paths."""
    if isinstance(value, str | int | bool):
        yield path, value
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        if "." not in str(key):
            yield from _scalars(inner, f"{path}.{key}")


@check("PH-5", "A call of another family's tool is refused with the right one", Category.PARAMETERS, "R-REQ-6")
async def other_tools(run: Run) -> None:
    """Call operations by the tools of other families."""
    for operation in run.callable:
        right_tool = run.adapter.tool(operation.family)
        for tool in [name for name in run.adapter.tools if name != right_tool][:1]:
            answer = await run.send(tool, {"operation": operation.name, "params": operation.params})
            right = answer.code == "VALIDATION_ENDPOINT_MISMATCH" and right_tool in str(answer.error.get("message"))
            run.expect(right and not run.arrived, operation, f"is taken by {tool}")


_HOSTILE = ("../../secret", "a/b?c=d&e=f#g", "x y+z%2e", "a;b=c", "..", ".")


@check("PH-6", "Values stay in their place in the request, whatever they hold", Category.PARAMETERS, "R-TRUST-7")
async def values_stay_in_place(run: Run) -> None:
    """Send values that would leave their place if they were not encoded: in a path, a query, a header."""
    for operation in run.callable[:60]:
        texts = [(name, parameter) for name, parameter in operation.row.shown_parameters.items()
                 if operation.takes_any_text(parameter)]  # fmt: skip
        for name, _ in [item for item in texts if item[1].location == "header"][:1]:
            params = {**operation.params, name: "a\r\nX-Injected: 1"}
            await run.refused(operation, params, f"a line break in {name}", "VALIDATION_")
        placed = [item for item in texts if item[1].location in ("path", "query") and not item[1].allow_reserved]
        for name, parameter in placed[:1]:
            for value in _HOSTILE if parameter.location == "path" else _HOSTILE[:4]:
                await run.call(operation, {**operation.params, name: value})
                for request in run.arrived:
                    problem = _displaced(operation, parameter, value, request)
                    run.expect(not problem, operation, f"{name}={value!r} {problem}")


def _displaced(operation: Operation, parameter: Any, value: str, request: Any) -> str:
    """Return how a value has left its place in a request, "" if it has not."""
    if {unquote(step) for step in request.path.split("/")} & {".", ".."}:
        return f"leads elsewhere: {request.path}"
    if request.path.count("/") != operation.row.path.partition("?")[0].count("/"):
        return f"changes the path: {request.path}"
    query = dict(request.query)
    if "e" in query and "e" not in {sent.wire for sent in operation.row.sent_parameters.values()}:
        return "adds to the query"
    is_form = parameter.location == "query" and parameter.style == "form"
    return "arrives as another value" if is_form and query.get(parameter.wire) != value else ""


@check("PH-7", "Arguments as text, and parameters beside the operation, are read or refused clearly",
       Category.PARAMETERS, "R-REQ-1")  # fmt: skip
async def forms_of_arguments(run: Run) -> None:
    """Send arguments in other forms."""
    tool = run.adapter.tool("read")
    wrong: tuple[dict[str, Any], ...] = (
        {}, {"operation": ""}, {"operation": 7}, {"params": {}}, {"operation": "introspect", "params": 7},
        {"operation": "no_such_operation", "params": {}},
    )  # fmt: skip
    for arguments in wrong:
        code = (await run.send(tool, arguments)).code
        known = "NOT_FOUND_OPERATION" if arguments.get("operation") == "no_such_operation" else "VALIDATION_"
        run.expect(code.startswith((known, "NOT_FOUND_")), tool, f"does not refuse {arguments}")
    text = await run.send(tool, {"operation": "introspect", "params": '{"query": "operations"}'})
    run.expect(text.ok, tool, "does not read params as JSON text")
    for operation in [item for item in run.reads(20) if item.required and "operation" not in item.params][:3]:
        flat = await run.send(tool, {"operation": operation.name, **operation.params})
        run.expect(flat.ok, operation, "does not read parameters beside params")


@check("CD-1", "A read-only field cannot be written", Category.CONSTRAINTS, "R-UPD-1, R-ERR-1")
async def read_only_fields(run: Run) -> None:
    """Update the fields that only the server sets."""
    for operation in [item for item in run.callable if item.updates]:
        entry = operation.row.shown_parameters.get("input")
        shape = shape_of(operation.table.types, entry.schema if entry else {})
        for field in sorted(shape.hidden - shape.properties.keys())[:1]:
            params = {**operation.params, "input": {**operation.params["input"], field: "x"}}
            answer = await run.refused(operation, params, f"the read-only field {field}", "VALIDATION_", field)
            run.keep("constraint_tests", name=f"{operation.name}.{field}", documented=True, response=answer)
