"""Tests of data: written as read, and changed by an update as far as it names them (conformance testing, 3.4)."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Any

from aqlgen.conformance.operations import Operation, path_of
from aqlgen.conformance.results import Category, Result
from aqlgen.conformance.run import Connected, check
from aqlgen.conformance.stand_in import Arrived, Reply
from aqlgen.runtime.schema import at, steps_of, union_of
from aqlgen.runtime.table import JsonSchema, Row, Table

_AWKWARD = 'a "b" \\ c\n\u221a \U0001f6b2 </d>'


@check("RT-1", "What an operation is given arrives at the API unchanged", Category.ROUND_TRIP, "R-REQ-2")
async def writes_arrive(run: Connected, result: Result) -> None:
    """Send the bodies of the examples, and compare what arrives."""
    for operation in run.setup.callable:
        row, params = operation.row, operation.params or {}
        if row.body is None or operation.family == "read" or row.update is not None or row.choices:
            continue
        if "json" not in row.body.content_type:
            continue
        envelope, arrived = await run.sent(operation, params)
        if not envelope.ok or not arrived:
            continue
        sent = _scalars(arrived[-1].data)
        fields = {name: value for name, value in params.items() if _is_body(operation, name)}
        missing = [value for value in _scalars(fields) if value not in sent]
        result.expect(not missing, operation.name, f"these values do not arrive: {missing[:5]}", envelope)
        await _awkward_text(run, result, operation)


async def _awkward_text(run: Connected, result: Result, operation: Operation) -> None:
    """Send a text of characters that JSON escapes in a field of plain text."""
    for name in operation.params or {}:
        parameter = operation.row.parameters.get(name)
        if parameter is None or parameter.location != "body" or not operation.takes_any_text(parameter):
            continue
        envelope, arrived = await run.sent(operation, {**(operation.params or {}), name: _AWKWARD})
        if envelope.ok and arrived:
            data = arrived[-1].data
            body = data if isinstance(data, str) else arrived[-1].body[:200]
            value = data.get(parameter.wire) if isinstance(data, dict) else body
            result.expect(value == _AWKWARD, operation.name, f"{name} arrives as {value!r}", envelope)
        return


def _is_body(operation: Operation, name: str) -> bool:
    parameter = operation.row.parameters.get(name)
    return parameter is not None and parameter.location in ("body", "body_rest") and not parameter.content_type


def _scalars(value: Any) -> list[str]:
    """Return the values within data as JSON, a number without its form: 1.0 is 1."""
    if isinstance(value, dict):
        return [text for inner in value.values() for text in _scalars(inner)]
    if isinstance(value, list):
        return [text for inner in value for text in _scalars(inner)]
    return [json.dumps(int(value) if isinstance(value, float) and value.is_integer() else value)]


@check("RT-2", "What the API answers is what the agent reads, field by field", Category.ROUND_TRIP, "R-SEL-1")
async def answers_arrive(run: Connected, result: Result) -> None:
    """Compare answers with the API's, and each undeclared field with itself."""
    kept = run.setup.evidence.setdefault("round_trip_tests", [])
    for operation in run.setup.callable:
        if not operation.is_safe_read or operation.row.paging is not None or not operation.row.selects:
            continue
        run.setup.api.forget()
        sent = run.setup.api.answer(Arrived("GET", path_of(operation), (), {}, b"", api=operation.row.api))
        data = sent.data
        if not isinstance(data, dict) or not data:
            continue
        with run.setup.api.behaving(Reply.of(sent.status, {**data, "x_Undeclared-Key": {"inner Key": [1, None]}})):
            envelope = await run.with_fields(operation, "full")
        if not result.expect(envelope.ok, operation.name, "fails", envelope):
            continue
        got = envelope.data if isinstance(envelope.data, dict) else {}
        for problem in () if envelope.get("warnings") else _losses(operation, data, envelope.data, got):
            result.expect(False, operation.name, problem, envelope)
        result.expect(True, operation.name, "")
        fields = {f"data.{key}": value for key, value in got.items()
                  if isinstance(value, str | int | bool) and "." not in key}  # fmt: skip
        if fields:
            kept.append({"name": operation.name, "expected_fields": dict(list(fields.items())[:5]),
                         "read_response": envelope})  # fmt: skip


def _losses(operation: Operation, data: dict[str, Any], shown: Any, got: dict[str, Any]) -> Iterator[str]:
    """Yield what an answer loses or changes of the API's data."""
    whole = _scalars(shown)
    missing = [value for value in _scalars(data)[:200] if value not in whole]
    if missing:
        yield f"these values are lost: {missing[:5]}"
    if '"x_Undeclared-Key": {"inner Key": [1, null]}' not in json.dumps(shown):
        yield "an undeclared field is changed"
    kept = [wire for wire, name in _renamed(operation, data).items() if got and name not in got]
    if kept:
        yield f"keeps the API's names of {kept[:5]}"


def _renamed(operation: Operation, data: dict[str, Any]) -> dict[str, str]:
    """Return the fields of an answer that agents know by another name, by the API's name."""
    names: dict[str, set[str]] = {}
    for name, (wire, _) in union_of(operation.table.types, _answered(operation.row)).properties.items():
        names.setdefault(wire, set()).add(name)
    return {wire: next(iter(known)) for wire, known in names.items()
            if wire in data and len(known) == 1 and wire not in known}  # fmt: skip


def _answered(row: Row) -> JsonSchema:
    """Return the schema of what an operation answers with when it succeeds."""
    status = next((status for status in sorted(row.responses) if status.startswith("2")), "default")
    schema = row.responses.get(status, {}).get("schema")
    return schema if isinstance(schema, dict) else {}


def _taken(resource: Any, row: Row, table: Table) -> Any:
    """Return those fields of a resource that an update of it takes, also within an envelope.

    A resource of which nothing is declared is taken whole.
    """
    written = row.body.schema if row.body is not None else {}
    wires = {wire for wire, _ in union_of(table.types, written).properties.values()}
    things = [resource]
    for thing in things:
        if isinstance(thing, dict):
            taken = {key: value for key, value in thing.items() if key in wires}
            if taken:
                return taken
            things += thing.values()
    reader = table.find(row.update.read or "", "read") if row.update is not None else None
    return {} if wires and reader is not None and union_of(table.types, _answered(reader)).properties else resource


@check("RT-3", "An update sends what it names, and keeps what it does not", Category.ROUND_TRIP, "R-UPD-1")
async def updates_preserve(run: Connected, result: Result) -> None:
    """Update resources that have more fields than the update names."""
    kept = run.setup.evidence.setdefault("update_preservation_tests", [])
    for operation in run.setup.callable:
        params = operation.params or {}
        if operation.row.update is None or not isinstance(params.get("input"), dict):
            continue
        run.setup.api.forget()
        envelope, arrived = await run.sent(operation, params)
        writes = [request for request in arrived if request.method == operation.row.method]
        if not envelope.ok or not writes:
            continue
        body, named, written = _scalars(writes[-1].data), _scalars(params["input"]), _written(writes[-1])
        lost = [value for value in named if value not in written and f'"{value}"' not in written]
        result.expect(not lost, operation.name, f"these values do not arrive: {lost[:5]}", envelope)
        if not operation.reads_first:
            right = operation.row.method != "PATCH" or len(body) <= len(named) + 2
            result.expect(right, operation.name, "sends more than it was given", envelope)
            continue
        is_read = any(request.method == "GET" for request in arrived)
        result.expect(is_read, operation.name, "replaces without reading first", envelope)
        resource = run.setup.api.answer(Arrived("GET", writes[-1].path, (), {}, b"", api=writes[-1].api)).data
        before = _scalars(_taken(resource, operation.row, run.setup.api.table))
        result.expect(len(body) > len(named) or len(before) <= len(named), operation.name,
                      "sends only what was named, so that the rest is lost", envelope)  # fmt: skip
        await _removed(run, result, operation)
        data = envelope.data if isinstance(envelope.data, dict) else {}
        flat = {f"data.{key}": value for key, value in data.items() if isinstance(value, str | int)}
        if flat:
            kept.append({"name": operation.name, "preserved_fields": dict(list(flat.items())[:5]),
                         "read_response": envelope})  # fmt: skip


def _written(request: Arrived) -> list[str]:
    """Return the values that a request writes, as JSON: of its body, or of a form, whose parts can be JSON or files."""
    written = [*_scalars(request.data), *(json.dumps(text) for text in request.texts)]
    for _, text in request.form:
        written.append(json.dumps(b64encode(text.encode()).decode()))  # as the agent gave a file
        with suppress(ValueError):
            written += _scalars(json.loads(text))
    return written


async def _removed(run: Connected, result: Result, operation: Operation) -> None:
    """Remove a field of what is read, which the API must be told."""
    update, api = operation.row.update, run.setup.api
    reader = None if update is None else operation.table.find(update.read or "", "read")
    if update is None or reader is None or update.strategy != "put-merge":
        return
    api.forget()
    asked = Arrived("GET", path_of(Operation(reader, operation.table)), (), {}, b"", api=reader.api)
    before = at(api.answer(asked).data, steps_of(update.read_at))
    shape = union_of(operation.table.types, operation.row.shown_parameters["input"].schema)
    texts = {wire for wire, value in before.items() if isinstance(value, str)} if isinstance(before, dict) else set()
    removable = (
        (name, wire)
        for name, (wire, inner) in shape.properties.items()
        if wire in texts and not {name, wire} & shape.required and "null" not in str(inner) and "$ref" not in inner
    )
    for name, wire in islice(removable, 1):
        envelope, arrived = await run.sent(operation, {**(operation.params or {}), "input": {name: None}})
        writes = [request for request in arrived if request.method == operation.row.method]
        if envelope.ok and writes:
            body = at(writes[-1].data, steps_of(update.write_at))
            is_gone = not isinstance(body, dict) or body.get(wire) is None
            result.expect(is_gone, operation.name, f"{name}: null does not remove {wire}", envelope)


@check("RT-4", "An update that somebody else overtook writes nothing", Category.ROUND_TRIP, "R-UPD-2")
async def updates_notice_changes(run: Connected, result: Result) -> None:
    """Change a resource between the reading and the write."""
    for operation in run.setup.callable:
        update = operation.row.update
        if update is None or not operation.reads_first or not isinstance((operation.params or {}).get("input"), dict):
            continue
        run.setup.api.forget()
        reads: list[int] = []

        def changing(request: Arrived, reads: list[int] = reads, operation: Operation = operation) -> Reply | None:
            if request.method != "GET":
                return None
            row = run.setup.api.row_of("GET", request.path, request.api)
            reply = None if row is None else run.setup.api.shape(row)
            overtaken = None if reply is None else _overtaken(reply.data, operation)
            if reply is None or overtaken is None:
                return None
            reads.append(1)
            data = reply.data if len(reads) == 1 else overtaken
            return Reply.of(reply.status, data, **_tags(reply, len(reads)))

        with run.setup.api.behaving(changing):
            envelope, _ = await run.sent(operation, operation.params or {})
            writes = [request for request in run.setup.api.arrived if request.method == operation.row.method]
        if len(reads) < 2 and not any("if-match" in request.headers for request in writes):
            continue
        is_noticed = envelope.get("success") is False or any("if-match" in request.headers for request in writes)
        result.expect(is_noticed, operation.name, "overwrites what changed in between", envelope)
        await _conditional(run, result, operation)


async def _conditional(run: Connected, result: Result, operation: Operation) -> None:
    """Answer reads with an ETag, which the write must name (RFC 9110, 13.1.1)."""
    run.setup.api.forget()

    def tagged(request: Arrived) -> Reply | None:
        row = run.setup.api.row_of("GET", request.path, request.api) if request.method == "GET" else None
        if row is None:
            return None
        reply = run.setup.api.shape(row)
        return Reply(reply.status, reply.body, {**reply.headers, "ETag": '"v-7"'})

    with run.setup.api.behaving(tagged) as arrived:
        envelope = await run.call(operation, operation.params or {})
    writes = [request for request in arrived if request.method == operation.row.method]
    conditions = {request.headers.get("if-match") for request in writes}
    if envelope.get("success") and writes:
        result.expect(conditions == {'"v-7"'}, operation.name, f"is written if-match {conditions}", envelope)


def _overtaken(resource: Any, operation: Operation) -> Any:
    """Return a resource of which somebody else changed what an update takes; None if there is nothing to change."""
    stamped = _stamped(resource)
    takes = [_taken(data, operation.row, operation.table) for data in (resource, stamped)]
    return stamped if isinstance(resource, dict) and takes[0] != takes[1] else None


def _stamped(value: Any) -> Any:
    """Return data of which every text was changed by somebody else."""
    if isinstance(value, dict):
        return {key: _stamped(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_stamped(inner) for inner in value]
    return f"{value}2" if isinstance(value, str) else value


def _tags(reply: Reply, number: int) -> dict[str, str]:
    return {name: f'"{number}"' for name in reply.headers if name.lower() == "etag"}
