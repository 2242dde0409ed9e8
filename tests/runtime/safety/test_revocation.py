"""Tokens that are made void by who was given them (confirmation tokens, 5.3)."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from stand_in import FakeApi

from aqlgen.runtime.dispatch.dispatcher import Dispatcher, Parts
from aqlgen.runtime.safety.questions import QuestionStore
from aqlgen.runtime.server.mcp import build_server
from aqlgen.runtime.session import Session, with_caller
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.settings.tables import ConfirmationSettings
from aqlgen.runtime.state.custody import State, open_store
from aqlgen.runtime.table import Adapter, Table

pytestmark = pytest.mark.anyio
ERAS = pytest.mark.parametrize("era", ["auto", "legacy"])
Envelope = dict[str, Any]
Make = Callable[..., Dispatcher]


class Clock:
    """The time, which goes on when it is told to."""

    ahead = 0.0

    def __call__(self) -> float:
        return time.time() + self.ahead

    def rule(self, dispatcher: Dispatcher) -> None:
        asking = dispatcher.gatekeeper.asking
        asking.tokens.clock = asking.questions.shared.clock = self


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def shared(package: Path, api: FakeApi, tmp_path: Path, clock: Clock) -> AsyncIterator[Make]:
    """Make a dispatcher over a store that operators share."""
    states: list[State] = []

    def make(**settings: Any) -> Dispatcher:
        states.append(State(open_store(f"sqlite:///{tmp_path}/state.sqlite3", "zoo", {}), "zoo"))
        config = Config(confirmation=ConfirmationSettings(**settings))
        dispatcher = Dispatcher(Adapter.load(package), Table(package), api, config, Parts(state=states[-1]))
        clock.rule(dispatcher)
        return dispatcher

    yield make
    for state in states:
        await state.close()


class Agent:
    """An agent in a session of a caller."""

    def __init__(self, dispatcher: Dispatcher, caller: str | None = "anna", session: Session | None = None) -> None:
        self.dispatcher = dispatcher
        self.caller = caller
        self.session = session or Session.new()

    async def call(self, operation: str, **params: Any) -> Envelope:
        with with_caller({}, self.caller):
            return await self.dispatcher.handle(None, {"operation": operation, "params": params}, self.session)

    async def delete(self, **more: Any) -> Envelope:
        return await self.call("delete_animal", animal_id=7, **more)

    async def revoke(self, token: Any) -> Envelope:
        return await self.call("introspect", query="revoke_token", token=token)


def code(envelope: Envelope) -> str:
    return "" if envelope["success"] else str(envelope["error"]["code"])


@ERAS
async def test_a_caller_makes_its_own_token_void(make: Callable[..., Dispatcher], api: FakeApi, era: str) -> None:
    """R-SAFE-3; confirmation tokens, 5.3 and 7.2.4"""
    async with Client(build_server(make()), mode=era) as client:

        async def call(tool: str, operation: str, **params: Any) -> Envelope:
            sent = {"operation": operation, "params": params}
            envelope = (await client.call_tool(f"mcp_aql_{tool}", sent)).structured_content
            assert envelope is not None
            return envelope

        token = (await call("delete", "delete_animal", animal_id=7))["confirmation"]["token"]
        revoked = await call("read", "introspect", query="revoke_token", token=token)
        assert revoked["data"] == {"revoked": True, "operation": "delete_animal"}
        answer = await call("delete", "delete_animal", animal_id=7, confirmation_token=token)
        assert code(answer) == "TOKEN_ALREADY_USED"
        again = await call("read", "introspect", query="revoke_token", token=token)
        assert code(again) == "TOKEN_ALREADY_USED"
        assert code(await call("read", "introspect", query="revoke_token")) == "VALIDATION_MISSING_PARAM"
        again = await call("read", "introspect", query="revoke-token", name="delete_animal", token=token)
        assert code(again) == "TOKEN_ALREADY_USED"
    assert api.sent == []


async def test_what_confirm_operation_confirmed_is_void_with_its_token(zoo: Dispatcher, api: FakeApi) -> None:
    """Confirmation tokens, 5.3"""
    agent = Agent(zoo)
    token = (await agent.delete())["confirmation"]["token"]
    await agent.call("confirm_operation", confirmation_token=token)
    assert (await agent.revoke(token))["success"]
    assert code(await agent.delete()) == "CONFIRMATION_REQUIRED"
    assert api.sent == []


async def test_a_token_that_is_revoked_or_used_takes_its_question_back(shared: Make, api: FakeApi) -> None:
    """R-SAFE-3, R-OPS-1: nothing is confirmed without its question, but an operator's no stays."""
    agent = Agent(shared())
    questions = QuestionStore(agent.dispatcher.state.shared)
    first, second = [(await agent.delete())["confirmation"]["token"] for _ in range(2)]
    assert len(await questions.questions()) == 1, "the same call is one question"
    assert (await agent.delete(confirmation_token=first))["success"]
    assert await questions.questions() == []
    assert code(await agent.call("confirm_operation", confirmation_token=second)) == "TOKEN_INVALID"
    assert (await agent.revoke(second))["success"]
    third = (await agent.delete())["confirmation"]["token"]
    (question,) = await questions.questions()
    assert await questions.decide(question.id, "denied", "operator:ada")
    assert (await agent.revoke(third))["success"]
    assert "operator said no" in (await agent.delete())["error"]["message"]
    assert len(api.sent) == 1


async def test_nobody_revokes_anothers_token_or_learns_whether_there_is_one(zoo: Dispatcher) -> None:
    """Confirmation tokens, 5.3 and 6.3: another's token and none at all are answered alike."""
    anna = Agent(zoo)
    token = (await anna.delete())["confirmation"]["token"]
    for other in (Agent(zoo, "bert"), Agent(zoo), Agent(zoo, None)):
        answers = [(await other.revoke(text))["error"] for text in (token, "conf_" + "0" * 64, "x")]
        assert {answer["code"] for answer in answers} == {"TOKEN_INVALID"}
        assert len({answer["message"] for answer in answers}) == 1
    assert (await anna.delete(confirmation_token=token))["success"]


async def test_revocations_are_counted(make: Callable[..., Dispatcher]) -> None:
    """R-SAFE-3 (Confirmation tokens, 6.5 and 7.2.5)"""
    agent = Agent(make(confirmation=ConfirmationSettings(per_minute=3)))
    codes = [code(await agent.revoke("conf_x")) for _ in range(8)]
    assert codes[0] == "TOKEN_INVALID"
    assert codes[-1] == "RATE_LIMIT_EXCEEDED"
