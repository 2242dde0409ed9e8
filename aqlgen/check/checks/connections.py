"""Tests of every connection: both transports, both modes of tools, both eras of the protocol."""

from __future__ import annotations

import json
from time import perf_counter
from typing import Any

from aqlgen.check.results import Category, Result
from aqlgen.check.run import Connected, check

_FAMILIES = ("create", "read", "update", "delete", "execute")


@check("TR-1", "The tools of the mode are listed, with their annotations and nothing more", Category.TRANSPORT,
      "R-REQ-5, R-REQ-11", where="every")  # fmt: skip
async def tools(run: Connected, result: Result) -> None:
    """Look at the list of tools."""
    names = list(run.adapter.tools)
    only_reads = all(operation.family == "read" for operation in run.setup.whole)
    if run.single:
        result.expect(len(names) == 1, "tools", f"are {names} in the mode of one tool")
    else:
        offered = {family for family in _FAMILIES if any(name.endswith(f"_{family}") for name in names)}
        expected = {operation.family for operation in run.setup.whole} | {"read"}
        result.expect(expected <= offered and len(names) <= 5, "tools", f"are {names}")
    for name, tool in run.adapter.tools.items():
        annotations = tool.annotations
        is_told = annotations is not None and (annotations.read_only_hint, annotations.destructive_hint) != (None, None)
        result.expect(is_told, name, "has no annotations")
        reads = name.endswith("_read") or (run.single and only_reads)
        if is_told and annotations is not None:
            result.expect(bool(annotations.read_only_hint) is reads, name, "says that it only reads, or does not")
            result.expect(bool(annotations.destructive_hint) is not (reads or name.endswith("_create")), name,
                          "has another hint of what it may destroy")  # fmt: skip
        result.expect(bool(tool.description), name, "has no description")
        schema = json.dumps(tool.input_schema)
        result.expect('"operation"' in schema, name, "has no parameter operation")


@check("TR-2", "A read, a refusal and a batch answer alike, as text and as data", Category.TRANSPORT, "R-ENV-3",
      where="every")  # fmt: skip
async def answers(run: Connected, result: Result) -> None:
    """Compare the two forms of each answer."""
    tool = run.adapter.tool("read")
    read = next(iter(run.setup.reads(1)), None)
    cases: list[tuple[dict[str, Any], bool]] = [
        ({"operation": "introspect", "params": {"query": "operations"}}, True),
        ({"operation": "introspect", "params": {"query": "no_such"}}, False),
        ({"operation": "no_such_operation", "params": {}}, False),
    ]
    if read is not None:
        item: dict[str, Any] = {"operation": read.name, "params": read.params}
        cases += [(item, True), (item, True), ({"operations": [item, item]}, True)]
    ids: list[Any] = []
    for arguments, success in cases:
        begin = perf_counter()
        answer = await run.adapter.raw(tool, arguments)
        elapsed = (perf_counter() - begin) * 1000
        envelope = answer.structured_content
        subject = str(arguments)[:80]
        if not result.expect(isinstance(envelope, dict), subject, "has no structured content") or envelope is None:
            continue
        result.expect(envelope.get("success") is success, subject, f"is not {success}", envelope)
        text = answer.content[0].text if answer.content else ""
        result.expect(_data(text) == envelope, subject, "says another thing as text", envelope)
        flag = bool(answer.is_error)
        result.expect(not flag, subject, f"is marked as error: {flag}", envelope)
        both = "data" in envelope and "error" in envelope
        result.expect(not both, subject, "has data and an error", envelope)
        if success and arguments.get("operation") != "introspect":
            meta = envelope.get("_meta") or {}
            ids.append(meta.get("request_id"))
            duration = meta.get("duration_ms")
            right = isinstance(duration, int | float) and 0 <= duration <= elapsed
            result.expect(right, subject, f"says that it took {duration} ms of {elapsed:.0f}", meta)
            result.expect("data" in envelope, subject, "has no data", envelope)
    result.expect(None not in ids and len(ids) == len(set(ids)), "request_id", f"is {ids}, not another each time")


def _data(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return None


@check("TR-3", "What is not known to MCP is an error of MCP, and the connection lives on", Category.TRANSPORT,
      "R-REQ-5", where="every")  # fmt: skip
async def protocol_errors(run: Connected, result: Result) -> None:
    """Call a tool that is not there."""
    try:
        answer = await run.adapter.raw("no_such_tool", {})
        refused = bool(answer.is_error)
    except Exception:  # noqa: BLE001 - any error of the protocol is right
        refused = True
    result.expect(refused, "no_such_tool", "is taken")
    envelope = await run.adapter.introspect(query="operations")
    result.expect(envelope.ok, "introspect", "fails after an error", envelope)
