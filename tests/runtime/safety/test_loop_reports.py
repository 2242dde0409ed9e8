"""Under the enforcing loop an operation that changes something runs as it was reported, once (8.6.2 to 8.6.5)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from looping import ADA, AGENT, House, Human, connected
from tiny_zoo import OPERATIONS, write_package

from aqlgen.runtime.session import Session, with_caller
from aqlgen.runtime.settings.tables import LoopSettings

pytestmark = pytest.mark.anyio
BY_ERA = pytest.mark.parametrize("era", ["auto", "legacy"])
FREE = LoopSettings(risk_tolerance="aggressive")


@BY_ERA
async def test_a_change_runs_only_as_it_was_reported_and_once(house: House, era: str) -> None:
    """R-LOOP-2; specification, 8.6.2, 8.6.4"""
    async with connected(house.adapter(), era) as agent:
        error = await agent.error("create_animal", **ADA)
        assert error["code"] == "PERMISSION_DENIED"
        assert error["details"]["start"]["operation"] == "execute_agent"
        await agent.start()
        error = await agent.error("create_animal", **ADA)
        report = error["details"]["report"]
        assert (report["operation"], report["params"]["element_name"]) == ("record_execution_step", AGENT)
        assert report["params"]["nextParams"] == ADA
        directive = await agent.data(report["operation"], **report["params"])
        assert directive["continue"]
        assert directive["granted"]["operation"] == "create_animal"
        assert directive["granted"]["expires_at"]
        assert (await agent.error("create_animal", **{**ADA, "name": "Eve"}))["code"] == "PERMISSION_DENIED"
        assert (await agent.error("update_animal", animal_id=7, input=ADA))["code"] == "PERMISSION_DENIED"
        assert house.api.sent == []
        assert (await agent.call("create_animal", **ADA))["success"]
        assert (await agent.error("create_animal", **ADA))["details"]["reason"] == "not reported"
        assert len(house.api.sent) == 1


async def test_reads_introspection_and_dry_runs_need_no_report(house: House) -> None:
    """R-LOOP-2"""
    async with connected(house.adapter()) as agent:
        assert (await agent.call("list_animals"))["success"]
        assert (await agent.call("introspect", query="operations"))["success"]
        plan = {"steps": [{"operation": "list_animals"}]}
        assert (await agent.call("run_steps", **plan))["success"]


async def test_a_read_that_is_not_safe_needs_its_report(tmp_path: Path) -> None:
    """R-LOOP-2"""
    read = {**OPERATIONS["read"], "get_animal": {**OPERATIONS["read"]["get_animal"], "danger": "destructive"}}
    house = House(write_package(tmp_path / "grave_zoo", operations={**OPERATIONS, "read": read}), tmp_path)
    async with connected(house.adapter(loop=FREE)) as agent:
        assert (await agent.error("get_animal", animal_id=7))["code"] == "PERMISSION_DENIED"
        await agent.start()
        assert (await agent.report("get_animal", animal_id=7))["granted"]
        assert (await agent.call("get_animal", animal_id=7))["success"]
    await house.close()


async def test_an_agent_that_is_blocked_while_a_person_is_asked_does_not_act(house: House) -> None:
    """R-LOOP-4: what was let through before is looked at again before it is sent."""
    dispatcher, other = house.adapter(policy="standard", loop=FREE), house.adapter()
    session = Session()

    class Slow:
        reachable, batched = True, False

        async def ask(self, *_: str) -> bool:
            for name, params in (
                ("execute_agent", {"element_name": "another"}),
                ("record_execution_step", {"element_name": "another", "nextActionHint": "rm -rf /"}),
            ):
                await other.handle(None, {"operation": name, "params": params}, Session())
            return True

    async def call(operation: str, person: Any = None, **params: Any) -> dict[str, Any]:
        return await dispatcher.handle(None, {"operation": operation, "params": params}, session, person)

    with with_caller({}, "anna"):
        await call("execute_agent", element_name=AGENT)
        report = {"nextActionHint": "x", "nextOperation": "delete_animal", "nextParams": {"animal_id": 7}}
        assert (await call("record_execution_step", element_name=AGENT, **report))["data"]["granted"]
        refused = await call("delete_animal", Slow(), animal_id=7)
    assert "blocked" in refused["error"]["message"]
    assert house.api.sent == []


async def test_each_operation_of_a_batch_needs_its_report(house: House) -> None:
    """R-LOOP-2, R-BAT-1: reports may stand in the batch, and those that pause let nothing run."""
    create = {"operation": "create_animal", "params": ADA}
    report = {
        "operation": "record_execution_step",
        "params": {
            "element_name": AGENT,
            "nextActionHint": "adding Ada",
            "nextOperation": "create_animal",
            "nextParams": ADA,
        },
    }
    async with connected(house.adapter()) as agent:
        await agent.start()
        answer = await agent.send("create", {"operations": [create, report, create, create]})
        assert [entry["result"]["success"] for entry in answer["results"]] == [False, True, True, False]
        assert len(house.api.sent) == 1


async def test_a_confirmed_action_is_confirmed_as_it_was_reported(house: House) -> None:
    """R-LOOP-3: another operation under the same words is another action."""
    async with connected(house.adapter()) as agent:
        await agent.start()
        paused = await agent.report("delete_animal", "tidying up", animal_id=7)
        assert (paused["continue"], paused["nextStepRisk"]) == (False, "confirm")
        assert "destructive operation delete_animal: 45" in paused["factors"]
        await agent.data("confirm_operation", element_name=AGENT)
        assert not (await agent.report("delete_animal", "tidying up", animal_id=8))["continue"]
        await agent.data("confirm_operation", element_name=AGENT)
        assert (await agent.report("delete_animal", "tidying up", animal_id=8))["granted"]
        assert (await agent.call("delete_animal", animal_id=8))["success"]


async def test_a_person_sees_what_would_be_called_and_not_only_what_the_agent_says(house: House) -> None:
    """R-LOOP-3, R-LOOP-5: in the question, on the operator's desk and in a challenge; of a plan each step."""
    human = Human()
    plan = {"steps": [{"operation": "delete_animal", "params": {"animal_id": 7}}]}
    async with connected(house.adapter(loop=LoopSettings(deny=("update_*",))), human=human) as agent:
        await agent.start()
        await agent.report("delete_animal", "tidying up", animal_id=7)
        (matter,) = await house.desk.questions()
        await agent.data("confirm_operation", element_name=AGENT)
        await agent.report("run_steps", "tidying up", **plan)
        (other,) = await house.desk.questions()
        await agent.data("confirm_operation", element_name=AGENT)
        await agent.report("update_animal", "tidying up", animal_id=7, input=ADA)
    assert matter.question.endswith('"tidying up" It then calls delete_animal {"animal_id": 7}')
    assert '{"operation": "delete_animal", "params": {"animal_id": 7}}' in other.question
    (challenge,) = await house.desk.challenges()
    assert challenge.action.startswith("tidying up - calls update_animal")
    assert '"Ada"' in challenge.action


async def test_a_plan_is_reported_once_and_its_steps_run_under_that(house: House) -> None:
    """R-LOOP-2, R-STEP-1: as it stands; its risk is that of the gravest step."""
    plan = {"steps": [{"operation": "create_animal", "params": ADA}, {"operation": "list_animals"}]}
    other = {"steps": [{"operation": "create_animal", "params": {**ADA, "name": "Eve"}}]}
    grave = {"steps": [*plan["steps"], {"operation": "delete_animal", "params": {"animal_id": 7}}]}
    async with connected(house.adapter()) as agent:
        await agent.start()
        error = await agent.error("run_steps", **plan)
        assert error["details"]["report"]["params"]["nextOperation"] == "run_steps"
        assert (await agent.report("run_steps", **plan))["granted"]["operation"] == "run_steps"
        assert not (await agent.call("create_animal", **ADA))["success"], "the plan was reported, not the call"
        assert not (await agent.call("run_steps", **other))["success"]
        assert house.api.sent == []
        assert (await agent.call("run_steps", **plan))["success"]
        assert not (await agent.call("run_steps", **plan))["success"]
        assert len(house.api.sent) == 2
        held = await agent.report("run_steps", **grave)
        assert (held["continue"], held["nextStepRisk"]) == (False, "confirm")


@BY_ERA
async def test_a_plan_that_halts_for_a_person_goes_on_under_its_report(house: House, era: str) -> None:
    """R-LOOP-2, R-STEP-2, R-SAFE-4"""
    plan = {
        "steps": [
            {"operation": "create_animal", "params": ADA},
            {"operation": "delete_animal", "params": {"animal_id": 7}},
        ]
    }
    human = Human()
    async with connected(house.adapter(policy="standard", loop=FREE), era, human) as agent:
        await agent.start()
        assert (await agent.report("run_steps", **plan))["continue"]
        assert (await agent.call("run_steps", **plan))["success"]
    assert len(human.asked) == 1
    assert len(house.api.sent) == 2


@BY_ERA
async def test_a_call_that_a_person_confirms_needs_its_report_too(house: House, era: str) -> None:
    """R-LOOP-2, R-SAFE-4: and nobody is asked before."""
    human = Human()
    async with connected(house.adapter(policy="standard", loop=FREE), era, human) as agent:
        await agent.start()
        assert (await agent.error("delete_animal", animal_id=7))["details"]["reason"] == "not reported"
        assert human.asked == []
        await agent.report("delete_animal", animal_id=7)
        assert (await agent.call("delete_animal", animal_id=7))["success"]
    assert len(human.asked) == 1


async def test_a_report_of_what_could_not_be_called_says_what_is_wrong(house: House) -> None:
    """R-LOOP-2, R-REQ-3"""
    async with connected(house.adapter()) as agent:
        await agent.start()
        common = {"element_name": AGENT, "nextActionHint": "x"}
        unknown = await agent.error("record_execution_step", **common, nextOperation="fly")
        assert unknown["code"] == "NOT_FOUND_OPERATION"
        missing = await agent.error("record_execution_step", **common, nextOperation="create_animal", nextParams={})
        assert missing["code"] == "VALIDATION_MISSING_PARAM"
        alone = await agent.error("record_execution_step", **common, nextParams={})
        assert alone["details"]["param_name"] == "nextOperation"


async def test_logging_needs_no_report(house: House) -> None:
    """R-LOOP-3"""
    async with connected(house.adapter(safety_loop="logging")) as agent:
        await agent.start()
        assert (await agent.report("fly"))["factors"] == ["Logging: the step is recorded, not evaluated"]
        assert (await agent.call("create_animal", **ADA))["success"]
