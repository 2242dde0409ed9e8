"""The owner's quotas: warned of, paused, stopped, counted once wherever the adapter runs (R-RATE-1, R-WARN-5)."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest
from local import Answer, Local, serving
from mcp import Client
from mcp.types import ElicitResult
from tiny_zoo import ADAPTER, OPERATIONS, write_package

from aqlgen.runtime.assembly import Assembly, assemble
from aqlgen.runtime.server.mcp import build_server
from aqlgen.runtime.session import Session, with_caller
from aqlgen.runtime.settings.load import ConfigError
from aqlgen.runtime.state import Counter, StoreAway, WatchedStore
from tests.cases import without_ids
from tests.runtime.redis_server import RedisServer, redis_server

pytestmark = pytest.mark.anyio

READ = {"operation": "list_animals", "params": {}}
DAY = 86_400


@pytest.fixture(scope="module")
def api() -> Iterator[Local]:
    with serving(lambda _: Answer([], headers={"X-RateLimit-Limit": "5000", "X-RateLimit-Remaining": "3500"})) as local:
        yield local


Start = Callable[..., Assembly]


@pytest.fixture
async def start(api: Local, tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Start]:
    """Assemble an adapter of the zoo, whose API is a server; `state` says where it counts."""
    folder = write_package(tmp_path / "zoo", {**ADAPTER, "security": [], "servers": [{"url": api.url}]})
    running: list[Assembly] = []
    api.asked.clear()
    SESSION.state.clear()

    def start(*, state: str = "memory:", mock: bool = False, toml: str = "", **variables: Any) -> Assembly:
        config = tmp_path / "adapter.toml"
        config.write_text(toml)
        if state == "sqlite:":
            state = f"sqlite:///{tmp_path}/state.sqlite3"
        elif state == "redis:":
            state = request.getfixturevalue("server").url
        environ = {"MCP_AQL_CONFIG": str(config), "MCP_AQL_STATE_URL": state, "MCP_AQL_AUDIT_PATH": os.devnull}
        environ["MCP_AQL_STATE_KEY"] = "a-key-of-the-owner-with-forty-characters"
        environ |= {f"MCP_AQL_{name}": str(value) for name, value in variables.items()}
        running.append(assemble(folder, environ=environ, mock=mock))
        return running[-1]

    yield start
    for parts in running:
        await parts.transport.aclose()
        await parts.store.close()


async def call(parts: Assembly, arguments: Mapping[str, Any] = READ, person: Any = None, **more: Any) -> dict[str, Any]:
    params = {**arguments.get("params", {}), **more}
    return await parts.dispatcher.handle(None, {**arguments, "params": params}, SESSION, person)


SESSION = Session("session_1")


async def used(parts: Assembly, metric: str, amount: int, window: int = 3600, scope: str = "all") -> None:
    """Count as if this had been used before."""
    await parts.store.spend([Counter(f"quota {metric} {scope}", window, amount)])


async def status(parts: Assembly) -> dict[str, Any]:
    answer = await parts.dispatcher.handle("read", {"operation": "introspect", "params": {"query": "quota_status"}})
    data: dict[str, Any] = answer["data"]
    return data


def hourly(seconds: float = 3600) -> None:
    """Wait for the next window rather than count on both sides of its end."""
    left = seconds - time.time() % seconds
    if left < 3:
        time.sleep(left)


async def test_the_example_of_the_warning_comes_out_field_for_field(start: Start) -> None:
    """R-WARN-5, R-RATE-1"""
    parts = start(QUOTA_PER_HOUR=5000, QUOTA_PAUSE_PERCENT=96)
    await used(parts, "requests_per_hour", 4099)
    answer = await call(parts)
    assert answer["warnings"] == [
        {
            "code": "RATE_LIMIT_QUOTA_WARNING",
            "message": "Approaching quota limit",
            "details": {
                "metric": "requests_per_hour",
                "current": 4100,
                "warn_threshold": 4000,
                "pause_threshold": 4800,
            },
            "severity": "medium",
        }
    ]


async def test_the_example_of_the_pause_comes_out_and_its_token_lets_one_call_go_on(start: Start, api: Local) -> None:
    """R-RATE-1"""
    hourly()
    parts = start(QUOTA_PER_HOUR=5000, QUOTA_PAUSE_PERCENT=96)
    await used(parts, "requests_per_hour", 4850)
    error = (await call(parts))["error"]
    token = error["details"].pop("confirmation_token")
    assert (error["code"], api.asked) == ("RATE_LIMIT_QUOTA_PAUSE", [])
    assert token.startswith("quota_continue_")
    assert error["message"].startswith("Quota pause threshold reached")
    assert {key: error["details"].pop(key) for key in ("metric", "current", "pause_threshold")} == {
        "metric": "requests_per_hour",
        "current": 4850,
        "pause_threshold": 4800,
    }
    assert error["details"].pop("hard_stop_threshold") == 5000
    assert 0 < error["details"].pop("retry_after_seconds") <= 3600
    assert {key: type(value) for key, value in without_ids(error["details"]).items()} == {
        "expires_at": str,
        "resets_at": str,
        "sent": bool,
    }
    answer = await call(parts, _quota_continue=token)
    assert answer["success"] is True
    assert answer["warnings"][0]["severity"] == "high"
    assert answer["warnings"][0]["details"]["hard_stop_threshold"] == 5000
    assert (await call(parts, _quota_continue=token))["error"]["code"] == "TOKEN_ALREADY_USED"
    assert len(api.asked) == 1


async def test_the_example_of_the_hard_stop_comes_out_and_nothing_is_sent(start: Start, api: Local) -> None:
    """R-RATE-1"""
    hourly()
    parts = start(QUOTA_PER_HOUR=5000)
    await used(parts, "requests_per_hour", 5000)
    error = (await call(parts))["error"]
    assert error["code"] == "RATE_LIMIT_QUOTA_EXHAUSTED"
    assert error["message"].startswith("Quota exhausted")
    details = error["details"]
    assert details["resets_at"].endswith(":00:00Z")
    assert 0 < details["retry_after_seconds"] <= 3600
    assert {key: details[key] for key in ("metric", "current", "hard_stop_threshold", "sent")} == {
        "metric": "requests_per_hour",
        "current": 5000,
        "hard_stop_threshold": 5000,
        "sent": False,
    }
    assert api.asked == []


async def test_the_status_has_the_form_of_the_document(start: Start, api: Local) -> None:
    """R-RATE-1"""
    hourly()
    parts = start(QUOTA_PER_HOUR=5000, QUOTA_PER_DAY=50_000, QUOTA_PAUSE_PERCENT=96)
    assert (await status(parts))["quotas"][0]["status"] == "ok"
    await used(parts, "requests_per_hour", 4099)
    await used(parts, "requests_per_day", 4499, DAY)
    await call(parts)
    shown = await status(parts)
    assert shown["adapter"] == "zoo"
    assert shown["quotas"] == [
        {
            "metric": "requests_per_hour",
            "current": 4100,
            "warn": 4000,
            "pause": 4800,
            "hard_stop": 5000,
            "status": "warn",
        },
        {
            "metric": "requests_per_day",
            "current": 4500,
            "warn": 40_000,
            "pause": 48_000,
            "hard_stop": 50_000,
            "status": "ok",
        },
    ]
    assert shown["next_reset"].endswith(":00:00Z")
    await used(parts, "requests_per_hour", 700)
    await used(parts, "requests_per_day", 45_500, DAY)
    assert [quota["status"] for quota in (await status(parts))["quotas"]] == ["paused", "exhausted"]


@pytest.mark.parametrize(
    ("variables", "toml", "problem"),
    [
        ({"QUOTA_PER_MINUTE": "0"}, "", "must be a whole number from 1"),
        ({"QUOTA_PER_DAY": "-5"}, "", "must be a whole number from 1"),
        ({"QUOTA_PER_DAY": "5", "QUOTA_WARN_PERCENT": "96"}, "", "less than its warn_percent"),
        ({}, "[quota.callers]\nper_day = 5\npause_percent = 60\n", "less than its warn_percent"),
        ({}, '[quota.operations."delete_*"]\nper_week = 5\n', "at 'delete_*': has no key 'per_week'; there are"),
        ({}, '[quota.operations."delete_*"]\nper_day = 0\n', "at 'delete_*', 'per_day': must be a whole number"),
        ({}, '[quota.operations."destroy_*"]\nper_day = 5\n', "' in adapter.toml: 'destroy_*' fits no operation"),
        ({"QUOTA_PER_MINUT": "5"}, "", "Did you mean 'MCP_AQL_QUOTA_PER_MINUTE'"),
    ],
)
async def test_a_quota_that_cannot_be_kept_stops_the_start(
    start: Start, variables: dict[str, str], toml: str, problem: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        start(toml=toml, **variables)
    assert problem in str(caught.value)


async def test_patterns_and_callers_count_by_themselves(start: Start, api: Local) -> None:
    """R-RATE-1"""
    hourly(DAY)
    toml = """
        [quota]
        per_day = 4
        warn_percent = 100
        pause_percent = 100
        [quota.operations."list_*"]
        per_day = 3
        [quota.operations."get /animals/*"]
        per_day = 1
        [quota.callers]
        per_day = 4
    """
    parts = start(toml=toml)
    animal = {"operation": "get_animal", "params": {"animal_id": 7}}
    keepers = {"operation": "list_keepers", "params": {}}
    assert (await call(parts))["success"]
    assert (await call(parts, animal))["success"]
    refused = (await call(parts, animal))["error"]
    assert (refused["details"]["metric"], refused["details"]["scope"]) == ("requests_per_day", "get /animals/*")
    assert (await call(parts, keepers))["success"]
    with with_caller({}, "ann"):
        assert (await call(parts))["success"]
        assert [quota["current"] for quota in (await status(parts))["quotas"]] == [4, 1, 3, 1]
        refused = (await call(parts))["error"]["details"]
        assert (refused["metric"], "scope" in refused) == ("requests_per_day", False)
    with with_caller({}, "bob"):
        assert [quota["current"] for quota in (await status(parts))["quotas"]] == [4, 0, 3, 1]
    assert len(api.asked) == 4


async def test_every_request_counts_and_a_dry_run_does_not(start: Start, api: Local) -> None:
    """R-RATE-1: those of a batch and a plan."""
    hourly(DAY)
    parts = start(QUOTA_PER_DAY=100)
    await call(parts, {"operation": "create_animal", "params": {"name": "A", "species": "lion", "dry_run": True}})
    batch = {"operations": [READ, READ, {"operation": "list_keepers"}]}
    assert (await parts.dispatcher.handle(None, batch))["summary"]["succeeded"] == 3
    plan = {
        "operation": "run_steps",
        "params": {"steps": [{"operation": "list_animals"}, {"operation": "list_keepers"}]},
    }
    assert (await call(parts, plan))["success"]
    assert (await status(parts))["quotas"][0]["current"] == len(api.asked) == 5


async def test_a_token_beside_a_batch_or_with_a_plan_lets_all_of_it_go_on(start: Start, api: Local) -> None:
    """R-RATE-1"""
    hourly(DAY)
    parts = start(QUOTA_PER_DAY=200)
    await used(parts, "requests_per_day", 190, DAY)
    batch = {"operations": [READ, READ]}
    answer = await parts.dispatcher.handle(None, batch, SESSION)
    errors = [entry["result"]["error"] for entry in answer["results"]]
    assert {error["code"] for error in errors} == {"RATE_LIMIT_QUOTA_PAUSE"}
    (token,) = {error["details"]["confirmation_token"] for error in errors}
    answer = await parts.dispatcher.handle(None, {**batch, "_quota_continue": token}, SESSION)
    assert answer["summary"] == {"total": 2, "succeeded": 2, "failed": 0}
    assert [warning["details"]["current"] for warning in answer["warnings"]] == [192]
    plan = {
        "operation": "run_steps",
        "params": {"steps": [{"operation": "list_animals"}, {"operation": "list_keepers"}]},
    }
    token = (await call(parts, plan))["error"]["details"]["confirmation_token"]
    assert (await call(parts, plan, _quota_continue=token))["success"]
    error = (await call(parts, plan))["error"]
    assert error["message"].endswith(
        "Nothing was sent. To continue: run_steps with continue, _quota_continue; only if your user wants this."
    )
    plan["params"] = {"continue": error["details"]["plan"]["continue"]}
    assert (await call(parts, plan, _quota_continue=error["details"]["confirmation_token"]))["success"]
    assert len(api.asked) == 6


class Person:
    """A person who answers each question the same way."""

    batched = False

    def __init__(self, answer: bool, *, reachable: bool = True) -> None:
        self.answer = answer
        self.reachable = reachable
        self.asked: list[str] = []

    async def ask(self, question: str, _: str = "") -> bool:
        self.asked.append(question)
        return self.answer


async def test_a_person_says_whether_to_go_on(start: Start, api: Local) -> None:
    """R-RATE-1"""
    hourly(DAY)
    parts = start(QUOTA_PER_DAY=100, APPROVAL="person")
    await used(parts, "requests_per_day", 95, DAY)
    yes, no, nobody = Person(answer=True), Person(answer=False), Person(answer=True, reachable=False)
    for person in (no, nobody):
        error = (await call(parts, person=person))["error"]
        assert error["code"] == "RATE_LIMIT_QUOTA_PAUSE"
        assert "confirmation_token" not in error["details"]
    assert (await call(parts, person=yes))["success"]
    await call(parts, person=yes)
    assert yes.asked[0] == yes.asked[1]  # so that an answer can be matched with its question
    assert "100" in yes.asked[0]
    assert len(api.asked) == 2


async def test_who_says_no_is_not_asked_again_for_the_rest_of_a_batch(start: Start, api: Local) -> None:
    """R-RATE-1: and an agent gets one token for all of it."""
    hourly(DAY)
    parts = start(QUOTA_PER_DAY=100)
    await used(parts, "requests_per_day", 95, DAY)
    no, batch = Person(answer=False), {"operations": [READ] * 3}
    for person, count in ((no, 0), (None, 1)):
        answer = await parts.dispatcher.handle(None, batch, SESSION, person)
        errors = [entry["result"]["error"] for entry in answer["results"]]
        assert [error["code"] for error in errors] == ["RATE_LIMIT_QUOTA_PAUSE"] * 3
        assert len({error["details"].get("confirmation_token", no) for error in errors} - {no}) == count
    assert len(no.asked) == 1
    assert not api.asked


@pytest.mark.parametrize("era", ["auto", "legacy"])
@pytest.mark.parametrize("approval", ["agent", "person"])
async def test_a_client_that_can_ask_asks_its_person(start: Start, api: Local, era: str, approval: str) -> None:
    """R-RATE-1"""
    hourly(DAY)
    parts = start(QUOTA_PER_DAY=100, APPROVAL=approval)
    await used(parts, "requests_per_day", 95, DAY)
    questions: list[str] = []
    actions = iter(("accept", "decline"))

    async def answer(_: Any, params: Any) -> ElicitResult:
        questions.append(params.message)
        return ElicitResult(action=next(actions))  # type: ignore[arg-type]

    async with Client(build_server(parts.dispatcher), mode=era, elicitation_callback=answer) as client:
        first = (await client.call_tool("mcp_aql_read", dict(READ))).structured_content
        second = (await client.call_tool("mcp_aql_read", dict(READ))).structured_content
    assert first is not None
    assert second is not None
    assert first["success"]
    assert second["error"]["code"] == "RATE_LIMIT_QUOTA_PAUSE"
    assert [question.splitlines()[0] for question in questions] == [
        "Quota nearly used up. Continue with 'list_animals'?"
    ] * 2
    assert len(api.asked) == 1


async def test_a_client_that_cannot_ask_sends_the_token_back(start: Start, api: Local) -> None:
    """R-RATE-1"""
    hourly(DAY)
    parts = start(QUOTA_PER_DAY=100)
    await used(parts, "requests_per_day", 95, DAY)
    async with Client(build_server(parts.dispatcher), mode="legacy") as client:
        paused = (await client.call_tool("mcp_aql_read", dict(READ))).structured_content
        assert paused is not None
        token = paused["error"]["details"]["confirmation_token"]
        again = {**READ, "params": {"_quota_continue": token}}
        answer = (await client.call_tool("mcp_aql_read", again)).structured_content
        asked = {"operation": "introspect", "params": {"query": "quota_status"}}
        shown = (await client.call_tool("mcp_aql_read", asked)).structured_content
    assert answer is not None
    assert shown is not None
    assert answer["success"]
    assert shown["data"]["quotas"][0]["current"] == 96
    assert len(api.asked) == 1


async def test_a_token_is_good_for_its_caller_session_and_quota_alone(start: Start) -> None:
    """R-RATE-1"""
    hourly(DAY)
    parts = start(QUOTA_PER_DAY=100, QUOTA_OPERATIONS='{"list_keepers": {"per_day": 20}}', CONFIRMATION_RATE=5)
    await used(parts, "requests_per_day", 95, DAY)
    token = (await call(parts))["error"]["details"]["confirmation_token"]
    with with_caller({}, "eve"):
        assert (await call(parts, _quota_continue=token))["error"]["code"] == "TOKEN_SCOPE_MISMATCH"
    other = {**READ, "params": {"_quota_continue": token}}
    answer = await parts.dispatcher.handle(None, other, Session("session_2"))
    assert answer["error"]["code"] == "TOKEN_SCOPE_MISMATCH"
    await used(parts, "requests_per_day", 19, DAY, "operations list_keepers")
    keepers = {"operation": "list_keepers", "params": {}}
    assert (await call(parts, keepers, _quota_continue=token))["error"]["code"] == "TOKEN_SCOPE_MISMATCH"
    assert (await call(parts, _quota_continue="quota_continue_x"))["error"]["code"] == "TOKEN_INVALID"
    assert (await call(parts, _quota_continue=token))["success"]
    codes = [(await call(parts))["error"]["code"] for _ in range(5)]
    assert codes == ["RATE_LIMIT_QUOTA_PAUSE"] * 4 + ["RATE_LIMIT_EXCEEDED"]


@pytest.mark.parametrize("state", ["sqlite:", "redis:"])
async def test_counts_and_tokens_survive_a_restart(start: Start, state: str) -> None:
    """R-RATE-1"""
    hourly(DAY)
    parts = start(state=state, QUOTA_PER_DAY=40)
    for _ in range(38):
        assert (await call(parts))["success"]
    token = (await call(parts))["error"]["details"]["confirmation_token"]
    await parts.store.close()
    again = start(state=state, QUOTA_PER_DAY=40)
    assert (await status(again))["quotas"][0]["current"] == 38
    assert (await call(again, _quota_continue=token))["success"]
    assert (await call(parts, _quota_continue=token))["error"]["code"] == "TOKEN_ALREADY_USED"


@pytest.mark.parametrize("state", ["memory:", "sqlite:", "redis:"])
async def test_many_callers_of_two_replicas_are_never_admitted_beyond_the_limit(
    start: Start, api: Local, state: str, server: RedisServer
) -> None:
    """R-RATE-1"""
    hourly(DAY)
    settings = {"QUOTA_PER_DAY": 25, "QUOTA_PAUSE_PERCENT": 100}
    settings["QUOTA_OPERATIONS"] = json.dumps({"list_keepers": {"per_day": 7}})
    replicas = [start(state=state, **settings) for _ in range(1 if state == "memory:" else 2)]
    server.flush()  # the test above counted there
    codes: list[str] = []

    async def calls(parts: Assembly, operation: str) -> None:
        for _ in range(4):
            answer = await parts.dispatcher.handle(None, {"operation": operation, "params": {}})
            codes.append("" if answer["success"] else answer["error"]["code"])

    async with anyio.create_task_group() as group:
        for number in range(12):
            group.start_soon(calls, replicas[number % len(replicas)], ("list_animals", "list_keepers")[number % 3 == 0])
    assert set(codes) == {"", "RATE_LIMIT_QUOTA_EXHAUSTED"}
    assert len(api.asked) == codes.count("") == 25
    assert len(api.at("/keepers")) <= 7


def _let_a_second_pass(parts: Assembly) -> None:
    """Let the quotas believe that the second is over in which they ask no store that was away."""
    quotas = parts.dispatcher.extensions[-1].quotas
    assert quotas is not None
    quotas._clock = lambda: time.monotonic() + 1.05


async def test_calls_go_on_while_the_store_is_away_and_that_is_said_once(
    start: Start, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """R-RATE-1: open with a warning, where the owner says so."""
    hourly(DAY)
    parts = start(QUOTA_PER_DAY=2, QUOTA_PAUSE_PERCENT=100, QUOTA_WHEN_AWAY="open", LOG_LEVEL="notice")
    store = parts.store
    assert isinstance(store, WatchedStore)
    spend = store.store.spend

    async def away(_: object) -> None:
        raise StoreAway("no connection")

    monkeypatch.setattr(store.store, "spend", away)
    for _ in range(3):
        answer = await call(parts)
        assert answer["success"]
    assert "note" in await status(parts)
    monkeypatch.setattr(store.store, "spend", spend)
    _let_a_second_pass(parts)
    outcomes = [(await call(parts))["success"] for _ in range(3)]
    assert outcomes == [True, True, False]
    logged = capfd.readouterr().err
    assert (logged.count("the store is down"), logged.count('"the store is back"')) == (1, 1)


async def test_nothing_is_sent_that_cannot_be_counted(start: Start, api: Local, tmp_path: Path) -> None:
    """R-RATE-1: closed while the store is away, at every replica and however often; at once open when it is back."""
    hourly(DAY)
    with redis_server(tmp_path) as server:
        settings = {"state": server.url, "QUOTA_PER_DAY": 15, "QUOTA_PAUSE_PERCENT": 80}
        replicas = [start(**settings) for _ in range(3)]
        for _ in range(4):
            for parts in replicas:
                assert (await call(parts))["success"]
        token = (await call(replicas[0]))["error"]["details"]["confirmation_token"]
        server.stop()
        for parts in replicas * 10:
            error = (await call(parts, _quota_continue=token))["error"]
            assert (error["code"], error["details"]["reason"]) == ("INTERNAL_ERROR", "the store is down")
            assert error["details"]["sent"] is False
        assert "not sent" in (await status(replicas[0]))["note"]
        server.start()
        outcomes = [(await call(parts))["error"]["code"] for parts in replicas]
    assert outcomes == ["RATE_LIMIT_QUOTA_PAUSE"] * 3
    assert len(api.asked) == 12


LOWERED = {"removed": None, "0": "0", "negative": "-1000000", "no number": "nan", "a little": "17"}


@pytest.mark.parametrize("state", ["sqlite:", "redis:"])
@pytest.mark.parametrize("value", LOWERED)
async def test_who_lowers_a_count_in_the_store_lets_no_more_through(
    start: Start, api: Local, state: str, value: str, tmp_path: Path, server: RedisServer, capfd: Any
) -> None:
    """R-RATE-1: what a process has counted stays counted there, for all calls and for those of one caller."""
    hourly(DAY)
    settings = {"QUOTA_PER_DAY": 20, "QUOTA_PAUSE_PERCENT": 100, "LOG_LEVEL": "error"}
    parts = start(state=state, toml="[quota.callers]\nper_day = 19\n", **settings)
    server.flush()
    codes: list[str] = []
    for number in range(40):
        if number in (18, 19, 25):
            _set_counts(tmp_path / "state.sqlite3" if state == "sqlite:" else server, LOWERED[value])
        with with_caller({}, "ada"):
            answer = await call(parts)
        codes.append("" if answer["success"] else answer["error"]["code"])
    assert codes == [""] * 19 + ["RATE_LIMIT_QUOTA_EXHAUSTED"] * 21
    assert len(api.asked) == 19
    assert capfd.readouterr().err.count("the store's count went down") == 1


def _set_counts(store: Path | RedisServer, value: str | None) -> None:
    """Write a value over every count, or remove them all, as somebody who can write to the store may."""
    if isinstance(store, RedisServer):
        change = "'DEL', key" if value is None else f"'SET', key, '{value}'"
        script = f"for _, key in ipairs(redis.call('KEYS', '*count:*')) do redis.call({change}) end return 1"
        assert store.ask(f"*3\r\n$4\r\nEVAL\r\n${len(script)}\r\n{script}\r\n$1\r\n0\r\n".encode()) == b":1\r\n"
        return
    with sqlite3.connect(store) as connection:
        if value is None:
            connection.execute("DELETE FROM kept WHERE space = 'count'")
        else:
            connection.execute("UPDATE kept SET value = ? WHERE space = 'count'", (value,))


async def test_a_store_that_lost_its_counts_opens_no_quota_of_replicas_that_live(
    start: Start, api: Local, tmp_path: Path
) -> None:
    """R-RATE-1: three replicas of a limit of 30, and a store that is emptied after each 10 calls."""
    hourly(DAY)
    with redis_server(tmp_path) as server:
        replicas = [start(state=server.url, QUOTA_PER_DAY=30, QUOTA_PAUSE_PERCENT=100) for _ in range(3)]
        for number in range(90):
            await call(replicas[number % 3])
            if number % 10 == 9:
                server.flush()
    assert 30 <= len(api.asked) <= 36  # what the others counted since a replica's last call is counted when they call


async def test_a_replica_outlives_its_redis(start: Start, tmp_path: Path) -> None:
    """R-RATE-1: open with a warning."""
    with redis_server(tmp_path) as server:
        parts = start(state=server.url, QUOTA_PER_DAY=100, QUOTA_WHEN_AWAY="open")
        assert (await call(parts))["success"]
        server.stop()
        answer = await call(parts)
        assert answer["warnings"][0]["code"] == "RATE_LIMIT_UNCOUNTED_WARNING"
        server.start()
        _let_a_second_pass(parts)
        assert (await call(parts))["success"]
        assert (await status(parts))["quotas"][0]["current"] == 2


async def test_the_mock_counts_in_its_own_memory(start: Start, tmp_path: Path) -> None:
    """R-RATE-1"""
    hourly(DAY)
    parts = start(state="sqlite:", mock=True, QUOTA_PER_DAY=1)
    assert [(await call(parts))["success"] for _ in range(2)] == [True, False]
    assert not (tmp_path / "state.sqlite3").exists()


def test_a_pattern_fits_the_names_and_paths_that_its_owner_means() -> None:
    from aqlgen.runtime.quota.limits import Pattern

    operations = {
        "get_pet": ("GET", "/pets/{id}"),
        "delete_pet": ("DELETE", "/pets/{id}"),
        "list_pets": ("GET", "/pets"),
    }

    def fitting(text: str) -> list[str]:
        return [name for name, where in operations.items() if Pattern(text).fits(name, *where)]

    assert fitting("*") == list(operations)
    assert fitting("*_pet") == ["get_pet", "delete_pet"]
    assert fitting("DELETE_*") == ["delete_pet"]
    assert fitting("get /pets*") == ["get_pet", "list_pets"]
    assert fitting("* /pets/*") == ["get_pet", "delete_pet"]
    assert fitting("*l*_p*t") == ["delete_pet"]
    assert fitting("pet") == fitting("list_pets_*") == []
    assert set(OPERATIONS) >= {"read", "delete"}
