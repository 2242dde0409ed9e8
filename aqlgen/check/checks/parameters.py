"""Parameters are handled as they are documented (conformance testing, 3.2)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import islice
from typing import Any
from urllib.parse import unquote

from aqlgen.check.checks.lists import without
from aqlgen.check.operations import Operation, schema_of
from aqlgen.check.results import Category
from aqlgen.check.run import Run, check
from aqlgen.runtime.schema import shape_of
from aqlgen.runtime.witness import Document
from aqlgen.runtime.witness.samples import BOUNDS, LONGEST, sample

UNKNOWN = "no_such_parameter"
_ADDED = (
    UNKNOWN, "fields", "first", "after", "last", "before", "where", "aggregate", "dry_run", "if_match", "as",
    "confirmation_token",
)  # fmt: skip
"""A parameter that no operation has, and those that adapters add to some."""
_MOST_WRONG = 24
_UNDECLARED = "noSuchField"  # a field of no document


@check("PH-1", "A call without a required parameter is refused by its name", Category.PARAMETERS, "R-REQ-4")
async def required_parameters(run: Run) -> None:
    """Leave out each required parameter in turn."""
    missing, code = "missing_required", "VALIDATION_MISSING_PARAM"
    answer = await run.introspect()
    run.expect(answer.code == code, "introspect", "needs no query")
    run.keep(missing, operation="introspect", parameter="query", response=answer)
    for operation in run.callable:
        for name in operation.required:
            params = without(operation.params, name)
            answer = await run.refused(operation, params, f"a call without {name}", code, f"'{name}'")
            run.keep(missing, operation=operation.name, parameter=name, response=answer)
        if len(operation.required) > 1 and not operation.row.choices:
            answer = await run.refused(operation, {}, "a call without parameters", code)
            message = str(answer.error.get("message"))
            right = all(f"'{name}'" in message for name in operation.required)
            run.expect(right, operation, f"does not say that {operation.required} are missing")


@check("PH-2", "An unknown parameter is refused with the known ones", Category.PARAMETERS, "R-REQ-3")
async def unknown_parameters(run: Run) -> None:
    """Send every parameter that is shown, one that no operation has, and those that are of other operations."""
    itself = (await run.introspect(query="operations", name="introspect")).data.get("operation") or {}
    known = [entry["name"] for entry in itself.get("parameters") or ()]
    answer = await run.introspect(**dict.fromkeys((*known, *_ADDED)) | {"query": "operations"})
    text = str(answer.error.get("message")).partition(". ")[0]
    refused = [name for name in (*known, *_ADDED) if re.search(rf"\b{name}\b", text)]
    run.expect(set(refused) == set(_ADDED) - set(known), "introspect", f"refuses {refused}, and shows {known}")
    run.keep("accepted_parameters", name="introspect", accepted=[name for name in known if name not in refused])
    for operation in run.operations:
        await _unknown(run, operation)


async def _unknown(run: Run, operation: Operation) -> None:
    known, row = list(operation.row.shown_parameters), operation.row
    shapes = [shape_of(operation.table.types, parameter.schema) for parameter in row.parameters.values()]
    fields = {name for shape in shapes for names in shape.properties.items() for name in (names[0], names[1][0])}
    others = [name for name in _ADDED if name not in fields | row.parameters.keys() | row.wire_names.keys()]
    shown = {} if row.choices else dict.fromkeys(known)  # of several kinds of body a call has one
    params, code = {**shown, **operation.params, **dict.fromkeys(others, 1)}, "VALIDATION_UNKNOWN_PARAM"
    answer = await run.refused(operation, params, "an unknown parameter", code, UNKNOWN)
    refused, message = list(answer.details.get("unknown_params") or ()), str(answer.error.get("message"))
    run.expect(set(refused) == set(others), operation, f"of {others} it refuses {refused}")
    run.keep("accepted_parameters", name=operation.name, accepted=[name for name in known if name not in refused])
    right = not known or any(f"'{name}'" in message for name in known)
    valid = answer.details.get("valid_params")
    run.expect(right and (row.choices or valid == known), operation, f"names the known parameters as {valid}")
    run.keep("unknown_parameter", operation=operation.name, parameter=UNKNOWN, response=answer)
    run.keep("error_tests", name=f"unknown-{operation.name}", must_mention=[UNKNOWN, *known[:1]], response=answer)


async def _send_wrong_values(run: Run, *, are_updates: bool) -> None:
    """Send a value of each parameter, and of each field in a body, that its schema does not allow."""
    for operation in [item for item in run.callable if item.updates is are_updates]:
        stated = run.documented(operation)
        if stated is None:
            continue
        for name, value in run.sampled(operation, 1).items():
            schema, is_body = schema_of(stated, operation.row, name), operation.updates and name == "input"
            cases = wrong(stated.document, schema, value, set(), is_body=is_body)
            for place, refused in islice(cases, _MOST_WRONG):
                what, mentioned = f"{name}{place}={str(refused)[:60]!r}", _UNDECLARED if _UNDECLARED in place else name
                params = {**operation.params, name: refused}
                answer = await run.refused(operation, params, what, "VALIDATION_", mentioned)
                run.keep("constraint_tests", name=f"{operation.name}.{name}{place}", documented=True, response=answer)


def wrong(
    document: Document, schema: Any, value: Any, known: set[int], depth: int = 0, *, is_body: bool = False
) -> Iterator[tuple[str, Any]]:
    """Yield values like a valid one, each wrong in one place; below the top each schema is tried once.

    The place of a field that nobody may give, undeclared in a closed object or at the top of a body read-only, ends
    with `+`.
    """
    schema = document.deref(schema)
    if not document.is_plain(schema) or (depth > 0 and id(schema) in known):
        return
    known.add(id(schema))
    if isinstance(value, dict):
        names = [name for name, each in document.properties(schema).items() if document.is_marked(each)]
        yield from _wrong_fields(document, schema, value, known, depth, names[:is_body])
    elif isinstance(value, list):
        items = wrong(document, document.items(schema), value[0], known, depth + 1) if value else ()
        yield from ((f"/0{place}", [each]) for place, each in items)
    else:
        yield from (("", each) for each in _refused(schema) if document.problems(schema, each))


def _wrong_fields(
    document: Document, schema: Any, value: Mapping[str, Any], known: set[int], depth: int, marked: list[str]
) -> Iterator[tuple[str, Any]]:
    properties, is_closed = document.properties(schema), schema.get("additionalProperties") is False
    for name in [*marked, *[_UNDECLARED] * is_closed]:
        changed = {**value, name: sample(document, properties.get(name, {}), answers=True)}
        if name in marked or document.problems(schema, changed):  # a pattern of names may take it
            yield f"/{name}+", changed
    for name in [name for name in properties if name in value]:
        for place, inner in wrong(document, properties[name], value[name], known, depth + 1):
            yield f"/{name}{place}", {**value, name: inner}


def _refused(schema: Mapping[str, Any]) -> Iterator[Any]:
    """Yield values that a schema of a single value may refuse."""
    yield from ("no such value", {"a": 1}, 1.5)
    yield "x" * (min(int(schema.get("maxLength") or 0), 10 * LONGEST) + 1)
    bounds = zip(BOUNDS, (-1, 1, 0, 0), strict=True) if schema.get("type") != "string" else ()  # of no text
    yield from (schema[word] + sign for word, sign in bounds if type(schema.get(word)) in (int, float))


check("PH-3", "A value that the document does not allow is refused at any depth", Category.PARAMETERS,
      "R-REQ-3, R-REQ-4, R-ERR-1")(partial(_send_wrong_values, are_updates=False))  # fmt: skip
check("CD-1", "An update refuses undocumented values and read-only fields", Category.CONSTRAINTS,
      "R-UPD-1, R-ERR-1")(partial(_send_wrong_values, are_updates=True))  # fmt: skip


@check("PH-4", "Documented defaults apply to omitted parameters", Category.PARAMETERS, "R-REQ-5")
async def defaults(run: Run) -> None:
    """Compare the answer without a parameter to that with its default."""
    for operation in run.callable:
        name, default = operation.row.selector, operation.row.default_fields
        if operation.is_safe_read and operation.row.selector and default in ("minimal", "standard", "full"):
            usual, explicit = await run.call(operation), await run.call(operation, {**operation.params, name: default})
            data = [without(each.data, "pageInfo") if isinstance(each.data, dict) else each.data
                    for each in (usual, explicit)]  # fmt: skip
            run.expect(usual.ok and data[0] == data[1], operation, f"{name} is not '{default}' by default")
            for path, value in list(usual.fields.items())[:1]:
                run.keep("optional_defaults", operation=operation.name, parameter=name, expected_value_path=path,
                         expected_value=value, response=usual)  # fmt: skip


@check("PH-5", "A call of another family's tool is refused with the right one", Category.PARAMETERS, "R-REQ-6")
async def other_tools(run: Run) -> None:
    """Call operations, the protocol's own too, by the tools of other families."""
    listed = (await run.introspect(query="operations", all=True)).data.get("operations") or ()
    known = {operation.name for operation in run.whole}
    calls = [(operation.name, operation.params, operation.family) for operation in run.callable]
    calls += [(each["name"], {"query": "operations"}, each["endpoint"]) for each in listed if each["name"] not in known]
    for name, params, family in calls:
        tool = run.adapter.tool(family)
        for other in [each for each in run.adapter.tools if each != tool][:1]:
            answer = await run.send(other, {"operation": name, "params": params})
            right = answer.code == "VALIDATION_ENDPOINT_MISMATCH" and tool in str(answer.error.get("message"))
            run.expect(right and not run.arrived, name, f"is taken by {other}")


_HOSTILE = ("../../secret", "a/b?c=d&e=f#g", "a;b=c", "..", ".")


@check("PH-6", "A value cannot leave its place in a path or a header", Category.PARAMETERS, "R-TRUST-7")
async def values_stay_in_place(run: Run) -> None:
    """Send values that would leave their place if they were not encoded; IF-4 sees what arrives in other places."""
    for operation in run.callable[:60]:
        places = {parameter.location: name for name, parameter in operation.row.shown_parameters.items()
                  if operation.takes_any_text(parameter) and not parameter.allow_reserved}  # fmt: skip
        if "header" in places:
            params = {**operation.params, places["header"]: "a\r\nX-Injected: 1"}
            await run.refused(operation, params, f"a line break in {places['header']}", "VALIDATION_")
        for value in _HOSTILE if "path" in places else ():
            await run.call(operation, {**operation.params, places["path"]: value})
            steps = operation.row.path.partition("?")[0].count("/")
            for request in run.arrived:
                parts = [unquote(step) for step in request.path.split("/")]
                right = len(parts) == steps + 1 and not {".", ".."} & set(parts)
                run.expect(right, operation, f"{places['path']}={value!r} leads to {request.path}")


@check("PH-7", "A call sends the same request in every notation", Category.PARAMETERS, "R-REQ-1")
async def forms_of_arguments(run: Run) -> None:
    """Send arguments in other forms."""
    tool = run.adapter.tool("read")
    text = await run.send(tool, {"operation": "introspect", "params": '{"query": "operations"}'})
    run.expect(text.ok, tool, "does not read params as JSON text")
    both = await run.send(tool, {"operation": "introspect", "params": {"query": "operations"}, "query": "types"})
    run.expect("operations" in both.data, tool, "prefers a parameter beside params to the one in it")
    for operation in [item for item in run.reads(40) if item.required and "operation" not in item.params][:3]:
        await _by_every_way(run, operation)


async def _by_every_way(run: Run, operation: Operation) -> None:
    """Compare the request and the data of a call with those of the same call, written otherwise."""
    name, params, known, tool = operation.name, operation.params, operation.row.parameters, run.adapter.tool("read")
    spelled = {known[key].wire: key for key in params if known[key].wire not in known}
    wire = {item.wire if item.wire in spelled else key: params[key] for key, item in known.items() if key in params}
    item, usual = {"operation": name, "params": params}, await run.call(operation)
    sent = [request.without_headers for request in run.arrived]
    ways: dict[str, dict[str, Any]] = {
        "as JSON text": {"operation": name, "params": json.dumps(params)},
        "beside the operation": {"operation": name, **params},
        "in the API's spelling": {"operation": name, "params": wire},
        "in a batch": {"operations": [item]},
        "before others beside it": {**dict.fromkeys(wire, "other"), **dict.fromkeys(params, "other"), **item},
    }
    for way, arguments in ways.items():
        answer = await run.send(tool, arguments)
        result: Any = answer["results"][0]["result"] if answer.get("results") else answer
        right = result.get("data") == usual.get("data") and [each.without_headers for each in run.arrived] == sent
        run.expect(right, operation, f"does something else when its parameters stand {way}")
    await run.own("execute", "run_steps", steps=[item])
    run.expect([each.without_headers for each in run.arrived] == sent, operation, "sends something else in a plan")
    for other, key in spelled.items():
        await run.refused(operation, {**params, other: params[key]}, f"{key} and {other}", "VALIDATION_")
