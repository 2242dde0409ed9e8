"""Two replicas over one store: what one issued the other takes, and what must happen once happens once (R-OPS-3)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from stand_in import FakeApi

from aqlgen.runtime.auth.tokens import AccessToken, AccessTokens, SharedTokens
from aqlgen.runtime.dispatch.dispatcher import Dispatcher, Parts
from aqlgen.runtime.paging.cursors import Cursors, Place
from aqlgen.runtime.safety.loop.agents import Board
from aqlgen.runtime.safety.questions import QuestionStore
from aqlgen.runtime.server.elicitation import Questions
from aqlgen.runtime.session import Session, with_caller
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.settings.tables import ConfirmationSettings
from aqlgen.runtime.state.custody import State, open_store
from aqlgen.runtime.table import Adapter, Table
from tests.cases import without_ids
from tests.runtime.redis_server import RedisServer
from tests.runtime.safety.test_revocation import code

pytestmark = pytest.mark.anyio
DELETE = {"operation": "delete_animal", "params": {"animal_id": 7}}
ENFORCING = {"safety_loop": "enforcing", "requires_approval": ("delete_*",), "loop_approval": "client"}
ON_REDIS = pytest.mark.parametrize("url", ["redis"], indirect=True)  # a file does not go away
KEYS = ("first-key-of-thirty-two-characters", "other-key-of-thirty-two-characters")
Replica = Callable[..., Dispatcher]
Envelope = dict[str, Any]


@pytest.fixture(params=["sqlite", "redis"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    redis = request.param == "redis"
    return str(request.getfixturevalue("server").url) if redis else f"sqlite:///{tmp_path}/s.sqlite3"


@pytest.fixture
async def state(url: str, request: pytest.FixtureRequest) -> AsyncIterator[Callable[..., State]]:
    """Make the state of one more replica."""
    states: list[State] = []

    def make(*keys: str, at: str | None = None) -> State:
        states.append(State(open_store(at or url, request.node.name, {}), "zoo", lambda: keys))
        return states[-1]

    yield make
    for each in states:
        await each.close()


@pytest.fixture
def replica(package: Path, api: FakeApi, state: Callable[..., State]) -> Replica:
    """Make one more replica; settings as keyword arguments."""

    def make(*keys: str, at: str | None = None, **settings: Any) -> Dispatcher:
        return Dispatcher(
            Adapter.load(package), Table(package), api, Config(**settings), Parts(state=state(*keys, at=at))
        )

    return make


async def call(
    dispatcher: Dispatcher, request: dict[str, Any] = DELETE, caller: str | None = "anna", **more: Any
) -> Any:
    with with_caller({}, caller):
        request = {**request, "params": {**request.get("params", {}), **more}}
        return await dispatcher.handle(None, request, Session())


async def token_of(dispatcher: Dispatcher) -> str:
    return str((await call(dispatcher))["confirmation"]["token"])


async def test_a_replica_confirms_what_another_issued_and_once(replica: Replica, api: FakeApi) -> None:
    """R-OPS-3, R-SAFE-3"""
    first, second = replica(), replica()
    token = await token_of(first)
    assert code(await call(second, caller="bert", confirmation_token=token)) == "TOKEN_SCOPE_MISMATCH"
    assert code(await call(second, animal_id=8, confirmation_token=token)) == "TOKEN_SCOPE_MISMATCH"
    altered = (
        token[:-9] + ("A" if token[-9] != "A" else "B") + token[-8:]
    )  # the last letter holds bits that are not read
    assert code(await call(second, confirmation_token=altered)) == "TOKEN_INVALID"
    assert api.sent == []
    assert (await call(second, confirmation_token=token))["success"]
    for dispatcher in (first, second, replica()):
        assert code(await call(dispatcher, confirmation_token=token)) == "TOKEN_ALREADY_USED"
    assert len(api.sent) == 1


async def test_of_many_calls_at_both_with_one_token_one_runs(replica: Replica, api: FakeApi) -> None:
    """R-OPS-3, R-SAFE-3"""
    replicas, codes = [replica(), replica()], list[str]()
    token = await token_of(replicas[0])

    async def use(number: int) -> None:
        codes.append(code(await call(replicas[number % 2], confirmation_token=token)))

    async with anyio.create_task_group() as group:
        for number in range(40):
            group.start_soon(use, number)
    assert sorted(codes) == [""] + ["TOKEN_ALREADY_USED"] * 39
    assert len(api.sent) == 1


async def test_of_many_calls_at_both_with_one_approval_of_an_operator_one_runs(
    replica: Replica, state: Callable[..., State], api: FakeApi
) -> None:
    """R-OPS-3, R-SAFE-3, R-SAFE-4: whichever store they share; a denial holds at both."""
    settings = ConfirmationSettings(approval="operator", per_minute=1000)
    replicas, codes = [replica(confirmation=settings), replica(confirmation=settings)], list[str]()
    desk = QuestionStore(state().shared)
    for verdict in ("approved", "denied"):
        asked = await call(replicas[0])
        assert await desk.decide(asked["error"]["details"]["waits_as"], verdict, "operator:ada")  # type: ignore[arg-type]
        codes.clear()

        async def use(number: int) -> None:
            codes.append(code(await call(replicas[number % 2])))

        async with anyio.create_task_group() as group:
            for number in range(40):
                group.start_soon(use, number)
        expected = [""] + ["CONFIRMATION_REQUIRED"] * 39 if verdict == "approved" else ["PERMISSION_DENIED"] * 40
        assert sorted(codes) == expected
        assert len(api.sent) == 1


async def test_confirm_operation_at_one_lets_the_call_run_at_the_other_once(replica: Replica, api: FakeApi) -> None:
    """R-OPS-3, R-SAFE-3"""
    first, second = replica(), replica()
    token = await token_of(first)
    confirmed = await call(second, {"operation": "confirm_operation", "params": {"confirmation_token": token}})
    assert confirmed["data"]["operation"] == "delete_animal"
    assert (await call(first))["success"]
    assert code(await call(second)) == "CONFIRMATION_REQUIRED"
    assert code(await call(second, confirmation_token=token)) == "TOKEN_ALREADY_USED"
    assert len(api.sent) == 1


async def test_a_caller_is_given_so_many_tokens_by_all_replicas_together(replica: Replica) -> None:
    replicas = [
        replica(confirmation=ConfirmationSettings(per_minute=3)),
        replica(confirmation=ConfirmationSettings(per_minute=3)),
    ]
    codes = [code(await call(replicas[number % 2])) for number in range(6)]
    assert codes.count("CONFIRMATION_REQUIRED") in (3, 6)  # 6 if a minute began in between
    assert set(codes) <= {"CONFIRMATION_REQUIRED", "RATE_LIMIT_EXCEEDED"}


async def test_a_plan_that_halted_at_one_goes_on_at_the_other_once(replica: Replica, api: FakeApi) -> None:
    """R-OPS-3, R-STEP-2"""
    replicas = replica(), replica()
    asked = await call(replicas[0], {"operation": "run_steps", "params": {"steps": [DELETE]}})
    more = {
        "continue": asked["error"]["details"]["plan"]["continue"],
        "confirmation_token": asked["confirmation"]["token"],
    }
    plan = {"operation": "run_steps", "params": more}
    assert code(await call(replicas[1], plan, caller="bert")) == "TOKEN_SCOPE_MISMATCH"
    assert (await call(replicas[1], plan))["success"]
    assert code(await call(replicas[0], plan)) == "TOKEN_INVALID"
    assert len(api.sent) == 1


async def test_a_cursor_and_a_question_are_known_at_every_replica(state: Callable[..., State]) -> None:
    """R-OPS-3, R-SEL-3, R-SAFE-4"""
    states = state(), state()
    cursors = [Cursors(each) for each in states]
    for each in cursors:
        await each.prepare()
    cursor = cursors[0].write("list_animals", {}, Place(3, 60))
    assert cursors[1].read("after", cursor, "list_animals", {}) == Place(3, 60)
    questions = [Questions(each) for each in states]
    handle = await questions[0].put("this call", None)
    assert await questions[1].take(handle, "this call", None)
    assert not await questions[0].take(handle, "this call", None)


async def test_a_block_that_one_sets_holds_at_the_other(replica: Replica, api: FakeApi) -> None:
    """R-OPS-3, R-LOOP-3; specification, 8.6.4"""
    first, second = replica(**ENFORCING), replica(**ENFORCING)
    agent = {"element_name": "researcher"}
    assert (await call(first, {"operation": "execute_agent", "params": agent}))["success"]
    step = {"operation": "record_execution_step", "params": {**agent, "nextActionHint": "delete_note 7"}}
    assert (await call(second, step))["data"]["continue"] is False
    create = {"operation": "create_animal", "params": {"name": "Ada", "species": "lion"}}
    report = {"nextActionHint": "adding Ada", "nextOperation": "create_animal", "nextParams": create["params"]}
    reported = {"operation": "record_execution_step", "params": {**agent, **report}}
    for dispatcher in (first, second):
        assert "paused" in (await call(dispatcher, create))["error"]["message"]
    assert (await call(first, {"operation": "execute_agent", "params": agent}, caller="bert"))["success"]
    assert (await call(first, reported, caller="bert"))["data"]["granted"]
    assert (await call(second, create, caller="bert"))["success"]
    assert (await call(first, {"operation": "confirm_operation", "params": agent}))["success"]
    assert (await call(first, reported))["data"]["granted"]
    assert (await call(second, create))["success"]
    await call(second, step)
    assert (await call(first, {"operation": "confirm_operation", "params": agent}))["success"]
    assert (await call(second, step))["data"]["factors"] == ["Confirmed by the client's own approval"]
    assert len(api.sent) == 2


async def test_a_hard_block_of_one_is_verified_at_the_other(
    replica: Replica, state: Callable[..., State], api: FakeApi
) -> None:
    """R-OPS-3, R-LOOP-4, R-LOOP-5: by an operator on the same store; one of many reports lets one call run."""
    settings = {"safety_loop": "enforcing", "loop_approval": "client", "policy": "open"}
    first, second, third = (replica(**settings) for _ in range(3))
    agent = {"element_name": "researcher"}
    grave = {"operation": "record_execution_step", "params": {**agent, "nextActionHint": "rm -rf /"}}
    await call(first, {"operation": "execute_agent", "params": agent})
    assert (await call(first, grave))["data"]["stopped"]
    for dispatcher in (second, third):
        assert code(await call(dispatcher, {"operation": "execute_agent", "params": agent})) == "PERMISSION_DENIED"
    operator = state().shared
    (challenge,) = await QuestionStore(operator).challenges()
    shown = await QuestionStore(operator).reveal(challenge.id)
    verify = {"operation": "verify_challenge", "params": {"challenge_id": challenge.id, "code": shown}}
    assert (await call(second, verify))["data"]["verified"]
    assert await Board(operator).blocks() == []
    assert (await call(third, grave))["data"]["factors"] == ["Verified by a person"]
    create = {"operation": "create_animal", "params": {"name": "Ada", "species": "lion"}}
    report = {"nextActionHint": "adding Ada", "nextOperation": "create_animal", "nextParams": create["params"]}
    await call(first, {"operation": "record_execution_step", "params": {**agent, **report}})
    done: list[str] = []

    async def use(dispatcher: Dispatcher) -> None:
        done.append(code(await call(dispatcher, create)))

    async with anyio.create_task_group() as group:
        for dispatcher in (first, second, third) * 5:
            group.start_soon(use, dispatcher)
    assert sorted(done) == [""] + ["PERMISSION_DENIED"] * 14
    assert len(api.sent) == 1


async def test_steps_that_are_reported_at_both_at_once_are_all_counted(replica: Replica) -> None:
    """R-OPS-3, R-LOOP-3: by compare and set."""
    replicas = [replica(**ENFORCING, max_autonomous_steps=30) for _ in range(2)]
    agent = {"element_name": "researcher"}
    await call(replicas[0], {"operation": "execute_agent", "params": agent})
    step = {"operation": "record_execution_step", "params": {**agent, "nextActionHint": "read"}}
    left: list[int] = []

    async def report(number: int) -> None:
        left.append((await call(replicas[number % 2], step))["data"]["stepsRemaining"])

    async with anyio.create_task_group() as group:
        for number in range(12):
            group.start_soon(report, number)
    assert sorted(left) == list(range(18, 30))


async def test_a_token_is_asked_for_by_one_replica_at_a_time(state: Callable[..., State]) -> None:
    """R-OPS-3: the others wait, and read it."""
    issued: list[str] = []

    async def make() -> AccessToken:
        issued.append(f"access {len(issued)}")
        name = issued[-1]
        await anyio.sleep(0.15)
        return AccessToken(name, anyio.current_time() + 3600, 3600.0)

    replicas = [
        AccessTokens(anyio.current_time, SharedTokens(state().shared, 15, clock=anyio.current_time)) for _ in range(3)
    ]
    values: list[str] = []

    async def get(tokens: AccessTokens, refused: str = "") -> None:
        values.append(await tokens.get("key", make, refused))

    for refused, expected in (("", "access 0"), ("access 0", "access 1")):
        values.clear()
        async with anyio.create_task_group() as group:
            for tokens in replicas * 3:
                group.start_soon(get, tokens, refused)
        assert values == [expected] * 9
    assert issued == ["access 0", "access 1"]
    alone = SharedTokens(state().shared, 15, clock=anyio.current_time)
    await alone.keep_rotated("oauth", "first", "second")
    assert await SharedTokens(state().shared, 15).rotated("oauth", "first") == "second"


async def test_keys_are_replaced_one_replica_after_the_other(replica: Replica, api: FakeApi) -> None:
    """R-OPS-3: all keys open, the first seals."""
    old, both, new = replica(KEYS[0]), replica(KEYS[1], KEYS[0]), replica(KEYS[1])
    token = await token_of(old)
    assert code(await call(new, confirmation_token=token)) == "TOKEN_INVALID"
    assert (await call(both, confirmation_token=token))["success"]
    token = await token_of(both)
    assert code(await call(old, confirmation_token=token)) == "TOKEN_INVALID"
    assert (await call(new, confirmation_token=token))["success"]
    assert len(api.sent) == 2


async def test_a_token_is_no_good_in_another_store_though_the_key_is_the_same(
    replica: Replica, api: FakeApi, tmp_path: Path
) -> None:
    """R-OPS-3: where its use would not be known."""
    token = await token_of(replica(KEYS[0]))
    other = replica(KEYS[0], at=f"sqlite:///{tmp_path}/other.sqlite3")
    assert code(await call(other, confirmation_token=token)) == "TOKEN_ALREADY_USED"
    assert api.sent == []


async def test_replicas_confirm_for_each_other_again_after_their_store_was_emptied(
    replica: Replica, api: FakeApi, request: pytest.FixtureRequest, url: str, server: RedisServer, tmp_path: Path
) -> None:
    """R-OPS-3: also one that has started since, with the key that the store keeps or one of the owner's."""
    for keys in ((), KEYS[:1]):
        replicas = [replica(*keys), replica(*keys)]
        for dispatcher in replicas:
            assert (await call(dispatcher, confirmation_token=await token_of(dispatcher)))["success"]
        if request.node.callspec.params["url"] == "redis":
            server.flush()
        for file in tmp_path.glob("s.sqlite3*"):
            file.unlink()
        replicas.append(replica(*keys))
        for asked in reversed(replicas):
            for used in replicas:
                assert (await call(used, confirmation_token=await token_of(asked)))["success"]
    assert len(api.sent) == 2 * (2 + 9)


async def test_nothing_that_is_stored_can_be_read_in_the_store(replica: Replica, state: Callable[..., State]) -> None:
    """R-OPS-3, R-TRUST-5: with a key of the owner's."""
    dispatcher = replica(KEYS[0])
    asked = await call(dispatcher, {"operation": "run_steps", "params": {"steps": [DELETE]}})
    store = state().shared.store
    stored = [item for space in ("plan", "question", "unused") for item in await store.items(space)]
    assert len(stored) == 3
    held = asked["error"]["details"]["plan"]["continue"], asked["confirmation"]["token"], "animal_id"
    assert not [text for text in held if text in json.dumps(stored)]


# Away


@ON_REDIS
async def test_while_the_store_is_away_nothing_is_confirmed_and_reads_go_on(
    replica: Replica, api: FakeApi, url: str, server: RedisServer
) -> None:
    """R-OPS-3, R-SAFE-3, R-LOOP-3: closed for confirmations and blocks, open for reads and pages."""
    dispatcher, looping = replica(KEYS[0]), replica(KEYS[0], **ENFORCING)
    token = await token_of(dispatcher)
    create = {"operation": "create_animal", "params": {"name": "Ada", "species": "lion"}}
    server.stop()
    try:
        for answer in (
            await call(dispatcher, confirmation_token=token),
            await call(dispatcher),
            await call(looping, create),
            await call(dispatcher, {"operation": "confirm_operation", "params": {"confirmation_token": token}}),
        ):
            assert without_ids(answer["error"]["details"]) == {"reason": "the store is down"}
            assert "Nothing was sent" in answer["error"]["message"]
            assert str(server.port) not in json.dumps(answer)
        assert api.sent == []
        assert (await call(dispatcher, {"operation": "list_keepers"}))["success"]
        assert (await call(looping, {"operation": "list_keepers"}))["success"]
        assert (await call(dispatcher, create))["success"]
        cursors = Cursors(dispatcher.state)
        await cursors.prepare()
        assert cursors.read("after", cursors.write("x", {}, Place(1)), "x", {}) == Place(1)
        plan = await call(dispatcher, {"operation": "run_steps", "params": {"steps": [DELETE]}})
        assert "continue" not in plan["error"]["details"]["plan"]
        shared = SharedTokens(dispatcher.state.shared, 15)

        async def make() -> AccessToken:
            return AccessToken("by itself")

        assert (await shared.renew("key", make)).value == "by itself"
    finally:
        server.start()
    assert (await call(dispatcher, confirmation_token=token))["success"]


@ON_REDIS
async def test_cursors_of_an_outage_are_read_when_the_store_is_back(
    state: Callable[..., State], url: str, server: RedisServer
) -> None:
    """R-OPS-3, R-SEL-3: by the replica that wrote them."""
    cursors = Cursors(state())
    server.stop()
    try:
        await cursors.prepare()
        cursor = cursors.write("x", {}, Place(1))
    finally:
        server.start()
    await cursors.prepare()
    assert cursors.read("after", cursor, "x", {}) == Place(1)
    other = Cursors(state())
    await other.prepare()
    assert other.read("after", cursors.write("x", {}, Place(2)), "x", {}) == Place(2)
