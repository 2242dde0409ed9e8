"""The safety loop as an agent and a person see it: through a real client, in both protocol eras."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import asynccontextmanager
from typing import Any

import looping
import pytest
from looping import AGENT
from mcp import Client
from stand_in import FakeApi

from aqlgen.runtime.dispatch.dispatcher import Dispatcher
from aqlgen.runtime.safety.operations import active_operations
from aqlgen.runtime.server.mcp import build_server
from aqlgen.runtime.session import Session
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.settings.tables import LoopSettings
from aqlgen.runtime.table import Adapter

pytestmark = pytest.mark.anyio
Make = Callable[..., Dispatcher]
LOOP = {
    "record_execution_step": "create",
    "execute_agent": "execute",
    "complete_execution": "execute",
    "abort_execution": "execute",
    "confirm_operation": "execute",
}
VERIFY = {"verify_challenge": "create"}
ENFORCING = {
    "safety_loop": "enforcing",
    "max_autonomous_steps": 5,
    "requires_approval": ("delete_*",),
}
BY_CLIENT = {**ENFORCING, "loop_approval": "client"}


@pytest.fixture(params=["auto", "legacy"])
def era(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class Human(looping.Human):
    """A person behind the client, or one who is asked directly."""

    reachable, batched = True, False

    async def ask(self, question: str) -> bool:
        self.asked.append(question)
        return self.says


class Agent(looping.Agent):
    """An agent that calls the protocol's operations."""

    async def call(self, operation: str, family: str | None = None, **params: Any) -> dict[str, Any]:
        return await self.send(family or looping.FAMILIES[operation], {"operation": operation, "params": params})

    async def code(self, operation: str, family: str | None = None, **params: Any) -> str:
        envelope = await self.call(operation, family, **params)
        assert not envelope["success"], envelope
        return str(envelope["error"]["code"])

    async def step(self, action: str, outcome: str | None = "success", name: str = AGENT) -> dict[str, Any]:
        more = {} if outcome is None else {"outcome": outcome}
        directive = await super().step(action, name, **more)
        assert {"continue", "factors"} <= set(directive) <= {
            "continue", "factors", "stopped", "reason", "stepsRemaining", "nextStepRisk", "notifications", "granted",
        }  # fmt: skip
        assert directive.get("stopped") is not True
        assert all(isinstance(factor, str) for factor in directive["factors"])
        return directive


@asynccontextmanager
async def agent(dispatcher: Dispatcher, era: str, human: Human | None = None) -> Any:
    more = {} if human is None else {"elicitation_callback": human.answer}
    async with Client(build_server(dispatcher), mode=era, **more) as client:
        yield Agent(client)


def pauses(directive: dict[str, Any]) -> list[str]:
    return [notification["type"] for notification in directive.get("notifications", ())]


async def test_a_run_of_the_loop(make: Make, era: str) -> None:
    """R-LOOP-2, R-LOOP-3: start, steps, a failure pauses, a pattern pauses, a person confirms, the limit, complete."""
    human = Human()
    async with agent(make(**ENFORCING), era, human) as client:
        started = await client.start()
        assert started["status"] == "running"
        assert started["execution_id"].startswith("exec_")
        assert AGENT in human.asked[0]
        left = [(await client.step(f"reading issue {number}", None))["stepsRemaining"] for number in range(3)]
        assert left == [4, 3, 2]

        failed = await client.step("reading issue 9", "failure")
        assert (failed["continue"], failed["reason"]) == (False, "The previous step failed")
        (note,) = failed["notifications"]
        assert note["type"] == "autonomy_pause"
        assert note["metadata"]["level"] == "confirm"
        assert "failure" in note["metadata"]["reason"]
        again = await client.step("writing a harmless note")
        assert (again["continue"], pauses(again)) == (False, ["autonomy_pause"]), "it stands until a person lifts it"

        confirmed = await client.data("confirm_operation", element_name=AGENT)
        assert confirmed["nextActionHint"] == "reading issue 9"
        assert "reading issue 9" in human.asked[-1]
        resumed = await client.step("reading issue 9", "failure")
        assert (resumed["continue"], resumed["factors"], pauses(resumed)) == (True, ["Confirmed by a person"], [])

        matched = await client.step("delete_user 7")
        assert (matched["continue"], matched["reason"]) == (False, "Action requires approval")
        await client.data("confirm_operation", element_name=AGENT)
        assert (await client.step("delete_user 7"))["stepsRemaining"] == 0

        limited = await client.step("reading issue 10")
        assert (limited["continue"], limited["reason"]) == (False, "Step limit exceeded")
        await client.data("confirm_operation", element_name=AGENT)
        assert (await client.step("reading issue 10"))["stepsRemaining"] == 4

        done = await client.data("complete_execution", element_name=AGENT, summary="all read")
        assert done["status"] == "completed"
        assert done["execution_id"] == started["execution_id"]
        assert done["finished_at"]
        assert await client.code("complete_execution", element_name=AGENT) == "NOT_FOUND_RESOURCE"


async def test_monitoring_never_stops(make: Make, era: str) -> None:
    """R-LOOP-3: the evaluation is the same, and `continue` is always true."""
    async with agent(make(**ENFORCING | {"safety_loop": "monitoring"}), era) as client:
        unstarted = await client.step("delete_everything")
        assert unstarted["continue"]
        await client.start()
        answers = [
            await client.step("reading issue 1"),
            await client.step("reading issue 2", "failure"),
            await client.step("delete_user 7"),
            *[await client.step("reading issue 3") for _ in range(4)],
        ]
        assert all(answer["continue"] and "reason" not in answer and pauses(answer) == [] for answer in answers)
        would = [answer["factors"][0] for answer in answers if answer["factors"][0].startswith("Would pause")]
        assert would == [
            "Would pause: The previous step failed",
            "Would pause: Action requires approval",
            "Would pause: Step limit exceeded",
            "Would pause: Step limit exceeded",
        ]
        assert [answer["stepsRemaining"] for answer in answers] == [4, 3, 2, 1, 0, 0, 0]
        deleted = await client.call("delete_animal", "delete", animal_id=7)
        assert deleted["error"]["code"] == "CONFIRMATION_REQUIRED"
        assert (await client.step("waiting"))["continue"]
        assert (await client.data("complete_execution", element_name=AGENT))["status"] == "completed"


async def test_logging_records_and_evaluates_nothing(make: Make, era: str) -> None:
    """R-LOOP-3"""
    async with agent(make(**ENFORCING | {"safety_loop": "logging", "max_autonomous_steps": 1}), era) as client:
        await client.start()
        for _ in range(3):
            directive = await client.step("delete_user 7", "failure")
            assert directive == {"continue": True, "factors": ["Logging: the step is recorded, not evaluated"]}
        assert (await client.data("abort_execution", element_name=AGENT))["status"] == "cancelled"


async def test_disabled_hides_the_operations_and_says_so(make: Make, era: str) -> None:
    """R-LOOP-2"""
    async with agent(make(), era) as client:
        listed = (await client.call("introspect", "read", query="operations"))["data"]
        assert listed["_protocol"]["capabilities"]["execution_safety_loop"] == "disabled"
        assert "safety_loop" not in listed["_protocol"]
        assert not {entry["name"] for entry in listed["operations"]} & (LOOP.keys() - {"confirm_operation"})
        envelope = await client.call("execute_agent", element_name=AGENT)
        assert envelope["error"]["code"] == "NOT_FOUND_OPERATION"
        assert "disabled" in envelope["error"]["message"]
        assert (await client.call("introspect", "read", query="operations", name="execute_agent"))["data"] == {
            "operation": None
        }


@pytest.mark.parametrize("mode", ["enforcing", "monitoring", "logging"])
async def test_introspection_shows_the_mode_the_defaults_and_every_operation(make: Make, era: str, mode: str) -> None:
    """R-LOOP-2, R-INT-2, R-INT-4; specification, 8.6.3, 8.7.4"""
    loop = LoopSettings(deny=("drop_*",), challenge_ttl=120, report_ttl=240)
    async with agent(make(**{**ENFORCING, "safety_loop": mode, "loop": loop}), era) as client:
        listed = (await client.call("introspect", "read", query="operations"))["data"]
        assert listed["_protocol"]["capabilities"]["execution_safety_loop"] == mode
        defaults = {
            "maxAutonomousSteps": 5,
            "riskTolerance": "moderate",
            "deny": ["drop_*"],
            "requiresApproval": ["delete_*"],
            "autoApprove": [],
        }
        shown = listed["_protocol"]["safety_loop"]
        assert (shown["mode"], shown["defaults"]) == (mode, defaults)
        assert shown["options"] == list(defaults)
        assert shown["tolerances"] == {"conservative": 25, "moderate": 50, "aggressive": 75}
        assert (shown["challenge_seconds"], shown["report_seconds"]) == (120, 240)
        endpoints = {entry["name"]: entry["endpoint"] for entry in listed["operations"]}
        offered = {**LOOP, **VERIFY} if mode == "enforcing" else LOOP
        assert endpoints.items() >= offered.items()
        assert ("verify_challenge" in endpoints) is (mode == "enforcing")
        for name in offered:
            details = (await client.call("introspect", "read", query="operations", name=name))["data"]["operation"]
            assert details["mcpTool"] == f"mcp_aql_{offered[name]}"
            assert details["examples"][0]["request"]["operation"] == name
            returned = details["returns"]["name"]
            assert (await client.call("introspect", "read", query="types", name=returned))["data"]["type"] is not None
        step = await client.call("introspect", "read", query="operations", name="record_execution_step")
        asked = {entry["name"]: entry["required"] for entry in step["data"]["operation"]["parameters"]}
        assert asked == {
            "element_name": True,
            "stepDescription": False,
            "outcome": False,
            "nextActionHint": True,
            "findings": False,
            "nextOperation": False,
            "nextParams": False,
        }


async def test_parameters_are_checked_like_those_of_any_operation(make: Make, era: str) -> None:
    """R-REQ-2, R-REQ-3, R-REQ-4, R-REQ-6: the specification's own spelling of a parameter is the only one."""
    async with agent(make(**ENFORCING), era) as client:
        envelope = await client.call("record_execution_step", element_name=AGENT, next_action_hint="x", outcome="maybe")
        error = envelope["error"]
        assert error["code"] == "VALIDATION_MISSING_PARAM"
        assert error["details"]["missing_params"] == ["nextActionHint"]
        unknown, invalid = error["details"]["problems"]
        assert unknown["code"] == "VALIDATION_UNKNOWN_PARAM"
        assert "Did you mean 'nextActionHint'" in unknown["message"]
        assert invalid["code"] == "VALIDATION_INVALID_VALUE"
        assert await client.code("execute_agent", element_name=7) == "VALIDATION_INVALID_TYPE"
        assert await client.code("execute_agent", "create", element_name=AGENT) == "VALIDATION_ENDPOINT_MISMATCH"
        assert await client.code("confirm_operation") == "VALIDATION_MISSING_PARAM"
        assert (
            await client.code("confirm_operation", element_name=AGENT, confirmation_token="conf_0123")
            == "VALIDATION_INVALID_VALUE"
        )


async def test_a_step_outside_an_execution_is_answered_and_may_not_be_taken(make: Make, era: str) -> None:
    """R-LOOP-3: a directive always."""
    async with agent(make(**BY_CLIENT), era) as client:
        directive = await client.step("reading issue 1")
        assert not directive["continue"]
        assert "execute_agent" in directive["reason"]
        assert await client.code("confirm_operation", element_name=AGENT) == "NOT_FOUND_RESOURCE"
        assert await client.code("abort_execution", element_name=AGENT) == "NOT_FOUND_RESOURCE"


async def test_a_person_who_says_no_leaves_the_agent_paused(make: Make, era: str) -> None:
    """R-LOOP-3, R-SAFE-4"""
    human = Human()
    async with agent(make(**ENFORCING), era, human) as client:
        await client.start()
        await client.step("delete_user 7")
        human.says = False
        assert await client.code("confirm_operation", element_name=AGENT) == "PERMISSION_DENIED"
        directive = await client.step("delete_user 7")
        assert (directive["continue"], pauses(directive)) == (False, ["autonomy_pause"])
        assert await client.code("execute_agent", element_name="another") == "PERMISSION_DENIED"


async def test_the_owner_may_leave_confirming_to_the_clients_own_approval(make: Make, era: str) -> None:
    """R-LOOP-3"""
    human = Human()
    async with agent(make(**ENFORCING, loop_approval="client"), era, human) as client:
        await client.start()
        await client.step("delete_user 7")
        await client.data("confirm_operation", element_name=AGENT)
        assert (await client.step("delete_user 7"))["factors"] == ["Confirmed by the client's own approval"]
    assert human.asked == []


async def test_a_confirmation_lets_one_action_through_once(make: Make, era: str) -> None:
    """R-LOOP-3"""
    async with agent(make(**ENFORCING), era, Human()) as client:
        await client.start()
        await client.step("delete_user 7")
        await client.data("confirm_operation", element_name=AGENT)
        assert await client.code("confirm_operation", element_name=AGENT) == "NOT_FOUND_RESOURCE"
        assert not (await client.step("delete_user 8"))["continue"], "another action"
        await client.data("confirm_operation", element_name=AGENT)
        assert (await client.step("delete_user 8"))["continue"]
        assert not (await client.step("delete_user 8"))["continue"], "a second time"


async def test_the_steps_of_each_agent_are_counted(make: Make, era: str) -> None:
    """R-LOOP-3"""
    async with agent(make(**BY_CLIENT), era) as client:
        await client.start()
        await client.start("bob")
        assert (await client.step("reading", name="bob"))["stepsRemaining"] == 4
        assert (await client.step("reading"))["stepsRemaining"] == 4


async def test_a_paused_agents_session_may_read_and_change_nothing(make: Make, api: FakeApi, era: str) -> None:
    """R-LOOP-3, R-LOOP-4; specification, 8.6.4: also once the execution has ended, and under another name."""
    human = Human()
    async with agent(make(**ENFORCING), era, human) as client:
        await client.start()
        await client.step("delete_user 7")
        envelope = await client.call("create_animal", "create", name="Ada", species="lion")
        assert envelope["error"]["code"] == "PERMISSION_DENIED"
        assert envelope["error"]["details"]["element_name"] == AGENT
        assert "confirms its reported action" in envelope["error"]["message"]
        assert api.sent == []
        assert (await client.call("list_keepers", "read"))["success"]
        await client.data("abort_execution", element_name=AGENT)
        await client.start("another")
        ada = {"name": "Ada", "species": "lion"}
        report = {"nextActionHint": "adding Ada", "nextOperation": "create_animal", "nextParams": ada}
        held = await client.data("record_execution_step", element_name="another", **report)
        assert not held["continue"]
        assert "paused" in held["reason"]
        assert "paused" in (await client.call("create_animal", "create", **ada))["error"]["message"]
        await client.data("confirm_operation", element_name=AGENT)
        assert (await client.data("record_execution_step", element_name="another", **report))["continue"]
        assert (await client.call("create_animal", "create", **ada))["success"]


async def test_a_blocked_operation_is_a_notification_until_it_is_confirmed(make: Make, api: FakeApi, era: str) -> None:
    """R-LOOP-3, R-SAFE-3; specification, 8.7.3: a failed confirmation does not clear it."""
    loop = LoopSettings(risk_tolerance="aggressive")
    async with agent(make(safety_loop="enforcing", loop_approval="client", loop=loop), era) as client:
        await client.start()
        report = {
            "nextActionHint": "deleting animal 7",
            "nextOperation": "delete_animal",
            "nextParams": {"animal_id": 7},
        }
        assert (await client.data("record_execution_step", element_name=AGENT, **report))["continue"]
        blocked = await client.call("delete_animal", "delete", animal_id=7)
        assert blocked["error"]["code"] == "CONFIRMATION_REQUIRED"
        for _ in range(2):
            directive = await client.step("reading issue 1")
            assert not directive["continue"]
            (note,) = directive["notifications"]
            assert note["type"] == "permission_pending"
            assert note["metadata"]["operation"] == "delete_animal"
            assert note["metadata"]["level"] == "CONFIRM_SINGLE_USE"
        assert await client.code("confirm_operation", confirmation_token="conf_" + "0" * 32) == "TOKEN_INVALID"
        assert pauses(await client.step("reading issue 1")) == ["permission_pending"]
        token = blocked["error"]["details"]["confirmation_token"]
        assert (await client.data("confirm_operation", confirmation_token=token))["operation"] == "delete_animal"
        assert (await client.step("reading issue 1"))["continue"]
        assert api.sent == []
        assert (await client.call("delete_animal", "delete", animal_id=7))["success"]
        assert len(api.sent) == 1


async def test_a_session_that_ends_cancels_what_runs(make: Make, era: str) -> None:
    """R-OPS-2"""
    dispatcher = make(**BY_CLIENT)
    async with agent(dispatcher, era) as client:
        await client.start()
        assert (await client.step("reading"))["continue"]
    async with agent(dispatcher, era) as client:
        assert not (await client.step("reading"))["continue"]


async def test_without_a_session_an_agent_is_known_by_its_name(make: Make) -> None:
    """R-OPS-2: over HTTP with protocol 2026-07-28, where each request has a session of its own."""
    dispatcher = make(**BY_CLIENT)

    async def call(operation: str, **params: Any) -> Any:
        return (await dispatcher.handle(None, {"operation": operation, "params": params}, Session()))["data"]

    await call("execute_agent", element_name=AGENT)
    directive = await call("record_execution_step", element_name=AGENT, nextActionHint="reading")
    assert directive["stepsRemaining"] == 4


async def test_what_happens_in_the_loop_is_recorded(house: looping.House) -> None:
    """R-LOOP-2, R-SAFE-5: in every mode, that of logging too."""
    for mode in ("enforcing", "monitoring", "logging"):
        house.audit.unlink(missing_ok=True)
        loop = house.adapter(safety_loop=mode).loop
        assert loop is not None
        session = Session.new()
        await loop.execute_agent({"element_name": AGENT}, session, None)
        step = {"element_name": AGENT, "nextActionHint": "reading", "outcome": "failure"}
        await loop.record_execution_step(step, session, None)
        await loop.abort_execution({"element_name": AGENT}, session, None)
        await loop.execute_agent({"element_name": AGENT}, session, None)
        session.close()
        seen = [json.loads(line) for line in house.audit.read_text().splitlines()]
        assert [entry["event"] for entry in seen] == [
            "EXECUTION_STARTED", "STEP_RECORDED", "EXECUTION_CANCELLED", "EXECUTION_STARTED", "EXECUTION_CANCELLED",
        ]  # fmt: skip
        assert seen[1]["params"] == step
        assert seen[1]["continue"] is (mode != "enforcing")


def test_what_is_active_depends_on_the_settings(package: Any) -> None:
    """R-LOOP-2, R-STEP-1: confirming is offered while anything asks, plans always."""
    adapter = Adapter.load(package)
    assert [operation.name for operation in active_operations(adapter, Config())] == ["confirm_operation", "run_steps"]
    assert [operation.name for operation in active_operations(adapter, Config(policy="open"))] == ["run_steps"]
    ruled = Config(policy="open", policy_rules=({"id": "all", "families": ["read"], "action": "confirm"},))
    assert [operation.name for operation in active_operations(adapter, ruled)] == ["confirm_operation", "run_steps"]
    assert {
        operation.name for operation in active_operations(adapter, Config(policy="open", safety_loop="logging"))
    } == {*LOOP, "run_steps"}
