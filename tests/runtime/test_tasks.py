"""The Tasks extension of MCP 2026-07-28: work is followed with `tasks/get`, through real MCP clients (R-LOOP-1)."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractAsyncContextManager, contextmanager
from pathlib import Path
from typing import Any, Literal

import pytest
from local import Local
from mcp import Client, MCPError
from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim, advertise
from mcp.server.session import ServerSession
from mcp.types import CallToolResult, Implementation, Request, Result
from mcp.types import RequestParams as Params
from pydantic import ConfigDict
from test_executions import HERE, STARTS, Refusing, Works, adapter, api, environ, folder, table, works

from aqlgen.runtime.assembly import Assembly, assemble
from aqlgen.runtime.server import TASKS
from aqlgen.runtime.server.mcp import build_server

__all__ = ["adapter", "api", "folder", "table", "works"]  # fixtures

pytestmark = pytest.mark.anyio


class Task(Result):
    """A task as a client reads it."""

    model_config = ConfigDict(extra="allow")
    result_type: Literal["task"] = "task"
    task_id: str


class TaskParams(Params):
    task_id: str


class TaskRequest(Request[TaskParams, str]):
    name_param = "taskId"


class Answer(Result):
    model_config = ConfigDict(extra="allow")


class Following(ClientExtension):
    """A client that declares the extension and keeps the tasks that it gets."""

    identifier = TASKS

    def __init__(self) -> None:
        self.tasks: list[dict[str, Any]] = []

    def claims(self) -> tuple[ResultClaim[Any], ...]:
        return (ResultClaim(result_type="task", model=Task, resolve=self.resolve),)

    async def resolve(self, task: Task, _: ClaimContext) -> CallToolResult:
        self.tasks.append(task.model_dump(by_alias=True))
        return CallToolResult(content=[])


async def ask(client: Client, method: str, task_id: str, kind: type[Request[Any, Any]] = TaskRequest) -> dict[str, Any]:
    request = kind(method=f"tasks/{method}", params=TaskParams(task_id=task_id))
    return (await client.session.send_request(request, Answer)).model_dump(by_alias=True)


async def begun(client: Client, following: Following, pattern: str = "openai") -> dict[str, Any]:
    operation, tool, params = STARTS[pattern]
    await client.call_tool(f"mcp_aql_{tool}", {"operation": operation, "params": params})
    return following.tasks[-1]


def connected(server: Any, following: Following, client: str = "test") -> AbstractAsyncContextManager[Client]:
    return Client(server, extensions=[following], client_info=Implementation(name=client, version="1"))


@pytest.mark.parametrize("pattern", STARTS)
async def test_work_is_a_task_until_its_result(adapter: Assembly, works: Works, pattern: str) -> None:
    following = Following()
    async with connected(build_server(adapter.dispatcher), following) as client:
        assert client.server_capabilities.extensions == {TASKS: {}}
        task = await begun(client, following, pattern)
        first = await ask(client, "get", task["taskId"])
        last = await ask(client, "get", task["taskId"])
    assert (task["resultType"], task["status"]) == ("task", "working")
    assert (first["resultType"], first["status"], first["pollIntervalMs"]) == ("complete", "working", 1000)
    assert first["createdAt"] == task["createdAt"] <= first["lastUpdatedAt"]
    assert first["ttlMs"] == 30 * 86_400_000
    assert "result" not in first
    assert last["status"] == "completed"
    assert last["result"]["structuredContent"]["data"]["status"] == "completed"
    assert last["result"]["structuredContent"]["data"]["operation"] == STARTS[pattern][0]


async def test_failed_work_is_a_result_with_its_error(adapter: Assembly, works: Works) -> None:
    """Extension, error handling: `failed` is for errors of the protocol alone. One client shows both texts."""
    following = Following()
    async with connected(build_server(adapter.dispatcher), following, "github-copilot-developer") as client:
        task = await begun(client, following)
        works.__class__ = Failing
        ended = await ask(client, "get", task["taskId"])
    assert (ended["status"], ended["result"]["isError"]) == ("completed", True)
    assert ended["result"]["structuredContent"]["error"]["code"] == "INTERNAL_ERROR"
    assert ended["result"]["content"][0]["text"] == "The answer is the structured content."


async def test_failed_work_is_told_to_a_client_without_a_name(
    adapter: Assembly, works: Works, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MCP 2026-07-28: the name of a client is optional."""
    following = Following()
    async with connected(build_server(adapter.dispatcher), following) as client:
        task = await begun(client, following)
        works.__class__ = Failing
        monkeypatch.setattr(ServerSession, "client_params", None)
        ended = await ask(client, "get", task["taskId"])
    assert (ended["status"], ended["result"]["isError"]) == ("completed", True)


class Failing(Works):
    def _told(self, path: str) -> Any:
        return self._about("failed", path)


async def test_a_task_is_cancelled_where_the_api_can(adapter: Assembly, works: Works) -> None:
    works.left = 9
    following = Following()
    async with connected(build_server(adapter.dispatcher), following) as client:
        task = await begun(client, following)
        assert (await ask(client, "update", task["taskId"]))["resultType"] == "complete"
        assert (await ask(client, "cancel", task["taskId"]))["resultType"] == "complete"
        assert works.cancelled
        assert (await ask(client, "get", task["taskId"]))["status"] == "cancelled"
        other = await begun(client, following, "azure")
        with pytest.raises(MCPError, match="cannot be cancelled") as refused:
            await ask(client, "cancel", other["taskId"])
    assert refused.value.error.code == -32603


async def test_cancelling_needs_the_confirmation_that_the_operation_needs(
    tmp_path: Path, folder: Path, api: Local, works: Works
) -> None:
    rule = {"MCP_AQL_POLICY": "standard"}
    parts = assemble(folder, environ=environ(tmp_path, api, **rule))
    works.left = 9
    following = Following()
    async with connected(build_server(parts.dispatcher), following) as client:
        arguments = {"operation": "create_batch", "params": {}}
        asked = (await client.call_tool("mcp_aql_create", arguments)).structured_content
        if asked is not None:  # to begin needs one, too
            token = asked["error"]["details"]["confirmation_token"]
            await client.call_tool("mcp_aql_create", {**arguments, "confirmation_token": token})
        (task,) = following.tasks
        with pytest.raises(MCPError, match="needs a confirmation: call mcp_aql_execute") as refused:
            await ask(client, "cancel", task["taskId"])
    assert refused.value.error.data == {"code": "CONFIRMATION_REQUIRED"}
    assert not works.cancelled


async def test_a_client_without_the_extension_gets_no_task_and_may_ask_about_none(
    adapter: Assembly, works: Works
) -> None:
    following = Following()
    async with connected(build_server(adapter.dispatcher), following) as client:
        task = await begun(client, following)
    async with Client(build_server(adapter.dispatcher)) as client:
        plain = await client.call_tool("mcp_aql_create", {"operation": "create_batch"})
        assert plain.structured_content is not None
        assert plain.structured_content["data"]["_execution"]["follow_with"] == "get_execution_status"
        for method in ("get", "update", "cancel"):
            with pytest.raises(MCPError) as refused:
                await ask(client, method, task["taskId"])
            assert refused.value.error.code == -32021
            assert refused.value.error.data == {"requiredCapabilities": {"extensions": {TASKS: {}}}}
    async with Client(build_server(adapter.dispatcher), mode="legacy", extensions=[advertise(TASKS)]) as client:
        plain = await client.call_tool("mcp_aql_create", {"operation": "create_batch"})
        assert plain.structured_content is not None
        with pytest.raises(MCPError) as refused:
            await ask(client, "get", task["taskId"])
    assert refused.value.error.code == -32601
    assert not works.cancelled


async def test_steps_of_a_plan_and_of_a_batch_are_no_tasks(adapter: Assembly) -> None:
    following = Following()
    async with connected(build_server(adapter.dispatcher), following) as client:
        steps = [{"id": "a", "operation": "create_batch"}]
        plan = await client.call_tool("mcp_aql_execute", {"operation": "run_steps", "params": {"steps": steps}})
        batch = await client.call_tool("mcp_aql_create", {"operations": [{"operation": "create_batch"}]})
    assert not following.tasks
    for result in (plan, batch):
        assert "get_execution_status" in str(result.structured_content)


async def test_a_hook_sees_each_question_and_may_refuse_it(tmp_path: Path, folder: Path, api: Local) -> None:
    hooks = Refusing()
    parts = assemble(folder, environ=environ(tmp_path, api), hooks=hooks)
    following = Following()
    async with connected(build_server(parts.dispatcher), following) as client:
        task = await begun(client, following, "plain")
        before = len(api.asked)
        with pytest.raises(MCPError, match="no addresses"):
            await ask(client, "get", task["taskId"])
    assert hooks.calls[-1].operation == "start_export status"
    assert len(api.asked) == before


@contextmanager
def served(program: list[str], settings: Mapping[str, str]) -> Iterator[str]:
    with subprocess.Popen(program, stderr=subprocess.PIPE, env=os.environ | settings) as process:
        try:
            assert process.stderr
            lines = (re.search(rb"http://127\.0\.0\.1:\d+/mcp", line) for line in process.stderr)
            yield next(match[0].decode() for match in lines if match)
        finally:
            process.kill()


@pytest.mark.usefixtures("forked")
async def test_over_http_a_task_is_of_its_caller_alone(tmp_path: Path, folder: Path, api: Local, works: Works) -> None:
    """Extension, security: each request about a task is authorised."""
    from httpx2 import AsyncClient
    from mcp.client.streamable_http import streamable_http_client

    works.left = 99
    tokens = tmp_path / "tokens"
    tokens.write_text("anna-0123456789abcdef\nbert-0123456789abcdef\n")
    tokens.chmod(0o600)
    settings = environ(tmp_path, api, MCP_AQL_HTTP_TOKEN_FILE=str(tokens))
    program = [sys.executable, str(HERE / "serve_folder.py"), str(folder), "http", "0.1"]
    with served(program, settings) as url:

        def of(name: str) -> AsyncClient:
            headers = {"Authorization": f"Bearer {name}-0123456789abcdef", "Mcp-Name": "another"}
            return AsyncClient(headers=headers)

        following = Following()
        async with (
            of("anna") as anna,
            of("bert") as bert,
            connected(streamable_http_client(url, http_client=anna), following) as annas,
            connected(streamable_http_client(url, http_client=bert), Following()) as berts,
        ):
            task = await begun(annas, following)
            assert (await ask(annas, "get", task["taskId"]))["status"] == "working"
            asked = len(api.asked)
            for client, task_id in ((berts, task["taskId"]), (annas, task["taskId"][:-2] + "AA"), (annas, "x")):
                for method in ("get", "update", "cancel"):
                    with pytest.raises(MCPError) as refused:
                        await ask(client, method, task_id)
                    assert refused.value.error.code == -32602
            with pytest.raises(MCPError, match="Mcp-Name names another task"):
                await ask(annas, "cancel", task["taskId"], Request[TaskParams, str])
    assert len(api.asked) == asked, "nothing was sent"
    assert not works.cancelled
