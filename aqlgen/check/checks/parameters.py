"""Parameters are handled as they are documented (conformance testing, 3.2)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from aqlgen.check.connection import values_of
from aqlgen.check.operations import Operation, schema_of
from aqlgen.check.results import Category
from aqlgen.check.run import Run, check
from aqlgen.runtime.schema import shape_of
from aqlgen.runtime.witness import Document
from aqlgen.runtime.witness.samples import ABSENT, sample

UNKNOWN = "no_such_parameter"
_UNKNOWN_FIELD = "VALIDATION_UNKNOWN_"
_ADDED = (
    UNKNOWN, "fields", "first", "after", "last", "before", "where", "aggregate", "dry_run", "if_match", "as",
    "confirmation_token",
)  # fmt: skip
"""A parameter that no operation has, and those that adapters add to some."""
_MOST_WRONG, _DEEPEST = 24, 3
_FURTHER = ("additionalProperties", "unevaluatedProperties", "patternProperties")
"""Keywords by which an object may have fields that it does not declare."""


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
    """Send every parameter that is shown, one that no operation has, and those that are of other operations."""
    itself = (await run.introspect(query="operations", name="introspect")).data.get("operation") or {}
    known = [entry["name"] for entry in itself.get("parameters") or ()]
    answer = await run.introspect(**dict.fromkeys((*known, *_ADDED)) | {"query": "operations"})
    text = str(answer.error.get("message")).partition(" Valid")[0]
    refused = [name for name in (*known, *_ADDED) if re.search(rf"\b{name}\b", text)]
    run.expect(set(refused) == set(_ADDED) - set(known), "introspect", f"refuses {refused}, and shows {known}")
    run.keep("accepted_parameters", name="introspect", accepted=[name for name in known if name not in refused])
    for operation in run.operations:
        known, row = list(operation.row.shown_parameters), operation.row
        shapes = [shape_of(operation.table.types, parameter.schema) for parameter in row.parameters.values()]
        fields = {name for shape in shapes for names in shape.properties.items() for name in (names[0], names[1][0])}
        others = [name for name in _ADDED if name not in fields | row.parameters.keys() | row.wire_names.keys()]
        shown = {name: None for name in known if name not in row.choices}
        params, code = {**shown, **operation.params, **dict.fromkeys(others, 1)}, "VALIDATION_UNKNOWN_PARAM"
        answer = await run.refused(operation, params, "an unknown parameter", code, UNKNOWN)
        refused, message = list(answer.details.get("unknown_params") or ()), str(answer.error.get("message"))
        run.expect(set(refused) == set(others), operation, f"of {others} it refuses {refused}")
        run.keep("accepted_parameters", name=operation.name, accepted=[name for name in known if name not in refused])
        right = not known or any(f"'{name}'" in message for name in known)
        run.expect(right, operation, "does not name the known parameters")
        run.keep("unknown_parameter", operation=operation.name, parameter=UNKNOWN, response=answer)
        run.keep("error_tests", name=f"unknown-{operation.name}", must_mention=[UNKNOWN, *known[:1]], response=answer)


@check("PH-3", "A value that the document does not allow is refused at any depth, with the expected one",
       Category.PARAMETERS, "R-REQ-3, R-REQ-4, R-UPD-1, R-ERR-1")  # fmt: skip
async def wrong_values(run: Run) -> None:
    """Send a value of each parameter, and of each field in a body, that its schema does not allow."""
    for operation in run.callable:
        stated = run.documented(operation)
        if stated is None or operation.row.choices:
            continue
        for name in operation.row.shown_parameters:
            schema = schema_of(stated, operation.row, name)
            value = ABSENT if schema is None else sample(stated.document, schema, 1, name=name)
            cases = [] if value is ABSENT else list(_wrong(stated.document, schema, value))
            for place, code, refused in cases[:_MOST_WRONG]:
                what = f"{name}{place}={str(refused)[:60]!r}"
                mentioned = "no_such_field" if code == _UNKNOWN_FIELD else name
                answer = await run.refused(operation, {**operation.params, name: refused}, what, code, mentioned)
                run.keep("constraint_tests", name=f"{operation.name}.{name}{place}", documented=True, response=answer)


def _wrong(document: Document, schema: Any, value: Any, place: str = "") -> Iterator[tuple[str, str, Any]]:
    """Yield a value with one thing in it that its schema does not allow: the place, the code of the refusal, it."""
    parts = list(document.parts(schema))
    if isinstance(value, dict) and place.count(".") < _DEEPEST:
        known = document.properties(schema)
        if known and all(not part.get(word) for part in parts for word in _FURTHER):
            yield place, _UNKNOWN_FIELD, {**value, "no_such_field": 1}
        for name, inner in value.items() if len(parts) == 1 else ():
            for below, code, refused in _wrong(document, known.get(name, {}), inner, f"{place}.{name}"):
                yield below, code, {**value, name: refused}
    for refused in _not_allowed(parts[0]) if len(parts) == 1 else ():
        yield place, "VALIDATION_", refused


def _not_allowed(schema: Mapping[str, Any]) -> Iterator[Any]:
    """Yield values that a schema without alternatives does not allow."""
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
        if schema.get("format") in ("date", "date-time", "uuid"):
            yield "tomorrow"
        if isinstance(longest, int) and longest < 1000:
            yield "x" * (longest + 1)


@check("PH-4", "Documented defaults apply to omitted parameters", Category.PARAMETERS, "R-REQ-5")
async def defaults(run: Run) -> None:
    """Compare the answer without a parameter to that with its default."""
    for operation in run.callable:
        shown = operation.row.shown_parameters
        default = shown["fields"].schema.get("default") if "fields" in shown and operation.row.selects else None
        if operation.is_safe_read and default in ("minimal", "standard", "full"):
            without = await run.call(operation)
            explicit = await run.call(operation, {**operation.params, "fields": default})
            right = without.ok and _data_of(without) == _data_of(explicit)
            run.expect(right, operation, f"fields is not '{default}' by default")
            for path, value in list(values_of(without.get("data"), "data"))[:1]:
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
    cases: tuple[dict[str, Any], ...] = (
        {}, {"operation": ""}, {"operation": 7}, {"params": {}}, {"operation": "introspect", "params": 7},
        {"operation": "no_such_operation", "params": {}},
    )  # fmt: skip
    for arguments in cases:
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
