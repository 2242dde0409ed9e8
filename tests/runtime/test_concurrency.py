"""The concurrency that is declared is kept, within a process and between those that share a store (R-OPS-5)."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from local import Answer, Asked, serving
from tiny_zoo import ADAPTER, write_package

from aqlgen.runtime.assembly import Assembly, assemble
from aqlgen.runtime.dispatch import concurrency
from aqlgen.runtime.hooks import Call
from aqlgen.runtime.state import StoreAway, WatchedStore
from tests.cases import without_ids
from tests.runtime.redis_server import redis_server

pytestmark = pytest.mark.anyio

READ = ("list_animals", {})
CREATE = ("create_animal", {"name": "Ada", "species": "lion"})


def change(animal: float) -> tuple[str, dict[str, Any]]:
    return "update_animal", {"animal_id": animal, "input": {"name": "Ada"}}


class Api:
    """An API that takes some time for each request, and knows how many there were at once.

    It answers none before there were as many at once as are `expected`.
    """

    def __init__(self, seconds: float = 0.06) -> None:
        self.seconds = seconds
        self.expected = 0
        self.answering = threading.Event()
        self.answering.set()
        self.active: list[str] = []
        self.together: set[frozenset[str]] = set()
        self.most = 0
        self.count = 0
        self.url = ""
        self._lock = threading.Condition()

    def __call__(self, request: Asked) -> Answer:
        name = f"{request.method} {request.path}"
        with self._lock:
            self.active.append(name)
            self.count += 1
            self.most = max(self.most, len(self.active))
            self.together.add(frozenset(self.active))
            self._lock.notify_all()
            self._lock.wait_for(lambda: self.most >= self.expected, 10)
        self.answering.wait(10)
        time.sleep(self.seconds)
        with self._lock:
            self.active.remove(name)
        return Answer({"id": 7})


@pytest.fixture
def api() -> Iterator[Api]:
    api = Api()
    with serving(api) as local:
        api.url = local.url
        yield api


Start = Callable[..., Assembly]


@pytest.fixture
async def start(api: Api, tmp_path: Path) -> AsyncIterator[Start]:
    folder = write_package(tmp_path / "zoo", {**ADAPTER, "security": [], "servers": [{"url": api.url}]})
    running: list[Assembly] = []

    def start(concurrency: str, state: str = "memory:", hooks: Any = None, **variables: Any) -> Assembly:
        environ = {"MCP_AQL_CONFIG": os.devnull, "MCP_AQL_STATE_URL": state, "MCP_AQL_AUDIT_PATH": os.devnull}
        environ["MCP_AQL_STATE_KEY"] = "a-key-of-the-owner-with-forty-characters"
        environ |= {"MCP_AQL_CONCURRENCY": concurrency, "MCP_AQL_RETRIES": "0"} | variables
        running.append(assemble(folder, hooks, environ=environ))
        return running[-1]

    yield start
    for parts in running:
        await parts.transport.aclose()
        await parts.store.close()


async def together(*calls: tuple[Assembly, tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
    answers: list[dict[str, Any]] = []

    async def call(parts: Assembly, name: str, params: dict[str, Any]) -> None:
        answers.append(await parts.dispatcher.handle(None, {"operation": name, "params": params}))

    async with anyio.create_task_group() as group:
        for parts, (name, params) in calls:
            group.start_soon(call, parts, name, params)
    return answers


@pytest.mark.parametrize(
    ("concurrency", "most"),
    [("fully-concurrent", 5), ("read-concurrent", 3), ("serialized", 1), ("resource-locked", 3)],
)
async def test_what_is_declared_is_kept(start: Start, api: Api, concurrency: str, most: int) -> None:
    """R-OPS-5"""
    parts = start(concurrency)
    listed = await parts.dispatcher.handle("read", {"operation": "introspect", "params": {"query": "operations"}})
    assert listed["data"]["_protocol"]["concurrency"] == concurrency
    await together((parts, READ))  # opens connections
    api.most, api.expected = 0, most
    calls = [READ, READ, change(1), change(1), change(2)]
    answers = await together(*((parts, call) for call in calls))
    assert [answer["success"] for answer in answers] == [True] * 5
    assert api.most == most


async def test_one_resource_waits_and_another_does_not(start: Start, api: Api) -> None:
    """R-OPS-5"""
    parts = start("resource-locked")
    await together(*((parts, call) for call in (READ, CREATE, change(1), change(2), change(1))))
    assert not any({"GET /animals", "POST /animals"} <= names for names in api.together)
    assert any({"PATCH /animals/1", "PATCH /animals/2"} <= names for names in api.together)


class Owners:
    """Hooks of an owner for whom the second animal is the first."""

    @staticmethod
    def before_call(call: Call) -> Call:
        return replace(call, params={**call.params, "animal_id": 1})


async def test_a_resource_is_the_one_that_is_sent(start: Start, api: Api) -> None:
    """R-OPS-5: in whatever spelling, and after the owner's hook."""
    for hooks, animals in ((None, (1, 1.0)), (Owners, (1, 2))):
        parts = start("resource-locked", hooks=hooks)
        answers = await together(*((parts, change(animal)) for animal in animals))
        assert [answer["success"] for answer in answers] == [True, True]
    assert api.together == {frozenset({"PATCH /animals/1"})}
    assert api.most == 1


@pytest.mark.parametrize("state", ["sqlite", "redis"])
async def test_replicas_with_one_store_exclude_each_other(start: Start, api: Api, state: str, tmp_path: Path) -> None:
    """R-OPS-5"""
    if state == "sqlite":
        await _exclude(start, api, f"sqlite:///{tmp_path}/state.sqlite3")
    else:
        with redis_server(tmp_path) as server:
            await _exclude(start, api, server.url)


async def _exclude(start: Start, api: Api, url: str) -> None:
    first, second = start("read-concurrent", url), start("read-concurrent", url)
    answers = await together(*((parts, change(number)) for number in range(1, 5) for parts in (first, second)))
    assert ([answer["success"] for answer in answers], api.most) == ([True] * 8, 1)
    assert await first.store.items("lease") == []


async def test_whoever_waits_too_long_is_told_so_and_nothing_is_sent(start: Start, api: Api) -> None:
    """R-OPS-5"""
    api.answering.clear()
    parts = start("serialized", MCP_AQL_TIMEOUT="11")
    turns = parts.dispatcher.extensions[-1]
    assert turns is not None
    assert turns.patience == 11
    turns.patience = 0.1
    answers: list[dict[str, Any]] = []

    async def call() -> None:
        answers.extend(await together((parts, READ)))
        api.answering.set()  # the call that waits in vain is the first to end

    async with anyio.create_task_group() as group:
        for _ in range(2):
            group.start_soon(call)
    refused, answered = answers
    assert answered["success"]
    assert refused["error"]["code"] == "RATE_LIMIT_EXCEEDED"
    assert without_ids(refused["error"]["details"]) == {
        "concurrency": "serialized",
        "waited_seconds": 0.1,
        "retry_after_seconds": 1,
        "sent": False,
    }
    assert api.count == 1
    assert (await together((parts, READ)))[0]["success"]


async def test_a_failure_of_a_call_passes_and_frees_what_it_held(start: Start, tmp_path: Path) -> None:
    parts = start("serialized", f"sqlite:///{tmp_path}/state.sqlite3", MCP_AQL_BASE_URL="http://127.0.0.1:9")
    for _ in range(2):
        answers = await together((parts, READ))
        assert "refused" in answers[0]["error"]["message"]
    assert await parts.store.items("lease") == []


async def test_the_lease_of_a_process_that_died_ends(
    start: Start, api: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R-OPS-5"""
    parts = start("serialized", f"sqlite:///{tmp_path}/state.sqlite3")
    monkeypatch.setattr(concurrency, "_LEASE", 0.3)
    died = concurrency.Concurrency(parts.config, parts.store, parts.dispatcher.log)
    assert await died._leased("all") is not None
    begin = time.monotonic()
    assert (await together((parts, READ)))[0]["success"]
    assert 0.2 < time.monotonic() - begin < 5


async def test_without_the_store_calls_exclude_each_other_within_a_process(
    start: Start, api: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """R-OPS-5"""
    parts = start("serialized", f"sqlite:///{tmp_path}/state.sqlite3")

    async def away(*_: object) -> bool:
        raise StoreAway("no connection")

    assert isinstance(parts.store, WatchedStore)
    monkeypatch.setattr(parts.store.store, "add", away)
    answers = await together(*((parts, READ) for _ in range(3)))
    assert ([answer["success"] for answer in answers], api.most) == ([True] * 3, 1)
    assert caplog.text.count("the store is down") == 1


class SlowPerson:
    """A person who thinks about each question until somebody lets them answer."""

    batched = False
    reachable = True

    def __init__(self) -> None:
        self.asked, self.may_answer = anyio.Event(), anyio.Event()

    async def ask(self, _: str, __: str = "") -> bool:
        self.asked.set()
        await self.may_answer.wait()
        return True


@pytest.mark.parametrize("mode", ["serialized", "resource-locked"])
async def test_nobody_waits_for_a_person_who_is_asked(start: Start, api: Api, mode: str) -> None:
    """R-OPS-5: the calls are of one resource."""
    parts, person = start(mode), SlowPerson()
    answers: list[dict[str, Any]] = []

    async def held() -> None:
        call = {"operation": "delete_animal", "params": {"animal_id": 7}}
        answers.append(await parts.dispatcher.handle(None, call, None, person))

    async with anyio.create_task_group() as group:
        group.start_soon(held)
        with anyio.fail_after(10):
            await person.asked.wait()
            (other,) = await together((parts, ("get_animal", {"animal_id": 7})))
        person.may_answer.set()
    assert other["success"]
    assert answers[0]["success"], answers
