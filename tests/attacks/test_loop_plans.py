"""Attacks of agents on what is reported as a whole or sent from files: plans, workflows, files, and races.

R-LOOP-2, R-LOOP-3, R-LOOP-4: nothing that changes something runs but what was reported, as it was, once.
"""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest
from forms import FORMS, altered
from guarded_shop import Human
from looped_shop import AGENT, DELETE, PAY, Floor

from aqlgen.runtime.session import Session
from aqlgen.runtime.settings.tables import LoopSettings

pytestmark = pytest.mark.anyio
BY_FORM = pytest.mark.parametrize("form", FORMS)


# Plans and workflows

PLAN: dict[str, Any] = {"steps": [DELETE, {"operation": "create_item", "params": {}}]}
PLANS: dict[str, dict[str, Any]] = {
    "another item": {"steps": [altered(DELETE, item_id="8"), PLAN["steps"][1]]},
    "a step more": {"steps": [*PLAN["steps"], DELETE]},
    "a step fewer": {"steps": [DELETE]},
    "another order": {"steps": [*reversed(PLAN["steps"])]},
    "for each": {"steps": [{**DELETE, "foreach": ["7", "8"]}, PLAN["steps"][1]]},
    "with force": {"steps": [altered(DELETE, force=True), PLAN["steps"][1]]},
    "the operationId with another item": {
        "steps": [{"operation": "removeItem", "params": {"item_id": "9"}}, PLAN["steps"][1]]
    },
    "the gravest": {"steps": [{"operation": "purge", "params": {}}]},
    "another answer": {**PLAN, "return": {"all": {"$ref": "1"}}},
    "by references": {
        "steps": [{"id": "a", "operation": "list_items", "params": {}}, altered(DELETE, item_id={"$ref": "a.name"})]
    },
    "a key in a step": {"steps": [{**DELETE, "fields": "full"}, PLAN["steps"][1]]},
    "a plan in a plan": {"steps": [{"operation": "run_steps", "params": PLAN}]},
    "the loop in a plan": {
        "steps": [{"operation": "confirm_operation", "params": {"element_name": AGENT}}, *PLAN["steps"]]
    },
}


@pytest.mark.parametrize("attack", PLANS)
async def test_a_plan_runs_as_it_was_reported(floor: Floor, attack: str) -> None:
    """R-LOOP-2: also with `dry_run` and `unknown` beside it, which are no part of the report."""
    floor.open()
    await floor.granted({"operation": "run_steps", "params": PLAN})
    for more in ({}, {"dry_run": False}, {"unknown": "skip"}):
        assert not (await floor.do("run_steps", **PLANS[attack], **more))["success"]
    assert floor.shop.wire.sent == []
    assert (await floor.do("run_steps", **PLAN))["success"]
    assert not (await floor.do("run_steps", **PLAN))["success"]
    assert len(floor.written) == 2


@pytest.mark.parametrize(
    "params",
    [{"item": "8"}, {"item": "7", "dry_run": True}, {"item": "7", "dry_run": False}, {"item": ["7", "8"]}],
    ids=str,
)
async def test_a_workflow_runs_as_it_was_reported(floor: Floor, params: dict[str, Any]) -> None:
    """R-LOOP-2: an input named `dry_run` is one as any other."""
    floor.open()
    await floor.granted({"operation": "clear_item", "params": {"item": "7", "dry_run": not params.get("dry_run")}})
    assert not (await floor.do("clear_item", **params))["success"]
    assert floor.shop.wire.sent == []


@pytest.mark.parametrize("ending", ["block", "pause", "abort", "restart", "another session"])
async def test_a_halted_plan_does_not_go_on(floor: Floor, ending: str) -> None:
    """R-LOOP-2, R-LOOP-4: under a block or a pause, or after the execution that reported it."""
    loop = LoopSettings(deny=("drop_*",), risk_tolerance="aggressive")
    floor.open(free=False, loop=loop, policy="standard", requires_approval=("ask*",))
    step = {"id": "made", "operation": "create_item", "params": {}}
    plan = {"steps": [step, altered(DELETE, item_id={"$ref": "made.name"})]}
    await floor.granted({"operation": "run_steps", "params": plan})
    halted = await floor.shop.dispatcher.handle(None, {"operation": "run_steps", "params": plan}, floor.session)
    token = json.dumps(halted).partition('"plan_')[2].partition('"')[0]
    assert token, halted
    sent = len(floor.written)
    human = Human()
    if ending == "block":
        await floor.step("drop_all")
    elif ending == "pause":
        await floor.step("ask first")
    elif ending == "another session":
        floor.session = Session.new()
        await floor.start("helper")
    else:
        await floor.do("abort_execution", element_name=AGENT)
        if ending == "restart":
            await floor.start()
    for person in (None, human):
        going = {"operation": "run_steps", "params": {"continue": f"plan_{token}"}}
        answer = await floor.send(going, form="alone", person=person)
        assert not answer["success"]
    assert len(floor.written) == sent


# Files


async def test_a_file_by_its_path_is_sent_as_it_was_reported(floor: Floor) -> None:
    """R-LOOP-2: what is put in its place afterwards is not sent; the same content is."""
    path = floor.folder / "letter.txt"
    path.write_text("dear Ada")
    call = {"operation": "send_file", "params": {"file": {"path": "letter.txt"}}}
    floor.open()
    await floor.granted(call)
    path.write_text("dear Eve")
    answer = await floor.send(call)
    assert answer["error"]["details"]["report"]["params"]["nextParams"] == call["params"]
    (floor.folder / "other.txt").write_text("dear Ada")
    path.unlink()
    path.symlink_to(floor.folder / "audit.jsonl")
    assert not (await floor.send(call))["success"]
    assert floor.shop.wire.sent == []
    path.unlink()
    path.write_text("dear Ada")
    assert (await floor.send(call))["success"]
    plan = {"operation": "run_steps", "params": {"steps": [call]}}
    assert (await floor.report(plan))["granted"]
    assert not (await floor.do("run_steps", **plan["params"]))["success"]
    assert len(floor.written) == 1


@BY_FORM
@pytest.mark.parametrize(
    "file",
    [
        "ZGVhciBFdmU=",
        {"content": "ZGVhciBBZGE="},
        {"text": "dear Ada", "filename": "x.exe"},
        {"text": "dear Ada", "mime_type": "text/html"},
        {"text": "dear Ada "},
        {"path": "letter.txt"},
        {"path": "../letter.txt"},
        {"path": "./letter.txt"},
    ],
    ids=str,
)
async def test_another_file_is_another_call(floor: Floor, file: Any) -> None:
    """R-LOOP-2"""
    (floor.folder / "letter.txt").write_text("dear Ada")
    floor.open()
    await floor.granted({"operation": "send_file", "params": {"file": {"text": "dear Ada"}}})
    assert not (await floor.send({"operation": "send_file", "params": {"file": file}}))["success"]
    assert floor.shop.wire.sent == []


# Races


@BY_FORM
async def test_of_a_hundred_calls_at_two_processes_one_runs(floor: Floor, form: str) -> None:
    """R-LOOP-2: on one SQLite file; a plan's report is for a plan alone."""
    shops = [floor.open(), floor.open()]
    floor.session, floor.caller = Session(), "anna"
    call = PAY if form in ("alone", "batch") else {"operation": "run_steps", "params": {"steps": [PAY]}}
    await floor.granted(call)

    async def attempt(number: int) -> None:
        form_now = form if form in ("alone", "batch") else "alone"
        await floor.send(call, form=form_now, shop=shops[number % 2], session=Session())

    async with anyio.create_task_group() as group:
        for number in range(100):
            group.start_soon(attempt, number)
    assert len(floor.written) == 1


async def test_reports_and_ends_at_once_leave_nothing_behind(floor: Floor) -> None:
    """R-LOOP-2: whichever comes first, what ended lets nothing run."""
    floor.open()
    await floor.start()

    async def end() -> None:
        await floor.do("abort_execution", element_name=AGENT)

    async with anyio.create_task_group() as group:
        for _ in range(20):
            group.start_soon(floor.report, PAY)
        group.start_soon(end)
        for _ in range(20):
            group.start_soon(floor.report, PAY)
    assert not (await floor.send(PAY))["success"]
    assert floor.written == []


async def test_an_unblock_in_a_race_lets_only_what_is_reported_anew_run(floor: Floor) -> None:
    """R-LOOP-4"""
    floor.open(free=False, loop=LoopSettings(deny=("drop_*",), risk_tolerance="aggressive"))
    await floor.granted(DELETE)
    assert (await floor.step("drop_all"))["stopped"]
    (block,) = await floor.board.blocks()

    async def attempt() -> None:
        await floor.send(DELETE)

    async with anyio.create_task_group() as group:
        for number in range(60):
            group.start_soon(attempt)
            if number == 20:
                group.start_soon(floor.board.unblock, block.id)
    assert floor.written == []
    assert (await floor.report(DELETE))["granted"]
    assert (await floor.send(DELETE))["success"]
