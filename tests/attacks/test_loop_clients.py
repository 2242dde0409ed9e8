"""Attacks on the enforcing loop through real clients: each era of the protocol, each kind of tool, and HTTP."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from forms import altered
from looped_shop import AGENT, DELETE, PAY, Floor, opened
from mcp import Client

from aqlgen.runtime.server.mcp import build_server
from aqlgen.runtime.table import FAMILIES
from tests.runtime.http_endpoint import TOKENS, WITH_TOKEN, A, B, endpoint
from tests.runtime.one_store import challenge_of

pytestmark = pytest.mark.anyio
FAMILY = {"pay": "execute", "delete_item": "delete", "get_item": "read", "run_steps": "execute"}
FAMILY |= {"record_execution_step": "create", "verify_challenge": "create"}
ENFORCING: dict[str, Any] = {"safety_loop": "enforcing", "loop_approval": "client", "policy": "open"}
NEW = {"name": "Ada", "species": "lion"}


class Agent:
    """An agent of a client. `seen` is everything that the client was sent: results, logs, notifications."""

    def __init__(self, client: Client, mode: str, seen: list[str]) -> None:
        self._client = client
        self._mode = mode
        self.seen = seen

    async def send(self, arguments: dict[str, Any], family: str) -> dict[str, Any]:
        tool = "mcp_aql" if self._mode == "single" else f"mcp_aql_{family}"
        result = await self._client.call_tool(tool, arguments)
        self.seen.append(result.model_dump_json())
        assert result.structured_content is not None
        return result.structured_content

    async def do(self, operation: str, family: str = "", **params: Any) -> dict[str, Any]:
        return await self.send({"operation": operation, "params": params}, family or FAMILY.get(operation, "execute"))

    async def report(self, call: dict[str, Any], hint: str = "working") -> dict[str, Any]:
        params = {"nextOperation": call["operation"], "nextParams": call["params"]}
        data: dict[str, Any] = (
            await self.do("record_execution_step", element_name=AGENT, nextActionHint=hint, **params)
        )["data"]
        return data


async def with_agent(floor: Floor, era: str, mode: str, work: Any) -> list[str]:
    """Let an agent work at a shop, and return what it has seen."""
    seen: list[str] = []

    async def take(message: Any) -> None:
        seen.append(repr(message))

    server = build_server(floor.shop.dispatcher)
    async with Client(server, mode=era, logging_callback=take, message_handler=take) as client:  # type: ignore[arg-type]
        await work(Agent(client, mode, seen))
    return seen


BY_ERA = pytest.mark.parametrize("era", ["auto", "legacy"])
BY_MODE = pytest.mark.parametrize("mode", ["crude", "single"])


@BY_ERA
@BY_MODE
async def test_no_era_and_no_tool_leads_around_a_report(tmp_path: Path, era: str, mode: str) -> None:
    """R-LOOP-2: unreported, as another, by another family's tool, twice, in a batch, in a plan."""

    async def work(agent: Agent) -> None:
        refused = [await agent.do("pay", **PAY["params"])]
        await agent.do("execute_agent", element_name=AGENT)
        refused.append(await agent.do("pay", **PAY["params"]))
        assert (await agent.report(PAY))["granted"]
        refused.append(await agent.do("pay", **altered(PAY, amount=101)["params"]))
        refused.append(await agent.send(altered(PAY, amount="101"), "execute"))
        if mode == "crude":
            refused += [await agent.send(PAY, family) for family in FAMILIES if family != "execute"]
        refused.append(await agent.do("run_steps", steps=[PAY]))
        batch = {"operations": [altered(PAY, amount=1), altered(PAY, note=None)]}
        answer = await agent.send(batch, "execute")
        refused += [entry["result"] for entry in answer["results"]]
        assert floor.written == []
        assert (await agent.send(PAY, "execute"))["success"]
        refused.append(await agent.send(PAY, "execute"))
        refused.append(await agent.send({**DELETE, "params": json.dumps(DELETE["params"])}, "delete"))
        assert not any(answer["success"] for answer in refused)
        assert (await agent.do("get_item", item_id="7"))["success"]

    async with opened(tmp_path) as floor:
        floor.open(mode=mode)
        await with_agent(floor, era, mode, work)
        assert len(floor.written) == 1


@BY_ERA
@BY_MODE
async def test_no_client_reads_a_code(tmp_path: Path, era: str, mode: str) -> None:
    """R-LOOP-5; specification, 8.8.4: in results, their `_meta`, logs and notifications, before and after."""
    codes: list[str] = []

    async def work(agent: Agent) -> None:
        await agent.do("execute_agent", element_name=AGENT)
        challenge = challenge_of(await agent.report({"operation": "purge", "params": {}}))
        for _ in range(3):
            code = await floor.desk.reveal(challenge)
            assert code is not None
            codes.append(code)
            await agent.do("verify_challenge", challenge_id=challenge, code="x")
        await agent.do("introspect", "read", query="operations")
        await agent.do("confirm_operation", element_name=AGENT)
        code = await floor.desk.reveal(challenge)
        assert code is not None
        codes.append(code)
        assert (await agent.do("verify_challenge", challenge_id=challenge, code=code))["success"]
        assert (await agent.report({"operation": "purge", "params": {}}))["granted"]

    async with opened(tmp_path) as floor:
        floor.open(mode=mode, free=False)
        seen = "".join(await with_agent(floor, era, mode, work))
        assert len(codes) == 4
        for code in codes:
            assert code not in seen
            assert code.replace("-", "") not in seen


@pytest.mark.parametrize("ours", ["session", "none"])
@pytest.mark.parametrize("theirs", ["another caller", "another caller's session", "another session", "the other era"])
async def test_a_report_is_of_its_session_and_caller_over_http(package: Path, ours: str, theirs: str) -> None:
    """R-LOOP-2: the caller who reported still can; nobody else, anywhere."""
    async with endpoint(package, WITH_TOKEN, environ=TOKENS, **ENFORCING) as adapter:
        session = await adapter.open(token=A) if ours == "session" else None
        place = {
            "another caller": (B, None),
            "another caller's session": (B, await adapter.open(token=B)),
            "another session": (A, await adapter.open(token=A)),
            "the other era": (A, await adapter.open(token=A) if ours == "none" else None),
        }[theirs]
        step = {"element_name": AGENT, "nextActionHint": "x", "nextOperation": "create_animal", "nextParams": NEW}
        for token, where in ((A, session), place):
            started = await adapter.tool(
                "execute", "execute_agent", {"element_name": AGENT}, session=where, token=token
            )
            assert started["success"]
        reported = await adapter.tool("create", "record_execution_step", step, session=session, token=A)
        assert reported["data"]["granted"]
        for _ in range(2):
            taken = await adapter.tool("create", "create_animal", NEW, session=place[1], token=place[0])
            assert taken["error"]["code"] == "PERMISSION_DENIED"
        assert adapter.api.sent == []
        assert (await adapter.tool("create", "create_animal", NEW, session=session, token=A))["success"]
        assert not (await adapter.tool("create", "create_animal", NEW, session=session, token=A))["success"]
