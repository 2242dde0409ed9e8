"""R-LOOP-1: work that goes on after a call, followed through real MCP clients, from an API on this machine."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from api.hand_made import make_package, operation
from local import Answer, Asked, Local, serving
from mcp import Client, StdioServerParameters

from aqlgen.runtime.assembly import Assembly, assemble
from aqlgen.runtime.dispatch import executions
from aqlgen.runtime.executions.handles import REPORTER, Progress
from aqlgen.runtime.executions.places import Target, target_at, target_of
from aqlgen.runtime.executions.states import CORE, condition_of
from aqlgen.runtime.hooks import Call, Refuse
from aqlgen.runtime.operator.reading import home_source
from aqlgen.runtime.server.mcp import build_server
from aqlgen.runtime.session import with_caller
from aqlgen.runtime.table import row_of
from aqlgen.runtime.wire import ApiRequest
from tests.cases import each, without_ids
from tests.documents import FLAG, INTEGER, TEXT, body_of, object_of, ref, replies
from tests.generator.commands import Tabulation, api, tabulate
from tests.runtime.operator_page import Served

pytestmark = pytest.mark.anyio
HERE = Path(__file__).parent
STATES = {"type": "string", "enum": ["queued", "in_progress", "completed", "failed", "cancelled"]}
JOB = object_of(JobId=TEXT, JobStatus={**TEXT, "enum": ["QUEUED", "IN_PROGRESS", "FAILED", "COMPLETED"]})
JOB_ID = object_of("JobId", JobId=TEXT)
BATCH = object_of(id=TEXT, status=STATES, request_counts=object_of(total=INTEGER, completed=INTEGER))
FREE = {"type": "object"}
OPERATION = object_of(name=TEXT, done=FLAG, metadata=FREE, error=FREE, response=FREE)


def described(name: str, responses: Any, body: Any = None) -> dict[str, Any]:
    sent = {} if body is None else {"requestBody": body_of(body)}
    return {"operationId": name, "responses": responses, **sent}


DOCUMENT = api(
    {
        "PUT /vaults/{vault}": described(
            "createVault", replies(object_of(name=TEXT), "202", "Azure-AsyncOperation"), object_of(location=TEXT)
        ),
        "POST /videos:annotate": described("annotateVideo", replies(ref("Operation"))),
        "GET /operations/{name}": described("getOperation", replies(ref("Operation"))),
        "POST /operations/{name}:cancel": described("cancelOperation", replies(FREE)),
        "POST /transcriptions/start": described(
            "StartTranscriptionJob", replies(object_of(JobId=TEXT)), object_of(MediaUri=TEXT)
        ),
        "POST /transcriptions/describe": described("DescribeTranscriptionJob", replies(object_of(Job=JOB)), JOB_ID),
        "POST /transcriptions/stop": described("StopTranscriptionJob", replies(FREE), JOB_ID),
        "POST /batches": described("createBatch", replies(BATCH)),
        "GET /batches/{batch_id}": described("retrieveBatch", replies(BATCH)),
        "POST /batches/{batch_id}/cancel": described("cancelBatch", replies(BATCH)),
        "POST /exports": described("startExport", replies(None, "202", "Location")),
        "POST /imports": described("startImport", replies(None, "202", "Location")),
        "GET /tasks/{task_id}": described("getTask", replies(object_of(id=TEXT, state=STATES))),
        "POST /tasks/{task_id}/cancel": described("cancelTask", replies(status="204")),
    },
    info={"title": "Works", "version": "1"},
    components={
        "schemas": {"Operation": OPERATION},
        "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}},
    },
    security=[{"key": []}],
)


class Works:
    """An API whose work ends after so many questions; `headers` are those of each answer about work."""

    def __init__(self, questions: int = 1) -> None:
        self.left = questions
        self.cancelled = False
        self.told_of_cancel: tuple[Answer, ...] = ()
        """The answers to a cancellation, and to the question after it."""
        self.state = "queued"
        self.accepted = b""
        self.headers: Mapping[str, str] = {"Retry-After": "1"}
        self.place = "/v1/elsewhere/9"
        self.url = ""

    def __call__(self, asked: Asked) -> Answer:
        starts = {
            ("PUT", "/v1/vaults/main"): lambda: Answer(
                {"name": "main"},
                202,
                {"Azure-AsyncOperation": f"{self.url}/v1/statuses/4?api-version=2", "Retry-After": "1"},
            ),
            ("POST", "/v1/videos:annotate"): lambda: Answer({"name": "operations/77", "done": False}),
            ("POST", "/v1/transcriptions/start"): lambda: Answer({"JobId": "j-1"}),
            ("POST", "/v1/batches"): lambda: Answer({"id": "b1", "status": self.state}),
            ("POST", "/v1/exports"): lambda: Answer(self.accepted, 202, {"Location": self.place}),
            ("POST", "/v1/imports"): lambda: Answer(b"", 202, {"Location": "/v1/tasks/5"}),
        }
        path = asked.path.partition("?")[0]
        if (asked.method, path) in starts:
            return starts[asked.method, path]()
        if self.told_of_cancel and (self.cancelled or path.endswith("/cancel")):
            self.cancelled, (answer, *rest) = True, self.told_of_cancel
            self.told_of_cancel = tuple(rest)
            return answer
        if path.endswith(("/cancel", ":cancel", "/stop")):
            self.cancelled = True
            return Answer({}, 200) if path.endswith(("stop", ":cancel")) else self._about("cancelling", path)
        return self._told(path)

    def _told(self, path: str) -> Answer:
        self.left -= 1
        done = self.left < 0
        state = "cancelled" if self.cancelled else "completed" if done else "in_progress"
        return self._about(state, path)

    def _about(self, state: str, path: str) -> Answer:
        on = state in ("in_progress", "cancelling")
        if path.startswith("/v1/statuses"):
            body: Any = {"status": "InProgress" if on else "Succeeded", "percentComplete": 40 if on else 100}
        elif path.startswith("/v1/operations"):
            body = {"name": "operations/77", "done": not on, "metadata": {"progressPercent": 30}}
            outcome = (
                {"error": {"code": 1, "message": "cancelled"}} if self.cancelled else {"response": {"labels": ["cat"]}}
            )
            body |= {} if on else outcome
        elif path == "/v1/transcriptions/describe":
            body = {"Job": {"JobId": "j-1", "JobStatus": "IN_PROGRESS" if on else state.upper()}}
        elif path.startswith("/v1/batches"):
            body = {"id": "b1", "status": state, "request_counts": {"total": 10, "completed": 4}}
        elif path.startswith("/v1/tasks"):
            body = {"id": "5", "state": state}
        elif on:
            return Answer(b"", 202, self.headers)
        else:
            body = {"rows": 3}
        return Answer(body, 200, self.headers if on else {})


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Tabulation:
    return tabulate(tmp_path_factory.mktemp("works"), DOCUMENT)


@pytest.fixture
def works() -> Works:
    return Works()


@pytest.fixture
def api(works: Works) -> Iterator[Local]:
    with serving(works) as local:
        works.url = local.url
        yield local


@pytest.fixture
def folder(tmp_path: Path, table: Tabulation, api: Local) -> Path:
    return table.write(tmp_path / "src" / "works_adapter")


def environ(tmp_path: Path, api: Local, **more: str) -> dict[str, str]:
    return {
        "MCP_AQL_CONFIG": os.devnull,
        "MCP_AQL_STATE_URL": f"sqlite:///{tmp_path / 'state.sqlite3'}",
        "MCP_AQL_BASE_URL": f"{api.url}/v1",
        "MCP_AQL_LOG_LEVEL": "error",
        "MCP_AQL_POLICY": "open",
        "WORKS_KEY": "open-sesame-123456",
        **more,
    }


@pytest.fixture
def adapter(tmp_path: Path, folder: Path, api: Local) -> Assembly:
    return assemble(folder, environ=environ(tmp_path, api))


Caller = Callable[..., Any]


class Refusing:
    """Hooks of an owner who lets no address be asked."""

    def __init__(self) -> None:
        self.calls: list[Call] = []

    def before_call(self, call: Call) -> None:
        self.calls.append(call)
        if call.operation.endswith(" status"):
            raise Refuse("no addresses")


@asynccontextmanager
async def calling(server: Any, era: str = "auto", **more: Any) -> AsyncIterator[Caller]:
    """Yield what calls an operation through a client, and returns its data, or its error."""
    async with Client(server, mode=era) as client:

        async def call(operation: str, tool: str = "", **params: Any) -> Any:
            arguments = {"operation": operation, "params": params}
            tool = tool or ("read" if operation.startswith("get_") else "execute")
            result = (await client.call_tool(f"mcp_aql_{tool}", arguments, **more)).structured_content
            assert result is not None
            return result.get("data", result.get("error"))

        yield call


async def begin(call: Caller, operation: str, tool: str = "execute", **params: Any) -> dict[str, Any]:
    data = await call(operation, tool, **params)
    execution: dict[str, Any] = data.get("_execution", data)
    assert execution.keys() >= {"execution_id", "status", "started_at"}, data
    assert execution["status"] in CORE
    assert execution["follow_with"] == "get_execution_status"
    return execution


STARTS: Mapping[str, tuple[str, str, dict[str, Any]]] = {
    "azure": ("create_vault", "update", {"vault": "main", "input": {"location": "x"}}),
    "google": ("create_video", "create", {}),
    "aws": ("start_transcription_job", "execute", {"media_uri": "s3://x"}),
    "openai": ("create_batch", "create", {}),
    "plain": ("start_export", "execute", {}),
    "plain, declared": ("start_import", "execute", {}),
}
RESULTS = {
    "azure": {"status": "Succeeded", "percentComplete": 100},
    "google": {"labels": ["cat"]},
    "aws": {"job": {"job_id": "j-1", "job_status": "COMPLETED"}},
    "openai": {"id": "b1", "status": "completed", "request_counts": {"total": 10, "completed": 4}},
    "plain": {"rows": 3},
    "plain, declared": {"id": "5", "state": "completed"},
}
PROGRESS = {
    "azure": {"percentage": 40, "message": "InProgress"},
    "google": {"percentage": 30},
    "aws": {"message": "IN_PROGRESS"},
    "openai": {"current": 4, "total": 10, "message": "in_progress"},
    "plain": None,
    "plain, declared": {"message": "in_progress"},
}
CANCELLING = {"google": "cancel_operation", "aws": "stop_transcription_job", "openai": "cancel_batch"} | {
    "plain, declared": "cancel_task"
}


def test_the_table_says_what_monitors_and_cancels_the_work(table: Tabulation) -> None:
    work = {name: row["long_running"] for name, row in table.rows.items() if "long_running" in row}
    assert work == {
        "create_vault": {"status": "202"},
        "start_export": {"status": "202"},
        "start_import": {"status": "202"},
        "create_video": {
            "status": "200",
            "monitor": "get_operation",
            "arguments": {"name": "/name"},
            "monitor_state": "/done",
            "cancel": "cancel_operation",
        },
        "start_transcription_job": {
            "status": "200",
            "monitor": "describe_transcription_job",
            "arguments": {"JobId": "/JobId"},
            "monitor_state": "/Job/JobStatus",
            "cancel": "stop_transcription_job",
        },
        "create_batch": {
            "status": "200",
            "monitor": "get_batch",
            "arguments": {"batch_id": "/id"},
            "state": "/status",
            "monitor_state": "/status",
            "cancel": "cancel_batch",
        },
    }
    assert table.adapter["executions"] is True


async def test_introspection_shows_the_lifecycle(adapter: Assembly) -> None:
    """The specification's LifecycleInfo (8.4.5), of operations whose work can be followed and of no other."""
    async with calling(build_server(adapter.dispatcher)) as call:
        shown = {
            name: (await call("introspect", "read", query="operations", name=name))["operation"].get("lifecycle")
            for name in ("create_batch", "start_export", "get_batch", "cancel_batch")
        }
        listed = await call("introspect", "read", query="operations")
    states = {"states": list(CORE), "supports_retry": False, "progress_reporting": True}
    assert shown == {
        "create_batch": {**states, "supports_cancel": True},
        "start_export": {**states, "supports_cancel": False},
        "get_batch": None,
        "cancel_batch": None,
    }
    families = {operation["name"]: operation["endpoint"] for operation in listed["operations"]}
    assert (families["get_execution_status"], families["cancel_execution"]) == ("read", "execute")


@pytest.mark.parametrize("pattern", STARTS)
async def test_each_pattern_is_followed_to_its_result(adapter: Assembly, works: Works, pattern: str) -> None:
    operation, tool, params = STARTS[pattern]
    async with calling(build_server(adapter.dispatcher)) as call:
        execution = await begin(call, operation, tool, **params)
        assert execution["status"] in ("pending", "running")
        first = await call("get_execution_status", execution_id=execution["execution_id"])
        waited = await call("get_execution_status", execution_id=execution["execution_id"], wait_seconds=5)
    assert first["operation"] == operation
    assert first["status"] == "running"
    assert first.get("progress") == PROGRESS[pattern]
    assert first["retry_after_seconds"] == 1
    assert first["started_at"] == execution["started_at"]
    assert waited["status"] == "completed"
    assert waited["result"] == RESULTS[pattern]


@pytest.mark.parametrize("pattern", STARTS)
async def test_cancelling_reaches_the_api_or_says_that_it_cannot(
    adapter: Assembly, works: Works, api: Local, pattern: str
) -> None:
    operation, tool, params = STARTS[pattern]
    works.left = 9
    async with calling(build_server(adapter.dispatcher)) as call:
        execution = await begin(call, operation, tool, **params)
        data = await call("cancel_execution", execution_id=execution["execution_id"])
        if data.get("code") == "CONFIRMATION_REQUIRED":
            assert not works.cancelled
            token = data["details"]["confirmation_token"]
            data = await call("cancel_execution", execution_id=execution["execution_id"], confirmation_token=token)
    assert works.cancelled is (pattern in CANCELLING)
    if pattern in CANCELLING:
        assert data["cancelled_by"] == CANCELLING[pattern]
        assert data["status"] in CORE
    else:
        assert data["code"] == "VALIDATION_INVALID_VALUE"
        assert without_ids(data["details"]) == {"operation": operation, "reason": "the API cannot cancel it"}


@pytest.mark.parametrize(
    ("answers", "status"),
    [
        ((Answer({"status": "success"}, 200), Answer({"id": "b1", "status": "in_progress"}, 200)), "running"),
        ((Answer({"status": "success"}, 200), Answer({"id": "b1", "status": "cancelled"}, 200)), "cancelled"),
        ((Answer({}, 200), Answer({"message": "busy"}, 500)), "running"),
        ((Answer({}, 200), Answer({"message": "none"}, 404)), "cancelled"),
    ],
)
async def test_a_cancellation_tells_the_end_of_the_work_only_where_the_api_does(
    adapter: Assembly, works: Works, api: Local, answers: tuple[Answer, ...], status: str
) -> None:
    operation, tool, params = STARTS["openai"]
    works.told_of_cancel = answers
    async with calling(build_server(adapter.dispatcher)) as call:
        execution = await begin(call, operation, tool, **params)
        data = await call("cancel_execution", execution_id=execution["execution_id"])
    assert works.cancelled
    assert data["status"] == status


class Clock:
    """A clock of waits, which goes on by their pauses alone."""

    def __init__(self) -> None:
        self.now = 0.0
        self.move_on_after = anyio.move_on_after

    def current_time(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        await anyio.sleep(0)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(executions, "anyio", clock)
    return clock


async def test_a_wait_is_bounded_and_asks_no_sooner_than_the_api_wants(
    adapter: Assembly, works: Works, api: Local, clock: Clock
) -> None:
    works.left = 1000
    async with calling(build_server(adapter.dispatcher)) as call:
        execution = await begin(call, "create_batch", "create")
        data = await call("get_execution_status", execution_id=execution["execution_id"], wait_seconds=3)
        assert clock.now == 2
        assert len(api.at("/v1/batches/b1")) == 3
        assert data["status"] == "running"
        works.headers = {"Retry-After": "60"}
        data = await call("get_execution_status", execution_id=execution["execution_id"], wait_seconds=10)
        assert clock.now == 2, "the API wants to be asked after the bound, so it is not asked again"
        assert data["retry_after_seconds"] == 60
        refused = await call("get_execution_status", execution_id=execution["execution_id"], wait_seconds=100)
    assert refused["code"] == "VALIDATION_INVALID_VALUE"


async def test_a_batch_of_waits_takes_no_longer_than_a_call(adapter: Assembly, works: Works, clock: Clock) -> None:
    works.left = 1000
    async with Client(build_server(adapter.dispatcher)) as client:
        started = await client.call_tool("mcp_aql_execute", {"operation": "start_import"})
        assert started.structured_content is not None
        params = {"execution_id": started.structured_content["data"]["execution_id"], "wait_seconds": 3}
        batch = {"operations": [{"operation": "get_execution_status", "params": params}] * 4}
        done = await client.call_tool("mcp_aql_read", batch)
    assert done.structured_content is not None
    assert done.structured_content["summary"]["succeeded"] == 4
    assert clock.now == 2


async def test_progress_only_grows_and_a_client_that_cannot_be_told_goes_without() -> None:
    """MCP, progress: each notification has a larger number than the one before."""
    notices: list[tuple[float, float | None, str | None]] = []

    async def report(*progress: Any) -> None:
        if len(notices) == 3:
            raise ConnectionError
        notices.append(progress)

    token = REPORTER.set(report)
    progress = Progress()
    for shown in ({"percentage": 5}, {"percentage": 5}, {"current": 1, "total": 4}, {"message": "resting"}, None, None):
        await progress.tell({"status": "running", "progress": shown})
    REPORTER.reset(token)
    assert notices == [(5.0, 100.0, "running"), (25.0, 100.0, "running"), (26.0, None, "resting")]


@pytest.mark.usefixtures("forked")
@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_an_execution_survives_the_process_over_stdio(
    tmp_path: Path, folder: Path, api: Local, works: Works, era: str
) -> None:
    works.headers = {}
    program = [str(HERE / "serve_folder.py"), str(folder), "stdio", "0.1"]
    server = StdioServerParameters(command=sys.executable, args=program, env=environ(tmp_path, api))
    async with calling(server, era) as call:
        execution = await begin(call, "start_import")
    notices: list[Any] = []

    async def on_progress(*progress: Any) -> None:
        notices.append(progress)

    async with calling(server, era, progress_callback=on_progress) as call:
        data = await call("get_execution_status", execution_id=execution["execution_id"], wait_seconds=5)
    assert (data["status"], data["result"]) == ("completed", {"id": "5", "state": "completed"})
    assert notices[0] == (0.0, None, "in_progress")
    assert not works.cancelled, "what the API does goes on when a session ends (R-OPS-2)"


@pytest.mark.usefixtures("forked")
async def test_an_execution_is_followed_over_http_by_any_process_in_both_eras(
    tmp_path: Path, folder: Path, api: Local, works: Works
) -> None:
    program = [sys.executable, str(HERE / "serve_folder.py"), str(folder), "http", "0.1"]
    works.headers = {}
    processes = [
        subprocess.Popen(program, stderr=subprocess.PIPE, env=os.environ | environ(tmp_path, api)) for _ in range(2)
    ]
    try:
        urls = []
        for process in processes:
            assert process.stderr
            lines = (re.search(rb"http://127\.0\.0\.1:\d+/mcp", line) for line in process.stderr)
            urls.append(next(match[0].decode() for match in lines if match))
        for era in ("auto", "legacy"):
            works.left = 1
            async with calling(urls[0], era) as call:
                execution = await begin(call, "start_export")
            async with calling(urls[1], era, progress_callback=ignored) as call:
                data = await call("get_execution_status", execution_id=execution["execution_id"], wait_seconds=5)
            assert (data["status"], data["result"]) == ("completed", {"rows": 3})
    finally:
        for process in processes:
            process.kill()
            process.communicate()


async def ignored(*_: Any) -> None:
    """Take a notification of progress; over HTTP, answers are single documents and there are none."""


async def handled(adapter: Assembly, operation: str, caller: str | None = None, **params: Any) -> dict[str, Any]:
    with with_caller(None, caller):
        return await adapter.dispatcher.handle(None, {"operation": operation, "params": params})


async def test_a_handle_is_good_for_its_caller_alone_and_cannot_be_made_up(adapter: Assembly, api: Local) -> None:
    begun = await handled(adapter, "start_export", "anna")
    text = begun["data"]["execution_id"]
    assert "elsewhere" not in text
    assert (await handled(adapter, "get_execution_status", "anna", execution_id=text))["success"]
    before = len(api.asked)
    for caller, other in (("bert", text), (None, text), ("anna", text[:-2] + "AA"), ("anna", "exec_" + "A" * 90)):
        error = (await handled(adapter, "get_execution_status", caller, execution_id=other))["error"]
        assert error["code"] == "NOT_FOUND_RESOURCE"
        assert not (await handled(adapter, "cancel_execution", caller, execution_id=other))["success"]
    assert len(api.asked) == before, "nothing was sent"


@pytest.mark.parametrize("start", ["start_export", "create_batch"])
async def test_what_is_asked_about_work_counts_against_quotas(
    tmp_path: Path, folder: Path, api: Local, start: str
) -> None:
    """R-RATE-1: by an address that the API named, and by an operation; a token lets a question go on."""
    quota = {"MCP_AQL_QUOTA_PER_DAY": "5", "MCP_AQL_QUOTA_PAUSE_PERCENT": "80"}
    adapter = assemble(folder, environ=environ(tmp_path, api, **quota))
    begun = await handled(adapter, start)
    execution = begun["data"].get("_execution", begun["data"])["execution_id"]
    for _ in range(3):
        assert (await handled(adapter, "get_execution_status", execution_id=execution))["success"]
    shown = await handled(adapter, "introspect", query="quota_status")
    assert shown["data"]["quotas"][0]["current"] == len(api.asked) == 4
    paused = (await handled(adapter, "get_execution_status", execution_id=execution))["error"]
    assert (paused["code"], len(api.asked)) == ("RATE_LIMIT_QUOTA_PAUSE", 4)
    token = paused["details"]["confirmation_token"]
    answer = await handled(adapter, "get_execution_status", execution_id=execution, _quota_continue=token)
    assert answer["success"], answer
    assert answer["warnings"][0]["code"] == "RATE_LIMIT_QUOTA_WARNING"
    spent = (await handled(adapter, "get_execution_status", execution_id=execution))["error"]
    assert (spent["code"], len(api.asked)) == ("RATE_LIMIT_QUOTA_EXHAUSTED", 5)


@pytest.mark.parametrize(
    "place",
    [
        "http://evil.example/v1/elsewhere/9",
        "//evil.example/v1/elsewhere/9",
        "http://user:secret@127.0.0.1/v1/x",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "http://[",
        "/v1/" + "x" * 3000,
    ],
)
async def test_no_credential_leaves_for_a_host_that_the_api_names(
    adapter: Assembly, works: Works, api: Local, place: str
) -> None:
    works.place = place
    data = (await handled(adapter, "start_export"))["data"]
    if "execution_id" in data:
        error = (await handled(adapter, "get_execution_status", execution_id=data["execution_id"]))["error"]
        assert error["code"] == "PERMISSION_DENIED"
        assert "evil.example" in error["message"]
    assert len(api.asked) == 1


async def test_an_address_is_asked_with_credentials_at_the_host_of_the_call_whatever_its_port(
    adapter: Assembly, works: Works, api: Local
) -> None:
    works.place = "https://127.0.0.1:1/v1/elsewhere/9?key=2"
    data = (await handled(adapter, "start_export"))["data"]
    assert (await handled(adapter, "get_execution_status", execution_id=data["execution_id"]))["success"]
    request = api.asked[-1]
    assert (request.method, request.path, request.headers["x-key"]) == (
        "GET",
        "/v1/elsewhere/9?key=2",
        "open-sesame-123456",
    )


async def test_hooks_see_what_is_asked_and_may_refuse_it(tmp_path: Path, folder: Path, api: Local) -> None:
    hooks = Refusing()
    adapter = assemble(folder, hooks, environ=environ(tmp_path, api))
    data = (await handled(adapter, "start_export"))["data"]
    error = (await handled(adapter, "get_execution_status", execution_id=data["execution_id"]))["error"]
    assert error["message"] == "Permission denied: no addresses"
    declared = (await handled(adapter, "start_import"))["data"]
    assert (await handled(adapter, "get_execution_status", execution_id=declared["execution_id"]))["success"]
    assert [call.operation for call in hooks.calls] == [
        "start_export",
        "start_export status",
        "start_import",
        "get_task",
    ]
    assert len(api.at("/v1/elsewhere/9")) == 0


async def test_an_operator_sees_how_far_work_is_until_it_has_ended(
    tmp_path: Path, folder: Path, api: Local, works: Works
) -> None:
    """R-OPS-1"""
    served = Served(home_source(folder, environ(tmp_path, api))).start()
    served.enter()
    adapter = assemble(folder, environ=environ(tmp_path, api))
    try:
        async with calling(build_server(adapter.dispatcher)) as call:
            execution = await begin(call, "create_batch", "create")
            await call("get_execution_status", execution_id=execution["execution_id"])
            shown = await anyio.to_thread.run_sync(
                lambda: served.state(until=lambda known: any("total" in item for item in known.get("work", ())))
            )
            assert works.left == 0
            await call("get_execution_status", execution_id=execution["execution_id"])
            await anyio.to_thread.run_sync(lambda: served.state(until=lambda known: known.get("work") == []))
    finally:
        await adapter.close()
        served.stop()
    assert [(item["operation"], item["status"], item["current"], item["total"]) for item in shown["work"]] == [
        ("create_batch", "running", 4, 10)
    ]


async def test_a_status_that_cannot_be_read_is_the_apis_own_failure(adapter: Assembly, works: Works) -> None:
    works.place = "/v1/elsewhere/none"
    data = (await handled(adapter, "start_export"))["data"]
    works._told = lambda _: Answer({"error": "gone"}, 410)  # type: ignore[method-assign]
    answered = await handled(adapter, "get_execution_status", execution_id=data["execution_id"], wait_seconds=3)
    assert answered["error"]["details"]["upstream"]["status"] == 410


async def test_what_failed_says_why_in_the_apis_own_words(adapter: Assembly, works: Works) -> None:
    """Specification, 8.4.3: `error` of a failed execution; it is data, and no failed call."""
    data = (await handled(adapter, "create_batch"))["data"]["_execution"]
    works._told = lambda _: Answer(  # type: ignore[method-assign]
        {"id": "b1", "status": "failed", "error": {"message": "no rows"}, "completed_at": 1_700_000_000}
    )
    answered = (await handled(adapter, "get_execution_status", execution_id=data["execution_id"]))["data"]
    assert answered["status"] == "failed"
    assert answered["finished_at"] == "2023-11-14T22:13:20Z"
    assert answered["error"]["code"] == "INTERNAL_ERROR"
    assert answered["error"]["details"] == {"upstream": {"message": "no rows"}}


async def test_a_status_that_fails_is_of_the_work_and_a_question_that_fails_is_not(
    adapter: Assembly, works: Works
) -> None:
    data = (await handled(adapter, "create_vault", vault="main", input={"location": "x"}))["data"]["_execution"]
    works._told = lambda _: Answer(  # type: ignore[method-assign]
        {"status": "Failed", "error": {"code": "Quota", "message": "none left"}}
    )
    answered = (await handled(adapter, "get_execution_status", execution_id=data["execution_id"]))["data"]
    assert answered["status"] == "failed"
    assert "none left" in json.dumps(answered["error"]["details"]["upstream"])
    works._told = lambda _: Answer({"ok": False, "error": "rate_limited", "code": 429})  # type: ignore[method-assign]
    failed = await handled(adapter, "get_execution_status", execution_id=data["execution_id"])
    assert failed["error"]["code"] == "RATE_LIMIT_EXCEEDED"


async def test_success_with_202_is_of_the_call_and_the_work_goes_on(adapter: Assembly, works: Works) -> None:
    works.accepted = b'{"status": "success"}'
    data = (await handled(adapter, "start_export"))["data"]
    assert data["_execution"]["status"] == "running"
    assert data["status"] == "success"
    works.accepted = b'"Accepted"'
    data = (await handled(adapter, "start_export"))["data"]
    assert (data["status"], data["data"]) == ("running", "Accepted")


async def test_a_call_that_was_carried_out_is_no_failure_if_it_cannot_be_followed(
    adapter: Assembly, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: Any) -> None:
        raise ImportError("no cryptography")

    monkeypatch.setattr("aqlgen.runtime.executions.handles.Handles.write", broken)
    answered = await handled(adapter, "start_export")
    assert answered["data"]["status"] == "accepted"


async def test_an_answer_that_never_ends_or_is_huge_is_bounded(adapter: Assembly, works: Works) -> None:
    data = (await handled(adapter, "start_export"))["data"]
    works._told = lambda _: Answer({"rows": ["x" * 100] * 20_000})  # type: ignore[method-assign]
    answered = await handled(adapter, "get_execution_status", execution_id=data["execution_id"])
    assert len(json.dumps(answered)) < 100_000


async def test_only_so_many_calls_wait_at_a_time(
    adapter: Assembly, works: Works, monkeypatch: pytest.MonkeyPatch
) -> None:
    works.left = 10_000
    data = (await handled(adapter, "start_import"))["data"]
    monkeypatch.setattr("aqlgen.runtime.dispatch.executions._MOST_WAITING", 0)
    begun = time.monotonic()
    await asyncio.wait_for(
        handled(adapter, "get_execution_status", execution_id=data["execution_id"], wait_seconds=30), 10
    )
    assert time.monotonic() - begun < 5


async def test_what_has_ended_with_its_answer_is_no_execution(adapter: Assembly, works: Works) -> None:
    works.state = "completed"
    assert (await handled(adapter, "create_batch"))["data"] == {"id": "b1", "status": "completed"}


@each(
    ("status", "data", "expected"),
    [
        (200, {"status": "Succeeded"}, "completed"),
        (200, {"properties": {"provisioningState": "Creating"}}, "running"),
        (200, {"state": "JOB_STATE_PENDING"}, "pending"),
        (200, {"state": "JOB_STATE_CANCELLED"}, "cancelled"),
        (200, {"status": "completed_with_errors"}, "completed"),
        (200, {"done": True, "error": {"code": 3}}, "failed"),
        (200, {"done": True, "error": {"code": 1}}, "cancelled"),
        (200, {"rows": 3}, "completed"),
        (202, {"rows": 3}, "running"),
        (202, None, "running"),
        (200, [1], "completed"),
        (204, None, "completed"),
    ],
)
def test_states_are_read_from_answers_of_every_kind(status: int, data: Any, expected: str) -> None:
    assert condition_of(status, data).status == expected


def test_a_state_of_no_known_word_goes_on_and_is_shown() -> None:
    for pointer in ("/status", None):
        condition = condition_of(200, {"status": "sleeping"}, pointer)
        assert (condition.status, condition.progress) == ("running", {"message": "sleeping"})
        assert condition.stated is (pointer is not None), "an answer that may be of something else begins no work"


@pytest.mark.parametrize(
    ("family", "place", "expected"),
    [
        ("read", "/v1/tasks/5", Target("op", {"task_id": "5"})),
        ("read", "https://api.example.com/v1/tasks/a%20b", Target("op", {"task_id": "a b"})),
        ("read", "tasks/5", Target("op", {"task_id": "5"})),
        ("read", "/v1/tasks/5?wait=1", Target(url="/v1/tasks/5?wait=1")),
        ("read", "/v1/tasks/5?key=hidden-key", Target("op", {"task_id": "5"})),
        ("read", "/v1/other/5", Target(url="/v1/other/5")),
        ("read", "/v2/tasks/5", Target(url="/v2/tasks/5")),
        ("execute", "/v1/tasks/5", None),
        ("read", "/v1/tasks/hidden-key", None),
        ("read", "https://status.example.com/5", Target(url="https://status.example.com/5")),
    ],
)
def test_an_address_of_an_operation_is_called_as_that_if_it_reads(
    tmp_path: Path, family: str, place: str, expected: Target | None
) -> None:
    """An address that is that of an operation which is not a read is asked by nobody."""
    task = {"in": "path", "name": "task_id", "required": True, "schema": TEXT}
    rows = {"op": operation("GET", "/tasks/{task_id}", parameters={"task_id": task})}
    package = make_package(tmp_path, rows, family=family)
    started = row_of("start", "execute", operation("POST", "/exports"))
    request = ApiRequest("POST", "https://api.example.com/v1/exports?key=hidden-key", secrets=frozenset({"hidden-key"}))
    assert target_at(place, started, request, package.table) == expected


def test_of_several_operations_at_an_address_the_one_with_the_most_text_in_its_path_is_asked(tmp_path: Path) -> None:
    name = {"in": "path", "name": "name", "required": True, "schema": TEXT}
    rows = {
        "any_task": operation("GET", "/tasks/{name}", parameters={"name": name}),
        "last_task": operation("GET", "/tasks/last"),
    }
    package = make_package(tmp_path, rows, family="read")
    started = row_of("start", "execute", operation("POST", "/exports"))
    request = ApiRequest("POST", "https://api.example.com/v1/exports")
    assert target_at("/v1/tasks/last", started, request, package.table) == Target("last_task", {})


@pytest.mark.parametrize(
    ("path", "name", "expected"),
    [
        ("/operations/{name}", "operations/7", {"name": "7"}),
        ("/v1/operations/{name}", "operations/7", {"name": "7"}),
        ("/projects/{project}/operations/{name}", "projects/p/operations/7", {"project": "p", "name": "7"}),
        ("/operations/{name}", "7", {"name": "7"}),
        ("/operations/{name}", "tasks/7", {"name": "tasks/7"}),
    ],
)
def test_the_name_of_a_whole_resource_fills_the_path_that_it_is_of(
    tmp_path: Path, path: str, name: str, expected: dict[str, str]
) -> None:
    """AIP-122: names are paths. What fits no path is sent as it is, encoded, in its own place."""
    named = {key: {"in": "path", "required": True, "schema": TEXT} for key in re.findall(r"\{(\w+)\}", path)}
    package = make_package(tmp_path, {"get_operation": operation("GET", path, parameters=named)})
    work = {"monitor": "get_operation", "arguments": {"name": "/name"}}
    started = row_of("start", "execute", operation("POST", "/videos", long_running=work))
    assert target_of(started, {}, {"name": name}, package.table) == Target("get_operation", expected)
