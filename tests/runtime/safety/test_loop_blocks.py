"""Blocks and pauses hold an agent whatever it does (specification, 8.6.4, 8.7.3, 8.8.1, 8.8.3)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from looping import ADA, AGENT, House, connected

from aqlgen.runtime.session import Session, with_caller
from aqlgen.runtime.settings.tables import LoopSettings
from tests.runtime.one_store import challenge_of

pytestmark = pytest.mark.anyio
BY_ERA = pytest.mark.parametrize("era", ["auto", "legacy"])
DENY = LoopSettings(deny=("drop_*",))
SPELLINGS = [
    "researcher",
    "Researcher ",
    "re-searcher",
    "r\u0435search\u0435r",
    "rese\u200barcher",
    "\uff52esearcher",
    "res\u00e9archer",
]


def caller_of(house: House, **settings: Any) -> Any:
    """Return a function that calls a new adapter as a caller without a session."""
    dispatcher = house.adapter(**settings)

    async def call(caller: str | None, operation: str, **params: Any) -> dict[str, Any]:
        with with_caller({}, caller):
            return await dispatcher.handle(None, {"operation": operation, "params": params}, Session())

    return call


def step(hint: str, agent: str = AGENT, **more: Any) -> dict[str, Any]:
    return {"element_name": agent, "nextActionHint": hint, **more}


@BY_ERA
@pytest.mark.parametrize("hint", ["drop_table users", "executing rm -rf /"])
async def test_a_denied_pattern_and_the_danger_zone_stop_the_agent(house: House, era: str, hint: str) -> None:
    """R-LOOP-4; specification, 8.6.4, 8.8.1, 8.8.2: stopped, with a challenge that has no code yet."""
    async with connected(house.adapter(loop=DENY), era) as agent:
        await agent.start()
        directive = await agent.step(hint)
        assert (directive["continue"], directive["stopped"]) == (False, True)
        (note,) = directive["notifications"]
        assert note["type"] == "danger_zone"
        assert note["metadata"]["verificationId"] == challenge_of(directive)
        again = await agent.step("reading a note")
        assert (again["continue"], again["stopped"]) == (False, True)
        assert challenge_of(again) == challenge_of(directive)
        assert (await agent.error("create_animal", **ADA))["code"] == "PERMISSION_DENIED"
        assert (await agent.error("confirm_operation", element_name=AGENT))["code"] == "PERMISSION_DENIED"
        assert (await agent.error("execute_agent", element_name=AGENT))["code"] == "PERMISSION_DENIED"
        assert (await agent.call("list_animals"))["success"]
        (challenge,) = await house.desk.challenges()
        assert (challenge.id, challenge.tier, challenge.digest) == (challenge_of(directive), "danger_zone", "")


@pytest.mark.parametrize("ending", ["abort_execution", "complete_execution"])
@pytest.mark.parametrize("name", SPELLINGS)
async def test_no_ending_and_no_spelling_lifts_a_block(house: House, ending: str, name: str) -> None:
    """R-LOOP-4; specification, 8.8.3: the execution ends, and the block stays."""
    async with connected(house.adapter(loop=DENY)) as agent:
        await agent.start()
        await agent.step("drop_all")
        assert (await agent.data(ending, element_name=AGENT))["status"] in ("cancelled", "completed")
        error = await agent.error("execute_agent", element_name=name)
        assert error["code"] == "PERMISSION_DENIED"
        assert error["details"]["verificationId"]
        directive = await agent.step("reading", by=name)
        assert directive["stopped"]


@pytest.mark.parametrize("ending", ["abort_execution", "complete_execution"])
@pytest.mark.parametrize("name", SPELLINGS)
async def test_no_ending_and_no_spelling_lifts_a_pause(house: House, ending: str, name: str) -> None:
    """R-LOOP-4"""
    async with connected(house.adapter(requires_approval=("ask*",))) as agent:
        await agent.start()
        await agent.step("ask first")
        ended = await agent.data(ending, element_name=AGENT)
        assert "pause stays" in ended["progress"]["message"]
        await agent.start(name)
        assert (await agent.step("reading", by=name))["reason"] == "Action requires approval"
        assert not (await agent.report("create_animal", by=name, **ADA))["continue"]
        await agent.data("confirm_operation", element_name=name)
        assert (await agent.step("reading", by=name))["continue"]


async def test_another_session_does_not_lift_a_pause(house: House) -> None:
    """R-LOOP-4: neither one beside it nor one after it."""
    dispatcher = house.adapter(requires_approval=("ask*",))

    async def call(session: Session, operation: str, **params: Any) -> dict[str, Any]:
        return await dispatcher.handle(None, {"operation": operation, "params": params}, session)

    sessions = [Session.new() for _ in range(3)]
    await call(sessions[0], "execute_agent", element_name=AGENT)
    await call(sessions[0], "record_execution_step", **step("ask first"))
    await call(sessions[1], "execute_agent", element_name=AGENT)
    assert not (await call(sessions[1], "record_execution_step", **step("reading")))["data"]["continue"]
    for session in sessions[:2]:
        session.close()
    await call(sessions[2], "execute_agent", element_name="R\u0435searcher")
    assert not (await call(sessions[2], "record_execution_step", **step("reading")))["data"]["continue"]


async def test_the_end_of_one_session_does_not_lift_the_pause_of_another_that_ended(house: House) -> None:
    """R-LOOP-4"""
    dispatcher = house.adapter(requires_approval=("ask*",))

    async def call(session: Session, operation: str, **params: Any) -> dict[str, Any]:
        return await dispatcher.handle(None, {"operation": operation, "params": params}, session)

    sessions = [Session.new() for _ in range(3)]
    await call(sessions[1], "execute_agent", element_name="helper")
    await call(sessions[0], "execute_agent", element_name=AGENT)
    await call(sessions[0], "record_execution_step", **step("ask first"))
    for session in sessions[:2]:
        session.close()
    await call(sessions[2], "execute_agent", element_name=AGENT)
    assert not (await call(sessions[2], "record_execution_step", **step("reading")))["data"]["continue"]


async def test_a_block_of_a_caller_holds_everything_of_that_caller_and_nothing_of_others(house: House) -> None:
    """R-LOOP-4: under any agent's name, at any replica."""
    first, second = caller_of(house, loop=DENY), caller_of(house, loop=DENY)
    create = {"nextActionHint": "adding Ada", "nextOperation": "create_animal", "nextParams": ADA}
    for caller in ("anna", "bert"):
        for name in (AGENT, "helper"):
            assert (await first(caller, "execute_agent", element_name=name))["success"]
            granted = await first(caller, "record_execution_step", element_name=name, **create)
            assert granted["data"]["granted"]
    assert (await first("anna", "record_execution_step", **step("drop_all")))["data"]["stopped"]
    for call in (first, second):
        assert "blocked" in (await call("anna", "create_animal", **ADA))["error"]["message"]
        assert (await call("anna", "record_execution_step", **step("reading", "helper")))["data"]["stopped"]
        assert (await call("anna", "execute_agent", element_name="new"))["error"]["code"] == "PERMISSION_DENIED"
        assert (await call("bert", "create_animal", **ADA))["success"]
    assert len(house.api.sent) == 2


async def test_every_executing_agent_learns_of_a_block_until_it_is_lifted(house: House) -> None:
    """R-LOOP-4; specification, 8.7.3: also of other callers, sessions and replicas, without what was to be done."""
    first, second = caller_of(house, loop=DENY), caller_of(house, loop=DENY)
    for caller in ("anna", "bert"):
        await first(caller, "execute_agent", element_name=AGENT)
    stopped = (await first("anna", "record_execution_step", **step("drop_secret_plans")))["data"]
    for call in (first, second):
        directive = (await call("bert", "record_execution_step", **step("reading")))["data"]
        assert directive["continue"]
        (note,) = directive["notifications"]
        assert (note["type"], note["metadata"]["verificationId"]) == ("danger_zone", challenge_of(stopped))
        assert "secret" not in str(directive)
        assert AGENT not in note["message"]
    (block,) = await house.board.blocks()
    assert await house.board.unblock(block.id) is not None
    directive = (await second("bert", "record_execution_step", **step("reading")))["data"]
    assert "notifications" not in directive


async def test_an_operator_lets_an_agent_start_and_go_on(house: House) -> None:
    """R-LOOP-3, R-OPS-1: where the client has no way to ask a person, by the desk; each approval is good once."""
    async with connected(house.adapter(loop_approval="person", requires_approval=("ask*",))) as agent:
        error = await agent.error("execute_agent", element_name=AGENT, goal="tidy up")
        assert "zoo-adapter operator" in error["message"]
        (matter,) = await house.desk.questions()
        assert (matter.kind, matter.agent) == ("start", AGENT)
        assert '"tidy up"' in matter.question
        assert await house.desk.decide(matter.id, "approved", "root")
        assert (await agent.error("execute_agent", element_name=AGENT, goal="something else"))["code"]
        assert (await agent.data("execute_agent", element_name=AGENT, goal="tidy up"))["status"] == "running"
        records = [json.loads(line) for line in house.audit.read_text().splitlines()]
        assert [each["by"] for each in records if each["event"] == "EXECUTION_STARTED"] == ['operator "root"']
        await agent.step("ask first")
        assert (await agent.error("confirm_operation", element_name=AGENT))["code"] == "PERMISSION_DENIED"
        (waiting,) = [matter for matter in await house.desk.questions() if matter.kind == "step"]
        await house.desk.decide(waiting.id, "approved", "root")
        assert (await agent.step("ask first"))["factors"] == ['Confirmed by operator "root"']
        assert not (await agent.step("ask first"))["continue"]
        await agent.data("complete_execution", element_name=AGENT)
        assert (await agent.error("execute_agent", element_name=AGENT, goal="tidy up"))["code"]


async def test_an_operator_unblocks_an_agent(house: House) -> None:
    """R-LOOP-4, R-OPS-1: by the store alone; an unblocked agent goes on, and its action is judged anew."""
    async with connected(house.adapter(loop=DENY)) as agent:
        await agent.data("execute_agent", element_name=AGENT, goal="tidy up")
        await agent.step("drop_all")
        (block,) = await house.board.blocks()
        assert (block.agent, block.caller, block.action) == (AGENT, "", "drop_all")
        assert await house.board.unblock(block.id) is not None
        assert await house.board.unblock(block.id) is None
        assert await house.desk.challenges() == []
        assert (await agent.step("reading"))["continue"]
        assert (await agent.step("drop_all"))["stopped"]


async def test_with_the_state_in_memory_the_log_says_how_long_blocks_last(make: Any, capsys: Any) -> None:
    """R-LOOP-4"""
    make(safety_loop="enforcing")
    assert "blocks in this process alone" in capsys.readouterr().err
    make(safety_loop="monitoring")
    assert "blocks" not in capsys.readouterr().err


async def test_two_grave_reports_at_once_leave_one_challenge(house: House) -> None:
    """R-LOOP-4, R-LOOP-5: the slower one takes its challenge back, and says what the agent waits for."""
    import anyio

    dispatcher, session = house.adapter(), Session.new()

    async def call(operation: str, **params: Any) -> dict[str, Any]:
        return await dispatcher.handle(None, {"operation": operation, "params": params}, session)

    await call("execute_agent", element_name=AGENT)
    directives: list[dict[str, Any]] = []

    async def report(hint: str) -> None:
        directives.append((await call("record_execution_step", **step(hint)))["data"])

    async with anyio.create_task_group() as group:
        for number in range(8):
            group.start_soon(report, f"git push --force {number}")
    (challenge,) = await house.desk.challenges()
    assert {challenge_of(directive) for directive in directives} == {challenge.id}


async def test_starts_do_not_flood_the_operators_desk(house: House) -> None:
    """R-LOOP-3, R-OPS-1"""
    async with connected(house.adapter(loop_approval="person")) as agent:
        for number in range(12):
            await agent.error("execute_agent", element_name=f"agent {'x' * number}", goal=str(number))
    assert len(await house.desk.questions()) == 5


async def test_the_audit_log_has_reported_parameters_without_secrets(house: House) -> None:
    """R-LOOP-2, R-SAFE-5"""
    async with connected(house.adapter()) as agent:
        await agent.start()
        await agent.report("create_animal", **ADA, secret_word="sesame")
        await agent.report(
            "run_steps", steps=[{"operation": "create_animal", "params": {**ADA, "secret_word": "sesame"}}]
        )
    written = house.audit.read_bytes()
    assert b"STEP_RECORDED" in written
    assert b"sesame" not in written
