"""Parameters are handled as they are documented (conformance testing, 3.2)."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from aqlgen.conformance.operations import Operation
from aqlgen.conformance.results import Category, Result
from aqlgen.conformance.run import Connected, check
from aqlgen.runtime.schema import shape_of

UNKNOWN = "no_such_parameter"


@check("PH-1", "A call without a required parameter is refused by its name, and sends nothing",
      Category.PARAMETERS, "R-REQ-4")  # fmt: skip
async def required_parameters(run: Connected, result: Result) -> None:
    """Leave out each required parameter in turn."""
    kept = run.setup.evidence.setdefault("missing_required", [])
    for operation in run.setup.callable:
        for missing in operation.required:
            params = {name: value for name, value in (operation.params or {}).items() if name != missing}
            what, code = f"a call without {missing}", "VALIDATION_MISSING_PARAM"
            envelope = await run.refused(result, operation, params, what, code, f"'{missing}'")
            kept.append({"operation": operation.name, "parameter": missing, "response": envelope})
    without_query = await run.adapter.introspect()
    kept.insert(0, {"operation": "introspect", "parameter": "query", "response": without_query})
    result.expect(without_query.code == "VALIDATION_MISSING_PARAM", "introspect", "needs no query", without_query)


@check("PH-2", "An unknown parameter is refused with the known ones, and sends nothing", Category.PARAMETERS, "R-REQ-3")
async def unknown_parameters(run: Connected, result: Result) -> None:
    """Send a parameter that no operation has."""
    kept = run.setup.evidence.setdefault("unknown_parameter", [])
    for operation in run.setup.callable:
        params, code = {**(operation.params or {}), UNKNOWN: 1}, "VALIDATION_UNKNOWN_PARAM"
        envelope = await run.refused(result, operation, params, "an unknown parameter", code, UNKNOWN)
        known, message = operation.row.shown_parameters, str(envelope.error.get("message"))
        right = not known or any(f"'{name}'" in message for name in known)
        result.expect(right, operation.name, "does not name the known parameters", envelope)
        kept.append({"operation": operation.name, "parameter": UNKNOWN, "response": envelope})


@check("PH-3", "A value of another type or beyond its bounds is refused, with what is expected",
      Category.PARAMETERS, "R-REQ-4, R-ERR-1")  # fmt: skip
async def wrong_values(run: Connected, result: Result) -> None:
    """Send values that the schema of a parameter does not allow."""
    for operation in run.setup.callable:
        for name, parameter in operation.row.shown_parameters.items():
            if parameter.location == "adapter" or operation.row.choices:
                continue
            for value in _wrong(operation.schema(parameter)):
                params = {**(operation.params or {}), name: value}
                await run.refused(result, operation, params, f"{name}={value!r}", "VALIDATION_INVALID_", name)


def _wrong(schema: Any) -> list[Any]:
    """Return values that a schema does not allow."""
    if any(key in schema for key in ("oneOf", "anyOf", "allOf", "$ref")):
        return []
    type_, values = schema.get("type"), list[Any]()
    if type_ in ("integer", "number"):
        values += ["not a number", {"a": 1}]
        if type_ == "integer":
            values.append(1.5)
        if isinstance(schema.get("minimum"), int):
            values.append(schema["minimum"] - 1)
        if isinstance(schema.get("maximum"), int):
            values.append(schema["maximum"] + 1)
    elif type_ == "boolean":
        values.append("perhaps")
    elif type_ == "string":
        values.append({"a": 1})
        if isinstance(schema.get("enum"), list):
            values.append("no-such-value-of-all")
        if isinstance(schema.get("maxLength"), int) and schema["maxLength"] < 1000:
            values.append("x" * (schema["maxLength"] + 1))
    return values


@check("PH-4", "Documented defaults hold: what is left out is as if it were given", Category.PARAMETERS, "R-REQ-5")
async def defaults(run: Connected, result: Result) -> None:
    """Compare the answer without a parameter to that with its default."""
    kept = run.setup.evidence.setdefault("optional_defaults", [])
    for operation in run.setup.callable:
        entry = operation.row.shown_parameters.get("fields")
        if entry is None or not operation.row.selects or not operation.is_safe_read:
            continue
        default = entry.schema.get("default")
        if default not in ("minimal", "standard", "full"):
            continue
        without = await run.call(operation, operation.params or {})
        with_default = await run.call(operation, {**(operation.params or {}), "fields": default})
        right = without.ok and _data_of(without) == _data_of(with_default)
        result.expect(right, operation.name, f"fields is not '{default}' by default", without)
        path = _path_to_scalar(without.get("data"), "data")
        if path is not None:
            kept.append(
                {
                    "operation": operation.name,
                    "parameter": "fields",
                    "expected_value_path": path[0],
                    "expected_value": path[1],
                    "response": without,
                }
            )
    for operation in run.setup.callable:
        for name, parameter in operation.row.shown_parameters.items():
            if parameter.location != "query" or parameter.required or parameter.preset is None:
                continue
            _, arrived = await run.sent(operation, _without(operation, name))
            if arrived:
                sent = dict(arrived[-1].query).get(parameter.wire)
                result.expect(sent is not None, operation.name, f"does not send its default of {name}")


def _data_of(envelope: dict[str, Any]) -> Any:
    """Return the data of an answer without the cursors, which are new each time."""
    data = envelope.get("data")
    return {key: value for key, value in data.items() if key != "pageInfo"} if isinstance(data, dict) else data


def _without(operation: Operation, name: str) -> dict[str, Any]:
    return {key: value for key, value in (operation.params or {}).items() if key != name}


def _path_to_scalar(value: Any, path: str) -> tuple[str, Any] | None:
    if isinstance(value, str | int | bool):
        return path, value
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        if "." not in str(key):
            inner_path = _path_to_scalar(inner, f"{path}.{key}")
            if inner_path is not None:
                return inner_path
    return None


@check("PH-5", "A call of another family's tool is refused with the right one", Category.PARAMETERS, "R-REQ-6")
async def other_tools(run: Connected, result: Result) -> None:
    """Call operations by the tools of other families."""
    if len(run.adapter.tools) < 2:
        return
    for operation in run.setup.callable:
        without_query = run.adapter.tool(operation.family)
        other = next(name for name in run.adapter.tools if name != without_query)
        run.setup.api.arrived = []
        envelope = await run.adapter.send(other, {"operation": operation.name, "params": operation.params})
        error = envelope.error
        right = error.get("code") == "VALIDATION_ENDPOINT_MISMATCH" and without_query in str(error.get("message"))
        result.expect(right, operation.name, f"is taken by {other}", envelope)
        result.expect(not run.setup.api.arrived, operation.name, f"runs by {other}", envelope)


_HOSTILE = ("../../secret", "a/b?c=d&e=f#g", "x y+z%2e", "a;b=c", "..", ".")


@check("PH-6", "Values stay in their place in the request, whatever they hold", Category.PARAMETERS, "R-TRUST-7")
async def values_stay_in_place(run: Connected, result: Result) -> None:
    """Send path and query values that would leave their place if they were not encoded."""
    for operation in run.setup.callable[:60]:
        await _header_stays(run, result, operation)
        for name, parameter in operation.row.shown_parameters.items():
            is_placed = parameter.location in ("path", "query") and not parameter.allow_reserved
            if not is_placed or not operation.takes_any_text(parameter):
                continue
            for value in _HOSTILE:
                if value.strip(".") == "" and parameter.location != "path":
                    continue
                envelope, arrived = await run.sent(operation, {**(operation.params or {}), name: value})
                for request in arrived:
                    steps = {unquote(step) for step in request.path.split("/")} & {".", ".."}
                    result.expect(not steps, operation.name, f"{name}={value!r} leads elsewhere: {request.path}")
                    same = request.path.count("/") == operation.row.path.partition("?")[0].count("/")
                    result.expect(same, operation.name, f"{name}={value!r} changes the path: {request.path}", envelope)
                    names = {key for key, _ in request.query}
                    escaped = "e" in names and "e" not in {p.wire for p in operation.row.sent_parameters.values()}
                    result.expect(not escaped, operation.name, f"{name}={value!r} adds to the query", envelope)
                    if parameter.location == "query" and parameter.style == "form":
                        right = dict(request.query).get(parameter.wire) == value
                        result.expect(right, operation.name, f"{name}={value!r} arrives as another value", envelope)
            break


async def _header_stays(run: Connected, result: Result, operation: Operation) -> None:
    """Send a header that would begin another one."""
    for name, parameter in operation.row.shown_parameters.items():
        if parameter.location != "header" or not operation.takes_any_text(parameter):
            continue
        params = {**(operation.params or {}), name: "a\r\nX-Injected: 1"}
        await run.refused(result, operation, params, f"a line break in {name}", "VALIDATION_")
        return


@check("PH-7", "Arguments as text, and parameters beside the operation, are read or refused clearly",
      Category.PARAMETERS, "R-REQ-1")  # fmt: skip
async def forms_of_arguments(run: Connected, result: Result) -> None:
    """Send arguments in other forms."""
    tool = run.adapter.tool("read")
    cases: tuple[dict[str, Any], ...] = (
        {},
        {"operation": ""},
        {"operation": 7},
        {"params": {}},
        {"operation": "introspect", "params": 7},
    )
    for arguments in cases:
        envelope = await run.adapter.send(tool, arguments)
        right = envelope.get("success") is False and envelope.code.startswith(("VALIDATION_", "NOT_FOUND_"))
        result.expect(right, tool, f"is not refused: {arguments}", envelope)
    text = await run.adapter.send(tool, {"operation": "introspect", "params": '{"query": "operations"}'})
    result.expect(text.ok, tool, "does not read params as JSON text", text)
    for operation in [item for item in run.setup.reads(20) if item.required][:3]:
        beside = {"operation": operation.name, **(operation.params or {})}
        if len(beside) == 1 + len(operation.params or {}):
            flat = await run.adapter.send(tool, beside)
            result.expect(flat.ok, operation.name, "does not read parameters beside params", flat)
    unknown = await run.adapter.send(tool, {"operation": "no_such_operation", "params": {}})
    code = unknown.code
    result.expect(code == "NOT_FOUND_OPERATION", tool, "does not refuse an unknown operation", unknown)


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
