"""The loop's main path as a client sees it: a process over standard input and output, and an operator beside it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from api.hand_made import make_package, operation
from local import Answer, serving
from looping import AGENT, Agent, Human, challenge_of
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from aqlgen.runtime.safety.questions import QuestionStore
from aqlgen.runtime.state.custody import State, open_store

SERVE = Path(__file__).parents[1] / "serve_folder.py"
GRAVE = "rm -rf /"
CHANGE = operation(
    "POST",
    danger="reversible",
    parameters={"note": {"in": "body", "schema": {"type": "string"}}},
    body={"content_type": "application/json", "shape": "fields"},
)
NOTE = {"nextOperation": "change", "nextParams": {"note": "hello"}}


@pytest.mark.anyio
@pytest.mark.usefixtures("forked")
async def test_an_agent_reports_is_blocked_verified_and_goes_on_in_another_process(tmp_path: Path) -> None:
    """R-LOOP-2, R-LOOP-3, R-LOOP-4, R-LOOP-5; specification, 8.6.4, 8.7.3, 8.8.2, 8.8.4: the code is nowhere."""
    url, human, seen = f"sqlite:///{tmp_path}/state.sqlite3", Human(), []
    with serving(lambda _: Answer({"ok": True})) as api:
        folder = tmp_path / "api" / "adapter"
        make_package(
            folder,
            {"change": CHANGE},
            family="create",
            adapter={"servers": [{"url": api.url}], "counts": {"create": 1}},
        )
        environ = os.environ | {
            "MCP_AQL_CONFIG": os.devnull,
            "MCP_AQL_STATE_URL": url,
            "MCP_AQL_SAFETY_LOOP": "enforcing",
            "MCP_AQL_POLICY": "open",
            "MCP_AQL_LOG_LEVEL": "debug",
            "MCP_AQL_AUDIT_PATH": str(tmp_path / "audit.jsonl"),
        }

        async def process(work: Any) -> None:
            server = StdioServerParameters(command=sys.executable, args=[str(SERVE), str(folder), "stdio"], env=environ)
            with (tmp_path / "stderr.log").open("a") as log:
                async with Client(stdio_client(server, errlog=log), elicitation_callback=human.answer) as client:
                    agent = Agent(client)
                    await work(agent)
                    seen.extend(agent.seen)

        async def change(agent: Agent) -> dict[str, Any]:
            return await agent.send("create", {"operation": "change", "params": {"note": "hello"}})

        async def blocked(agent: Agent) -> None:
            assert not (await change(agent))["success"]
            await agent.start()
            assert (await agent.step("saying hello", **NOTE))["granted"]["operation"] == "change"
            assert (await change(agent))["success"]
            assert not (await change(agent))["success"]
            assert (await agent.step(GRAVE))["stopped"]
            await agent.data("abort_execution", element_name=AGENT)

        async def verified(agent: Agent) -> None:
            assert (await agent.error("execute_agent", element_name=AGENT))["code"] == "PERMISSION_DENIED"
            challenge = challenge_of(await agent.step("saying hello", **NOTE))
            state = State(open_store(url, "petstore", {}), "petstore")
            human.types = await QuestionStore(state.shared).reveal(challenge) or ""
            await state.close()
            assert (await agent.data("verify_challenge", challenge_id=challenge))["verified"]
            await agent.start()
            assert (await agent.step("saying hello", **NOTE))["continue"]
            assert (await change(agent))["success"]

        await process(blocked)
        await process(verified)
        assert [request.method for request in api.asked] == ["POST", "POST"]
    assert human.types
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    for code in (human.types, human.types.replace("-", "")):
        assert code.encode() not in kept + "".join(seen).encode()
    assert b"VERIFICATION_SUCCEEDED" in kept
