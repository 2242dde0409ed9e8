"""The runtime under a table of ours: what the project's own document may lack, and a table that was altered."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from aqlgen.check.connection import LEGACY
from aqlgen.check.forks import TABLE
from aqlgen.check.results import Category
from aqlgen.check.run import Run, check
from aqlgen.check.stand_in import Arrived, Reply, StandIn, serve
from aqlgen.runtime.table import FAMILIES

_KEY = "check-key-0123456789"
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
_FORM = {"text": _AWKWARD, "flag": False, "list": ["x", "y"]}
_TYPES = {"text": _TEXT, "flag": {"type": "boolean"}, "list": _LIST}


def _row(method: str, path: str, parameters: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    returns = {"name": "any", "kind": "scalar", "description": ""}
    responses = {"200": {"content_type": "application/json", "schema": {}}}
    stated = {"summary": "Probe", "resource": "probe", "verb": "probe", "rule": "probe", "confidence": 1.0, "tags": []}
    sent = {"method": method, "path": path, "parameters": parameters, "operation_id": "", "example": {}}
    return {**stated, **sent, "danger": "safe", "danger_reason": "", "responses": responses, "returns": returns, **more}


def _rows() -> dict[str, dict[str, Any]]:
    """Return the rows of the table, by family and name."""
    reads: dict[str, Any] = {}
    for number, (place, style, explode, schema, _, _) in enumerate(_PLACED):
        parameter = {"in": place, "required": True, "style": style, "explode": explode, "schema": schema}
        path = f"/probe/{number}/{{it}}" if place == "path" else f"/probe/{number}"
        reads[f"probe_{number}"] = _row("GET", path, {"it": parameter})
    reads["probe_all"] = _row("GET", "/probe/all", {"where": {"in": "adapter", "schema": {"type": "object"}}})
    reads["probe_elsewhere"] = _row("GET", "/probe/elsewhere", {}, servers=[{"url": "http://localhost:1"}])
    whole = {"type": "integer", "minimum": 0}
    pages = {"offset": {"in": "query", "schema": whole}, "limit": {"in": "query", "schema": whole}}
    paging = {"style": "offset", "offset_param": "offset", "size_param": "limit", "items": "", "parameters": pages}
    options = {"first": {"in": "adapter", "schema": whole}, "after": {"in": "adapter", "schema": _TEXT}}
    reads["probe_list"] = _row("GET", "/probe/list", options, pagination=paging)
    unproven = {"danger": "reversible", "effects": ["unknown"], "asked": "first"}
    fields = {name: {"in": "body", "schema": schema} for name, schema in _TYPES.items()}
    form = {"content_type": "application/x-www-form-urlencoded", "shape": "fields", "required": True}
    writes = {f"probe_{word}": _row("POST", f"/probe/{word}", fields, body=form, **unproven) for word in ("one", "two")}
    return {"read": reads, "execute": writes}


def _package(run: Run, folder: Path, base: str) -> Path:
    """Write the data files of an adapter of these rows, whose API is at a base URL; returns their folder."""
    adapter = json.loads((run.api.package / "adapter.json").read_bytes())
    for key in ("apis", "idempotent", "executions"):
        adapter.pop(key, None)
    rows = _rows()
    adapter |= {
        "quick_start": {}, "servers": [{"url": base}], "accepted": {"api": [base], "oauth": []},
        "security": [["checkKey"]],
        "security_schemes": {"checkKey": {"type": "apiKey", "in": "query", "name": "check_key",
                                          "variables": ["CHECK_KEY"], "description": ""}},
        "counts": {family: len(rows.get(family, {})) for family in FAMILIES},
    }  # fmt: skip
    (folder / "operations").mkdir(parents=True)
    (folder / "adapter.json").write_text(json.dumps(adapter), encoding="utf-8")
    (folder / "types.json").write_text("{}", encoding="utf-8")
    for family, members in rows.items():
        (folder / "operations" / f"{family}.json").write_text(json.dumps(members), encoding="utf-8")
    return folder


@check("WI-2", "Values of every place and style are sent as the specification has them, and to accepted hosts alone",
       Category.OPERATION, "R-REQ-2, R-TRUST-2, R-TRUST-7, R-EFF-2", where="alone")  # fmt: skip
async def probes(run: Run) -> None:
    """Start the runtime with a table that has what this API may lack, and compare what it sends with the known text."""
    folder = Path(run.launch.variables["MCP_AQL_CONFIG"]).with_name("probe")
    api = StandIn.__new__(StandIn)
    api.arrived, api.misbehaviour = [], lambda _: Reply.of(200, {"ok": True})
    with serve(api) as base, serve(api) as other:
        package = _package(run, folder, base)
        rows = json.loads((package / "operations" / "read.json").read_bytes())
        rows["probe_elsewhere"]["servers"] = [{"url": other.replace("127.0.0.1", "localhost")}]
        (package / "operations" / "read.json").write_text(json.dumps(rows), encoding="utf-8")
        variables = {name: value for name, value in run.launch.variables.items() if name != "MCP_AQL_BASE_URL"}
        variables |= {TABLE: str(package), "CHECK_KEY": _KEY, "MCP_AQL_POLICY": "standard"}
        run = replace(run, launch=replace(run.launch, variables=variables), api=api, secrets={"CHECK_KEY": _KEY})
        async with run.connected(LEGACY) as run:
            await _placed(run)
            await _first_uses(run)
            answer = await _call(run, "read", "probe_elsewhere", {})
            run.expect(
                answer.code == "PERMISSION_DENIED" and not run.arrived, "hosts", "one is not accepted, and is called"
            )
            answer = await _call(run, "read", f"probe_{_WIDE}", {"it": {"check_key": "of-an-agent"}})
            run.expect(not run.arrived, "credentials", "an agent's value replaces one")
            for name, params in (("probe_list", {"first": 5}), ("probe_all", {})):
                with api.behaving(Reply.of(200, [{"id": 1}, {"id": 2}], **{"X-Total-Count": "9"})):
                    answer = await _call(run, "read", name, params)
                info = answer.data.get("pageInfo") if isinstance(answer.data, dict) else None
                is_said = answer.warned or (info or {}).get("hasNextPage") is True
                run.expect(is_said, name, "2 of 9 items are given as the whole list")


async def _call(run: Run, family: str, name: str, params: Mapping[str, Any], **beside: Any) -> Any:
    return await run.send(run.adapter.tool(family), {"operation": name, "params": dict(params), **beside})


async def _placed(run: Run) -> None:
    for number, (place, style, explode, _, value, expected) in enumerate(_PLACED):
        await _call(run, "read", f"probe_{number}", {"it": value})
        what = f"{style} {'exploded ' if explode else ''}in a {place}"
        for request in run.arrived[-1:] or [Arrived("", "", (), {}, b"")]:
            sent = {
                "query": request.raw_query.removesuffix(f"&check_key={_KEY}"),
                "path": request.path.removeprefix(f"/probe/{number}/"),
                "header": request.headers.get("it"),
                "cookie": request.headers.get("cookie"),
            }[place]
            run.expect(sent == expected, what, f"{value!r} is sent as {sent!r}, not {expected!r}")
            right = f"check_key={_KEY}" in request.raw_query
            run.expect(right, what, "is sent without its credential")


async def _first_uses(run: Run) -> None:
    for name in ("probe_one", "probe_two"):
        asked = await _call(run, "execute", name, _FORM)
        run.expect(
            asked.code == "CONFIRMATION_REQUIRED" and not run.arrived, name, "is not asked about at its first use"
        )
        token = asked.details.get("confirmation_token")
        await _call(run, "execute", name, _FORM, confirmation_token=token)
        sent = [tuple(parse_qsl(request.body.decode())) for request in run.arrived]
        expected = (("text", _AWKWARD), ("flag", "false"), ("list", "x"), ("list", "y"))
        run.expect(sent == [expected], name, f"its form is sent as {sent}")
