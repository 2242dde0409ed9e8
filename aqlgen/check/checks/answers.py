"""What the API answers is what the agent reads: whole, selected, by pages, in batches and plans (2.2 and 3.4)."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

from aqlgen.check.connection import Answer
from aqlgen.check.listing import placed
from aqlgen.check.operations import Operation, scalars
from aqlgen.check.results import Category
from aqlgen.check.run import Run, check
from aqlgen.check.stand_in import Arrived, Reply
from aqlgen.runtime.witness.document import is_filled, normal

_MANY = 6
"""Fields from which on a thing has some that do not identify it."""
_DIGITS = "0.10000000000000000001"
_EXTRA = {"x_Undeclared-Key": {"inner Key": [1, None]}}


@check("RT-2", "The agent reads the API's answer, field by field", Category.ROUND_TRIP, "R-SEL-1")
async def answers_arrive(run: Run) -> None:
    """Let the API add what no document declares; the witness compares the rest of each answer."""
    for operation in [item for item in run.callable if item.is_safe_read and item.row.selector and not item.row.paging]:
        run.api.forget()
        data = run.api.data_of(operation.row)
        if not isinstance(data, dict) or not data:
            continue
        body = f'{json.dumps({**data, **_EXTRA})[:-1]}, "x_digits": {_DIGITS}}}'.encode()
        with run.api.behaving(Reply(200, body, {"Content-Type": "application/json"})):
            answer = await run.call(operation, {**operation.params, **operation.in_full})
        right = json.dumps(_EXTRA)[1:-1] in json.dumps(answer.data) and _DIGITS in answer.text
        is_told = answer.ok and (right or answer.warned)
        run.expect(is_told, operation, "an undeclared field, or a digit of it, is changed")
        expected = {path: value for path, value in answer.fields.items() if json.dumps(value) in scalars(data)}
        if expected:
            run.keep("round_trip_tests", name=operation.name, expected_fields=expected, read_response=answer)


@check("L2-1", "Every operation that selects gives the fields that are asked for, and no others", Category.LEVEL_2,
       "R-SEL-1")  # fmt: skip
async def field_selection(run: Run) -> None:
    """Ask for presets, single fields, and what is not there."""
    leaves_out: list[bool] = []
    for operation in [item for item in run.callable if item.is_safe_read and item.row.selector]:
        unknown, minimal, full = [await _chosen(run, operation, preset) for preset in ("no_such", "minimal", "full")]
        run.expect(unknown.code.startswith("VALIDATION_"), operation, "takes an unknown preset", unknown)
        if not run.expect(full.ok, operation, "has no preset full"):
            continue
        sizes = [len(json.dumps(answer.get("data"))) for answer in (full, minimal)]
        run.expect(sizes[0] >= sizes[1], operation, "gives more for minimal than for full", minimal)
        thing = _thing(full.data)
        is_named = not all(isinstance(value, (dict, list)) for value in thing.values())
        is_cut = len(thing) >= _MANY and operation.row.default_fields != "minimal"  # a default cuts no small answer
        if is_cut and is_named:
            leaves_out.append(sizes[1] < sizes[0])
        await _select(run, operation, thing)
    if leaves_out:
        run.expect(any(leaves_out), "minimal", f"leaves nothing out of any of {len(leaves_out)} larger things")


async def _chosen(run: Run, operation: Operation, fields: Any) -> Answer:
    return await run.call(operation, {**operation.params, operation.row.selector: fields})


async def _select(run: Run, operation: Operation, thing: dict[str, Any]) -> None:
    """Ask for a field and for a field of a field, in each spelling, beside one that is not there."""
    raw = _thing(run.api.data_of(operation.row))
    wires = [wire for each in (raw, *raw.values()) if isinstance(each, dict) for wire in each]
    for outer, *further in _places(thing):
        steps = [outer, *further]
        spelled = [name if name in wires else next((wire for wire in wires if normal(wire) == normal(name)), name)
                   for name in steps]  # fmt: skip
        for path in dict.fromkeys((".".join(steps), ".".join(spelled))):
            answer = await _chosen(run, operation, [path, "no_such_field"])
            shown = _thing(answer.data)
            right = shown == {outer: {name: thing[outer][name] for name in further} or thing[outer]}
            run.expect(right or is_chosen_within(shown, outer), operation, f"gives other fields than {path}")
            run.expect("no_such_field" in answer.warned, operation, "says nothing of a field that is not there")


def _places(thing: dict[str, Any]) -> list[list[str]]:
    """Return the way to a field of a thing, and to a field of an object in it, of those with plain names."""
    names = [name for name in thing if name.replace("_", "").isalnum()]
    objects = [name for name in names if isinstance(thing[name], dict) and len(thing[name]) > 1]
    inner = [[outer, name] for outer in objects for name in thing[outer] if name.replace("_", "").isalnum()]
    return [*([name] for name in names[:1]), *inner[:1]]


def _thing(data: Any) -> dict[str, Any]:
    """Return the first thing that an answer shows, of a page, of a list or alone; empty if it is not an object."""
    if isinstance(data, dict) and isinstance(data.get("items"), list) and "pageInfo" in data:
        data = data["items"]
    first = data[0] if isinstance(data, list) and data else data
    return first if isinstance(first, dict) else {}


def is_chosen_within(data: Any, key: str) -> bool:
    """Return True if a thing in an answer, or each of a list, has one field alone: it is theirs and the answer's."""
    values = data.values() if isinstance(data, dict) else ()
    lists = (value if isinstance(value, list) else [value] for value in values)
    return any(things and all(isinstance(thing, dict) and set(thing) == {key} for thing in things) for things in lists)


@check("L2-2", "A batch runs its operations in order, and one failure stops no other", Category.LEVEL_2, "R-BAT-1")
async def batches(run: Run) -> None:
    """Send batches with a failure in the middle."""
    for operation, other in zip(reads := run.reads(3), reads[1:] + reads[:1], strict=True):
        item = {"operation": operation.name, "params": operation.params}
        refusal = {"operation": operation.name, "params": {**operation.params, "no_such_parameter": 1}}
        last = {"operation": other.name, "params": other.params}
        answer = await run.send(run.adapter.tool("read"), {"operations": [item, refusal, last]})
        run.evidence["batch_example"] = answer
        got = [(entry.get("index"), entry.get("operation"), (entry.get("result") or {}).get("success"))
               for entry in answer.get("results") or ()]  # fmt: skip
        expected = [(0, operation.name, True), (1, operation.name, False), (2, other.name, True)]
        run.expect(got == expected, operation, f"gives the results {got}")
        right = {"total": 3, "succeeded": 2, "failed": 1}.items() <= (answer.get("summary") or {}).items()
        run.expect(right and len(run.arrived) == 2, operation, f"sums up {answer.get('summary')}")


@check("L2-4", "A dry run shows the request without secrets, and sends nothing", Category.LEVEL_2, "R-SEL-5")
async def dry_runs(run: Run) -> None:
    """Show the request of every operation that changes something, and compare it with the one that is sent."""
    for operation in [item for item in run.callable if "dry_run" in item.row.adapter_parameters]:
        params = operation.params if operation.row.update else operation.params | run.sampled(operation, 0)
        shown = await _shown(run, operation, params, sampled=params != operation.params)
        if not shown and params != operation.params:  # values that are right one by one need not go together
            params = operation.params
            shown = await _shown(run, operation, params)
        if shown and (await run.call(operation, params)).ok and run.writes(operation):
            problem = _differs(shown, run.writes(operation)[-1], is_whole=not operation.reads_first)
            run.expect(not problem, operation, f"is sent otherwise than it is shown: {problem}", shown)


async def _shown(run: Run, operation: Operation, params: dict[str, Any], *, sampled: bool = False) -> dict[str, Any]:
    """Return the request that a dry run shows, which must send nothing and show no secret."""
    answer = await run.call(operation, {**params, "dry_run": True})
    run.expect(not [item for item in run.arrived if item.method != "GET"], operation, "sends its dry run")
    shown = answer.data if isinstance(answer.data, dict) else {}
    hidden = [str(params[name]) for name in operation.secrets(run.documented(operation)) if name in params]
    run.expect(not any(value in str(shown) for value in hidden), operation, "shows a secret", shown)
    right = {"url", "headers", "body"} <= shown.keys() and shown.get("method") == operation.row.method
    excused = ("PERMISSION_", "VALIDATION_") if sampled else "PERMISSION_"
    is_excused = not answer.ok and (operation.reads_first or answer.code.startswith(excused))
    run.expect(right or is_excused, operation, "shows no request")
    return shown if right else {}


def _differs(shown: dict[str, Any], sent: Arrived, *, is_whole: bool) -> str:
    """Return the first part of a request that differs from the shown one, "" for none; masked parts may be anything."""
    url = f"{sent.base}{sent.path}{'?' if sent.raw_query else ''}{sent.raw_query}"
    if not re.fullmatch(re.escape(_as_called(shown["url"])).replace(r"\*\*\*", ".*"), _as_called(url)):
        return url
    for name, value in shown["headers"].items():
        is_free = "***" in value or "boundary=" in value or is_filled(name)
        if not is_free and sent.headers.get(name.lower()) != value:
            return f"{name}: {sent.headers.get(name.lower())}"
    values = [value for value in scalars(shown["body"]) if "***" not in value]
    is_json = is_whole and isinstance(shown["body"], dict) and isinstance(sent.data, dict)
    return f"{sent.data}" if is_json and not set(values) <= set(scalars(sent.data)) else ""


def _as_called(url: str) -> str:
    """Return a URL without the key of repeated calls, which is new at each sending."""
    path, _, query = url.partition("?")
    return f"{path}?{'&'.join(pair for pair in query.split('&') if not is_filled(pair.partition('=')[0]))}"


_WORK: dict[str, tuple[tuple[Any, dict[str, Any], str], ...]] = {
    "status": (("queued", {}, "pending"), ("RUNNING", {}, "running"), ("succeeded", {}, "completed"),
               ("busy", {"progress": 0.5}, "running"), ("failed", {}, "failed"), ("cancelled", {}, "cancelled")),
    "done": ((False, {}, "running"), (True, {"response": {}}, "completed"), (True, {"error": {"code": 3}}, "failed"),
             (True, {"error": {"code": 1}}, "cancelled")),
}  # fmt: skip
"""The states of work by the field of the API that has them: its value, other fields, and the state for an agent."""


@check("L2-8", "Work that goes on after a call is followed to its end", Category.LEVEL_2, "R-LOOP-1")
async def executions(run: Run) -> None:
    """Begin work, and let the API tell each of its states."""
    for operation in run.callable:
        work = operation.row.long_running
        pointer = None if work is None or work.monitor is None else work.monitor_state
        field, usual = str(pointer).rpartition("/")[2], run.api.shape(operation.row)
        if isinstance(usual.data, dict) and usual.data.get(field) is True:
            usual = replace(usual, body=json.dumps({**usual.data, field: False}).encode())
        if work is not None and work.status == "202" != str(usual.status):  # beside a success that ends at once
            usual = replace(usual, status=202, body=usual.body if operation.row.responses["202"] else b"")
        for value, more, expected in _WORK.get(field, ()):
            with run.api.behaving(usual, operation.row.method):
                begun = await run.call(operation)
            if not begun.ok or not isinstance(begun.data, dict):
                break
            named = (begun.data.get("_execution") or begun.data).get("execution_id")
            with run.api.behaving(Reply.of(200, placed(more, str(pointer), value))):
                answer = await run.own("read", "get_execution_status", execution_id=named)
            shown = answer.data.get("status"), "error" in answer.data, "result" in answer.data
            right = (*shown, "progress" not in more or answer.data.get("progress", {}).get("percentage") == 50) == (
                expected, expected == "failed", expected == "completed", True)  # fmt: skip
            is_unfit = "pattern" in answer.details  # the usual answer may not fit the monitor's variable
            run.expect(right or is_unfit, operation, f"is told to be {shown} where the API says {value} {more}")
