"""Over HTTP each caller acts with their own credential: from a header."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
import uvicorn
from local import Answer, Asked, Local, adapter, hidden, serving
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from aqlgen.runtime.assembly import assemble
from aqlgen.runtime.server.mcp import build_server
from aqlgen.runtime.settings.load import ConfigError
from tests.runtime.quick_server import Server

ROLES = ("client_id", "client_secret", "scopes", "audience", "token_url")
OAUTH: dict[str, Any] = {
    "type": "oauth2",
    "variables": ["P_TOKEN"],
    "flows": {"clientCredentials": {"token_url": "/token", "scopes": []}},
    "optional_variables": {role: f"P_{role.upper()}" for role in ROLES},
}
KEY = {"type": "apiKey", "in": "header", "name": "X-Key", "variables": ["P_KEY"]}
BASIC = {"type": "http", "scheme": "basic", "variables": ["P_USERNAME", "P_PASSWORD"]}
FORWARD = {"MCP_AQL_AUTH_FORWARD_HEADER": "X-Target-Authorization"}

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def served(folder: Path, environ: dict[str, str]) -> AsyncIterator[Callable[..., Any]]:
    """Serve an adapter over HTTP, and yield a function that calls an operation with these headers."""
    isolated = {
        "MCP_AQL_CONFIG": os.devnull,
        "MCP_AQL_STATE_URL": "memory:",
        "MCP_AQL_LOG_LEVEL": "debug",
        "MCP_AQL_POLICY": "open",
    }
    parts = assemble(folder, environ=isolated | environ)
    app = build_server(parts.dispatcher, parts.transport.aclose).streamable_http_app(json_response=True)
    running = Server(uvicorn.Config(app, port=0, log_config=None))
    task = asyncio.create_task(running.serve())
    while not running.started:
        await asyncio.sleep(0)
    url = f"http://127.0.0.1:{running.servers[0].sockets[0].getsockname()[1]}/mcp"

    @asynccontextmanager
    async def connected(headers: dict[str, str], era: str) -> AsyncIterator[Client]:
        async with (
            httpx2.AsyncClient(headers=headers, timeout=20) as http,
            Client(streamable_http_client(url, http_client=http), mode=era) as client,
        ):
            yield client

    async def call(headers: dict[str, str], era: str = "auto", operation: str = "op", **params: Any) -> dict[str, Any]:
        async with connected(headers, era) as client:
            tool = "mcp_aql_read"
            result = await client.call_tool(tool, {"operation": operation, "params": params})
            assert result.structured_content is not None
            return dict(result.structured_content)

    try:
        yield call
    finally:
        running.should_exit = True
        await task


def echo(asked: Asked) -> Answer:
    """Return whom the API saw, as far as the name goes."""
    shown = asked.headers.get("authorization", "") + asked.headers.get("x-key", "")
    return Answer({"user": shown.rpartition("-of-")[2], "token": shown})


def names(local: Local) -> list[str]:
    return [call.headers.get("authorization", "-") for call in local.at("/v1/pets")]


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_each_caller_acts_with_the_credential_of_their_own_header(
    tmp_path: Path, era: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with serving(echo) as local:
        folder = adapter(tmp_path, f"{local.url}/v1", {"oauth": OAUTH}, ["oauth"])
        owner = FORWARD | {"P_TOKEN": "token-of-owner"}
        async with served(folder, owner) as call:
            shown = {"Authorization": "Bearer shown-to-the-adapter"}
            ann = await call({**shown, "X-Target-Authorization": "Bearer token-of-ann"}, era)
            bob = await call({**shown, "x-target-authorization": "token-of-bob"}, era)
            nobody = await call(shown, era)
    assert (ann["data"], bob["data"]) == tuple({"user": name, "token": "***"} for name in ("ann", "bob"))
    assert names(local) == ["Bearer token-of-ann", "Bearer token-of-bob"]
    error = nobody["error"]
    assert error["code"] == "PERMISSION_DENIED"
    assert "'x-target-authorization'" in error["message"]
    assert error["details"]["missing"] == []
    for asked in local.asked:
        assert "shown-to-the-adapter" not in str(asked)
        assert "x-target-authorization" not in asked.headers
    hidden(["token-of-ann", "token-of-bob", "token-of-owner"], ann, bob, nobody, *capfd.readouterr())


async def test_no_caller_acts_with_another_credential_of_the_owner(tmp_path: Path) -> None:
    with serving(echo) as local:
        folder = adapter(tmp_path, f"{local.url}/v1", {"oauth": OAUTH, "key": KEY}, ["key"], ["oauth"])
        settings = {"MCP_AQL_AUTH_FORWARD_HEADER": "X-Their-Token=oauth", "P_KEY": "key-of-owner"}
        async with served(folder, settings) as call:
            ann = await call({"X-Their-Token": "token-of-ann"})
            nobody = await call({})
    assert ann["data"]["user"] == "ann"
    assert "'x-their-token'" in nobody["error"]["message"]
    assert len(local.at("/v1/pets")) == 1


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_callers_side_by_side_never_mix(tmp_path: Path, era: str) -> None:
    """All of their requests are under way together: the API answers none before it has seen them all."""
    count = 8
    together = threading.Barrier(count, timeout=20)

    def answer(asked: Asked) -> Answer:
        together.wait()
        return Answer({"tail": asked.headers["authorization"][-2:], "query": asked.path.partition("=")[2]})

    row = {"parameters": {"who": {"in": "query", "schema": {"type": "string"}}}}
    with serving(answer) as local:
        folder = adapter(tmp_path, f"{local.url}/v1", {"oauth": OAUTH}, ["oauth"], row=row)
        async with served(folder, FORWARD) as call:
            answers = await asyncio.gather(
                *(call({"X-Target-Authorization": f"Bearer token-of-{n:02}"}, era, who=f"{n:02}") for n in range(count))
            )
    for n, answer in enumerate(answers):
        assert answer["data"] == {"tail": f"{n:02}", "query": f"{n:02}"}
    assert {call.headers["authorization"][-2:] == call.path[-2:] for call in local.at("/v1/pets")} == {True}


@pytest.mark.parametrize("value", ["ann:open sesame", "Basic YW5uOm9wZW4gc2VzYW1l", "YW5uOm9wZW4gc2VzYW1l"])
async def test_several_schemes_are_filled_from_several_headers(tmp_path: Path, value: str) -> None:
    with serving(lambda asked: Answer({"n": 1})) as local:
        folder = adapter(tmp_path, f"{local.url}/v1", {"basic": BASIC, "key": KEY}, ["basic", "key"])
        settings = {"MCP_AQL_AUTH_FORWARD_HEADER": "X-Who=basic; X-Their-Key=key"}
        async with served(folder, settings) as call:
            answer = await call({"X-Who": value, "X-Their-Key": "key-of-ann"})
            half = await call({"X-Who": value})
    assert answer["success"]
    (asked,) = local.asked
    assert (asked.headers["authorization"], asked.headers["x-key"]) == ("Basic YW5uOm9wZW4gc2VzYW1l", "key-of-ann")
    assert "'x-their-key'" in half["error"]["message"]


async def test_over_standard_input_the_owners_variables_are_used(tmp_path: Path) -> None:
    from local import Running

    with serving(echo) as local:
        folder = adapter(tmp_path, f"{local.url}/v1", {"key": KEY}, ["key"])
        running = Running(folder, FORWARD | {"P_KEY": "key-of-owner"})
        assert (await running.call())["success"]
        await running.parts.transport.aclose()
    assert local.asked[0].headers["x-key"] == "key-of-owner"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"MCP_AQL_AUTH_FORWARD_HEADER": "Authorization"}, "never forwarded"),
        ({"MCP_AQL_AUTH_FORWARD_HEADER": "Cookie=key"}, "never forwarded"),
        ({"MCP_AQL_AUTH_FORWARD_HEADER": "X Y"}, "name of a header"),
        ({"MCP_AQL_AUTH_FORWARD_HEADER": "X-Y"}, "must name a security scheme; those of the API are 'oauth', 'key'"),
        ({"MCP_AQL_AUTH_FORWARD_HEADER": "X-Y=other"}, "names the security scheme 'other'"),
        ({"MCP_AQL_AUTH_FORWARD_HEADER": "X-Y=key;X-Z=key"}, "from two headers"),
    ],
)
async def test_settings_that_cannot_be_meant_are_refused(
    tmp_path: Path, settings: dict[str, str], message: str
) -> None:
    folder = adapter(tmp_path, "https://api.example.com", {"oauth": OAUTH, "key": KEY}, ["oauth"])
    with pytest.raises(ConfigError) as caught:
        assemble(folder, environ={"MCP_AQL_CONFIG": os.devnull, "MCP_AQL_STATE_URL": "memory:"} | settings)
    assert message in str(caught.value)
