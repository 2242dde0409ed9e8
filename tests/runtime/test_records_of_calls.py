"""What a client is told of its own calls, and the ids by which a failure is found in log and audit (R-OPS-4)."""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from api.hand_made import STRING, make_package, operation
from http_endpoint import A, B
from local import Answer, Asked, serving
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import LoggingMessageNotificationParams
from stand_in import FakeApi
from test_service import adapter
from tiny_zoo import ADAPTER

from aqlgen.runtime.assembly import Assembly, assemble
from aqlgen.runtime.dispatch.dispatcher import Dispatcher
from aqlgen.runtime.logs import Record
from aqlgen.runtime.server.mcp import build_server
from aqlgen.runtime.session import with_caller
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.table import FAMILIES, Adapter, Table

pytestmark = [pytest.mark.anyio, pytest.mark.long]

EVENTS = (
    "call",
    "call failed",
    "call held back",
    "unexpected failure",
    "request to the API",
    "request to the API sent again",
    "a quota nears its end",
    "a quota is nearly used up",
    "a call continues after the pause of a quota",
    "a call is confirmed",
)
SECRET = "the-key-of-the-zoo"


class Api:
    """An API whose answer the path names."""

    def __init__(self) -> None:
        self.busy = 1

    def __call__(self, asked: Asked) -> Answer:
        name = asked.path.rpartition("/")[2]
        if name == "down":
            return Answer(None, 500)
        if name == "busy":
            self.busy -= 1
            return Answer(None, 503 if self.busy >= 0 else 200)
        return Answer({"id": name})


@asynccontextmanager
async def client_of(folder: Path, url: str, **settings: str) -> AsyncIterator[tuple[Client, Assembly, list[Any]]]:
    """Connect a client that set level debug with an adapter, and collect what it is told."""
    thing = {"thing": {"in": "path", "required": True, "schema": STRING}}
    rows = {name: operation("GET", "/things/{thing}", parameters=thing) for name in ("read", "look", "see", "watch")}
    about = {
        "servers": [{"url": url}],
        "counts": {name: 4 * (name == "read") + (name == "delete") for name in FAMILIES},
        "security_schemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key", "variables": ["ZOO_API_KEY"]}},
        "security": [["key"]],
    }
    make_package(folder, rows, adapter=about)
    drop = {"drop": operation("DELETE", "/things/{thing}", danger="destructive", verb="delete", parameters=thing)}
    (folder / "operations" / "delete.json").write_text(json.dumps(drop))
    environ = {
        "MCP_AQL_CONFIG": os.devnull,
        "MCP_AQL_STATE_URL": "memory:",
        "MCP_AQL_ENDPOINT_MODE": "single",
        "MCP_AQL_LOG_LEVEL": "error",
        "ZOO_API_KEY": SECRET,
    }
    parts = assemble(folder, environ=environ | settings, hooks=Hooks)
    messages: list[Any] = []

    async def hear(message: LoggingMessageNotificationParams) -> None:
        messages.append(message)

    async with Client(build_server(parts.dispatcher), mode="legacy", logging_callback=hear) as client:
        await set_level(client)
        yield client, parts, messages
    await parts.transport.aclose()


async def set_level(client: Client) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # deprecated for the protocol to come, not for this one
        await client.set_logging_level("debug")


class Hooks:
    @staticmethod
    def before_send(request: Any, call: Any) -> None:
        if call.params.get("thing") == "odd":
            raise ValueError("odd")


async def call(client: Client, operation: str, thing: str, **more: Any) -> dict[str, Any]:
    arguments = {"operation": operation, "params": {"thing": thing, **more}}
    answer = (await client.call_tool("mcp_aql", arguments)).structured_content
    assert answer is not None
    return answer


async def settled(messages: list[Any], enough: Callable[[], bool]) -> None:
    with anyio.fail_after(10):
        while not enough():
            await anyio.sleep(0.005)


async def test_a_client_at_level_debug_is_told_of_every_event_of_its_own_calls(tmp_path: Path) -> None:
    """R-OPS-4"""
    api = Api()
    settings = {
        "MCP_AQL_QUOTA_PER_DAY": "100",
        "MCP_AQL_QUOTA_WARN_PERCENT": "1",
        "MCP_AQL_QUOTA_PAUSE_PERCENT": "9",
        "MCP_AQL_RETRIES": "4",
    }
    with serving(api) as local:
        async with client_of(tmp_path, local.url, **settings) as (client, _, messages):
            assert (await call(client, "read", "ok"))["success"]
            assert (await call(client, "read", "busy"))["success"]
            token = (await call(client, "drop", "1"))["error"]["details"]["confirmation_token"]
            assert (await call(client, "drop", "1", confirmation_token=token))["success"]
            assert (await call(client, "read", "odd"))["error"]["code"] == "INTERNAL_ERROR"
            while (paused := await call(client, "read", "ok"))["success"]:
                continue
            more = {"_quota_continue": paused["error"]["details"]["confirmation_token"]}
            assert (await call(client, "read", "ok", **more))["success"]
            await settled(messages, lambda: {message.data["message"] for message in messages} >= set(EVENTS))
            session_id = paused["error"]["details"]["session_id"]
    assert {message.data.get("session_id") for message in messages} == {session_id}
    text = json.dumps([message.model_dump() for message in messages])
    assert SECRET not in text
    assert "127.0.0.1" not in text
    assert "frames" not in text
    for message in messages:
        assert re.fullmatch(r"req_\w+", message.data["data"]["request_id"]), message


async def test_a_failure_has_the_ids_that_log_and_audit_know_it_by(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """R-OPS-4, R-SAFE-5: whatever failed, also before the operation was known."""
    audit = tmp_path / "audit.jsonl"
    settings = {"MCP_AQL_AUDIT_PATH": str(audit), "MCP_AQL_LOG_LEVEL": "debug", "MCP_AQL_RETRIES": "0"}
    calls = [("read", "down"), ("read", "odd"), ("no_such", "1"), ("read", "\ud800"), ("drop", "1"), ("look", "down")]
    with serving(Api()) as local:
        async with client_of(tmp_path / "a", local.url, **settings) as (client, parts, _):
            errors = [(await call(client, *each))["error"] for each in calls[:3]]
            halves = await parts.dispatcher.handle(None, {"operation": "read", "params": {"thing": "\ud800"}})
            steps = {"steps": [{"operation": "look", "params": {"thing": "down"}}]}
            plan = await parts.dispatcher.handle(None, {"operation": "run_steps", "params": steps})
            drop = await call(client, "drop", "1")
            errors += [halves["error"], plan["error"]]
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines() if line.startswith("{")]
    known = {line["data"].get("request_id"): line for line in lines if line["logger"] == "calls"}
    ids = [error["details"]["request_id"] for error in errors]
    assert len(set(ids)) == len(ids)
    for error in errors:
        details = error["details"]
        assert known[details["request_id"]]["data"]["outcome"] == error["code"]
        assert known[details["request_id"]].get("session_id") == details.get("session_id")
    exchanged = {line["data"]["request_id"] for line in lines if line["logger"] == "api"}
    assert {ids[0], ids[4]} <= exchanged
    assert "request_id" not in drop["error"]["details"], "a question is no failure"
    entries = [json.loads(line) for line in audit.read_text().splitlines() if '"request_id"' in line]
    asked = next(entry for entry in entries if entry["operation"] == "drop")
    assert asked["session_id"] == errors[0]["details"]["session_id"]


async def test_two_callers_over_http_are_told_of_their_own_calls_alone(package: Path, forked: None) -> None:
    """R-OPS-4: each session is told of its own calls, a caller without one of nothing."""
    heard: dict[str, list[Any]] = {A: [], B: []}
    operations = {A: "get_animal", B: "list_keepers"}
    with (
        serving(lambda asked: Answer({"path": asked.path})) as api,
        adapter(package, api.url, MCP_AQL_HTTP_TOKEN=f"{A}\n{B}\n") as running,
    ):
        async with AsyncExitStack() as stack:
            clients: dict[str, Client] = {}
            for token in heard:
                clients[token] = await stack.enter_async_context(http_client(running.url, token, heard[token]))
                await set_level(clients[token])
            await anyio.sleep(0.3)  # the client opens its stream when it likes
            for token, client in clients.items():
                arguments = {"operation": operations[token], "params": {"animal_id": 7} if token == A else {}}
                await client.call_tool("mcp_aql_read", arguments)
            running.post("get_animal", 8, A)
            await settled(heard[A], lambda: all(len(messages) >= 2 for messages in heard.values()))
            await anyio.sleep(0.2)
    sessions = [{message.data.get("session_id") for message in messages} for messages in heard.values()]
    assert [len(ids) for ids in sessions] == [1, 1]
    assert sessions[0] != sessions[1]
    for token, messages in heard.items():
        assert [message.data["message"] for message in messages] == ["request to the API", "call"]
        assert {message.data["data"]["operation"] for message in messages} == {operations[token]}


@asynccontextmanager
async def http_client(url: str, token: str, messages: list[Any]) -> AsyncIterator[Client]:
    """Connect a client that shows a token, and collect what it is told."""

    async def hear(message: LoggingMessageNotificationParams) -> None:
        messages.append(message)

    async with httpx2.AsyncClient(headers={"authorization": f"Bearer {token}"}, timeout=20) as http:
        connection = streamable_http_client(url, http_client=http)
        async with Client(connection, mode="legacy", logging_callback=hear) as client:
            yield client


def test_a_record_of_a_call_is_for_its_session_and_outside_of_calls_for_none() -> None:
    with with_caller({}, "bert", "session_b"):
        assert Record("debug", "x", "m", of_call=True).audience == "session_b"
    with with_caller(None, None, "session_of_stdio"):
        assert Record("debug", "x", "m", of_call=True).audience == "session_of_stdio"
    with with_caller({}, "bert"):
        assert Record("debug", "x", "m", of_call=True).audience == ""
    assert Record("debug", "x", "m", of_call=True).audience == ""


async def test_an_example_names_what_the_adapter_gives_out_and_invents_no_id(package: Path) -> None:
    """R-INT-4: an id that nobody was given cannot work."""
    (package / "adapter.json").write_text(json.dumps({**ADAPTER, "executions": True}))
    dispatcher = Dispatcher(Adapter.load(package), Table(package), FakeApi(), Config(safety_loop="enforcing"))
    names = {"get_execution_status", "cancel_execution", "confirm_operation", "verify_challenge"}
    for name in names:
        shown = {"operation": "introspect", "params": {"query": "operations", "name": name}}
        operation = (await dispatcher.handle("read", shown))["data"]["operation"]
        params = operation["examples"][0]["request"]["params"]
        [value] = [value for key, value in params.items() if key.endswith(("_id", "_token"))]
        assert re.fullmatch(r"<\w+ of the \w+>", value), name
