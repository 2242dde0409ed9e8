from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS, Implementation
from stand_in import FakeApi

from aqlgen.runtime.dispatch.dispatcher import Dispatcher
from aqlgen.runtime.errors import Code, Failure
from aqlgen.runtime.server.mcp import build_server
from aqlgen.runtime.wire import ApiResponse

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("era", ["auto", "legacy"])]
Make = Callable[..., Dispatcher]


def connect(dispatcher: Dispatcher, era: str, **more: Any) -> Client:
    return Client(build_server(dispatcher, **more), mode=era)


async def test_a_client_lists_introspects_and_calls(zoo: Dispatcher, era: str) -> None:
    """R-REQ-5, R-ENV-3"""
    async with connect(zoo, era) as client:
        assert (client.protocol_version >= "2026") is (era == "auto")
        assert [tool.name for tool in (await client.list_tools()).tools] == [
            "mcp_aql_create",
            "mcp_aql_read",
            "mcp_aql_update",
            "mcp_aql_delete",
            "mcp_aql_execute",
        ]
        listed = await client.call_tool("mcp_aql_read", {"operation": "introspect", "params": {"query": "operations"}})
        assert listed.structured_content is not None
        assert listed.structured_content["data"]["operations"][0]["name"] == "introspect"
        created = await client.call_tool(
            "mcp_aql_create", {"operation": "create_animal", "name": "Ö", "species": "newt"}
        )
        assert created.structured_content is not None
        assert created.structured_content["data"] == {"name": "Ö", "species": "newt"}


async def test_the_envelope_is_the_structured_content_and_compact_json(zoo: Dispatcher, era: str) -> None:
    """R-ENV-3"""
    async with connect(zoo, era) as client:
        result = await client.call_tool("mcp_aql_read", {"operation": "list_animals", "params": {"limit": 3}})
    (content,) = result.content
    assert content.type == "text"
    assert json.loads(content.text) == result.structured_content
    assert ": " not in content.text


async def test_a_client_that_shows_both_gets_the_text_as_a_line(zoo: Dispatcher, era: str) -> None:
    """R-ENV-3"""
    info = Implementation(name="github-copilot-developer", version="1")
    async with Client(build_server(zoo), mode=era, client_info=info) as client:
        result = await client.call_tool("mcp_aql_read", {"operation": "list_animals", "params": {"limit": 3}})
    assert result.structured_content == {"success": True, "data": {"limit": 3}}
    assert [content.text for content in result.content if content.type == "text"] == [
        "The answer is the structured content."
    ]


async def test_only_what_an_agent_cannot_repair_is_an_error_of_the_tool(
    zoo: Dispatcher, api: FakeApi, era: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """R-ENV-3"""
    arguments = {"operation": "list_keepers"}
    async with connect(zoo, era) as client:
        assert not (await client.call_tool("mcp_aql_read", {"operation": "nonsense"})).is_error
        assert not (await client.call_tool("mcp_aql_read", {})).is_error
        api.fails = Failure(Code.PERMISSION_DENIED, "Permission denied")
        assert not (await client.call_tool("mcp_aql_read", arguments)).is_error
        api.fails = ValueError("sesame")
        result = await client.call_tool("mcp_aql_read", arguments)
    assert result.is_error
    assert "sesame" not in result.model_dump_json()


async def test_an_unknown_tool_is_a_protocol_error_that_names_the_tools(zoo: Dispatcher, era: str) -> None:
    async with connect(zoo, era) as client:
        with pytest.raises(MCPError) as caught:
            await client.call_tool("mcp_aql_destroy", {"operation": "delete_animal"})
    assert caught.value.error.code == INVALID_PARAMS
    assert "mcp_aql_delete" in caught.value.error.message


async def test_what_json_cannot_carry_is_replaced(zoo: Dispatcher, api: FakeApi, era: str) -> None:
    async def send(*_: Any) -> ApiResponse:
        return ApiResponse(200, {}, b"")

    api.send = send  # type: ignore[method-assign]
    api.decode = lambda *_: {"a": ["x\ud800", float("nan"), float("inf"), 1.5]}  # type: ignore[method-assign]
    async with connect(zoo, era) as client:
        result = await client.call_tool("mcp_aql_read", {"operation": "list_keepers"})
    assert result.structured_content is not None
    assert result.structured_content["data"] == {"a": ["x\ufffd", None, None, 1.5]}


async def test_a_connection_has_one_session_and_another_has_another(zoo: Dispatcher, era: str) -> None:
    """R-INT-3, R-OPS-2"""

    async def session_id(client: Client) -> Any:
        arguments = {"operation": "introspect", "params": {"query": "operations"}}
        result = await client.call_tool("mcp_aql_read", arguments)
        assert result.structured_content is not None
        return result.structured_content["data"]["_protocol"]["session_id"]

    async with connect(zoo, era) as client, connect(zoo, era) as other_client:
        first = await session_id(client)
        assert first.startswith("session_")
        assert await session_id(client) == first
        assert await session_id(other_client) != first


async def test_what_must_stop_is_stopped_when_the_connection_ends(zoo: Dispatcher, era: str) -> None:
    """R-OPS-2"""
    stopped: list[bool] = []

    async def on_stop() -> None:
        stopped.append(True)

    async with connect(zoo, era, on_stop=on_stop) as client:
        await client.list_tools()
        assert stopped == []
    assert stopped == [True]
