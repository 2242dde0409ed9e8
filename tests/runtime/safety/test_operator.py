"""Operators decide about calls in a process of their own, over the store that they share with adapters (R-SAFE-4)."""

from __future__ import annotations

import io
import json
import os
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import pytest
from local import Answer, Asked, Local, serving
from mcp import Client
from mcp.types import ElicitResult
from tiny_zoo import ADAPTER, write_package

from aqlgen.runtime.assembly import Assembly, assemble
from aqlgen.runtime.cli import main
from aqlgen.runtime.safety.questions import QuestionStore
from aqlgen.runtime.server.mcp import build_server
from aqlgen.runtime.session import Session, with_caller
from tests.runtime.safety.test_revocation import code

pytestmark = pytest.mark.anyio
ERAS = pytest.mark.parametrize("era", ["auto", "legacy"])
DELETE = {"operation": "delete_animal", "params": {"animal_id": 7}}
TITLE = "Delete animal 7? This cannot be undone."
Envelope = dict[str, Any]


@pytest.fixture
def api() -> Iterator[Local]:
    def answer(_: Asked) -> Answer:
        return Answer({"id": 7})

    with serving(answer) as running:
        yield running


class Place:
    """An adapter's package with its settings; its replicas share one SQLite file."""

    def __init__(self, folder: Path, environ: dict[str, str]) -> None:
        self.folder = folder
        self.environ = environ
        self.replicas: list[Assembly] = []

    def replica(self) -> Assembly:
        self.replicas.append(assemble(self.folder, environ=self.environ))
        return self.replicas[-1]

    @property
    def desk(self) -> QuestionStore:
        """The desk as a process of its own sees it."""
        return QuestionStore(self.replica().dispatcher.state.shared)

    def events(self, *names: str) -> list[dict[str, Any]]:
        file = Path(self.environ["MCP_AQL_AUDIT_PATH"])
        entries = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
        return [entry for entry in entries if not names or entry["event"] in names]


@pytest.fixture
async def place(api: Local, tmp_path: Path) -> Any:
    places: list[Place] = []

    def make(**settings: str) -> Place:
        folder = write_package(tmp_path / "zoo", {**ADAPTER, "security": [], "servers": [{"url": api.url}]})
        environ = {
            "MCP_AQL_STATE_KEY": "a-key-of-the-owner-with-forty-characters",
            "MCP_AQL_CONFIG": os.devnull,
            "MCP_AQL_STATE_URL": f"sqlite:///{tmp_path}/state.sqlite3",
            "MCP_AQL_AUDIT_PATH": str(tmp_path / "audit.jsonl"),
            "MCP_AQL_LOG_LEVEL": "error",
        }
        environ |= {f"MCP_AQL_{name}": value for name, value in settings.items()}
        places.append(Place(folder, environ))
        return places[-1]

    yield make
    for home in places:
        for parts in home.replicas:
            await parts.close()


Make = Callable[..., Place]


async def call(parts: Assembly, request: dict[str, Any] = DELETE, caller: str | None = "anna") -> Envelope:
    with with_caller({}, caller):
        return await parts.dispatcher.handle(None, request, Session())


def waits_as(envelope: Envelope) -> str:
    assert code(envelope) == "CONFIRMATION_REQUIRED", envelope
    return str(envelope["error"]["details"]["waits_as"])


Operate = Callable[..., tuple[int, str, str]]


@pytest.fixture
def operate(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Operate:
    """Run a command of the adapter in a pipe."""

    def run(home: Place, *arguments: str) -> tuple[int, str, str]:
        for name, value in home.environ.items():
            monkeypatch.setenv(name, value)
        shown = io.StringIO()
        shown.buffer = SimpleNamespace(write=lambda raw: shown.write(raw.decode()))  # type: ignore[attr-defined]
        monkeypatch.setattr(sys, "stdin", io.StringIO())
        monkeypatch.setattr(sys, "stdout", shown)
        return main(home.folder, None, list(arguments)), shown.getvalue(), capsys.readouterr().err

    return run


async def at(operate: Operate, *arguments: Any) -> tuple[int, str, str]:
    return await anyio.to_thread.run_sync(lambda: operate(*arguments))


@ERAS
async def test_an_operator_approves_a_call_and_it_runs_once(place: Make, api: Local, era: str) -> None:
    """R-SAFE-4, R-OPS-1: over a real client, which is asked nothing and given no token."""
    home = place(APPROVAL="operator")
    asked: list[str] = []

    async def person(_: Any, params: Any) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action="accept")

    parts, desk = home.replica(), home.desk
    async with Client(build_server(parts.dispatcher), mode=era, elicitation_callback=person) as client:

        async def delete(**more: Any) -> Envelope:
            sent = {"operation": "delete_animal", "params": {"animal_id": 7, **more}}
            envelope = (await client.call_tool("mcp_aql_delete", sent)).structured_content
            assert envelope is not None
            return envelope

        waiting = await delete()
        assert waits_as(waiting) == waits_as(await delete()), "the same call is the same matter"
        assert "confirmation" not in waiting
        assert "confirmation_token" not in waiting["error"]["details"]
        (matter,) = await desk.questions()
        assert (matter.id, matter.title, matter.danger) == (waits_as(waiting), TITLE, "destructive")
        assert matter.question == waiting["error"]["details"]["confirmation_message"]
        assert code(await delete(confirmation_token="conf_" + "0" * 64)) == "TOKEN_INVALID"
        assert await desk.decide(matter.id, "approved", "operator:ada")
        assert (await delete())["success"]
        assert code(await delete()) == "CONFIRMATION_REQUIRED"
    assert (asked, len(api.asked)) == ([], 1)
    (granted,) = home.events("CONFIRMATION_GRANTED")
    assert (granted["by"], granted["matter"], granted["params"]) == ("operator:ada", matter.id, {"animal_id": 7})


async def test_a_denial_refuses_the_call_and_its_token_until_it_expires(place: Make, api: Local) -> None:
    """R-SAFE-4, R-SAFE-3: also where the agent could confirm by itself."""
    home = place()
    parts, desk = home.replica(), home.desk
    token = (await call(parts))["confirmation"]["token"]
    (matter,) = await desk.questions()
    assert await desk.decide(matter.id, "denied", "operator:ada")
    assert not await desk.decide(matter.id, "approved", "operator:ada"), "it was decided"
    for params in ({"animal_id": 7}, {"animal_id": 7, "confirmation_token": token}):
        refused = await call(parts, {"operation": "delete_animal", "params": params})
        assert code(refused) == "PERMISSION_DENIED"
        assert "operator said no" in refused["error"]["message"]
        assert "do not try again" in refused["error"]["message"]
    assert len(home.events("TOKEN_REVOKED")) == 1
    await desk.withdraw(matter.id)
    spent = {"operation": "delete_animal", "params": {"animal_id": 7, "confirmation_token": token}}
    assert code(await call(parts, spent)) == "TOKEN_ALREADY_USED"
    assert api.asked == []


async def test_without_sessions_the_first_yes_is_for_the_caller_at_every_replica(place: Make) -> None:
    """R-EFF-2: as over HTTP by MCP 2026-07-28, or `stateless`. An unknown caller is asked about each call."""
    home = place()
    file = home.folder / "operations/create.json"
    rows = json.loads(file.read_text())
    rows["create_animal"] |= {"asked": "first", "effects": ["unknown"]}
    file.write_text(json.dumps(rows))
    here, there = home.replica(), home.replica()

    async def create(parts: Assembly, caller: str | None, **params: str) -> Envelope:
        request = {"operation": "create_animal", "params": {"name": "Ada", "species": "lion", **params}}
        return await call(parts, request, caller)

    for caller in ("anna", None):
        token = (await create(here, caller))["confirmation"]["token"]
        assert code(await create(here, caller, confirmation_token=token)) == ""
    later = [(here, "anna"), (there, "anna"), (here, "bert"), (there, "bert"), (here, None), (there, None)]
    codes = [code(await create(parts, caller, name="Bob")) for parts, caller in later]
    assert codes == ["", "", *["CONFIRMATION_REQUIRED"] * 4]


async def test_one_approval_is_for_all_calls_of_a_batch_and_for_a_plan(place: Make, api: Local) -> None:
    """R-SAFE-4, R-BAT-2, R-STEP-2: as they were listed."""
    home = place(APPROVAL="operator")
    parts, desk = home.replica(), home.desk
    calls = [{"operation": "delete_animal", "params": {"animal_id": number}} for number in range(1, 13)]
    halted = (await call(parts, {"operations": calls}))["halted_at"]["result"]
    (matter,) = await desk.questions()
    assert matter.id == waits_as(halted)
    assert matter.title == (
        "Run all of these 12 calls? Delete animal, 12 times: 1, 2, 3 and 9 more. This cannot be undone."
    )
    assert matter.kind == "plan"
    await desk.decide(matter.id, "approved", "operator:ada")
    waits_as((await call(parts, {"operations": calls[:2]}))["halted_at"]["result"])
    assert (await call(parts, {"operations": calls}))["summary"]["succeeded"] == 12
    asked = await call(parts, {"operation": "run_steps", "params": {"steps": [calls[0]]}})
    await desk.decide(waits_as(asked), "approved", "operator:ada")
    more = {"continue": asked["error"]["details"]["plan"]["continue"]}
    assert (await call(parts, {"operation": "run_steps", "params": more}))["success"]
    assert len(api.asked) == 13


@ERAS
async def test_where_only_a_person_confirms_an_operator_is_one(place: Make, api: Local, era: str) -> None:
    """R-SAFE-4: for a client that cannot ask; one that can asks, and an operator may be faster."""
    home = place(APPROVAL="person")
    parts, desk = home.replica(), home.desk
    async with Client(build_server(parts.dispatcher), mode=era) as client:
        answer = (await client.call_tool("mcp_aql_delete", DELETE)).structured_content
        assert answer is not None
        await desk.decide(waits_as(answer), "approved", "operator:ada")
        answer = (await client.call_tool("mcp_aql_delete", DELETE)).structured_content
        assert answer is not None
        assert answer["success"]
    assert len(api.asked) == 1


@ERAS
async def test_an_operator_who_says_no_while_a_person_is_asked_has_the_last_word(
    place: Make, api: Local, era: str
) -> None:
    """R-SAFE-4"""
    home = place()
    parts, desk = home.replica(), home.desk

    async def person(_: Any, __: Any) -> ElicitResult:
        (matter,) = await desk.questions()
        assert await desk.decide(matter.id, "denied", "operator:ada")
        return ElicitResult(action="accept")

    async with Client(build_server(parts.dispatcher), mode=era, elicitation_callback=person) as client:
        answer = (await client.call_tool("mcp_aql_delete", DELETE)).structured_content
    assert answer is not None
    assert "operator said no" in answer["error"]["message"]
    assert api.asked == []


@ERAS
async def test_what_a_person_decides_is_taken_off_the_desk_and_a_session_takes_the_rest(place: Make, era: str) -> None:
    """R-OPS-1, R-OPS-2"""
    home = place()
    parts, desk = home.replica(), home.desk

    async def person(_: Any, __: Any) -> ElicitResult:
        return ElicitResult(action="accept")

    async with Client(build_server(parts.dispatcher), mode=era, elicitation_callback=person) as client:
        await client.call_tool("mcp_aql_delete", DELETE)
        assert await desk.questions() == []
    async with Client(build_server(parts.dispatcher, parts.close), mode=era) as client:
        await client.call_tool("mcp_aql_delete", DELETE)
        assert len(await desk.questions()) == 1
    assert await desk.questions() == []


async def test_nothing_is_put_for_reads_and_for_calls_that_run(place: Make) -> None:
    """R-OPS-1"""
    home = place(APPROVAL="operator", POLICY="open")
    parts, desk = home.replica(), home.desk
    await call(parts, {"operation": "list_animals"})
    await call(parts)
    assert await desk.questions() == []


async def test_a_caller_puts_only_so_many_questions_before_operators_a_minute(place: Make) -> None:
    """R-OPS-1: the same one again does not count."""
    home = place(APPROVAL="operator", CONFIRMATION_RATE="3")
    parts = home.replica()
    codes = [
        code(await call(parts, {"operation": "delete_animal", "params": {"animal_id": number}}))
        for number in (1, 1, 1, 2, 3, 4, 5)
    ]
    assert codes[:5] == ["CONFIRMATION_REQUIRED"] * 5
    assert codes[-1] in ("RATE_LIMIT_EXCEEDED", "CONFIRMATION_REQUIRED")  # a minute may have begun in between


async def test_without_a_store_that_operators_share_nobody_can_approve(place: Make, api: Local) -> None:
    """R-SAFE-4"""
    home = place(APPROVAL="operator", STATE_URL="memory:")
    refused = await call(home.replica())
    assert code(refused) == "PERMISSION_DENIED"
    assert "MCP_AQL_STATE_URL" in refused["error"]["message"]
    assert api.asked == []


async def test_an_agent_confirms_where_the_state_cannot_be_written(place: Make, api: Local, tmp_path: Path) -> None:
    """R-SAFE-3: what was never on a desk needs none; and nobody else is told to wait for one."""
    (tmp_path / "file").write_text("")
    url = f"sqlite:///{tmp_path}/file/state.sqlite3"
    home, session = place(STATE_URL=url), Session.new()
    parts = home.replica()

    async def delete(**more: Any) -> Envelope:
        sent = {"operation": "delete_animal", "params": {"animal_id": 7, **more}}
        return await parts.dispatcher.handle(None, sent, session)

    token = (await delete())["confirmation"]["token"]
    assert (await delete(confirmation_token=token))["success"]
    assert len(api.asked) == 1
    home.environ["MCP_AQL_APPROVAL"] = "operator"
    waiting = await call(home.replica())
    assert "store" in waiting["error"]["details"]["reason"]


async def test_secrets_are_masked_on_the_desk_as_in_the_question(place: Make, tmp_path: Path) -> None:
    """R-SAFE-4, R-TRUST-1: the store holds neither them nor the words of the question in the clear."""
    home = place(APPROVAL="operator", POLICY="strict", TRUST_LEVEL="validated")
    path = home.folder / "operations" / "create.json"
    table = json.loads(path.read_text())
    table["create_animal"]["danger"] = "destructive"
    path.write_text(json.dumps(table))
    parts, desk = home.replica(), home.desk
    create = {"name": "Ada", "species": "lion", "secret_word": "sw0rdf1sh"}
    waits_as(await call(parts, {"operation": "create_animal", "params": create}))
    (matter,) = await desk.questions()
    assert "sw0rdf1sh" not in repr(matter)
    assert "Create animal" in matter.title
    for file in tmp_path.glob("state.sqlite3*"):
        assert b"sw0rdf1sh" not in file.read_bytes()
        assert b"Create animal" not in file.read_bytes()


async def test_whoever_writes_to_the_store_without_its_key_approves_nothing(place: Make, api: Local) -> None:
    """R-SAFE-4: what is not sealed is not there."""
    home = place(APPROVAL="operator", STATE_KEY="k" * 40)
    parts = home.replica()
    item = waits_as(await call(parts))
    store = parts.dispatcher.state.shared.store
    ((key, text),) = await store.items("question")
    for forged in ({"id": item, "verdict": "approved"}, f"{text}x", text[::-1], "", None, 7):
        await store.put("question", key, forged)
        assert code(await call(parts)) in ("CONFIRMATION_REQUIRED", "INTERNAL_ERROR")
    assert api.asked == []


async def test_no_two_tokens_are_alike_and_a_thousand_are_good_at_once(place: Make, api: Local) -> None:
    """R-SAFE-3; confirmation tokens, 3.1 and 5.5: 256 bits and more, of which 128 are random."""
    home = place(CONFIRMATION_RATE="5000")
    dispatcher, session = home.replica().dispatcher, Session.new()
    tokens = [(await dispatcher.handle("delete", DELETE, session))["confirmation"]["token"] for _ in range(1000)]
    assert len({token[:30] for token in tokens}) == 1000
    for token in (tokens[0], tokens[500], tokens[-1]):
        sent = {**DELETE, "params": {"animal_id": 7, "confirmation_token": token}}
        assert (await dispatcher.handle("delete", sent, session))["success"]
    assert len(api.asked) == 3


@pytest.mark.parametrize("approval", ["agent", "operator"])
async def test_nothing_of_a_token_or_a_question_is_kept_for_an_hour(place: Make, tmp_path: Path, approval: str) -> None:
    """R-SAFE-3; confirmation tokens, 5.5 and 7.2.3: what is kept says when it ends, used or not."""
    home = place(APPROVAL=approval, CONFIRMATION_TTL="900")
    parts, desk = home.replica(), home.desk
    used, asked = await call(parts), await call(parts, {"operation": "delete_animal", "params": {"animal_id": 8}})
    if approval == "agent":
        token = used["confirmation"]["token"]
        sent = {"operation": "delete_animal", "params": {"animal_id": 7, "confirmation_token": token}}
        assert (await call(parts, sent))["success"]
        token = asked["confirmation"]["token"]
        await call(parts, {"operation": "confirm_operation", "params": {"confirmation_token": token}})
    else:
        await desk.decide(waits_as(used), "approved", "operator:ada")
        await desk.decide(waits_as(asked), "denied", "operator:ada")
        assert (await call(parts))["success"]
    with closing(sqlite3.connect(tmp_path / "state.sqlite3")) as connection:
        rows = connection.execute("SELECT space, expires FROM kept").fetchall()
    kept = [(space, expires) for space, expires in rows if space != "seal"]
    assert kept
    assert all(expires is not None and expires < time.time() + 3600 for _, expires in kept), kept


async def test_a_call_of_the_command_line_is_approved_for_the_same_command(
    place: Make, api: Local, operate: Operate
) -> None:
    """R-SAFE-4: whose process has ended meanwhile."""
    home = place(APPROVAL="operator")
    typed = ("call", "delete_animal", "animal_id=7")
    exit_code, out, _ = await at(operate, home, *typed)
    item = waits_as(json.loads(out))
    assert exit_code == 1
    assert await home.desk.decide(item, "approved", "operator:ada")
    assert [(await at(operate, home, *typed))[0] for _ in range(2)] == [0, 1]
    assert len(api.asked) == 1
