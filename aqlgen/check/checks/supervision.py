"""Tests of the audit log, of batches and plans of grave calls, and of the safety loop."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from aqlgen.check.checks.safety import asked_about, grave_of
from aqlgen.check.connection import Adapter, command_result, connect
from aqlgen.check.operations import Operation
from aqlgen.check.results import Category, Result
from aqlgen.check.run import Setup, check

_LEGACY = "2025-11-25"
_MOST_SECRETS = 3
_WHOLE_TOKEN = re.compile(r'conf_[^"]{21}')


@check("SA-8", "Grave calls are in the audit log, which shows when it is changed", Category.SAFETY, "R-SAFE-5",
      where="alone")  # fmt: skip
async def audit(setup: Setup, result: Result) -> None:
    """Make a grave call, read the log, change it."""
    file = Path(setup.launch.variables["MCP_AQL_AUDIT_PATH"]).with_name("audit.jsonl")
    launch = setup.launch.with_variables(
        MCP_AQL_POLICY="standard", MCP_AQL_APPROVAL="agent", MCP_AQL_AUDIT_PATH=str(file)
    )
    grave = grave_of(setup)
    if not grave:
        return
    async with connect(launch, _LEGACY) as adapter:
        for operation in grave:
            token = await asked_about(adapter, operation, result, setup.api)
            if token is not None:
                await adapter.call(operation.family, operation.name, operation.params or {}, confirmation_token=token)
        hidden = await _secret_values(adapter, setup)
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    for name, value in hidden.items():
        shown = [line for line in lines if value in line]
        result.expect(not shown, name, "is in the audit log with the value of a secret", shown[:1])
    entries = [json.loads(line) for line in lines]
    events = [entry.get("event") for entry in entries]
    for event in ("TOKEN_ISSUED", "TOKEN_VALIDATED", "OPERATION_PERFORMED"):
        result.expect(event in events, event, "is not in the audit log", events)
    tokens = [line for line in lines if _WHOLE_TOKEN.search(line)]
    result.expect(not tokens, "audit log", "holds a whole token")
    result.expect((await command_result(launch, "audit", "verify"))[0] == 0, "audit verify", "does not accept the log")
    if len(lines) > 2:
        changed = [lines[0], lines[1].replace('"', "'", 1).replace("'", '"', 1).replace("req_", "req-", 1), *lines[3:]]
        file.write_text("\n".join(changed) + "\n", encoding="utf-8")
        result.expect(
            (await command_result(launch, "audit", "verify"))[0] != 0, "audit verify", "accepts a changed log"
        )


async def _secret_values(adapter: Adapter, setup: Setup) -> dict[str, str]:
    """Call grave operations that take secrets; returns the secrets, by parameter."""
    values: dict[str, str] = {}
    for operation in [item for item in setup.callable if item.row.danger in ("destructive", "dangerous")]:
        for name, parameter in operation.row.shown_parameters.items():
            schema = operation.schema(parameter)
            if parameter.sensitive and schema.get("type") == "string" and not {"enum", "pattern"} & schema.keys():
                value = f"check-secret-{len(values)}"
                values[f"{operation.name}, {name}"] = value
                await adapter.call(operation.family, operation.name, {**(operation.params or {}), name: value})
        if len(values) >= _MOST_SECRETS:
            break
    return values


@check("SA-9", "Batches and plans confirm what their calls would", Category.SAFETY, "R-BAT-2", where="alone")
async def together(setup: Setup, result: Result) -> None:
    """Hide a grave call in a batch and in a plan."""
    launch = setup.launch.with_variables(MCP_AQL_POLICY="standard", MCP_AQL_APPROVAL="agent")
    async with connect(launch, _LEGACY) as adapter:
        for operation in grave_of(setup)[:2]:
            item = {"operation": operation.name, "params": operation.params}
            setup.api.arrived = []
            batch = await adapter.send(adapter.tool(operation.family), {"operations": [item]})
            plan = await adapter.call("execute", "run_steps", {"steps": [item]})
            for answer, form in ((batch, "a batch"), (plan, "a plan")):
                asked = "CONFIRMATION_REQUIRED" in json.dumps(answer)
                result.expect(asked, operation.name, f"is not asked about in {form}", answer)
            await _halted_batch(adapter, setup, operation, result)
            writes = [request for request in setup.api.arrived if request.method == operation.row.method]
            result.expect(not writes, operation.name, "is sent by a batch or a plan without a confirmation")


async def _halted_batch(adapter: Adapter, setup: Setup, operation: Operation, result: Result) -> None:
    """Expect that what follows a call to be confirmed waits with it."""
    mild = [item for item in setup.callable if item.row.danger == "reversible" and item.family == operation.family]
    others = [item for item in setup.callable if item.family == operation.family and item.name != operation.name]
    follower = next(iter([*mild, *others]), operation)
    items = [{"operation": item.name, "params": item.params} for item in (operation, follower)]
    setup.api.arrived = []
    batch = await adapter.send(adapter.tool(operation.family), {"operations": items})
    halted = (batch.get("halted_at") or {}).get("operation")
    waiting = [entry.get("operation") for entry in batch.get("pending_operations") or ()]
    right = halted == operation.name and waiting == [follower.name]
    result.expect(right, operation.name, f"a batch halts at {halted}, and {waiting} wait", batch)
    result.expect(not setup.api.arrived, operation.name, "a batch goes on past a call to be confirmed", batch)


_STEP = {"element_name": "checker", "nextActionHint": "reading a list with the adapter"}
_AGENT = {"element_name": "checker"}


@check("SA-10", "The safety loop is as its mode says", Category.SAFETY, "R-LOOP-2, R-LOOP-3", where="alone")
async def loop(setup: Setup, result: Result) -> None:
    """Run agents under the loop in each mode, with a person who lets them start and confirms nothing else."""
    for mode in ("enforcing", "monitoring", "logging"):
        launch = setup.launch.with_variables(
            MCP_AQL_SAFETY_LOOP=mode, MCP_AQL_SAFETY_LOOP_STEPS="3", MCP_AQL_POLICY="open"
        )
        person = _Person()
        async with connect(launch, _LEGACY, answer=person.answer) as adapter:
            without = await adapter.call("create", "record_execution_step", _STEP)
            directives = await _steps(adapter, person, mode, result)
            went_on = [directive.get("continue") for directive in directives]
            expected = [True, True, True, False, False] if mode == "enforcing" else [True] * 5
            result.expect(went_on == expected, mode, f"lets steps go on {went_on} with a limit of 3", directives)
            stopped = [directive for directive in directives if directive.get("stopped")]
            result.expect(not stopped or mode == "enforcing", mode, "stops", stopped)
            if mode == "enforcing":
                alone = without.data.get("continue") is False
                result.expect(alone, mode, "goes on without a start", without)
                await _held(adapter, setup, result)
            else:
                failed = await adapter.call("create", "record_execution_step", {**_STEP, "outcome": "failure"})
                result.expect(failed.data.get("continue") is True, mode, "holds an agent", failed)
            ended = await adapter.call("execute", "complete_execution", _AGENT)
            result.expect(ended.ok, mode, "does not end an agent", ended)
    await _after_a_failure(setup, result)
    async with connect(setup.launch.with_variables(MCP_AQL_SAFETY_LOOP="disabled"), _LEGACY) as adapter:
        hidden = await adapter.call("execute", "execute_agent", _AGENT)
        result.expect(hidden.code == "NOT_FOUND_OPERATION", "disabled", "offers execute_agent", hidden)


class _Person:
    """A person who says yes while `agrees`."""

    def __init__(self) -> None:
        self.agrees = True

    def answer(self, _: str) -> str:
        return "accept" if self.agrees else "decline"


async def _steps(adapter: Adapter, person: _Person, mode: str, result: Result) -> list[dict[str, Any]]:
    """Start an agent and report five steps; returns the directives."""
    started = await adapter.call("execute", "execute_agent", _AGENT)
    person.agrees = False
    right = started.ok and started.data.get("status") == "running"
    result.expect(right, mode, "does not start an agent", started)
    directives = [(await adapter.call("create", "record_execution_step", _STEP)).get("data") or {} for _ in range(5)]
    for directive in directives:
        shape = isinstance(directive.get("continue"), bool) and isinstance(directive.get("factors"), list)
        result.expect(shape, mode, "gives no directive", directive)
    return directives


async def _held(adapter: Adapter, setup: Setup, result: Result) -> None:
    """Expect that a paused agent neither confirms itself nor changes anything."""
    by_itself = await adapter.call("execute", "confirm_operation", _AGENT)
    result.expect(by_itself.get("success") is False, "enforcing", "lets an agent confirm itself", by_itself)
    for operation in [item for item in setup.callable if item.family in ("create", "update")][:1]:
        setup.api.arrived = []
        answer = await adapter.call(operation.family, operation.name, operation.params or {})
        result.expect(not setup.api.arrived, operation.name, "runs for a paused agent", answer)


async def _after_a_failure(setup: Setup, result: Result) -> None:
    """Expect a pause after a step that failed."""
    launch = setup.launch.with_variables(MCP_AQL_SAFETY_LOOP="enforcing", MCP_AQL_POLICY="open")
    async with connect(launch, _LEGACY, answer=lambda _: "accept") as adapter:
        await adapter.call("execute", "execute_agent", _AGENT)
        first = await adapter.call("create", "record_execution_step", _STEP)
        failed = await adapter.call("create", "record_execution_step", {**_STEP, "outcome": "failure"})
        went_on = [answer.data.get("continue") for answer in (first, failed)]
        result.expect(went_on == [True, False], "enforcing", f"goes on {went_on} after a step that failed", failed)
