"""Introspection tells what is there, and what it tells is true (conformance testing, 3.1)."""

from __future__ import annotations

import re
from typing import Any

from aqlgen.check.operations import Operation, request_problem
from aqlgen.check.results import Category, Result
from aqlgen.check.run import Connected, check
from aqlgen.runtime.table import FAMILIES

_NAME = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
_READ_ONLY = {"create": (False, False), "read": (True, False), "update": (False, True), "delete": (False, True)}
_KINDS = ("scalar", "enum", "object", "union", "array", "list", "map")


@check("IF-1", "Every operation is listed once, with its family and what it does", Category.INTROSPECTION, "R-INT-2")
async def the_list_of_operations(run: Connected, result: Result) -> None:
    """Compare the list of operations with the table."""
    envelope = await run.adapter.introspect(query="operations", all=True)
    result.expect(envelope.keys() == {"success", "data"}, "introspect", "answers more than success and data", envelope)
    listed = envelope.data.get("operations") or []
    entries = {entry.get("name"): entry for entry in listed}
    run.setup.evidence["operations_list"] = envelope
    result.expect(len(entries) == len(listed), "operations", "a name is listed twice")
    result.expect("introspect" in entries, "introspect", "is not listed")
    for operation in run.setup.whole:
        entry = entries.get(operation.name)
        if not result.expect(entry is not None, operation.name, "is not listed") or entry is None:
            continue
        right = entry.get("endpoint") == operation.family and entry.get("semantic_category") == operation.row.category
        result.expect(right, operation.name, "is listed under another family", entry)
        result.expect(bool(str(entry.get("description", "")).strip()), operation.name, "has no description", entry)
    for name in entries:
        result.expect(_NAME.fullmatch(str(name)) is not None, str(name), "is not snake_case")
    await _narrowed(run, result, listed)
    await _paged(run, result, [str(entry.get("name")) for entry in listed])


async def _narrowed(run: Connected, result: Result, listed: list[dict[str, Any]]) -> None:
    """Expect of each category the operations that it has."""
    for family in FAMILIES:
        envelope = await run.adapter.introspect(query="operations", category=family.upper(), all=True)
        names = {entry.get("name") for entry in envelope.data.get("operations") or ()}
        expected = {entry.get("name") for entry in listed if entry.get("endpoint") == family}
        result.expect(names == expected, f"category {family}", "lists other operations than it has", envelope)


async def _paged(run: Connected, result: Result, names: list[str]) -> None:
    """Expect that the pages of the list lead to its end, as far as a few go."""
    size = max(2, len(names) // 4)
    seen: list[str] = []
    params: dict[str, Any] = {"first": min(size, 50)}
    for _ in range(6):
        envelope = await run.adapter.introspect(query="operations", **params)
        data = envelope.get("data") or {}
        page = [str(entry.get("name")) for entry in data.get("operations") or ()]
        seen += page
        following = ((data.get("_protocol") or {}).get("page") or {}).get("next")
        if following is None or not page:
            break
        params["after"] = following
    is_whole = len(seen) == len(names) or len(seen) >= 6
    result.expect(seen == names[: len(seen)] and is_whole, "operations", f"its pages give {seen[:20]}")
    if len(seen) < len(names) and following is None:
        result.expect(False, "operations", f"its pages end after {len(seen)} of {len(names)}")


@check(
    "IF-2", "Details name the parameters, the tool and the result of each operation", Category.INTROSPECTION, "R-INT-4"
)
async def the_details_of_operations(run: Connected, result: Result) -> None:
    """Read the details of each operation, and of the types that they name."""
    types = await run.adapter.introspect(query="types", all=True)
    listed = {entry.get("name") for entry in types.data.get("types") or ()}
    run.setup.evidence["types_list"] = types
    kept = run.setup.evidence.setdefault("operation_details", [])
    about_itself = await run.adapter.introspect(query="operations", name="introspect")
    kept.append(about_itself.data.get("operation"))
    for operation in run.setup.operations:
        envelope = await run.adapter.introspect(query="operations", name=operation.name)
        details = envelope.data.get("operation")
        if not result.expect(bool(details), operation.name, "has no details", envelope) or not isinstance(
            details, dict
        ):
            continue
        kept.append(details)
        name, family = operation.name, operation.family
        right = details.get("name") == name and details.get("endpoint") == family
        right = right and details.get("semantic_category") == operation.row.category
        result.expect(right, name, "is described as another operation", details)
        result.expect(details.get("mcpTool") in run.adapter.tools, name, "names a tool that is not offered", details)
        result.expect(details.get("mcpTool") == run.adapter.tool(family), name, "names another family's tool", details)
        permissions = details.get("permissions") or {}
        expected = _READ_ONLY.get(family, (False, True))
        shown = (permissions.get("readOnly"), permissions.get("destructive"))
        result.expect(shown == expected, name, f"has permissions {permissions}", details)
        await _parameters(run, result, operation, details)
        returns = details.get("returns") or {}
        result.expect(returns.get("name") == operation.row.returns["name"], name, "returns another type", details)
        result.expect(returns.get("kind") in _KINDS, name, f"returns no kind of type: {returns}", details)
        base = re.sub(r"[\[\]!?]|\.params$", "", str(returns.get("name")))
        result.expect(base in listed or base in ("any", "null"), name, f"returns a type that is not listed: {base}")
        if operation.params is not None:
            result.expect(bool(details.get("examples")), name, "shows no example")


async def _parameters(run: Connected, result: Result, operation: Any, details: dict[str, Any]) -> None:
    entries = details.get("parameters") or []
    table = {name: parameter.required for name, parameter in operation.row.shown_parameters.items()}
    if len(entries) < len(table):
        says_where = f"{operation.name}.params" in str(details.get("description"))
        result.expect(says_where, operation.name, "leaves out parameters, and does not say where they are", details)
        whole = await run.adapter.introspect(query="types", name=f"{operation.name}.params", all=True)
        entries = (whole.data.get("type") or {}).get("fields") or entries
    shown = {entry.get("name"): entry.get("required") for entry in entries}
    result.expect(shown == table, operation.name, f"shows parameters {sorted(map(str, shown))[:20]}", details)
    for entry in entries:
        right = isinstance(entry.get("type"), str) and isinstance(entry.get("required"), bool)
        result.expect(right, operation.name, f"parameter {entry.get('name')} has no type", entry)
        _constraints(result, operation, entry)


def _constraints(result: Result, operation: Any, entry: dict[str, Any]) -> None:
    """Expect that introspection says what the document bounds."""
    parameter = operation.row.shown_parameters.get(entry.get("name"))
    schema = {} if parameter is None else operation.schema(parameter)
    values = schema.get("enum")
    if isinstance(values, list) and "enum" in entry:
        missing = [value for value in values if value not in entry["enum"] and value is not None]
        cut = len(entry["enum"]) >= 20
        result.expect(not missing or cut, operation.name, f"{entry['name']} leaves out the values {missing[:5]}", entry)
    for key in ("minimum", "maximum", "pattern"):
        if key in schema and key in entry:
            result.expect(entry[key] == schema[key], operation.name, f"{entry['name']} has another {key}", entry)
    if "default" in schema and "default" in entry:
        right = entry["default"] == schema["default"]
        result.expect(right, operation.name, f"{entry['name']} has another default", entry)


@check("IF-3", "Every call made of introspection alone succeeds, and sends the request of the document",
      Category.INTROSPECTION, "R-INT-4, R-INT-7")  # fmt: skip
async def examples_work(run: Connected, result: Result) -> None:
    """Call each operation with its example."""
    for operation in run.setup.callable:
        params = operation.params or {}
        run.setup.api.forget()
        envelope, arrived = await run.sent(operation, params)
        if not result.expect(envelope.ok, operation.name, "its own example fails", envelope):
            continue
        about_itself = [request for request in arrived if request.method == operation.row.method]
        if operation.row.servers and not arrived:
            continue  # it is at an address of its own
        most = 4 if operation.reads_first else 1
        right = bool(about_itself) and len(arrived) <= most
        if not result.expect(right, operation.name, f"sent {len(arrived)} requests", envelope):
            continue
        problem = request_problem(operation, params, about_itself[-1])
        result.expect(problem is None, operation.name, f"its request is wrong: {problem}", envelope)
        result.expect("data" in envelope and "error" not in envelope, operation.name, "is no success", envelope)


@check("IF-4", "What is documented is accepted, and reaches the API", Category.INTROSPECTION, "R-INT-4")
async def optional_parameters_work(run: Connected, result: Result) -> None:
    """Send each optional parameter of simple type with a value of its schema."""
    for operation in run.setup.callable:
        for name, parameter in operation.row.shown_parameters.items() if not operation.row.choices else ():
            is_plain = parameter.location in ("query", "header") and not parameter.content_type
            if parameter.required or not is_plain or name in (operation.params or {}):
                continue
            value = _optional_value(operation, name)
            if value is None:
                continue
            envelope, arrived = await run.sent(operation, {**(operation.params or {}), name: value})
            if not envelope.ok:
                refused = envelope.code.startswith("VALIDATION_")
                result.expect(refused, operation.name, f"{name}={value!r} fails", envelope)
            elif arrived and arrived[-1].method == operation.row.method:
                problem = request_problem(operation, {name: value}, arrived[-1])
                result.expect(problem is None or "path" in problem, operation.name, f"{problem}", envelope)


def _optional_value(operation: Operation, name: str) -> Any:
    """Return a value of a parameter; a list in the query has two items, if it may; None for what is not simple."""
    value, location = operation.sample(name), operation.row.shown_parameters[name].location
    if isinstance(value, list):
        is_single = len(value) == 1 and isinstance(value[0], str | int)
        twice = is_single and not operation.schema(operation.row.shown_parameters[name]).get("uniqueItems")
        return None if not value or location != "query" else value * 2 if twice else value
    return value if isinstance(value, str | int | float) else None


@check("IF-5", "Every type that introspection names is described", Category.INTROSPECTION, "R-INT-5")
async def types_are_closed(run: Connected, result: Result) -> None:
    """Describe types, and look for those that their fields name."""
    envelope = await run.adapter.introspect(query="types", all=True)
    listed = envelope.data.get("types") or []
    names = {entry.get("name") for entry in listed}
    result.expect(bool(names), "types", "no types are listed", envelope)
    for entry in listed[:: max(1, len(listed) // 60)]:
        answer = await run.adapter.introspect(query="types", name=entry["name"])
        details = answer.data.get("type") or {}
        right = details.get("name") == entry["name"] and details.get("kind") == entry.get("kind")
        result.expect(right, entry["name"], "is described as another type", answer)
        if details.get("kind") == "enum":
            result.expect(bool(details.get("values")), entry["name"], "is an enumeration without values", answer)


@check("IF-6", "An operation is found by its name, and an unknown query is refused with the known ones",
      Category.INTROSPECTION, "R-INT-1")  # fmt: skip
async def operations_are_found(run: Connected, result: Result) -> None:
    """Search for operations by their exact names."""
    for operation in run.setup.operations[:: max(1, len(run.setup.operations) // 40)]:
        envelope = await run.adapter.introspect(query="search", search=operation.name)
        data = envelope.get("data") or {}
        names = [entry.get("name") for entry in data.get("operations") or ()]
        result.expect(names[:1] == [operation.name], operation.name, "is not the first hit for its name", envelope)
        result.expect("match" not in data, operation.name, "is told as a weak match of its own name", envelope)
    nonsense = await run.adapter.introspect(query="search", search="qzxv wkjq")
    right = nonsense.data.get("match") == "nothing"
    result.expect(right, "search", "does not say that words of no operation find nothing", nonsense)
    unknown = await run.adapter.introspect(query="no_such_query")
    error = unknown.error
    right = error.get("code") == "VALIDATION_INVALID_VALUE" and "operations" in str(error.get("message"))
    result.expect(right, "introspect", "an unknown query is not refused with the known ones", unknown)
    none = await run.adapter.introspect(query="operations", name="no_such_operation_at_all")
    right = none.ok and none.data.get("operation", 0) is None
    result.expect(right, "introspect", "an unknown name is not answered with null", none)


@check("IF-7", "The limits, modes and safety of the adapter are told", Category.INTROSPECTION, "R-INT-6, R-LOOP-2")
async def capabilities_are_told(run: Connected, result: Result) -> None:
    """Read the details of introspect, which carry the adapter's own facts."""
    danger = await run.adapter.introspect(query="danger")
    summary = danger.data.get("summary") or {}
    levels = {"safe", "reversible", "destructive", "dangerous", "forbidden"}
    result.expect(levels <= summary.keys(), "danger", "does not count every level", danger)
    for operation in run.setup.operations[:: max(1, len(run.setup.operations) // 25)]:
        answer = await run.adapter.introspect(query="danger", name=operation.name)
        text = str(answer.get("data"))
        result.expect(operation.row.danger in text, operation.name, "is told with another danger", answer)
