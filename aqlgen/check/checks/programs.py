"""The adapter as a program: its connections, its HTTP, its settings, commands, log and quotas, and the live API."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from time import sleep
from typing import Any

import anyio

from aqlgen.check.client import LEGACY, post
from aqlgen.check.connection import Answer, NotStarted, output_of
from aqlgen.check.results import Category, Cause
from aqlgen.check.run import Run, check
from aqlgen.check.stand_in import data_of

_TOKEN = "check-token-0123456789abcdef"  # noqa: S105 - of the adapter under test, for as long as it runs
_OTHER_TOKEN = "check-token-of-somebody-else"  # noqa: S105
_EVERYWHERE = ("--transport", "http", "--host", "0.0.0.0", "--port", "0")  # noqa: S104 - which must be refused
_LIMITS = ("request_size", "string_length", "array_elements", "nesting_depth")
_TOO_LARGE = "VALIDATION_PAYLOAD_TOO_LARGE"
_SLOW = 0.2
"""Seconds of an API that takes its time."""
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


@check("TR-4", "Other sites and other names of this machine cannot use the adapter", Category.TRANSPORT, "R-TRUST-3",
       where="alone")  # fmt: skip
async def hosts_and_origins(run: Run) -> None:
    """Send requests as a browser would for a hostile page."""
    async with run.served() as (url, _):
        cases: list[tuple[Collection[int], dict[str, Any]]] = [
            ((200,), {}), ((200,), {"url": url.replace("/mcp", "/healthz"), "body": b"", "method": "GET"}),
            *[((400, 403, 421), {"Host": host}) for host in ("evil.example", "127.0.0.1.evil.example")],
            *[((400, 403, 421), {"Origin": origin}) for origin in ("https://evil.example", "null")],
            *[((404, 405, 501), {"method": method}) for method in ("PUT", "PATCH", "TRACE")],
            *[(range(400, 500), {"body": body}) for body in (b"", b"{", b"[]" * 10, b"\xff\xfe")],
        ]  # fmt: skip
        for expected, case in cases:
            status, body, _ = await post(**{"url": url, **case})
            right = status in expected and b"Traceback" not in body
            run.expect(right, str(case), f"is answered with {status}", body.decode("latin-1"))
    await _said(run, _EVERYWHERE, range(1, 256), "MCP_AQL_HTTP_AUTH")


@check("TR-5", "With a token configured, every connection needs it", Category.TRANSPORT, "R-TRUST-3", where="alone")
async def tokens(run: Run) -> None:
    """Connect with a token, without one, with a wrong one, and with one in the session of another."""
    async with run.served({"HTTP_AUTH": "token", "HTTP_TOKEN": f"{_TOKEN}\n{_OTHER_TOKEN}"}) as (url, log):
        session = (await post(url, Authorization=f"Bearer {_TOKEN}"))[2]
        ping: dict[str, Any] = {"body": {"jsonrpc": "2.0", "id": 2, "method": "ping"}, "Mcp_Session_Id": session,
                                "Mcp_Protocol_Version": LEGACY}  # fmt: skip
        cases: list[tuple[int, str, dict[str, Any]]] = [
            (200, f"Bearer {_TOKEN}", {}), (200, f"Bearer {_TOKEN}", ping), (404, f"Bearer {_OTHER_TOKEN}", ping),
            *[(401, header, {}) for header in ("", "Bearer wrong-token-0123456789", f"Bearer {_TOKEN.upper()}",
                                             f"Bearer {_TOKEN[:-1]}", f"Basic {_TOKEN}")],
        ]  # fmt: skip
        for expected, value, case in cases:
            status, body, _ = await post(url, **case, **({"Authorization": value} if value else {}))
            run.expect(status == expected, f"{value} {'in a session' if case else ''}",
                       f"is answered with {status}, not {expected}", body.decode("latin-1"))  # fmt: skip
        run.expect(_TOKEN not in log(), "the token", "is in the log")


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


async def _said(run: Run, arguments: Sequence[str], codes: Collection[int], text: str = "") -> tuple[str, str]:
    """Run a command of the adapter, expect its code and a text in its output, and return both outputs."""
    code, *outputs = await output_of(run.launch, *arguments)
    whole = "".join(outputs)
    right = code in codes and whole.strip() and text in whole and "Traceback" not in whole
    run.expect(right, " ".join([*arguments, text]), f"ends with code {code}", outputs)
    return outputs[0], outputs[1]


@check("RU-2", "Settings that nothing reads or that cannot be used stop the start, in a line", Category.OPERATION,
       "R-OPS-4", where="alone")  # fmt: skip
async def settings(run: Run) -> None:
    """Start it with wrong settings, and with a key in adapter.toml that is not a setting."""
    file = Path(run.launch.variables["MCP_AQL_CONFIG"]).with_name("wrong.toml")
    file.write_text("no_such_setting = true\n", encoding="utf-8")
    for name, value in (("POLCY", "open"), ("TIMEOUT", "-1"), ("BASE_URL", "ftp://x"), ("CONFIG", str(file))):
        named = "no_such_setting" if name == "CONFIG" else name
        await _said(run.with_settings({name: value}), ["doctor"], (2,), named)


@check("RU-3", "Its commands answer people; the log is JSON lines on standard error", Category.OPERATION, "R-OPS-4",
       where="alone")  # fmt: skip
async def commands(run: Run) -> None:
    """Run its commands, and a call in mock mode with the log of all."""
    for arguments in (("--version",), ("--help",), ("operations",), ("describe", "introspect"), ("doctor",)):
        await _said(run, arguments, (0, 1) if arguments == ("doctor",) else (0,))
    for read in sorted(run.reads(20), key=lambda item: not run.api.data_of(item.row))[:1]:
        call = ("call", read.name, json.dumps(read.params), "--mock")
        output, log = await _said(run.with_settings({"LOG_LEVEL": "debug"}), call, (0,), '"success":true')
        is_whole = (data_of(output) or {}).get("data") or not run.api.data_of(read.row)
        run.expect(is_whole, f"call {read.name} --mock", "gives no data", output)
        records = [data_of(line) or {} for line in log.splitlines()]
        right = records and all({"level", "logger", "timestamp"} <= record.keys() for record in records)
        run.expect(right, "log", "has no line, or one without level, logger and time", log[:300])


@check("RU-6", "Calls that exclude each other have their turns", Category.OPERATION, "R-OPS-5", where="alone")
async def turns(run: Run) -> None:
    """Make two calls at once of an API that takes its time, and see whether the second arrives before it answers."""
    changes = [item for item in run.callable if item.family in ("create", "update") and not item.reads_first]
    for mode in ("serialized", "read-concurrent"):
        async with (
            run.served({"CONCURRENCY": mode, "POLICY": "open"}) as (url, _),
            run.connected(LEGACY, url=url) as first,
            run.connected(LEGACY, url=url) as second,
        ):
            for operation in (*run.reads(1), *changes[:1]):
                run.api.misbehaviour = lambda _: sleep(_SLOW)
                async with anyio.create_task_group() as group:
                    group.start_soon(first.call, operation)
                    group.start_soon(second.call, operation)
                times = [request.seconds for request in run.arrived]
                is_alone = mode == "serialized" or operation.family != "read"
                right = len(times) == 2 and (times[1] - times[0] >= _SLOW) is is_alone
                run.expect(right, operation, f"arrives at {times}, {mode}")
                run.api.forget()


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
