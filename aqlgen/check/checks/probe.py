"""Tests of the runtime with a document of aqlgen, which has features that the project's own may lack."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from aqlgen.check.checks import answers, errors, introspection, lists, safety, updates
from aqlgen.check.connection import LEGACY
from aqlgen.check.forks import TABLE
from aqlgen.check.operations import operations_of
from aqlgen.check.results import Category
from aqlgen.check.run import Run, check
from aqlgen.check.stand_in import Arrived, Reply, StandIn, serve
from aqlgen.document.request import Request
from aqlgen.options import Options
from aqlgen.pipeline import prepare
from aqlgen.runtime.table import Adapter as AdapterTable
from aqlgen.runtime.witness import Witness
from aqlgen.runtime.witness.project import read
from aqlgen.table.model import table_files

_NAME = "get_placed_"
_DOCUMENT = Path(__file__).parents[1] / "probe.yaml"
_OVERRIDES = {
    "GET /hours": {"parameters": {"channel": {"default": "agents"}}},
    "POST /tips": {"danger": "reversible"},
}
_SECRETS = {"PROBE_KEY": "check-key-0123456789", "PROBE_SESSION": "check-session-0123456789"}
_TEXT, _LIST = {"type": "string"}, {"type": "array", "items": {"type": "string"}}
_OBJECT: dict[str, Any] = {"type": "object", "additionalProperties": _TEXT}
_AWKWARD, _ENCODED = "\u221aa&b=c/d?e#f+g h%", "%E2%88%9Aa%26b%3Dc%2Fd%3Fe%23f%2Bg%20h%25"
_PAIRS = {"wide": "1", _AWKWARD: "2"}
_PLACED = (
    # (place, style, explode, schema, value, as it is sent)
    ("query", "form", True, _TEXT, _AWKWARD, f"it={_ENCODED}"),
    ("query", "form", True, {"type": "boolean"}, False, "it=false"),
    ("query", "form", True, {"type": "number"}, 7.0, "it=7"),
    ("query", "form", True, {"type": "integer"}, 0, "it=0"),
    ("query", "form", True, _LIST, ["a", _AWKWARD], f"it=a&it={_ENCODED}"),
    ("query", "form", False, _LIST, ["a,b", "c"], "it=a%2Cb,c"),
    ("query", "form", True, _OBJECT, _PAIRS, f"wide=1&{_ENCODED}=2"),
    ("query", "form", False, _OBJECT, {"a": "1", "b": "2"}, "it=a,1,b,2"),
    ("query", "deepObject", True, _OBJECT, _PAIRS, f"it%5Bwide%5D=1&it%5B{_ENCODED}%5D=2"),
    ("query", "pipeDelimited", False, _LIST, ["a", "b"], "it=a%7Cb"),
    ("query", "spaceDelimited", False, _LIST, ["a", "b"], "it=a%20b"),
    ("path", "simple", False, _TEXT, _AWKWARD.removesuffix("%"), _ENCODED.removesuffix("%25")),
    ("path", "simple", False, _LIST, ["a", "b"], "a,b"),
    ("path", "simple", False, _OBJECT, {"a": "1", "b": "2"}, "a,1,b,2"),
    ("path", "simple", True, _OBJECT, {"a": "1", "b": "2"}, "a=1,b=2"),
    ("path", "label", True, _LIST, ["a", "b"], ".a.b"),
    ("path", "label", False, _LIST, ["a", "b"], ".a,b"),
    ("path", "label", True, _OBJECT, {"a": "1", "b": "2"}, ".a=1.b=2"),
    ("path", "label", False, _OBJECT, {"a": "1", "b": "2"}, ".a,1,b,2"),
    ("path", "matrix", True, _LIST, ["a", "b"], ";it=a;it=b"),
    ("path", "matrix", False, _LIST, ["a", "b"], ";it=a,b"),
    ("path", "matrix", True, _OBJECT, {"a": "1", "b": "2"}, ";a=1;b=2"),
    ("path", "matrix", False, _OBJECT, {"a": "1"}, ";it=a,1"),
    ("header", "simple", False, _LIST, ["a", "b"], "a,b"),
    ("header", "simple", True, _OBJECT, {"a": "1"}, "a=1"),
    ("header", "simple", False, _OBJECT, {"a": "1"}, "a,1"),
    ("cookie", "form", True, _TEXT, "a b;c", "it=a%20b%3Bc"),
)
"""Values of each place and style, by the table of the specification (OpenAPI 3.1, 4.8.12.5; RFC 6570)."""
_WIDE = next(number for number, (_, _, explode, schema, *_) in enumerate(_PLACED) if explode and schema is _OBJECT)
_OF_EVERYTHING = (
    updates.updates_preserve, updates.updates_notice_changes, lists.pages, lists.queries,
    answers.answers_arrive, answers.field_selection, answers.dry_runs, answers.plans,
    answers.bounded_answers, answers.executions,
    errors.consequences, errors.retries, errors.broken_answers,
)  # fmt: skip
_OF_AGENTS = (safety.confirmations, safety.levels, safety.together)


def _write(folder: Path, base: str) -> None:
    """Write the files of the adapter of our document, whose API is at a base URL."""
    document = {**read(_DOCUMENT), "servers": [{"url": base}]}
    for number, (place, style, explode, schema, _, _) in enumerate(_PLACED):
        path = f"/placed/{number}{'/{it}' if place == 'path' else ''}"
        parameter = {"name": "it", "in": place, "required": True, "style": style, "explode": explode, "schema": schema}
        answered = {"200": {"description": "It.", "content": {"application/json": {"schema": {"type": "object"}}}}}
        operation = {"operationId": f"{_NAME}{number}", "parameters": [parameter], "responses": answered}
        document["paths"][path] = {"get": operation}
    (folder / "openapi").mkdir(parents=True)
    (folder / "openapi" / "openapi.json").write_text(json.dumps(document), encoding="utf-8")
    (folder / "overrides.yaml").write_text(json.dumps(_OVERRIDES), encoding="utf-8")
    request = Request(str(folder / "openapi" / "openapi.json"))
    options = Options((request,), name="probe", overrides=folder / "overrides.yaml")
    for path, content in table_files(prepare(options, lambda _: None).table):
        (folder / "src" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "src" / path).write_bytes(content)


@check("WI-2", "The runtime does with a document of many features, and with values of every style, what this says",
       Category.OPERATION, "R-REQ-2, R-TRUST-2, R-TRUST-7, R-EFF-2", where="alone")  # fmt: skip
async def probes(run: Run) -> None:
    """Start the runtime with our document, run the tests that its features are for, and compare known texts."""
    folder = Path(run.launch.variables["MCP_AQL_CONFIG"]).with_name("probe")
    api = StandIn(folder / "src")
    with serve(api) as base:
        _write(folder, base)
        await _test(_of_document(run, folder, api))


def _of_document(run: Run, folder: Path, api: StandIn) -> Run:
    """Return the run with the table of our document in place of the project's."""
    operations = [item for item in operations_of(api.table) if not (item.row.servers or item.name.startswith(_NAME))]
    variables = {name: value for name, value in run.launch.variables.items() if name != "MCP_AQL_BASE_URL"}
    variables |= {**_SECRETS, TABLE: str(folder / "src")}
    return replace(
        run, launch=replace(run.launch, variables=variables), api=api, table=AdapterTable.load(folder / "src"),
        operations=operations, whole=operations, secrets=_SECRETS, witness=Witness(folder), evidence={},
        succeeded=set(), known=(),
    )  # fmt: skip


async def _test(run: Run) -> None:
    async with run.connected(LEGACY) as started:
        await _placed(started)
        await _refused(started)
        for finding in await introspection.examined(started):
            is_known = finding.text.startswith("no operation")  # what is not among the operations of the run
            run.expect(is_known, finding.operation, finding.text, finding.pointer)
        for test in _OF_EVERYTHING:
            started.api.forget()
            await test(started)
    async with run.connected(LEGACY, settings=safety.BY_AGENT) as started:
        for test in _OF_AGENTS:
            started.api.forget()
            await test(started)


async def _placed(run: Run) -> None:
    for number, (place, style, explode, _, value, expected) in enumerate(_PLACED):
        await run.own("read", f"{_NAME}{number}", it=value)
        what = f"{style} {'exploded ' if explode else ''}in a {place}"
        for request in run.arrived[-1:] or [Arrived("", "", (), {}, b"")]:
            sent = {
                "query": request.raw_query.partition("&check_key=")[0],
                "path": request.path.removeprefix(f"/placed/{number}/"),
                "header": request.headers.get("it"),
                "cookie": request.headers.get("cookie", "").partition("; check_session=")[0],
            }[place]
            run.expect(sent == expected, what, f"{value!r} is sent as {sent!r}, not {expected!r}")


async def _refused(run: Run) -> None:
    """Call what must not be sent, and a list that the API does not give whole."""
    answer = await run.own("read", "get_elsewhere")
    run.expect(answer.code == "PERMISSION_DENIED" and not run.arrived, "hosts", "one is not accepted, and is called")
    await run.own("read", f"{_NAME}{_WIDE}", it={"check_key": "of-an-agent"})
    run.expect(not run.arrived, "credentials", "an agent's value replaces one")
    for name, params in (("list_loans", {"first": 5}), ("list_shelves", {})):
        with run.api.behaving(Reply.of(200, [{"id": 1}, {"id": 2}], **{"X-Total-Count": "9"})):
            answer = await run.own("read", name, **params)
        info = answer.data.get("pageInfo") if isinstance(answer.data, dict) else None
        is_said = answer.warned or (info or {}).get("hasNextPage") is True
        run.expect(is_said, name, "2 of 9 items are given as the whole list")
