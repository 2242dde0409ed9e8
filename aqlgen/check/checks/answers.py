"""What the API answers is what the agent reads: whole, selected, by pages, in batches and plans (2.2 and 3.4)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from aqlgen.check.connection import Answer
from aqlgen.check.listing import NUMBER, PagedList, placed
from aqlgen.check.operations import Operation, scalars
from aqlgen.check.results import Category
from aqlgen.check.run import Run, check
from aqlgen.check.stand_in import Arrived, Reply
from aqlgen.runtime.witness.document import is_filled, normal

_MANY = 6
"""Fields from which on a thing has some that do not identify it."""
_WORDS, _PARTS = 1_500, 12
_LONGEST = 45_000
"""Characters that an answer has at most: an adapter gives 10,000 tokens by default."""
_MISSING = Reply.of(404, {"message": "there is nothing here"})
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
        body = json.dumps({**data, **_EXTRA, "x_digits": "digits"}).replace('"digits"', _DIGITS).encode()
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
    wires = {normal(wire): wire for each in (raw, *raw.values()) if isinstance(each, dict) for wire in each}
    for outer, *further in _places(thing):
        steps = [outer, *further]
        spelled = [wires.get(normal(name), name) for name in steps]  # as the API does
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
    """Return what of a request is not as it was shown; what is masked may be anything."""
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


@check("L2-5", "Several steps run in one call, each with the answers of earlier ones", Category.LEVEL_2, "R-STEP-1")
async def plans(run: Run) -> None:
    """Run plans: of two reads, with what is not there, with a step that fails, dry, and with a condition."""
    for operation in run.reads(2):
        step = {"operation": operation.name, "params": operation.params}
        steps = [{"id": "one", **step}, {"id": "two", **step}]
        unsound = [steps[0], {"operation": operation.name, "params": {"no_such_parameter": {"$ref": "one"}}}]
        result = await run.own("execute", "run_steps", steps=steps, **{"return": {"last": {"$ref": "two"}}})
        right = result.ok and "last" in json.dumps(result.data) and len(run.arrived) == 2
        run.expect(right, operation, f"does not run as two steps, with {len(run.arrived)} requests")
        refused = await run.own("execute", "run_steps", steps=unsound)
        run.expect(not refused.ok and not run.arrived, operation, "a wrong plan is not refused")
        with run.api.behaving(lambda _: _MISSING if len(run.arrived) == 2 else None):
            halted = await run.own("execute", "run_steps", steps=[*steps, step])
        plan = halted.details.get("plan") or {}
        numbers = [[each["step"] for each in plan.get(part) or ()] for part in ("done", "not_done")]
        right = not halted.ok and len(run.arrived) == 2 and numbers == [[1], [2, 3]] and "data" in plan["done"][0]
        run.expect(right, operation, f"says {numbers} of a plan of three whose second step fails")
        if any(operation.row.parameters[name].sensitive for name in operation.params):
            continue  # a plan with a secret is not kept
        resumed = await run.own("execute", "run_steps", **{"continue": plan.get("continue")})
        run.expect(resumed.ok and len(run.arrived) == 2, operation, "does not go on with a halted plan")
        shown = await run.own("execute", "run_steps", steps=steps, dry_run=True)
        run.expect(shown.ok and not run.arrived, operation, "does not show a plan without sending it")
    for operation in run.callable:
        data = run.api.data_of(operation.row) if operation.is_safe_read and operation.row.paging is None else None
        stated = run.documented(operation)
        is_list = stated is not None and "array" in stated.document.kinds(stated.success[2])  # whatever its example is
        if is_list and isinstance(data, list) and data and isinstance(data[0], dict):
            await _conditions(run, operation, data[0])
            break
    makes = [item for item in run.callable if item.family == "create" and item.row.method == "POST"]
    for operation in [item for item in makes if item.row.idempotency is None][:1]:
        with run.api.behaving(Reply.of(500, {"message": "broken"})):
            steps = [{"operation": operation.name, "params": operation.params}]
            halted = await run.own("execute", "run_steps", steps=steps)
        token = (halted.details.get("plan") or {}).get("continue")
        if run.arrived and token is not None:
            await run.own("execute", "run_steps", **{"continue": token})
            run.expect(not run.arrived, operation, "a plan makes a call again that may have been carried out")


async def _conditions(run: Run, operation: Operation, item: dict[str, Any]) -> None:
    """Keep one of three items of a step, call another one for each that is kept, and refer to every value of them."""
    parts = [{"name": "first", "sizes": [1, 2]}, {"name": "last", "sizes": [3]}]
    items = [{**dict(list(item.items())[:1]), NUMBER: number, "parts": parts} for number in range(3)]
    call, where = {"operation": operation.name, "params": operation.params}, {"where": {NUMBER: 1}}
    values = dict(_referred(items, "one"))
    with run.api.behaving(Reply.of(200, items)) as arrived:
        full = {"id": "one", **call, **operation.in_full}
        returned = {text: {"$ref": text} for text in values if "parts" in text}  # which nothing renames
        answer = await run.own("execute", "run_steps", steps=[full], **{"return": returned})
        differing = [text for text in returned if not answer.ok or answer.data.get(text) != values[text]]
        run.expect(not differing, operation, f"resolves the references {differing[:5]} otherwise")
        arrived.clear()
        steps = [{"id": "one", **call, **where}]
        answer = await run.own("execute", "run_steps", steps=steps, **{"return": {"$ref": "one"}})
        numbers = [number for number in range(3) if f'"{NUMBER}": {number}' in json.dumps(answer.get("data"))]
        run.expect(numbers == [1], operation, f"where of a step keeps {numbers} of items 0 to 2")
        answer = await run.own("execute", "run_steps", steps=[{**call, "fields": [NUMBER]}])
        shown = answer.data["steps"][0]["data"] if answer.ok else answer
        run.expect(shown == [{NUMBER: number} for number in range(3)], operation, f"fields of a step keep {shown}")
        steps = [{"id": "one", **call}, {**call, "foreach": {"$ref": "one"}, **where}]
        await run.own("execute", "run_steps", steps=steps)
        text = f"foreach with where makes {len(arrived) - 1} calls for one of 3 items"
        run.expect(len(arrived) == 2, operation, text)
    with run.api.behaving(Reply.of(200, {"some": items, "others": items})):
        answer = await run.own("execute", "run_steps", steps=[{**call, **where}])
        run.expect(not answer.ok, operation, "takes where of a step for one of two lists")


def _referred(data: Any, text: str) -> Iterator[tuple[str, Any]]:
    """Yield every reference to data, from the beginning and the end of lists, with what it refers to."""
    yield text, data
    for key, inner in data.items() if isinstance(data, dict) else ():
        yield from _referred(inner, f"{text}.{key}")
    for index, inner in enumerate(data) if isinstance(data, list) else ():
        yield from _referred(inner, f"{text}[{index}]")
        yield from _referred(inner, f"{text}[{index - len(data)}]")


@check("L2-6", "An answer is bounded, and its parts make the whole as each describes how to continue", Category.LEVEL_2,
       "R-SEL-2")  # fmt: skip
async def bounded_answers(run: Run) -> None:
    """Let the API answer far more than an answer holds, and put it together again by what each answer says."""
    parts = [" ".join(f"word{number:026}" for number in range(start, _WORDS, _PARTS)) for start in range(_PARTS)]
    pages = [item for item in run.reads(40) if item.row.paging and item.row.paging.location is None
             and item.row.paging.item_cursor is None and "first" in item.row.shown_parameters]  # fmt: skip
    others = [item for item in run.reads(40) if item.row.selector and item.row.paging is None]
    for operation in [*pages[:1], *others[:1]]:
        paging, data = operation.row.paging, run.api.data_of(operation.row)
        more = operation.in_full
        items = [{"text": part} for part in parts]
        reply: Any = Reply.of(200, items if isinstance(data, list) else {"text": "".join(parts)})
        if paging is not None:
            reply, more = PagedList(operation.row, paging, data, items).reply, {"first": _PARTS, **more}
        with run.api.behaving(reply):
            shown = await _continued(run, operation, {**operation.params, **more})
        right = shown == "".join(parts) or run.last.code.startswith("PERMISSION")
        run.expect(right, operation, f"of {len(''.join(parts)):,} characters its parts have {len(shown):,}")


async def _continued(run: Run, operation: Operation, params: dict[str, Any]) -> str:
    """Return the texts of a call's answer and of those that continue it."""
    texts = ""
    for _ in range(2 * _PARTS):
        answer = await run.call(operation, params)
        size, data = len(json.dumps(answer)), answer.data
        run.expect(size < _LONGEST, operation, f"answers {size:,} characters", "too long an answer")
        items = data.get("items", [data]) if isinstance(data, dict) else data
        texts += "".join(str(item.get("text", "")) for item in items if isinstance(item, dict))
        details = [warning["details"] for warning in answer.get("warnings") or ()]
        cuts = [each for each in details if "truncated_count" in each]
        info = data.get("pageInfo") or {} if isinstance(data, dict) else {}
        following = cuts[0].get("next") if cuts else "pageInfo.endCursor" if info.get("hasNextPage") else None
        if following is None:
            break
        params = {**params, **(following if isinstance(following, dict) else {"after": info.get("endCursor")})}
    return texts


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
        for value, more, expected in _WORK.get(field, ()):
            with run.api.behaving(usual, operation.row.method):
                begun = await run.call(operation)
            if not begun.ok or not isinstance(begun.data, dict):
                break
            named = (begun.data.get("_execution") or {}).get("execution_id")
            with run.api.behaving(Reply.of(200, placed(more, str(pointer), value))):
                answer = await run.own("read", "get_execution_status", execution_id=named)
            shown = answer.data.get("status"), "error" in answer.data, "result" in answer.data
            right = shown == (expected, expected == "failed", expected == "completed")
            right = right and ("progress" not in more or answer.data.get("progress", {}).get("percentage") == 50)
            run.expect(right, operation, f"is told to be {shown} where the API says {value} {more}")
