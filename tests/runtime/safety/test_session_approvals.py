"""Approvals for a session: further calls of the same shape, counted, shown, revocable (confirmation tokens, 5.4)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.types import ElicitResult
from stand_in import FakeApi
from tiny_zoo import ADAPTER, OPERATIONS, write_package

from aqlgen.runtime.dispatch.dispatcher import Dispatcher, Parts
from aqlgen.runtime.hooks import Call, GateDecision, Hooks
from aqlgen.runtime.safety.audit import Audit
from aqlgen.runtime.safety.questions import QuestionStore
from aqlgen.runtime.server.mcp import build_server
from aqlgen.runtime.session import Session, with_caller
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.settings.tables import ConfirmationSettings
from aqlgen.runtime.state.custody import State, open_store
from aqlgen.runtime.table import Adapter, Table
from tests.cases import setting

pytestmark = pytest.mark.anyio
ERAS = pytest.mark.parametrize("era", ["auto", "legacy"])
Envelope = dict[str, Any]
STRING = {"type": "string"}


def path_parameter(wire: str) -> dict[str, Any]:
    return {"in": "path", "name": wire, "required": True, "schema": STRING}


LABEL = {
    "summary": "Delete a label",
    "method": "DELETE",
    "path": "/repos/{owner}/{repo}/labels/{name}",
    "resource": "label",
    "verb": "delete",
    "danger": "destructive",
    "parameters": {
        **{name: path_parameter(name) for name in ("owner", "repo", "name")},
        "force": {"in": "query", "schema": {"type": "boolean"}},
        "limit": {"in": "query", "schema": {"type": "integer"}},
    },
    "returns": {"name": "object", "kind": "object"},
    "responses": {},
}
GIVEN = {"owner": "acme", "repo": "widgets", "name": "bug"}


class Place:
    """A zoo that has labels, whose client asks a person; `answers` is what that person says, in turn."""

    def __init__(self, folder: Path, api: FakeApi, audit: Path, store: str, **settings: Any) -> None:
        operations = json.loads(json.dumps(OPERATIONS))
        operations["delete"] |= {
            "delete_label": LABEL,
            "purge_label": {**LABEL, "danger": "dangerous"},
            "wipe_label": {**LABEL, "danger": "forbidden"},
        }
        write_package(folder, {**ADAPTER, "counts": {**ADAPTER["counts"], "delete": 4}}, operations)
        self.api = api
        self.audit = audit
        self.state = State(open_store(store, "zoo", {}), "zoo")
        rules = setting("policy.rules", settings.pop("policy_rules", []))
        config = Config(confirmation=ConfirmationSettings(**settings), policy_rules=rules)
        parts = Adapter.load(folder), Table(folder), api, config
        self.dispatcher = Dispatcher(*parts, Parts(audit=Audit(audit), state=self.state))
        self.asked: list[Any] = []
        self.answers: list[ElicitResult | Exception] = []

    @property
    def desk(self) -> QuestionStore:
        return QuestionStore(self.state.shared)

    async def person(self, _: Any, params: Any) -> ElicitResult:
        self.asked.append(params)
        answer = self.answers.pop(0) if self.answers else ElicitResult(action="decline")
        if isinstance(answer, Exception):
            raise answer
        return answer

    @asynccontextmanager
    async def agent(self, era: str = "auto") -> AsyncIterator[Callable[..., Any]]:
        server = build_server(self.dispatcher)
        async with Client(server, mode=era, elicitation_callback=self.person) as client:  # type: ignore[arg-type]

            async def delete(operation: str = "delete_label", **params: Any) -> Envelope:
                sent = {"operation": operation, "params": {**GIVEN, **params}}
                envelope = (await client.call_tool("mcp_aql_delete", sent)).structured_content
                assert envelope is not None
                return envelope

            yield delete

    def events(self, name: str) -> list[dict[str, Any]]:
        entries = [json.loads(line) for line in self.audit.read_text().splitlines()]
        return [entry for entry in entries if entry["event"] == name]


@pytest.fixture
async def place(tmp_path: Path, api: FakeApi) -> AsyncIterator[Callable[..., Place]]:
    places: list[Place] = []

    def make(store: str = "", **settings: Any) -> Place:
        url = store or f"sqlite:///{tmp_path}/state.sqlite3"
        places.append(Place(tmp_path / "labels", api, tmp_path / "audit.jsonl", url, **settings))
        return places[-1]

    yield make
    for home in places:
        await home.state.close()


def yes(**content: Any) -> ElicitResult:
    return ElicitResult(action="accept", content=content or None)


Make = Callable[..., Place]
SESSION = {"approve": "session"}


@ERAS
async def test_a_person_may_approve_further_calls_of_the_same_shape(place: Make, era: str) -> None:
    """R-SAFE-4; confirmation tokens, 5.4 and 7.3.1, 7.3.2: asked once; each use is in the audit log with its id."""
    home = place()
    home.answers = [yes(**SESSION)]
    async with home.agent(era) as delete:
        for name in ("bug", "docs", "wont-fix"):
            assert (await delete(name=name))["success"]
    assert len(home.asked) == 1
    form = home.asked[0].requested_schema["properties"]["approve"]
    assert form["enum"] == ["once", "session"]
    assert "any name" in form["description"]
    assert "50 times" in form["description"]
    (granted,) = home.events("APPROVAL_GRANTED")
    used = home.events("CONFIRMATION_GRANTED")[1:]
    assert [(entry["approval"], entry["by"], entry["left"]) for entry in used] == [
        (granted["approval"], "person", 49),
        (granted["approval"], "person", 48),
    ]


@pytest.mark.parametrize(
    "other",
    [
        {"repo": "gadgets"},
        {"owner": "other"},
        {"force": True},
        {"limit": 5},
        {"name": "a/b"},
        {"name": "*"},
        {"name": "all"},
        {"name": "a,b"},
        {"name": "..%2f"},
        {"name": "7"},
        {"name": ""},
        {"operation": "purge_label"},
    ],
    ids=str,
)
async def test_a_call_of_another_shape_is_asked_about(place: Make, other: dict[str, Any]) -> None:
    """R-SAFE-4: other values of anything but the thing itself, and names that are more than a name."""
    home = place(session_danger="dangerous")
    home.answers = [yes(**SESSION)]
    async with home.agent() as delete:
        assert (await delete())["success"]
        before = len(home.asked)
        assert not (await delete(**other))["success"]
        assert len(home.asked) == before + 1 or other == {"name": ""}
    assert len(home.api.sent) == 1


@ERAS
@pytest.mark.parametrize(
    "content",
    [
        {},
        {"approve": "once"},
        {"approve": "SESSION"},
        {"approve": True},
        {"approve": ["session"]},
        {"scope": "session"},
    ],
    ids=str,
)
async def test_nothing_but_a_clear_choice_reaches_beyond_the_call(
    place: Make, era: str, content: dict[str, Any]
) -> None:
    """R-SAFE-4"""
    home = place()
    home.answers = [yes(**content), ElicitResult(action="decline")]
    async with home.agent(era) as delete:
        await delete()
        assert not (await delete(name="docs"))["success"]
    assert len(home.api.sent) <= 1
    assert await home.desk.approvals() == []


async def test_a_client_whose_forms_have_no_choices_is_asked_again_without(place: Make) -> None:
    """R-SAFE-4: and its yes is for one call."""
    home = place()
    home.answers = [ValueError("no enums here"), yes(), ElicitResult(action="decline")]
    async with home.agent("legacy") as delete:
        assert (await delete())["success"]
        assert not (await delete(name="docs"))["success"]
    assert [asked.requested_schema["properties"] == {} for asked in home.asked] == [False, True, False]


@pytest.mark.parametrize(
    ("operation", "allowed", "offered"),
    [
        ("delete_label", "destructive", True),
        ("delete_label", "none", False),
        ("purge_label", "destructive", False),
        ("purge_label", "dangerous", True),
    ],
)
async def test_the_owner_says_how_grave_they_may_be(place: Make, operation: str, allowed: str, offered: bool) -> None:
    """R-SAFE-4"""
    home = place(session_danger=allowed)
    async with home.agent() as delete:
        await delete(operation)
    assert bool(home.asked[0].requested_schema["properties"]) is offered


async def test_there_is_none_for_forbidden_operations(place: Make) -> None:
    """R-SAFE-4: a forbidden one never comes so far; were it confirmed, each call would be."""
    home = place(session_danger="dangerous")
    home.dispatcher._gate._hooks = Hooks(on_decision=lambda decision, _: decision._replace(outcome="confirm"))
    async with home.agent() as delete:
        await delete("wipe_label")
    assert [asked.requested_schema["properties"] for asked in home.asked] == [{}]


async def test_a_call_that_is_held_back_for_another_reason_is_asked_about(place: Make) -> None:
    """R-SAFE-4: what a policy's rule says of one call alone was not approved with the others."""

    def on_decision(decision: GateDecision, call: Call) -> GateDecision:
        return decision._replace(reasons=("Of production",)) if call.params["name"].startswith("prod") else decision

    home = place()
    home.answers = [yes(**SESSION)]
    home.dispatcher._gate._hooks = Hooks(on_decision=on_decision)
    async with home.agent() as delete:
        assert (await delete())["success"]
        assert (await delete(name="docs"))["success"]
        assert not (await delete(name="prod-1"))["success"]
    assert "Of production" in home.asked[1].message


@pytest.mark.parametrize("reason", ["Of production", "Removes data"])
async def test_a_call_that_meets_a_further_rule_is_asked_about(place: Make, reason: str) -> None:
    """R-SAFE-4, R-SAFE-1: though neither the outcome nor the reasons need be other ones."""
    rule = {"id": "labels", "operations": ["delete_label"], "action": "confirm", "reason": "Removes data"}
    more = {**rule, "id": "production", "when": {"name": {"matches": "prod-*"}}, "reason": reason}
    home = place(policy_rules=[rule, more])
    home.answers = [yes(**SESSION)]
    async with home.agent() as delete:
        assert (await delete())["success"]
        assert (await delete(name="docs"))["success"]
        assert len(home.asked) == 1
        assert not (await delete(name="prod-1"))["success"]
    assert len(home.asked) == 2


async def test_it_is_good_for_so_many_calls_that_race(place: Make) -> None:
    """R-SAFE-4"""
    home = place(session_uses=5)
    home.answers = [yes(**SESSION)]
    answers: list[Envelope] = []
    async with home.agent("legacy") as delete:
        await delete()

        async def run(number: int) -> None:
            answers.append(await delete(name=f"label-{number}"))

        async with anyio.create_task_group() as group:
            for number in range(20):
                group.start_soon(run, number)
    assert sum(answer["success"] for answer in answers) == 5
    assert len(home.api.sent) == 6


@ERAS
async def test_it_ends_with_the_session_and_is_no_other_sessions(place: Make, era: str) -> None:
    """R-SAFE-4, R-OPS-2"""
    home = place()
    home.answers = [yes(**SESSION)]
    async with home.agent(era) as first, home.agent(era) as second:
        assert (await first())["success"]
        assert not (await second(name="docs"))["success"]
        assert len(await home.desk.approvals()) == 1
    await home.dispatcher.close()
    assert await home.desk.approvals() == []
    async with home.agent(era) as third:
        assert not (await third(name="docs"))["success"]


async def test_a_revoked_one_ends_with_the_next_call(place: Make) -> None:
    """R-SAFE-4, R-OPS-1"""
    home = place()
    home.answers = [yes(**SESSION)]
    async with home.agent() as delete:
        await delete()
        (approval,) = await home.desk.approvals()
        assert (approval.title, approval.by, approval.left) == ("delete_label", "person", 50)
        assert await home.desk.revoke(approval.id)
        assert not await home.desk.revoke(approval.id)
        assert not (await delete(name="docs"))["success"]


async def test_an_operator_approves_for_the_session_of_a_caller(place: Make) -> None:
    """R-SAFE-4, R-OPS-1: where there is no session it is the caller's; where there is neither, there is none."""
    home = place(approval="operator")

    async def send(caller: str | None, name: str) -> Envelope:
        with with_caller({}, caller):
            call = {"operation": "delete_label", "params": {**GIVEN, "name": name}}
            return await home.dispatcher.handle(None, call, Session())

    for caller in ("anna", None):
        item = (await send(caller, "bug"))["error"]["details"]["waits_as"]
        done = await home.desk.decide(item, "approved", "operator:ada", "session")
        assert done is (caller is not None)
    for name in ("bug", "docs", "more"):
        assert (await send("anna", name))["success"]
    for caller in ("bert", None):
        assert (await send(caller, "docs"))["error"]["code"] == "CONFIRMATION_REQUIRED"
    assert [entry["by"] for entry in home.events("CONFIRMATION_GRANTED")] == ["operator:ada"] * 3


async def test_an_agents_token_never_approves_for_a_session(place: Make) -> None:
    """R-SAFE-4: whatever it writes beside it."""
    home = place()
    session = Session.new()

    async def send(**more: Any) -> Envelope:
        call = {"operation": "delete_label", "params": {**GIVEN, **more}}
        return await home.dispatcher.handle(None, call, session)

    token = (await send())["confirmation"]["token"]
    answer = await send(confirmation_token=token, _approve="session", _scope="session")
    assert answer["success"]
    assert await home.desk.approvals() == []
    assert (await send(name="docs"))["error"]["code"] == "CONFIRMATION_REQUIRED"


async def test_it_covers_the_calls_of_a_batch_one_by_one(place: Make) -> None:
    """R-SAFE-4, R-BAT-2"""
    home = place(approval="person")
    home.answers = [yes(**SESSION)]
    async with home.agent() as delete:
        await delete()
        session = next(iter({approval.session for approval in await home.desk.approvals()}))
    assert session.startswith("session_")
    server = build_server(home.dispatcher)
    home.answers = [yes(**SESSION)]
    async with Client(server, elicitation_callback=home.person) as client:  # type: ignore[arg-type]
        calls = [{"operation": "delete_label", "params": {**GIVEN, "name": f"l{number}"}} for number in range(4)]
        for _ in range(2):
            answer = (await client.call_tool("mcp_aql_delete", {"operations": calls})).structured_content
            assert answer is not None
            assert answer["summary"]["succeeded"] == 4
    assert len(home.asked) == 2
    assert home.asked[1].message.startswith(
        "Run these 4 calls, and all of them? Delete 4 labels (repos acme/widgets): l0, l1, l2 and 1 more. "
        "This cannot be undone.\n"
    )


async def test_one_in_memory_works_within_its_process(place: Make) -> None:
    """R-SAFE-4"""
    home = place("memory:")
    home.answers = [yes(**SESSION)]
    async with home.agent() as delete:
        assert (await delete())["success"]
        assert (await delete(name="docs"))["success"]
