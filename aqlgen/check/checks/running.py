"""The adapter as a program: its settings, commands, log and quotas."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from aqlgen.check.connection import NotStarted, command_result, command_streams, connect
from aqlgen.check.results import Category, Result
from aqlgen.check.run import Setup, check

_MODERN, _LEGACY = "2026-07-28", "2025-11-25"


@check("RU-1", "It starts as it is configured by its owner", Category.OPERATION, "R-OPS-4", where="alone")
async def as_configured(setup: Setup, result: Result) -> None:
    """Start it with the project's adapter.toml and hooks, and list its tools."""
    kept = {name: value for name, value in setup.launch.variables.items() if name != "MCP_AQL_CONFIG"}
    for extra in ("MCP_AQL_POLICY", "MCP_AQL_APPROVAL", "MCP_AQL_ENDPOINT_MODE", "MCP_AQL_READ_ONLY"):
        kept.pop(extra, None)
    launch = replace(setup.launch, variables=kept)
    try:
        async with connect(launch, _MODERN) as adapter:
            result.expect(bool(adapter.tools), "tools", "are none")
            answer = await adapter.introspect(query="operations")
            result.expect(answer.ok, "introspect", "fails", answer)
    except NotStarted as problem:
        result.expect(False, "the adapter", f"does not start: {problem}")


@check("RU-2", "Settings that nothing reads or that cannot be used stop the start, in a line", Category.OPERATION,
      "R-OPS-4", where="alone")  # fmt: skip
async def settings(setup: Setup, result: Result) -> None:
    """Start it with wrong settings."""
    unusable = {
        "MCP_AQL_POLCY": "open",
        "MCP_AQL_POLICY": "perhaps",
        "MCP_AQL_TIMEOUT": "-1",
        "MCP_AQL_SAFETY_LOOP": "on",
        "MCP_AQL_ENDPOINT_MODE": "many",
        "MCP_AQL_BASE_URL": "ftp://x",
    }
    for name, value in unusable.items():
        code, output = await command_result(setup.launch.with_variables(**{name: value}), "doctor")
        lines = [line for line in output.splitlines() if line.strip()]
        refused = code == 2 and name in output and "Traceback" not in output
        result.expect(refused, f"{name}={value}", f"ends with code {code}", lines[-3:])
    await _wrong_file(setup, result)


async def _wrong_file(setup: Setup, result: Result) -> None:
    """Start it with a key in adapter.toml that is no setting."""
    file = Path(setup.launch.variables["MCP_AQL_CONFIG"]).with_name("wrong.toml")
    file.write_text("no_such_setting = true\n", encoding="utf-8")
    code, output = await command_result(setup.launch.with_variables(MCP_AQL_CONFIG=str(file)), "doctor")
    result.expect(code == 2 and "no_such_setting" in output, file.name, f"ends with code {code}", output[-300:])


@check("RU-3", "Its commands answer people", Category.OPERATION, "R-OPS-4", where="alone")
async def commands(setup: Setup, result: Result) -> None:
    """Run its commands."""
    for arguments in (("--version",), ("--help",), ("operations",), ("describe", "introspect"), ("doctor",)):
        code, output = await command_result(setup.launch, *arguments)
        right = code in (0, 1) if arguments == ("doctor",) else code == 0
        result.expect(right and bool(output.strip()), " ".join(arguments), f"ends with code {code}", output[-300:])
        result.expect("Traceback" not in output, " ".join(arguments), "shows a traceback", output[-300:])
    reads = setup.reads(20)
    read = next((item for item in reads if setup.api.data_of(item.row)), next(iter(reads), None))
    if read is not None:
        code, output = await command_result(setup.launch, "call", read.name, json.dumps(read.params), "--mock")
        right = code == 0 and '"success": true' in output
        right = right and ('"data": null' not in output or not setup.api.data_of(read.row))
        result.expect(right, f"call {read.name} --mock", f"ends with code {code}", output[-300:])


@check("RU-4", "The log is JSON lines on standard error, and nothing but MCP is on standard output", Category.OPERATION,
      "R-OPS-4", where="alone")  # fmt: skip
async def log(setup: Setup, result: Result) -> None:
    """Read the log of a session."""
    async with connect(setup.launch.with_variables(MCP_AQL_LOG_LEVEL="debug"), _LEGACY) as adapter:
        for operation in setup.reads(2):
            await adapter.call("read", operation.name, operation.params or {})
        text = adapter.log()
    for operation in setup.reads(1):
        arguments = "call", operation.name, json.dumps(operation.params), "--mock"
        launch = setup.launch.with_variables(MCP_AQL_LOG_LEVEL="debug")
        _, output, errors = await command_streams(launch, *arguments)
        result.expect(_is_json(output), "call", "prints more than the answer on standard output", output[:300])
        text += errors
    records: list[Any] = []
    for line in text.splitlines():
        try:
            records.append(json.loads(line))
        except ValueError:
            result.expect(False, "log", f"holds a line that is no JSON: {line[:100]}")
    result.expect(bool(records), "log", "is empty at level debug")
    for record in records[:50]:
        right = {"level", "logger", "timestamp"} <= record.keys() if isinstance(record, dict) else False
        result.expect(right, "log", "has a record without level, logger or time", record)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


@check("RU-5", "Quotas of the owner are counted and kept", Category.OPERATION, "R-RATE-1", where="alone")
async def quotas(setup: Setup, result: Result) -> None:
    """Allow two calls a minute, and make three."""
    reads = setup.reads(1)
    if not reads:
        return
    launch = setup.launch.with_variables(MCP_AQL_QUOTA_PER_DAY="2")
    async with connect(launch, _LEGACY) as adapter:
        answers = [await adapter.call("read", reads[0].name, reads[0].params or {}) for _ in range(3)]
        went = [answer.get("success") for answer in answers]
        result.expect(went == [True, True, False], reads[0].name, f"ends {went} with a quota of 2", answers[-1])
        code_ = answers[-1].code
        result.expect(code_.startswith("RATE_LIMIT_"), reads[0].name, f"is refused with {code_}", answers[-1])
        status = await adapter.introspect(query="quota_status")
        result.expect(status.ok, "quota_status", "is not told", status)


@check("RU-6", "Concurrent calls are answered, each with its own answer", Category.OPERATION, "R-OPS-5", where="alone")
async def concurrency(setup: Setup, result: Result) -> None:
    """Send many calls together."""
    import anyio

    async with connect(setup.launch, _MODERN) as adapter:
        names = [operation.name for operation in setup.operations[:20]]
        answers: dict[str, Any] = {}

        async def ask(name: str) -> None:
            answers[name] = await adapter.introspect(query="operations", name=name)

        async with anyio.create_task_group() as group:
            for name in names:
                group.start_soon(ask, name)
        for name in names:
            name_told = (answers[name].data.get("operation") or {}).get("name")
            result.expect(name_told == name, name, f"is answered with {name_told}", answers[name])
