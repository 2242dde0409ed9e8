"""The adapter as a program: its connections, its HTTP, its settings, commands, log and quotas, and the live API."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import replace
from typing import Any

from aqlgen.check.connection import Answer, NotStarted
from aqlgen.check.results import Category, Cause
from aqlgen.check.run import Run, check

_LIMITS = ("request_size", "string_length", "array_elements", "nesting_depth")
_TOO_LARGE = "VALIDATION_PAYLOAD_TOO_LARGE"
_MOST_LIVE = 25
"""Operations of the live API that are called."""


@check("TR-1", "The tools of the mode are listed, with their annotations and nothing more", Category.TRANSPORT,
       "R-REQ-5, R-REQ-11", where="every")  # fmt: skip
async def tools(run: Run) -> None:
    """Look at the list of tools."""
    names, families = set(run.adapter.tools), {operation.family for operation in run.whole} | {"read"}
    ends = {name.rpartition("_")[2] for name in names}
    right = len(names) == 1 if run.single else families <= ends and len(names) <= 5
    run.expect(right, "tools", f"are {sorted(names)}")
    for name, tool in run.adapter.tools.items():
        hints = tool.get("annotations", {})
        reads = name.endswith("_read") or (run.single and families == {"read"})
        expected = (reads, not (reads or name.endswith("_create")))
        shown = (hints.get("readOnlyHint") is True, hints.get("destructiveHint") is True)
        run.expect(shown == expected, name, f"says that it only reads, and destroys: {shown}")
        right = bool(tool.get("description")) and '"operation"' in json.dumps(tool.get("inputSchema"))
        run.expect(right, name, "has no description, or no parameter operation")


@check("TR-2", "A read, a refusal and a batch are answered in every connection", Category.TRANSPORT, "R-ENV-3",
       where="every")  # fmt: skip
async def kinds_of_answers(run: Run) -> None:
    """Get answers of each kind; their form is judged by the connection."""
    cases: list[tuple[dict[str, Any], bool]] = [
        ({"operation": "introspect", "params": {"query": "operations"}}, True),
        ({"operation": "introspect", "params": {"query": "no_such"}}, False),
        ({"operation": "no_such_operation", "params": {}}, False),
    ]
    for read in run.reads(1):
        item = {"operation": read.name, "params": read.params}
        cases += [(item, True), ({"operations": [item, item]}, True)]
    for arguments, success in cases:
        answer = await run.send(run.adapter.tool("read"), arguments)
        run.expect(answer.get("success") is success, str(arguments)[:80], f"is not {success}")
        milliseconds = (answer.get("_meta") or {}).get("duration_ms", 0)
        right = 0 <= milliseconds <= answer.seconds * 1000
        run.expect(right, str(arguments)[:80], f"says that it took {milliseconds} ms of {answer.seconds * 1000:.0f}")


@check("TR-6", "Requests beyond the limits are refused, and the next one is answered", Category.TRANSPORT, "R-REQ-9")
async def limits(run: Run) -> None:
    """Send what is as large, long, deep and many as it may be, and one more."""
    item = {"operation": "introspect", "params": {"query": "operations", "first": 1}}
    limits = ((await run.introspect(query="operations")).data.get("_protocol") or {}).get("limits") or {}
    size, longest, most, deepest = [limits.get(f"max_{name}", 1) for name in _LIMITS]
    depth = deepest - 2  # the arguments and `params` are levels, too
    cases = {
        "large": ("y" * longest, ["y" * longest] * (size // longest + 1)),
        "long": ("é" * (longest // 2), "é" * (longest // 2 + 1)),
        "many": ([1] * most, [1] * (most + 1)), "deep": (_nested(depth), _nested(depth + 1)),
    }  # fmt: skip
    for name, values in cases.items():
        codes = [(await run.introspect(query="operations", search=value)).code for value in values]
        right = codes[0] != _TOO_LARGE and codes[1] == _TOO_LARGE
        run.expect(right, name, f"as it may be and one more is answered with {codes}")
    for count in (50, 51):
        answer = await run.send(run.adapter.tool("read"), {"operations": [item] * count})
        right = answer.ok and len(answer["results"]) == count if count == 50 else answer.code == _TOO_LARGE
        run.expect(right, f"{count} operations", f"are answered with {answer.code!r}")
    run.expect((await run.introspect(query="operations")).ok, "introspect", "fails after a large request")


def _nested(depth: int) -> Any:
    """Return lists and objects within each other."""
    value: Any = 1
    for number in range(depth):
        value = {"a": value} if number % 2 else [value]
    return value


@check("RU-1", "It starts with the owner's configuration", Category.OPERATION, "R-OPS-4", where="alone")
async def as_configured(run: Run) -> None:
    """Start it by the interpreter with the project's adapter.toml and hooks, and list its tools."""
    ours = ("CONFIG", "POLICY", "APPROVAL", "ENDPOINT_MODE", "READ_ONLY")
    kept = {name: value for name, value in run.launch.variables.items() if name.removeprefix("MCP_AQL_") not in ours}
    try:
        launch = replace(run.launch, variables=kept, forks="")
        async with replace(run, launch=launch).connected() as run:
            answer = await run.introspect(query="operations")
            run.expect(run.adapter.tools and answer.ok, "introspect", "fails")
    except NotStarted as problem:
        run.expect(False, "the adapter", f"does not start: {problem}")


def is_documented(declared: Collection[str], answer: Answer) -> bool:
    """Return True for a failure with one of the statuses that the document has for the operation."""
    status = str(answer.details.get("http_status", ""))
    return len(status) == 3 and not {status, f"{status[0]}XX", "default"}.isdisjoint(declared)


@check("LI-1", "Safe reads of the live API succeed, or fail with a documented status", Category.LIVE, "R-CONF-1",
       where="live")  # fmt: skip
async def live_reads(run: Run) -> None:
    """Call what needs no parameters, with the owner's credentials, by an adapter that is read only."""
    plain = [item for item in run.operations if not item.required and item.row.long_running is None]
    operations = [item for item in plain if item.is_safe_read][:_MOST_LIVE]
    answered = 0
    async with run.connected(settings={"READ_ONLY": "true"}) as run:
        for operation in operations:
            answer = await run.call(operation, {})
            answered += answer.ok
            right = answer.ok or is_documented(run.declared.get(operation.name, ()), answer)
            run.expect(right, operation, f"fails with {answer.code}, which its document does not have",
                       cause=Cause.SERVER)  # fmt: skip
            other = "VALIDATION_UNEXPECTED_CONTENT_WARNING" in answer.warned
            run.expect(not other, operation, "is answered with another content than documented", cause=Cause.SERVER)
    run.expect(answered or not operations, "the API", f"answers none of {len(operations)} reads with a success")
