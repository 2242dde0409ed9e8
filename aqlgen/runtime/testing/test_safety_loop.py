# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The safety loop: an agent reports what it is about to do, and waits until somebody else decides (R-LOOP-2 to 5)."""

from __future__ import annotations

from typing import Any

import pytest

from .sessions import Session, connect

AGENT = {"element_name": "tester"}
SETTINGS: dict[str, Any] = {"MCP_AQL_SAFETY_LOOP_STEPS": "2", "MCP_AQL_SAFETY_LOOP_REQUIRES_APPROVAL": "delete_*"}


async def _step(session: Session, action: str, **more: str) -> dict[str, Any]:
    params = {**AGENT, "nextActionHint": action, **more}
    answer = await session.call("create", "record_execution_step", params)
    assert answer["success"], answer
    directive: dict[str, Any] = answer["data"]
    return directive


@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_enforcing_an_agent_does_not_start_by_itself(era: str) -> None:
    async with connect(era=era, MCP_AQL_SAFETY_LOOP="enforcing", **SETTINGS) as session:
        about = (await session.introspect("operations"))["data"]["_protocol"]
        assert about["capabilities"]["execution_safety_loop"] == "enforcing"
        assert about["safety_loop"]["defaults"]["maxAutonomousSteps"] == 2
        answer = await session.call("execute", "execute_agent", AGENT)
        assert answer["error"]["code"] == "PERMISSION_DENIED"  # nobody here lets an agent start


@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_what_is_denied_stops_an_agent_until_a_person_verifies_it(era: str) -> None:
    settings: dict[str, Any] = {
        **SETTINGS,
        "MCP_AQL_SAFETY_LOOP_APPROVAL": "client",
        "MCP_AQL_SAFETY_LOOP_DENY": "drop_*",
    }
    async with connect(era=era, MCP_AQL_SAFETY_LOOP="enforcing", **settings) as session:
        await session.call("execute", "execute_agent", AGENT)
        assert (await _step(session, "reading a note"))["continue"]
        stopped = await _step(session, "drop_notes", outcome="success")
        assert (stopped["continue"], stopped["stopped"]) == (False, True)
        assert stopped["notifications"][0]["type"] == "danger_zone"
        challenge = stopped["notifications"][0]["metadata"]["verificationId"]
        for tool, operation, params in (
            ("execute", "confirm_operation", AGENT),
            ("create", "verify_challenge", {"challenge_id": challenge, "code": "AAAA-AAAA"}),
        ):
            answer = await session.call(tool, operation, params)
            assert answer["error"]["code"] == "PERMISSION_DENIED"
        ended = await session.call("execute", "abort_execution", AGENT)
        assert ended["data"]["status"] == "cancelled"
        answer = await session.call("execute", "execute_agent", AGENT)
        assert answer["error"]["code"] == "PERMISSION_DENIED"


async def test_what_the_client_lets_a_person_approve_goes_on() -> None:
    settings: dict[str, Any] = {**SETTINGS, "MCP_AQL_SAFETY_LOOP_APPROVAL": "client"}
    async with connect(MCP_AQL_SAFETY_LOOP="enforcing", **settings) as session:
        await session.call("execute", "execute_agent", AGENT)
        assert not (await _step(session, "writing a note", outcome="failure"))["continue"]
        assert (await session.call("execute", "confirm_operation", AGENT))["success"]
        assert (await _step(session, "writing a note"))["stepsRemaining"] == 1
        ended = await session.call("execute", "complete_execution", AGENT)
        assert ended["data"]["status"] == "completed"


async def test_monitoring_never_stops() -> None:
    async with connect(MCP_AQL_SAFETY_LOOP="monitoring", **SETTINGS) as session:
        await session.call("execute", "execute_agent", AGENT)
        for action in ("delete_note 7", "reading", "reading", "reading"):
            assert (await _step(session, action, outcome="failure"))["continue"]


async def test_disabled_offers_nothing_of_it() -> None:
    async with connect(MCP_AQL_ENDPOINT_MODE="single") as session:
        about = (await session.introspect("operations"))["data"]["_protocol"]
        assert about["capabilities"]["execution_safety_loop"] == "disabled"
        answer = await session.call("execute", "execute_agent", AGENT)
        assert answer["error"]["code"] == "NOT_FOUND_OPERATION"
