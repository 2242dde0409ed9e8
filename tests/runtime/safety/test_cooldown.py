"""A time to think between the question and the call, and tokens that are made void (danger levels, 3.2 and 7.3.1)."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.types import ElicitResult
from stand_in import FakeApi

from aqlgen.runtime.dispatch.dispatcher import Dispatcher, Parts
from aqlgen.runtime.safety.questions import QuestionStore
from aqlgen.runtime.server.mcp import build_server
from aqlgen.runtime.session import Session, with_caller
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.settings.load import ConfigError, load
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
        asking = dispatcher._gate.asking
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


def assert_too_early(envelope: Envelope, seconds: int) -> None:
    assert code(envelope) == "CONFIRMATION_REQUIRED"
    assert envelope["error"]["details"]["reason"] == "cooldown"
    assert seconds - 2 <= envelope["error"]["details"]["retry_after_seconds"] <= seconds


async def test_a_token_that_comes_too_early_is_refused_and_stays_good(shared: Make, api: FakeApi, clock: Clock) -> None:
    """R-SAFE-3; danger levels, 7.3.1"""
    agent = Agent(shared(cooldown={"destructive": 20}))
    asked = await agent.delete()
    token = asked["confirmation"]["token"]
    assert asked["error"]["details"]["cooldown_seconds"] == 20
    early = await agent.delete(confirmation_token=token)
    assert_too_early(early, 20)
    assert early["error"]["details"]["confirmation_token"] == token
    assert code(await agent.call("delete_animal", animal_id=8, confirmation_token=token)) == "TOKEN_SCOPE_MISMATCH"
    clock.ahead = 21
    assert (await agent.delete(confirmation_token=token))["success"]
    assert code(await agent.delete(confirmation_token=token)) == "TOKEN_ALREADY_USED"
    assert len(api.sent) == 1


async def test_confirm_operation_shortens_nothing(shared: Make, api: FakeApi, clock: Clock) -> None:
    """R-SAFE-3"""
    agent = Agent(shared(cooldown={"destructive": 20}))
    token = (await agent.delete())["confirmation"]["token"]
    assert (await agent.call("confirm_operation", confirmation_token=token))["success"]
    assert_too_early(await agent.delete(), 20)
    clock.ahead = 21
    assert (await agent.delete())["success"]
    assert len(api.sent) == 1


async def test_an_operators_approval_waits_too_and_may_be_followed_by_nothing_else(
    shared: Make, api: FakeApi, clock: Clock
) -> None:
    """R-SAFE-3: asking again does not begin it anew."""
    dispatcher = shared(cooldown={"destructive": 20}, approval="operator")
    agent, desk = Agent(dispatcher), QuestionStore(dispatcher.state.shared, clock)
    asked = await agent.delete()
    clock.ahead = 10
    await agent.delete()
    (matter,) = await desk.questions()
    assert (matter.cooldown, matter.reach) == (20, "")
    assert await desk.decide(asked["error"]["details"]["waits_as"], "approved", "operator:ada")
    assert_too_early(await agent.delete(), 10)
    clock.ahead = 21
    assert (await agent.delete())["success"]
    assert len(api.sent) == 1


@ERAS
async def test_a_persons_yes_waits_and_an_operator_can_still_say_no(shared: Make, api: FakeApi, era: str) -> None:
    """R-SAFE-4"""
    dispatcher = shared(cooldown={"destructive": 0.8})
    desk = QuestionStore(dispatcher.state.shared)
    answers: dict[int, Envelope] = {}
    asked: list[Any] = []

    async def person(_: Any, question: Any) -> ElicitResult:
        asked.append(question)
        return ElicitResult(action="accept")

    async with Client(build_server(dispatcher), mode=era, elicitation_callback=person) as client:
        begin = anyio.current_time()

        async def delete(animal: int) -> None:
            sent = {"operation": "delete_animal", "params": {"animal_id": animal}}
            answers[animal] = (await client.call_tool("mcp_aql_delete", sent)).structured_content or {}

        async def deny() -> None:
            while len(asked) < 2:
                await anyio.sleep(0.01)
            (matter,) = [each for each in await desk.questions() if "8" in each.title]
            await desk.decide(matter.id, "denied", "operator:ada")

        await delete(7)
        assert anyio.current_time() - begin >= 0.8
        with anyio.fail_after(30):
            async with anyio.create_task_group() as group:
                group.start_soon(delete, 8)
                group.start_soon(deny)
    assert answers[7]["success"]
    assert "operator said no" in answers[8]["error"]["message"]
    assert [request.content for request in api.sent] == [b'{"animal_id": 7}']


async def test_an_operation_has_a_cooldown_of_its_own(package: Path, make: Callable[..., Dispatcher]) -> None:
    """R-SAFE-3: from overrides.yaml, whatever its danger's is."""
    import json

    path = package / "operations" / "delete.json"
    table = json.loads(path.read_text())
    table["delete_animal"]["cooldown_seconds"] = 9
    path.write_text(json.dumps(table))
    agent = Agent(make(confirmation=ConfirmationSettings(cooldown={"destructive": 60})))
    token = (await agent.delete())["confirmation"]["token"]
    assert_too_early(await agent.delete(confirmation_token=token), 9)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"dangerous": 5, "forbidden": 30}', ""),
        ('{"safe": 5}', "must be reversible, destructive"),
        ('{"dangerous": 301}', "at 'dangerous': must be a whole number from 0 to 300"),
        ("5", "must be a table"),
        ("nonsense", "must be valid JSON"),
    ],
)
def test_the_setting_is_a_table_of_levels(package: Path, text: str, problem: str) -> None:
    environ = {"MCP_AQL_CONFIG": "/dev/null", "MCP_AQL_CONFIRMATION_COOLDOWN": text}
    if problem:
        with pytest.raises(ConfigError, match=problem):
            load(package, environ)
    else:
        assert load(package, environ).confirmation.cooldown == {"dangerous": 5, "forbidden": 30}


# Revocation


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
    """Confirmation tokens, 6.5 and 7.2.5"""
    agent = Agent(make(confirmation=ConfirmationSettings(per_minute=3)))
    codes = [code(await agent.revoke("conf_x")) for _ in range(8)]
    assert codes[0] == "TOKEN_INVALID"
    assert codes[-1] == "RATE_LIMIT_EXCEEDED"
