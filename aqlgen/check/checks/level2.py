"""Field selection, batches, pages, dry runs and plans (conformance testing, 2.2)."""

from __future__ import annotations

import json
from typing import Any

from aqlgen.check.operations import Operation
from aqlgen.check.results import Category, Result
from aqlgen.check.run import Connected, check
from aqlgen.check.stand_in import Reply

_MANY = 6
"""Fields from which on a thing has some that do not identify it."""


@check(
    "L2-1",
    "Every operation that selects gives the fields that are asked for, and no others",
    Category.LEVEL_2,
    "R-SEL-1",
)
async def field_selection(run: Connected, result: Result) -> None:
    """Ask for presets, single fields, and what is not there."""
    leaves_out: list[bool] = []
    for operation in run.setup.callable:
        if not operation.row.selects or not operation.is_safe_read:
            continue
        presets = ("full", "minimal", "no_such_preset")
        full, minimal, unknown = [await run.with_fields(operation, preset) for preset in presets]
        if not result.expect(full.ok, operation.name, "has no preset full", full):
            continue
        result.expect(unknown.code.startswith("VALIDATION_"), operation.name, "takes an unknown preset", unknown)
        sizes = [len(json.dumps(answer.get("data"))) for answer in (full, minimal)]
        result.expect(sizes[0] >= sizes[1], operation.name, "gives more for minimal than for full", minimal)
        thing = _thing(full.data)
        if len(thing) >= _MANY:
            leaves_out.append(sizes[1] < sizes[0])
        key = next((name for name in thing if name.replace("_", "").isalnum()), None)
        if key is not None:
            await _single_fields(run, result, operation, thing, key)
    if leaves_out:
        result.expect(any(leaves_out), "minimal", f"leaves nothing out of any of {len(leaves_out)} larger things")


def _thing(data: Any) -> dict[str, Any]:
    """Return the first thing that an answer shows, of a page, of a list or alone; empty if it is no object."""
    if isinstance(data, dict) and isinstance(data.get("items"), list) and "pageInfo" in data:
        data = data["items"]
    first = data[0] if isinstance(data, list) and data else data
    return first if isinstance(first, dict) else {}


async def _single_fields(run: Connected, result: Result, operation: Operation, thing: dict[str, Any], key: str) -> None:
    """Ask for one field, for one that is not there beside it, and for one field of an object within the thing."""
    chosen = await run.with_fields(operation, [key])
    shown = _thing(chosen.data)
    within = shown != {key: thing[key]} and _is_chosen_within(shown, key)
    result.expect(within or shown == {key: thing[key]}, operation.name, f"gives other fields than {key}", chosen)
    partly = await run.with_fields(operation, [key, "no_such_field"])
    result.expect(partly.data == chosen.data, operation.name, "a field that is not there hides others", partly)
    places = ((outer, name) for outer, value in thing.items() if isinstance(value, dict) and len(value) > 1
              for name in value if (outer + name).replace("_", "").isalnum())  # fmt: skip
    outer, name = next(places, ("", ""))
    if outer and not within:
        nested = await run.with_fields(operation, [f"{outer}.{name}"])
        right = _thing(nested.data) == {outer: {name: thing[outer][name]}}
        result.expect(right, operation.name, f"gives other fields than {outer}.{name}", nested)


def _is_chosen_within(envelope: Any, key: str) -> bool:
    """Return True if a thing in an answer, or each of a list, has one field alone: it is theirs and the answer's."""
    values = envelope.values() if isinstance(envelope, dict) else ()
    lists = (value if isinstance(value, list) else [value] for value in values)
    return any(things and all(isinstance(thing, dict) and set(thing) == {key} for thing in things) for things in lists)


@check("L2-2", "A batch runs its operations in order, and one failure stops no other", Category.LEVEL_2, "R-BAT-1")
async def batches(run: Connected, result: Result) -> None:
    """Send batches with a failure in the middle."""
    for operation in run.setup.reads(3):
        item = {"operation": operation.name, "params": operation.params}
        refusal = {"operation": operation.name, "params": {**(operation.params or {}), "no_such_parameter": 1}}
        run.setup.api.arrived = []
        envelope = await run.adapter.send(run.adapter.tool("read"), {"operations": [item, refusal, item]})
        run.setup.evidence["batch_example"] = envelope
        entries = envelope.get("results") or envelope.data.get("results") or []
        summary = envelope.get("summary") or envelope.data.get("summary") or {}
        order = [entry.get("index") for entry in entries]
        result.expect(order == [0, 1, 2], operation.name, f"gives results {order}", envelope)
        succeeded = [(entry.get("result") or {}).get("success") for entry in entries]
        result.expect(succeeded == [True, False, True], operation.name, f"ended {succeeded}", envelope)
        expected = {"total": 3, "succeeded": 2, "failed": 1}
        right = {key: summary.get(key) for key in expected} == expected
        result.expect(right, operation.name, f"sums up {summary}", envelope)
        count = len(run.setup.api.arrived)
        result.expect(count == 2, operation.name, f"sent {count} requests", envelope)
        names = [entry.get("operation") for entry in entries]
        result.expect(names == [operation.name] * 3, operation.name, f"names {names}", envelope)


@check("L2-4", "A dry run shows the request and sends nothing", Category.LEVEL_2, "R-SEL-5")
async def dry_runs(run: Connected, result: Result) -> None:
    """Show the request of every operation that changes something."""
    for operation in run.setup.callable:
        if "dry_run" not in operation.row.adapter_parameters:
            continue
        envelope, arrived = await run.sent(operation, {**(operation.params or {}), "dry_run": True})
        shown = envelope.get("data") or {}
        writes = [request for request in arrived if request.method != "GET"]
        result.expect(not writes, operation.name, "sends its dry run", envelope)
        if envelope.get("success") is not True:
            result.expect(operation.reads_first, operation.name, "shows no request", envelope)
            continue
        right = isinstance(shown, dict) and {"method", "url", "headers"} <= shown.keys()
        result.expect(
            right and shown.get("method") == operation.row.method, operation.name, "shows no request", envelope
        )
        text = json.dumps(envelope)
        leaked = [name for name, secret in run.setup.secrets.items() if secret in text]
        result.expect(not leaked, operation.name, f"shows the credential of {leaked}", envelope)


async def _halting(run: Connected, result: Result, operation: Operation) -> None:
    """Let the first step of a plan fail, and show a plan without running it."""
    step = {"operation": operation.name, "params": operation.params}
    with run.setup.api.behaving(Reply.of(404, {"message": "there is nothing here"})) as arrived:
        halted = await run.adapter.call("execute", "run_steps", {"steps": [step, step]})
    result.expect(halted.get("success") is False, operation.name, "goes on after a step that failed", halted)
    result.expect(len(arrived) == 1, operation.name, f"a plan that fails sends {len(arrived)} requests", halted)
    run.setup.api.arrived = []
    shown = await run.adapter.call("execute", "run_steps", {"steps": [step], "dry_run": True})
    result.expect(shown.ok, operation.name, "shows no plan", shown)
    result.expect(not run.setup.api.arrived, operation.name, "sends the dry run of a plan", shown)


async def _conditions(run: Connected, result: Result) -> None:
    """Repeat a step for those items of a list that meet a condition."""
    operation = next((item for item in run.setup.callable if item.is_safe_read and _is_list(run, item)), None)
    if operation is None:
        return
    key = next(iter(_is_list(run, operation)))
    items = [{key: value, "checkNumber": index} for index, value in enumerate(("a", "b", "a"))]
    with run.setup.api.behaving(Reply.of(200, items)):
        step = {"id": "one", "operation": operation.name, "params": operation.params, "where": {"checkNumber": 1}}
        params = {"steps": [step], "return": {"$ref": "one"}}
        envelope = await run.adapter.call("execute", "run_steps", params)
    text = json.dumps(envelope.get("data"))
    numbers = [number for number in range(3) if f'"checkNumber": {number}' in text]
    result.expect(numbers == [1], operation.name, f"where of a step keeps {numbers} of items 0 to 2", envelope)


def _is_list(run: Connected, operation: Operation) -> dict[str, Any]:
    """Return the first item of an answer that is a list of objects, else nothing."""
    if operation.row.paging is not None or operation.row.method != "GET":
        return {}
    data = run.setup.api.data_of(operation.row)
    first = data[0] if isinstance(data, list) and data else None
    return first if isinstance(first, dict) else {}


@check("L2-5", "Several steps run in one call, each with what earlier ones answered", Category.LEVEL_2, "R-STEP-1")
async def plans(run: Connected, result: Result) -> None:
    """Run a plan of two reads, and one that names what is not there."""
    for operation in run.setup.reads(2):
        steps = [
            {"id": "one", "operation": operation.name, "params": operation.params},
            {"id": "two", "operation": operation.name, "params": operation.params},
        ]
        run.setup.api.arrived = []
        envelope = await run.adapter.call("execute", "run_steps", {"steps": steps, "return": {"last": {"$ref": "two"}}})
        right = envelope.ok and "last" in json.dumps(envelope.get("data"))
        result.expect(right, operation.name, "does not run as two steps", envelope)
        count = len(run.setup.api.arrived)
        result.expect(count == 2, operation.name, f"two steps sent {count} requests", envelope)
        refusal = [*steps[:1], {"operation": operation.name, "params": {"no_such_parameter": {"$ref": "one"}}}]
        run.setup.api.arrived = []
        refused = await run.adapter.call("execute", "run_steps", {"steps": refusal})
        result.expect(refused.get("success") is False, operation.name, "a wrong plan is not refused", refused)
        result.expect(not run.setup.api.arrived, operation.name, "a wrong plan sends requests", refused)
        await _halting(run, result, operation)
    await _conditions(run, result)


@check("L2-6", "An answer is bounded, and says what was cut and how to go on", Category.LEVEL_2, "R-SEL-2")
async def bounded_answers(run: Connected, result: Result) -> None:
    """Let the API answer a text of a megabyte."""
    for operation in run.setup.reads(3):
        with run.setup.api.behaving(Reply.of(200, {"text": "word " * 200_000})):
            envelope, _ = await run.sent(operation, operation.params or {})
        size = len(json.dumps(envelope))
        result.expect(size < 200_000, operation.name, f"answers {size:,} characters", None)
        notice: Any = envelope.get("warnings") or envelope.get("error") or (envelope.get("_meta") or {}).get("fields")
        result.expect(bool(notice), operation.name, "says nothing of what was cut", notice)
