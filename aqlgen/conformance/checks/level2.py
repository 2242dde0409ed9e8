"""Field selection, batches, pages, dry runs and plans (conformance testing, 2.2)."""

from __future__ import annotations

import json
from typing import Any

from aqlgen.conformance.operations import Operation
from aqlgen.conformance.results import Category, Result
from aqlgen.conformance.run import Connected, check
from aqlgen.conformance.stand_in import Reply

_MANY = 6
"""Fields from which on a thing has some that do not identify it."""


@check(
    "L2-1",
    "Every operation that selects gives the fields that are asked for, and no others",
    Category.LEVEL_2,
    "R-SEL-1",
)
async def field_selection(run: Connected, result: Result) -> None:
    """Ask for single fields, presets, and fields that are not there."""
    larger_ones = smaller = 0
    for operation in run.setup.callable:
        if not operation.row.selects or not operation.is_safe_read:
            continue
        params = operation.params or {}
        full = await run.call(operation, {**params, "fields": "full"})
        minimal = await run.call(operation, {**params, "fields": "minimal"})
        if not result.expect(full.ok, operation.name, "has no preset full", full):
            continue
        larger = len(json.dumps(full.get("data"))) >= len(json.dumps(minimal.get("data")))
        result.expect(larger, operation.name, "gives more for minimal than for full", minimal)
        data = full.get("data")
        wrapped = isinstance(data, dict) and isinstance(data.get("items"), list) and "pageInfo" in data
        thing = data["items"] if wrapped and isinstance(data, dict) else data
        first = thing[0] if isinstance(thing, list) and thing else thing
        if not isinstance(first, dict) or not first:
            continue
        larger_ones += len(first) >= _MANY
        smaller += len(first) >= _MANY and len(json.dumps(minimal.get("data"))) < len(json.dumps(data))
        key = next((name for name in first if name.replace("_", "").isalnum()), None)
        if key is None:
            continue
        chosen = await run.call(operation, {**params, "fields": [key]})
        text = chosen.get("data")
        text = text["items"] if wrapped and isinstance(text, dict) and "items" in text else text
        thing_shown = text[0] if isinstance(text, list) and text else text
        right = isinstance(thing_shown, dict) and set(thing_shown) == {key} and thing_shown[key] == first[key]
        within = not right and _is_chosen_within(thing_shown, key)
        result.expect(right or within, operation.name, f"gives other fields than {key}", chosen)
        partly = await run.call(operation, {**params, "fields": [key, "no_such_field"]})
        same = partly.get("data") == chosen.get("data")
        result.expect(same, operation.name, "a field that is not there hides others", partly)
        if not within:
            await _nested(run, result, operation, first, wrapped=wrapped)
        refusal = await run.call(operation, {**params, "fields": "no_such_preset"})
        code = refusal.code
        result.expect(code.startswith("VALIDATION_"), operation.name, "takes an unknown preset", refusal)

    if larger_ones:
        result.expect(smaller > 0, "minimal", f"leaves nothing out of any of {larger_ones} larger things")


def _is_chosen_within(envelope: Any, key: str) -> bool:
    """Return True if a thing in an answer, or each of a list, has one field alone: it is theirs and the answer's."""
    values = envelope.values() if isinstance(envelope, dict) else ()
    lists = (value if isinstance(value, list) else [value] for value in values)
    return any(things and all(isinstance(thing, dict) and set(thing) == {key} for thing in things) for things in lists)


async def _nested(
    run: Connected, result: Result, operation: Operation, thing: dict[str, Any], *, wrapped: bool
) -> None:
    """Ask for one field of an object within a thing."""
    names = ((key, name) for key, value in thing.items() if isinstance(value, dict) and len(value) > 1
             for name in value if (key + name).replace("_", "").isalnum())  # fmt: skip
    key, name = next(names, (None, None))
    if key is None or name is None:
        return
    envelope = await run.call(operation, {**(operation.params or {}), "fields": [f"{key}.{name}"]})
    data = envelope.get("data")
    data = data["items"] if wrapped and isinstance(data, dict) and "items" in data else data
    shown = data[0] if isinstance(data, list) and data else data
    right = isinstance(shown, dict) and shown == {key: {name: thing[key][name]}}
    result.expect(right, operation.name, f"gives other fields than {key}.{name}", envelope)


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
