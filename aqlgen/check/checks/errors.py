"""Errors tell what is wrong and what to do, and warnings what to know (conformance testing, 3.3; warnings, 2)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from email.utils import formatdate
from time import time
from typing import Any

from aqlgen.check.envelope import HOSTILE
from aqlgen.check.operations import Operation, schema_of
from aqlgen.check.results import Category
from aqlgen.check.run import Run, check
from aqlgen.check.stand_in import Reply

_SUCCESSOR = "https://check.invalid/next"


@check("EN-1", "Every answer of every test has the form of the protocol, and holds no credential", Category.ERRORS,
       "R-ENV-1, R-ENV-4, R-TRUST-5")  # fmt: skip
async def answers(run: Run) -> None:
    """Get an answer; the connection judges it, as it does those of all tests."""
    await run.introspect(query="operations")


@check("EQ-1", "Every refusal has the shape of the specification, and shows nothing of the inside",
       Category.ERRORS, "R-ERR-1, R-ENV-4, R-REQ-1")  # fmt: skip
async def refusals(run: Run) -> None:
    """Send refused requests of many kinds; the connection judges the shape of the answers."""
    queries: tuple[Any, ...] = ({"query": 1}, {"query": "operations", "x": 1}, [], {"query": "operations", "first": 0},
                                {"query": "types", "name": {"a": 1}}, 7)  # fmt: skip
    cases: list[Any] = [{"operation": "introspect", "params": params} for params in queries]
    cases += [{"operation": "no_such_operation", "params": {}}, {"operations": "all"}, {"operations": []}]
    cases += [{}, {"operation": ""}, {"operation": 7}, {"params": {}}]
    cases += [{"operation": item.name, "params": {"class": 1}} for item in run.reads(5)]
    for case in cases:
        answer = await run.send(run.adapter.tool("read"), case)
        run.expect(answer.code.startswith(("VALIDATION_", "NOT_FOUND_OPERATION")), str(case)[:80], "is not refused")
    answer = await run.introspect(query="search", search="zero\x00character")
    run.expect(answer.code == "VALIDATION_INVALID_ENCODING", "a zero character", f"is refused with {answer.code!r}")


_METHODS = {"read": "GET", "create": "POST", "update": "PATCH", "delete": "DELETE"}
_BROAD = {3: "INTERNAL_ERROR", 4: "VALIDATION_INVALID_VALUE", 5: "INTERNAL_ERROR"}
_CODES = {
    **dict.fromkeys((401, 402, 403, 423, 451), "PERMISSION_DENIED"),
    **dict.fromkeys((404, 410), "NOT_FOUND_RESOURCE"),
    **dict.fromkeys((407, 408, 421, 426), "INTERNAL_ERROR"),
    **dict.fromkeys((409, 412), "CONFLICT_VERSION_MISMATCH"),
    **dict.fromkeys((425, 429), "RATE_LIMIT_EXCEEDED"),
    **dict.fromkeys((301, 400, 405, 418, 422, 500, 501, 502, 504, 505, 511, 503), ""),
    413: "VALIDATION_PAYLOAD_TOO_LARGE",
}
"""Each status with the code of its failure, "" for that of its hundred (structured error codes, 6)."""
_UNSURE = {301, 408, 500, 502, 503, 504}
"""Statuses after which a write may have been carried out (RFC 9110, 15)."""
_LATER = {401, 403, 413, 425, 429, 500, 501, 502, 503, 504, 505, 511}
"""Statuses whose Retry-After says when the same call may succeed (RFC 9110, 10.2.3)."""


@check("EQ-5", "A failure has status, code, subject and the API's words, and tells whether the call may be carried out",
       Category.ERRORS, "R-ERR-1, R-ERR-2")  # fmt: skip
async def consequences(run: Run) -> None:
    """Let the API fail reads, and writes in turn, by every status and in each form; EN-1 reads the messages."""
    for turn, (family, method) in enumerate(_METHODS.items()):
        operations = [item for item in run.callable if (item.family, item.row.method) == (family, method)]
        for operation in [item for item in operations if not item.row.carries and item.row.idempotency is None][:1]:
            statuses = [(number, status) for number, status in enumerate(_CODES)
                        if family == "read" or number % 3 == turn % 3 or status in (404, 409)]  # fmt: skip
            for number, status in statuses:
                wait = "0" if status in (429, 503) else "3600"
                more = {"Retry-After": wait, "WWW-Authenticate": 'Bearer scope="all:write"'}
                reply = Reply.failures(status)[number % 3]
                with run.api.behaving(replace(reply, headers={**reply.headers, **more}), method):
                    answer = await run.call(operation)
                if run.writes(operation):
                    details, expected = {"code": answer.code, **answer.details}, _expected(operation, status, int(wait))
                    shown = {name: details.get(name) for name in expected}
                    run.expect(shown == expected, operation, f"says {shown} at {status}, not {expected}")
                    is_whole = HOSTILE[:20] in json.dumps(details, ensure_ascii=False) and details.get("request_id")
                    run.expect(is_whole, operation, f"hides the API's words, or which call it was, at {status}")
            await _blamed(run, operation)
    await _conditional(run)
    await _endings(run)


def _expected(operation: Operation, status: int, wait: int) -> dict[str, Any]:
    """Return the fields of the error that an agent is to get for a status of the API; None for an absent one."""
    code = _CODES[status] or _BROAD[status // 100]
    is_made = (operation.family, status) == ("create", 409)
    path = [each for each in operation.row.parameters.values() if each.location == "path"]
    last = max(path, key=lambda each: operation.row.path.find(f"{{{each.wire}}}"), default=None)
    identifier = None if last is None else operation.params.get(last.name, last.schema.get("default"))
    is_shown = status in (404, 410) and last is not None and identifier is not None and not last.sensitive
    return {
        "code": "CONFLICT_ALREADY_EXISTS" if is_made else code,
        "http_status": status,
        "retry_after_seconds": wait if status in _LATER else None,
        "required_scope": "all:write" if status in (401, 403) else None,
        "outcome": "unknown" if status in _UNSURE and operation.acts else None,
        "resource_id": str(identifier)[:200] if is_shown else None,
    }


async def _blamed(run: Run, operation: Operation) -> None:
    """Let the API refuse each parameter in the forms that APIs have; the agent is to know it by its own name."""
    shown = operation.row.shown_parameters
    is_field = {"data", "attributes"} & {each.wire for each in shown.values()}  # and no envelope of JSON:API
    top = "" if is_field else "/data/attributes"
    forms: tuple[Callable[[str], Any], ...] = (
        lambda name: {"errors": [{"field": name, "message": "it is refused"}]},
        lambda name: {"detail": [{"loc": ["body", name], "msg": "it is refused"}]},
        lambda name: {"errors": [{"source": {"pointer": f"{top}/{name}"}, "detail": "it is refused"}]},
        lambda name: {"errors": {name: ["it is refused"]}},
    )
    names = [name for name in operation.params if name in shown and shown[name].location in ("body", "query")]
    body = operation.row.body and operation.row.body.parameter
    for number, name in enumerate([name for name in names if name != body][:8]):
        wire = shown[name].wire
        with run.api.behaving(Reply.of(422, forms[number % len(forms)](wire)), operation.row.method):
            answer = await run.call(operation)
        problems = answer.details.get("problems") or [{}]
        names_shown = (answer.details.get("param_name"), problems[0].get("param_name"))
        right = names_shown == (name, name) or not run.writes(operation)
        run.expect(right, operation, f"names {names_shown}, the API {wire}")


async def _conditional(run: Run) -> None:
    """Let the API answer to a version that is the present one, and want one where none is given (RFC 9110, 6585)."""
    for operation in run.callable:
        for name, parameter in operation.row.parameters.items():
            header, params = parameter.wire.lower(), operation.params
            if header == "if-none-match" and operation.is_safe_read and operation.takes_any_text(parameter):
                with run.api.behaving(Reply(304, b"", {"ETag": '"v-1"'})):
                    answer = await run.call(operation, {**params, name: '"v-1"'})
                right = {"not_modified": True, "etag": '"v-1"'}.items() <= answer.data.items()
                run.expect(right, operation, f"makes {answer.data} of what was not modified")
            if header == "if-match" and name not in params:
                with run.api.behaving(Reply.of(428, {"message": "which version?"}), operation.row.method):
                    answer = await run.call(operation)
                right = (answer.code, answer.details.get("param_name")) == ("VALIDATION_MISSING_PARAM", name)
                text = f"says {answer.code} where the API wants {header}"
                run.expect(right or not run.writes(operation), operation, text)


async def _endings(run: Run) -> None:
    """Let the API succeed with headers that announce its end; the history has the earlier warnings, too."""
    soon = formatdate(time() + 86_400, usegmt=True)
    endings = {"@9999999999": None, "true": "low", "@1": "low", "Fri, 01 Jan 2100 00:00:00 GMT": "medium", soon: "high"}
    for operation in [item for item in run.reads(20) if not item.row.deprecated][:1]:
        usual = run.api.shape(operation.row)
        for ending, severity in endings.items():
            header = "Sunset" if ending.endswith("GMT") else "Deprecation"
            headers = {**usual.headers, header: ending, "Link": f'<{_SUCCESSOR}>; rel="successor-version"'}
            with run.api.behaving(Reply(usual.status, usual.body, headers)):
                await run.call(operation)
            known = (await run.introspect(query="warnings")).data.get("warnings") or ()
            about = operation.name, "DEPRECATION_WARNING"
            known = [each for each in known if (each["operation"], each["code"]) == about]
            codes = [each["severity"] for each in known if each["details"].get("replacement") == _SUCCESSOR]
            run.expect((codes or [None])[0] == severity, operation, f"warns {codes} at {header}: {ending}")


@check("EQ-3", "Broken, oversized and non-data answers end in an error", Category.ERRORS,
       "R-ERR-2")  # fmt: skip
async def broken_answers(run: Run) -> None:
    """Let the API answer what cannot be read."""
    bodies = {
        "broken JSON": b'{"a": ',
        "no number": b'{"a": NaN, "b": "\\ud800"}',
        "deep JSON": b"[" * 50_000 + b"]" * 50_000,
        "another charset": b'{"a": "\xff"}',
    }
    for operation in run.reads(2):
        served = str([response.get("content_type") for response in operation.row.responses.values()])
        for name, body in bodies.items() if "json" in served else ():
            with run.api.behaving(Reply(200, body, {"Content-Type": "application/json"})):
                answer = await run.call(operation, {**operation.params, **operation.in_full})
            is_told = answer.code or answer.warned or name not in ("broken JSON", "deep JSON")
            run.expect(is_told, operation, f"says nothing of {name}")


@check("WA-2", "A repaired call sends the request of the correct call, and says so", Category.WARNINGS, "R-WARN-1")
async def repairs(run: Run) -> None:
    """Write each value in other notations: the adapter sends the request of the correct call, or none."""
    rows = [(item, item.row) for item in run.callable]  # updates have other forms of their own
    operations = [item for item, row in rows if not (row.choices or row.idempotency or row.update)]
    for operation in operations[:40]:
        await run.call(operation)
        sent = [request.without_headers for request in run.writes(operation)]
        for name in _not_texts(run, operation)[:4]:
            stated = run.documented(operation)
            for other in _otherwise(operation.params[name]):
                if stated and not stated.document.problems(schema_of(stated, operation.row, name), other):
                    continue  # another valid value
                answer = await run.call(operation, {**operation.params, name: other})
                right = sent == [request.without_headers for request in run.writes(operation)] and name in answer.warned
                run.expect(answer.code or right, operation, f"takes {json.dumps(other)[:80]} for {name} unsaid")


def _not_texts(run: Run, operation: Operation) -> list[str]:
    """Return the parameters of a valid call whose type in the document is not a string."""
    stated, row = run.documented(operation), operation.row
    names = [name for name in operation.params if stated and row.parameters[name].location != "adapter"]
    kinds = {name: stated.document.kinds(schema_of(stated, row, name)) for name in names if stated}
    return [name for name in names if kinds[name] and "string" not in kinds[name]]


def _otherwise(value: Any) -> Iterator[Any]:
    """Yield other notations of a value: as JSON text, as a list of one, within an object."""
    yield json.dumps(value)
    yield f" {json.dumps(value)} "
    yield [value]
    yield {"value": value}
    if isinstance(value, list) and len(value) == 1:
        yield value[0]
