"""A person is asked, and an agent cannot answer for them: through a real client, in both protocol eras (R-SAFE-4)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp import Client
from mcp.types import ElicitResult, InputRequiredResult
from stand_in import FakeApi

from aqlgen.runtime.dispatch.dispatcher import Dispatcher
from aqlgen.runtime.server.mcp import build_server

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("era", ["auto", "legacy"])]
DELETE = {"operation": "delete_animal", "params": {"animal_id": 7}}
YES, NO, SHUT = (ElicitResult(action=action) for action in ("accept", "decline", "cancel"))


@asynccontextmanager
async def asking(
    dispatcher: Dispatcher, era: str, answer: Callable[[], ElicitResult], asked: list[str] | None = None
) -> AsyncIterator[Client]:
    async def callback(_: Any, params: Any) -> ElicitResult:
        if asked is not None:
            asked.append(params.message)
        return answer()

    async with Client(build_server(dispatcher), mode=era, elicitation_callback=callback) as client:
        yield client


async def call(client: Client, arguments: dict[str, Any], tool: str = "mcp_aql_delete") -> dict[str, Any]:
    envelope = (await client.call_tool(tool, arguments)).structured_content
    assert envelope is not None
    return envelope


async def test_a_person_says_yes_and_it_runs_once(zoo: Dispatcher, api: FakeApi, era: str) -> None:
    """R-SAFE-4: one question, one answer, no token."""
    asked: list[str] = []
    async with asking(zoo, era, lambda: YES, asked) as client:
        envelope = await call(client, DELETE)
        assert envelope["success"], envelope
        assert len(asked) == len(api.sent) == 1
        assert asked[0].startswith("Delete animal 7? This cannot be undone.\nDELETE https://zoo.example/v1/animals/")
        assert asked[0].endswith("\n- animal_id: 7")
        assert (await call(client, DELETE))["success"]
    assert len(asked) == len(api.sent) == 2


@pytest.mark.parametrize("answer", [NO, SHUT, ElicitResult(action="accept", content={"confirm": False})])
async def test_a_person_says_no_and_nothing_is_sent(
    zoo: Dispatcher, api: FakeApi, era: str, answer: ElicitResult
) -> None:
    """R-SAFE-4"""
    async with asking(zoo, era, lambda: answer) as client:
        envelope = await call(client, DELETE)
    assert envelope["error"]["code"] == "PERMISSION_DENIED"
    assert "person" in envelope["error"]["message"]
    assert "confirmation" not in envelope
    assert api.sent == []


async def test_in_a_batch_a_person_is_asked_once_about_all_of_a_kind(zoo: Dispatcher, api: FakeApi, era: str) -> None:
    """R-SAFE-4, R-BAT-2: with protocol 2026-07-28, too, where the question is the result of all of it."""
    asked: list[str] = []
    read = {"operation": "introspect", "params": {"query": "types", "name": "string"}}

    def answer() -> Any:
        asked.append("")
        return YES

    async with asking(zoo, era, answer) as client:
        envelope = await call(client, {"operations": [DELETE, read, DELETE]})
    assert [result["result"]["success"] for result in envelope["results"]] == [True, False, True]
    assert len(asked) == 1
    assert len(api.sent) == 2


async def test_an_answer_is_good_for_its_call_and_once(zoo: Dispatcher, api: FakeApi, era: str) -> None:
    """R-SAFE-4: protocol 2026-07-28, where the answer travels with a second call."""
    if era == "legacy":
        return
    async with asking(zoo, era, lambda: YES) as client:

        async def send(animal: int, state: str | None) -> Any:
            arguments = {"operation": "delete_animal", "params": {"animal_id": animal}}
            answers = {"input_responses": {"confirm": YES}, "request_state": state} if state else {}
            return await client.session.call_tool("mcp_aql_delete", arguments, allow_input_required=True, **answers)

        asked = await send(7, None)
        assert isinstance(asked, InputRequiredResult)
        refused = (await send(8, asked.request_state)).structured_content["error"]
        assert refused["details"]["reason"] == "another question is open", "tried for another call: it is used up"
        for state in (asked.request_state, "invented"):
            assert isinstance(await send(7, state), InputRequiredResult)
        asked = await send(7, None)
        assert (await send(7, asked.request_state)).structured_content["success"]
        assert isinstance(await send(7, asked.request_state), InputRequiredResult)
    assert len(api.sent) == 1
