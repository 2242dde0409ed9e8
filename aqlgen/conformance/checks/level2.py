"""Field selection, batches, pages, dry runs and plans (conformance testing, 2.2)."""

from __future__ import annotations

import json
from typing import Any

from aqlgen.conformance.results import Category, Result
from aqlgen.conformance.run import Connected, check
from aqlgen.conformance.stand_in import Reply


@check(
    "L2-1",
    "Every operation that selects gives the fields that are asked for, and no others",
    Category.LEVEL_2,
    "R-SEL-1",
)
async def field_selection(run: Connected, result: Result) -> None:
    """Ask for single fields, presets, and fields that are not there."""
    for operation in run.setup.callable:
        if not operation.row.selects or not operation.is_safe_read:
            continue
        params = operation.params or {}
        full = await run.call(operation, {**params, "fields": "full"})
        minimal = await run.call(operation, {**params, "fields": "minimal"})
        if not result.expect(full.get("success") is True, operation.name, "has no preset full", full):
            continue
        larger = len(json.dumps(full.get("data"))) >= len(json.dumps(minimal.get("data")))
        result.expect(larger, operation.name, "gives more for minimal than for full", minimal)
        data = full.get("data")
        wrapped = isinstance(data, dict) and isinstance(data.get("items"), list) and "pageInfo" in data
        thing = data["items"] if wrapped and isinstance(data, dict) else data
        first = thing[0] if isinstance(thing, list) and thing else thing
        if not isinstance(first, dict) or not first:
            continue
        key = next((name for name in first if name.replace("_", "").isalnum()), None)
        if key is None:
            continue
        chosen = await run.call(operation, {**params, "fields": [key]})
        text = chosen.get("data")
        text = text["items"] if wrapped and isinstance(text, dict) and "items" in text else text
        thing_shown = text[0] if isinstance(text, list) and text else text
        right = isinstance(thing_shown, dict) and set(thing_shown) == {key} and thing_shown[key] == first[key]
        result.expect(right, operation.name, f"gives other fields than {key}", chosen)
        refusal = await run.call(operation, {**params, "fields": "no_such_preset"})
        code = str((refusal.get("error") or {}).get("code"))
        result.expect(code.startswith("VALIDATION_"), operation.name, "takes an unknown preset", refusal)


@check("L2-2", "A batch runs its operations in order, and one failure stops no other", Category.LEVEL_2, "R-BAT-1")
async def batches(run: Connected, result: Result) -> None:
    """Send batches with a failure in the middle."""
    for operation in run.setup.reads(3):
        item = {"operation": operation.name, "params": operation.params}
        refusal = {"operation": operation.name, "params": {**(operation.params or {}), "no_such_parameter": 1}}
        run.setup.api.arrived = []
        envelope = await run.adapter.send(run.adapter.tool("read"), {"operations": [item, refusal, item]})
        run.setup.evidence["batch_example"] = envelope
        entries = envelope.get("results") or (envelope.get("data") or {}).get("results") or []
        summary = envelope.get("summary") or (envelope.get("data") or {}).get("summary") or {}
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


@check("L2-3", "A list is paged by cursors of its own, and by no others", Category.LEVEL_2, "R-SEL-3")
async def pages(run: Connected, result: Result) -> None:
    """Ask for pages, and with a cursor that was never given."""
    for operation in run.setup.callable:
        if operation.row.paging is None:
            continue
        params = {**(operation.params or {}), "first": 1}
        envelope, arrived = await run.sent(operation, params)
        data = envelope.get("data") or {}
        info = data.get("pageInfo") if isinstance(data, dict) else None
        right = isinstance(info, dict) and isinstance(data.get("items"), list) and len(data["items"]) <= 1
        right = right and {"hasNextPage", "hasPreviousPage"} <= (info or {}).keys()
        if not result.expect(right, operation.name, "gives no page", envelope):
            continue
        forged, arrived = await run.sent(operation, {**params, "after": "bm90LWEtY3Vyc29y"})
        code = (forged.get("error") or {}).get("code")
        result.expect(code == "VALIDATION_INVALID_VALUE", operation.name, "takes a cursor that it never gave", forged)
        result.expect(not arrived, operation.name, "asks the API with a forged cursor", forged)
        cursor = (info or {}).get("endCursor")
        if (info or {}).get("hasNextPage") and cursor:
            following, _ = await run.sent(operation, {**params, "after": cursor})
            result.expect(following.get("success") is True, operation.name, "does not take its own cursor", following)
            other = await run.sent(operation, {**params, "first": 2, "after": cursor[:-2] + "AA"})
            bad = (other[0].get("error") or {}).get("code") == "VALIDATION_INVALID_VALUE"
            result.expect(bad, operation.name, "takes a changed cursor", other[0])


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
        right = envelope.get("success") is True and "last" in json.dumps(envelope.get("data"))
        result.expect(right, operation.name, "does not run as two steps", envelope)
        count = len(run.setup.api.arrived)
        result.expect(count == 2, operation.name, f"two steps sent {count} requests", envelope)
        refusal = [*steps[:1], {"operation": operation.name, "params": {"no_such_parameter": {"$ref": "one"}}}]
        run.setup.api.arrived = []
        refused = await run.adapter.call("execute", "run_steps", {"steps": refusal})
        result.expect(refused.get("success") is False, operation.name, "a wrong plan is not refused", refused)
        result.expect(not run.setup.api.arrived, operation.name, "a wrong plan sends requests", refused)


@check("L2-6", "An answer is bounded, and says what was cut and how to go on", Category.LEVEL_2, "R-SEL-2")
async def bounded_answers(run: Connected, result: Result) -> None:
    """Let the API answer a text of a megabyte."""
    for operation in run.setup.reads(3):
        with run.setup.api.behaving(Reply.of(200, {"text": "word " * 200_000})):
            envelope, _ = await run.sent(operation, operation.params or {})
        size = len(json.dumps(envelope))
        result.expect(size < 200_000, operation.name, f"answers {size:,} characters", None)
        notice: Any = envelope.get("warnings") or envelope.get("error")
        result.expect(bool(notice), operation.name, "says nothing of what was cut", notice)
