"""Attacks of agents on the enforcing loop: acting without a report, stretching one, getting around a pause or block.

R-LOOP-2, R-LOOP-3, R-LOOP-4: nothing that changes something runs but what was reported, as it was, once.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from operator import methodcaller
from typing import Any

import pytest
from forms import FORMS, altered
from looped_shop import AGENT, DELETE, PAY, Floor

from aqlgen.runtime.session import Session
from aqlgen.runtime.settings.tables import LoopSettings

pytestmark = pytest.mark.anyio
BY_FORM = pytest.mark.parametrize("form", FORMS)
Attack = Callable[[Floor], Awaitable[Any]]


# A call that is another one than was reported

STRETCHED: dict[str, dict[str, Any]] = {
    "more": altered(PAY, amount=101),
    "a fraction more": altered(PAY, amount=100.5),
    "ten times": altered(PAY, amount="1000"),
    "an exponent": altered(PAY, amount="1e4"),
    "negative": altered(PAY, amount=-100),
    "huge": altered(PAY, amount=10**30),
    "another recipient": altered(PAY, recipient="DE90"),
    "another case": altered(PAY, recipient="de89"),
    "a blank behind": altered(PAY, recipient="DE89 "),
    "fullwidth": altered(PAY, recipient="\uff24\uff25\uff18\uff19"),
    "another script": altered(PAY, recipient="D\u041589"),
    "an invisible letter": altered(PAY, recipient="DE\u200b89"),
    "a combining accent": altered(PAY, recipient="DE\u030189"),
    "the other direction": altered(PAY, recipient="\u202e98ED"),
    "no note": altered(PAY, note=...),
    "an empty note": altered(PAY, note=""),
    "a null note": altered(PAY, note=None),
    "a further field": altered(PAY, zz_refund_all=True),
    "a default said": altered(PAY, currency="EUR"),
    "not the default": altered(PAY, currency="USD"),
    "a sensitive field": altered(PAY, pin="0000"),
    "within an object": altered(PAY, metadata={"a": 2, "b": [1, 2]}),
    "true for one": altered(PAY, metadata={"a": True, "b": [1, 2]}),
    "a text for one": altered(PAY, metadata={"a": "1", "b": [1, 2]}),
    "a key more": altered(PAY, metadata={"a": 1, "b": [1, 2], "c": 0}),
    "a prototype": altered(PAY, metadata={"a": 1, "b": [1, 2], "__proto__": {"amount": 1}}),
    "another order": altered(PAY, lines=[{"y": 2}, {"x": 1}]),
    "one line twice": altered(PAY, lines=[{"x": 1}, {"x": 1}, {"y": 2}]),
    "no line": altered(PAY, lines=[]),
    "a list in a list": altered(PAY, metadata={"a": 1, "b": [[1, 2]]}),
    "the operationId": altered({**PAY, "operation": "doPay"}, amount=101),
    "another spelling": altered({**PAY, "operation": "PAY"}, amount=101),
    "method and path": altered({**PAY, "operation": "POST /payments"}, amount=101),
    "another operation": DELETE,
    "the whole list": {"operation": "purge", "params": {}},
    "a grave read": {"operation": "export_secrets", "params": {}},
}


@BY_FORM
@pytest.mark.parametrize("attack", STRETCHED)
async def test_a_report_is_not_stretched(floor: Floor, attack: str) -> None:
    """R-LOOP-2: neither sent nor used up; the reported call runs afterwards, once."""
    floor.open()
    await floor.granted(PAY)
    for _ in range(2):
        await floor.send(STRETCHED[attack])
    assert floor.shop.wire.sent == []
    assert (await floor.send(PAY, form="alone"))["success"]
    assert not (await floor.send(PAY))["success"]
    assert len(floor.written) == 1


@BY_FORM
async def test_what_stands_beside_the_parameters_is_of_the_call(floor: Floor) -> None:
    """R-LOOP-2"""
    floor.open()
    await floor.granted(PAY)
    for beside in ({"zz_refund_all": True}, {"currency": "USD"}, {"pin": "1"}):
        assert not (await floor.send({**PAY, **beside}))["success"]
    assert floor.shop.wire.sent == []


UPDATE: dict[str, Any] = {"operation": "replace_item", "params": {"item_id": "7", "input": {"name": "Ada"}}}


@BY_FORM
@pytest.mark.parametrize(
    "input",
    [{"name": "Eve"}, {"name": None}, {}, {"name": "Ada", "colour": "blue"}, {"name": "ada"}, {"name": "Ada\u200b"}],
    ids=str,
)
async def test_an_update_writes_what_was_reported(floor: Floor, input: dict[str, Any]) -> None:
    """R-LOOP-2"""
    floor.open()
    await floor.granted(UPDATE)
    assert not (await floor.send(altered(UPDATE, input=input)))["success"]
    assert not (await floor.send(altered(UPDATE, item_id="8")))["success"]
    assert floor.shop.wire.sent == []


HONEST: dict[str, dict[str, Any]] = {
    "a fraction of zero": altered(PAY, amount=100.0),
    "another order of keys": {**PAY, "params": dict(reversed(PAY["params"].items()))},
    "the operationId": {**PAY, "operation": "doPay"},
    "params as text": {**PAY, "params": json.dumps(PAY["params"])},
}


@pytest.mark.parametrize("spelling", HONEST)
async def test_the_same_call_in_other_words_uses_the_report_up(floor: Floor, spelling: str) -> None:
    """R-LOOP-2: once in any of them."""
    floor.open()
    await floor.granted(PAY)
    assert (await floor.send(HONEST[spelling]))["success"]
    for other in (PAY, *HONEST.values()):
        assert not (await floor.send(other))["success"]
    assert len(floor.written) == 1


# Calls without a report that lets them run


does = methodcaller
START, GRANTED = does("start"), does("granted", PAY)
ABORT = does("do", "abort_execution", element_name=AGENT)
BRIEF: dict[str, tuple[Attack, ...]] = {
    "no execution": (does("report", PAY),),
    "no report": (START,),
    "a hint alone": (START, does("step", "calling pay with amount 100, recipient DE89 and note rent")),
    "another report": (does("granted", DELETE),),
    "a report without params": (START, does("step", nextOperation="pay")),
    "a report with other text": (
        START,
        does("step", nextOperation="pay", nextParams=json.dumps({**PAY["params"], "amount": 1})),
    ),
    "a report of a read": (START, does("step", nextOperation="get_item", nextParams={"item_id": "7"})),
    "a report of a plan": (START, does("step", nextOperation="run_steps", nextParams={"steps": [DELETE, PAY]})),
    "a report of introspection": (START, does("step", nextOperation="introspect", nextParams=PAY["params"])),
    "a report in another session": (lambda floor: floor.granted(PAY, session=Session.new()),),
    "a completed execution": (GRANTED, does("do", "complete_execution", element_name=AGENT)),
    "an aborted execution": (GRANTED, ABORT),
    "an execution that began again": (GRANTED, ABORT, START),
    "another agent after the end": (GRANTED, ABORT, does("start", "helper")),
}


async def a_report_of_another_caller(floor: Floor) -> None:
    floor.session = Session()
    await floor.granted(PAY, caller="anna")
    await floor.start(caller="bert")
    floor.caller = "bert"


async def a_report_without_a_caller(floor: Floor) -> None:
    floor.session = Session()
    await floor.granted(PAY)
    floor.caller = "bert"


async def a_restart(floor: Floor) -> None:
    await floor.granted(PAY)
    floor.session.close()
    floor.session = Session.new()
    floor.open()
    await floor.start()


async def the_end_of_its_time(floor: Floor) -> None:
    floor.open(loop=LoopSettings(report_ttl=0))
    await floor.granted(PAY)


async def the_report_used(floor: Floor) -> None:
    await floor.granted(PAY)
    assert (await floor.send(PAY, form="alone"))["success"]
    for shop in floor.shops:
        shop.wire.sent.clear()


async def a_failed_call(floor: Floor) -> None:
    await floor.granted(PAY)
    await floor.send(PAY, form="alone")
    for shop in floor.shops:
        shop.wire.sent.clear()
    await floor.step("trying again", outcome="failure")


async def a_report_to_a_process_that_only_watches(floor: Floor) -> None:
    floor.session, floor.caller = Session(), "anna"
    watching = floor.open(safety_loop="monitoring")
    await floor.start(shop=watching)
    await floor.report(PAY, shop=watching)
    floor.open()


async def a_pause_after_the_report(floor: Floor) -> None:
    floor.open(free=False, requires_approval=("ask*",), loop=LoopSettings(risk_tolerance="aggressive"))
    await floor.granted(DELETE)
    await floor.step("ask first")


async def a_confirmed_pause(floor: Floor) -> None:
    await a_pause_after_the_report(floor)
    await floor.do("confirm_operation", element_name=AGENT)


async def a_pause_of_another_agent(floor: Floor) -> None:
    floor.open(free=False, requires_approval=("ask*",), loop=LoopSettings(risk_tolerance="aggressive"))
    await floor.granted(DELETE)
    await floor.start("helper")
    await floor.step("ask first", "helper")


async def a_block_of_another_agent(floor: Floor) -> None:
    floor.open(free=False, loop=LoopSettings(deny=("drop_*",), risk_tolerance="aggressive"))
    await floor.granted(DELETE)
    await floor.start("helper")
    assert (await floor.step("drop_all", "helper"))["stopped"]


async def a_report_after_the_limit(floor: Floor) -> None:
    floor.open(free=False, max_autonomous_steps=1, loop=LoopSettings(risk_tolerance="aggressive"))
    await floor.start()
    await floor.step("reading")
    assert not (await floor.report(DELETE))["continue"]


async def a_report_of_a_failure(floor: Floor) -> None:
    floor.open(free=False, loop=LoopSettings(risk_tolerance="aggressive"))
    await floor.start()
    assert not (await floor.report(DELETE, outcome="failure"))["continue"]
    assert not (await floor.report(DELETE, outcome="success"))["continue"]


async def an_end_within_the_batch(floor: Floor) -> None:
    await floor.start()
    report = {"element_name": AGENT, "nextActionHint": "x", "nextOperation": "pay", "nextParams": PAY["params"]}
    reported = {"operation": "record_execution_step", "params": report}
    ended = {"operation": "abort_execution", "params": {"element_name": AGENT}}
    await floor.send({"operations": [PAY, reported, ended, PAY]})


async def a_workflows_report(floor: Floor) -> None:
    await floor.start()
    assert (await floor.step(nextOperation="clear_item", nextParams={"item": "7"}))["granted"]


async def an_expired_report_given_anew(floor: Floor) -> None:
    floor.open(free=False)
    await floor.start()
    assert not (await floor.report(PAY))["continue"]
    assert not (await floor.report(PAY))["continue"]


ATTACKS: tuple[Attack, ...] = (
    a_report_of_another_caller, a_report_without_a_caller, a_restart, the_end_of_its_time, the_report_used,
    a_failed_call, a_report_to_a_process_that_only_watches, a_pause_after_the_report, a_confirmed_pause,
    a_pause_of_another_agent, a_block_of_another_agent, a_report_after_the_limit, a_report_of_a_failure,
    an_end_within_the_batch, a_workflows_report, an_expired_report_given_anew,
)  # fmt: skip
WITHOUT = BRIEF | {attack.__name__: (attack,) for attack in ATTACKS}


@BY_FORM
@pytest.mark.parametrize("attack", WITHOUT)
async def test_nothing_runs_without_its_report(floor: Floor, attack: str) -> None:
    """R-LOOP-2, R-LOOP-4: also with what a call may carry beside its parameters; reads are free all the while."""
    floor.open()
    for act in WITHOUT[attack]:
        await act(floor)
    call = DELETE if any(word in attack for word in ("pause", "block", "limit", "failure", "workflow")) else PAY
    beside: tuple[dict[str, Any], ...] = (
        {},
        {"confirmation_token": "conf_" + "0" * 64},
        {"_confirmation": "yes", "_quota_continue": "yes", "_report": "yes"},
        {"element_name": AGENT},
        {"dry_run": False},
    )
    for more in beside:
        assert not (await floor.send({**call, "params": {**call["params"], **more}}))["success"]
    for shop in floor.shops:
        assert [request for request in shop.wire.sent if request.method != "GET"] == []
    assert (await floor.do("get_item", item_id="7"))["success"]
    assert (await floor.do("introspect", query="operations"))["success"]


# Oversized and odd reports


@pytest.mark.parametrize(
    "params",
    [
        {"__proto__": {"item_id": "7"}},
        {"constructor": {"prototype": {}}},
        {"item_id": {"$ref": "inputs.item"}},
        {"item_id": ["7", "8"]},
        {"item_id": None},
        {"": "7"},
        {"item_id": "7", "\x00files": "0"},
        {"item_id": "x" * 10_000_000},
        {"item_id": "7", "more": {"a": {"a": {"a": {}}}}},
    ],
    ids=lambda value: str(value)[:40],
)
async def test_an_odd_report_lets_nothing_run(floor: Floor, params: dict[str, Any]) -> None:
    """R-LOOP-2"""
    floor.open()
    await floor.start()
    await floor.step(nextOperation="delete_item", nextParams=params)
    await floor.step(nextOperation="delete_item", nextParams=json.dumps(params))
    assert not (await floor.send(DELETE))["success"]
    assert floor.written == []


@pytest.mark.parametrize("text", ["[]", "7", '"x"', "{", "NaN", '{"item_id": NaN}', "null", "{'item_id': '7'}"])
async def test_text_is_no_report_unless_it_is_an_object(floor: Floor, text: str) -> None:
    """R-LOOP-2, R-REQ-4"""
    floor.open()
    await floor.start()
    assert "error" in await floor.step(nextOperation="delete_item", nextParams=text)
    assert (await floor.step(nextOperation="delete_item", nextParams='{"item_id": "7"}'))["granted"]
    assert (await floor.send(DELETE))["success"]
    assert len(floor.written) == 1
