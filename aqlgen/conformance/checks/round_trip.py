"""What is written is what is read, and an update changes what it names and nothing else (conformance testing, 3.4)."""

from __future__ import annotations

import json
from typing import Any

from aqlgen.conformance.operations import Operation
from aqlgen.conformance.results import Category, Result
from aqlgen.conformance.run import Connected, check
from aqlgen.conformance.stand_in import Arrived, Reply

_MARK = "conformance-check"


@check("RT-1", "What an operation is given arrives at the API unchanged", Category.ROUND_TRIP, "R-REQ-2")
async def writes_arrive(run: Connected, result: Result) -> None:
    """Send the bodies of the examples, and compare what arrives with what a dry run showed."""
    for operation in run.setup.callable:
        body = operation.row.body
        if body is None or operation.family == "read" or "json" not in body.content_type or operation.row.choices:
            continue
        if operation.row.update is not None:
            continue
        params = operation.params or {}
        envelope, arrived = await run.sent(operation, params)
        if not envelope.get("success") or not arrived:
            continue
        scalars = sorted(_scalars({name: value for name, value in params.items() if _is_body(operation, name)}))
        got = sorted(_scalars(arrived[-1].data))
        missing = [value for value in scalars if value not in got]
        result.expect(not missing, operation.name, f"these values do not arrive: {missing[:5]}", envelope)


def _is_body(operation: Operation, name: str) -> bool:
    parameter = operation.row.parameters.get(name)
    return parameter is not None and parameter.location in ("body", "body_rest") and not parameter.content_type


def _scalars(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for inner in value.values() for text in _scalars(inner)]
    if isinstance(value, list):
        return [text for inner in value for text in _scalars(inner)]
    return [json.dumps(value)]


@check("RT-2", "What the API answers is what the agent reads, field by field", Category.ROUND_TRIP, "R-SEL-1")
async def answers_arrive(run: Connected, result: Result) -> None:
    """Compare answers with the API's, and each undeclared field with itself."""
    kept = run.setup.evidence.setdefault("round_trip_tests", [])
    for operation in run.setup.callable:
        if not operation.is_safe_read or operation.row.paging is not None or not operation.row.selects:
            continue
        run.setup.api.forget()
        sent = run.setup.api.answer(Arrived("GET", _path_of(operation), (), {}, b""))
        try:
            data = json.loads(sent.body)
        except ValueError:
            continue
        if not isinstance(data, dict) or not data:
            continue
        with run.setup.api.behaving(Reply.of(sent.status, {**data, "x_Undeclared-Key": {"inner Key": [1, None]}})):
            envelope, _ = await run.sent(operation, {**(operation.params or {}), "fields": "full"})
        if not result.expect(envelope.get("success") is True, operation.name, "fails", envelope):
            continue
        got = envelope.get("data")
        whole = _scalars(got)
        missing = [value for value in _scalars(data)[:200] if value not in whole]
        cut = bool(envelope.get("warnings"))
        result.expect(not missing or cut, operation.name, f"these values are lost: {missing[:5]}", envelope)
        text = json.dumps(got)
        kept_key = '"x_Undeclared-Key": {"inner Key": [1, null]}' in text
        result.expect(kept_key or cut, operation.name, "an undeclared field is changed", envelope)
        fields = {f"data.{key}": value for key, value in (got or {}).items()
                  if isinstance(got, dict) and isinstance(value, str | int | bool) and "." not in key}  # fmt: skip
        if fields:
            kept.append({"name": operation.name, "expected_fields": dict(list(fields.items())[:5]),
                         "read_response": envelope})  # fmt: skip


def _path_of(operation: Operation) -> str:
    path = operation.row.path.partition("#")[0].partition("?")[0]
    for parameter in operation.row.parameters.values():
        path = path.replace(f"{{{parameter.wire}}}", "x")
    return path


@check("RT-3", "An update sends what it names, and keeps what it does not", Category.ROUND_TRIP, "R-UPD-1")
async def updates_preserve(run: Connected, result: Result) -> None:
    """Update resources that have more fields than the update names."""
    kept = run.setup.evidence.setdefault("update_preservation_tests", [])
    for operation in run.setup.callable:
        update = operation.row.update
        if update is None or not isinstance((operation.params or {}).get("input"), dict):
            continue
        params = operation.params or {}
        run.setup.api.forget()
        envelope, arrived = await run.sent(operation, params)
        writes = [request for request in arrived if request.method == operation.row.method]
        if not envelope.get("success") or not writes:
            continue
        body = writes[-1].data
        named = _scalars(params["input"])
        place = [*_scalars(body), *(f'"{text}"' for text in writes[-1].texts)]
        lost = [value for value in named if value not in place and f'"{value}"' not in place]
        result.expect(not lost, operation.name, f"these values do not arrive: {lost[:5]}", envelope)
        if not update.reads_first:
            if operation.row.method == "PATCH" and isinstance(body, dict):
                count = len(_scalars(body))
                result.expect(count <= len(named) + 2, operation.name, "sends more than it was given", envelope)
            continue
        reads = [request for request in arrived if request.method == "GET"]
        result.expect(bool(reads), operation.name, "replaces without reading first", envelope)
        before = _scalars(
            json.loads(run.setup.api.answer(Arrived("GET", writes[-1].path, (), {}, b"")).body or b"null")
        )
        result.expect(len(_scalars(body)) > len(named) or len(before) <= len(named), operation.name,
                      "sends only what was named, so that the rest is lost", envelope)  # fmt: skip
        data = envelope.get("data")
        flat = {f"data.{key}": value for key, value in data.items() if isinstance(value, str | int)} \
            if isinstance(data, dict) else {}  # fmt: skip
        if flat:
            kept.append({"name": operation.name, "preserved_fields": dict(list(flat.items())[:5]),
                         "read_response": envelope})  # fmt: skip


@check("RT-4", "An update that somebody else overtook writes nothing", Category.ROUND_TRIP, "R-UPD-2")
async def updates_notice_changes(run: Connected, result: Result) -> None:
    """Change a resource between the reading and the write."""
    for operation in run.setup.callable:
        update = operation.row.update
        if update is None or not operation.reads_first or not isinstance((operation.params or {}).get("input"), dict):
            continue
        run.setup.api.forget()
        reads: list[int] = []
        original = run.setup.api.answer

        def changing(request: Arrived, reads: list[int] = reads) -> Reply | None:
            if request.method != "GET":
                return None
            row = run.setup.api.row_of("GET", request.path)
            reply = None if row is None else run.setup.api._shape(row)
            data = None if reply is None else _data(reply)
            if reply is None or not isinstance(data, dict):
                return None
            reads.append(1)
            return Reply.of(reply.status, _stamped(data, len(reads)), **_tags(reply, len(reads)))

        with run.setup.api.behaving(changing) as arrived:
            envelope, _ = await run.sent(operation, operation.params or {})
            writes = [request for request in run.setup.api.arrived if request.method == operation.row.method]
        del original, arrived
        if len(reads) < 2 and not any("if-match" in request.headers for request in writes):
            continue
        is_noticed = envelope.get("success") is False or any("if-match" in request.headers for request in writes)
        result.expect(is_noticed, operation.name, "overwrites what changed in between", envelope)


def _data(reply: Reply) -> Any:
    try:
        return json.loads(reply.body)
    except ValueError:
        return None


def _stamped(data: dict[str, Any], number: int) -> dict[str, Any]:
    """Return an object of which every text was changed by somebody else, from the second time on."""
    if number < 2:
        return data
    return {key: f"{value}{number}" if isinstance(value, str) else value for key, value in data.items()}


def _tags(reply: Reply, number: int) -> dict[str, str]:
    return {name: f'"{number}"' for name in reply.headers if name.lower() == "etag"}
