"""Which calls must be confirmed, run or are refused, seen through a real client in both protocol eras."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from mcp import Client
from stand_in import FakeApi
from tiny_zoo import ADAPTER, OPERATIONS, write_package

from aqlgen.runtime.dispatch.dispatcher import Dispatcher
from aqlgen.runtime.hooks import Call, GateDecision, Hooks, Refuse
from aqlgen.runtime.server.mcp import build_server
from aqlgen.runtime.session import Session
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.settings.load import ConfigError, load
from aqlgen.runtime.settings.tables import ConfirmationSettings
from aqlgen.runtime.table import Adapter, Table

pytestmark = pytest.mark.anyio
ERAS = pytest.mark.parametrize("era", ["auto", "legacy"])
Make = Callable[..., Dispatcher]
Envelope = dict[str, Any]


class Agent:
    """Calls `delete_animal`, or another operation."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def send(self, tool: str, arguments: dict[str, Any]) -> Envelope:
        result = await self.client.call_tool(f"mcp_aql_{tool}", arguments)
        assert result.structured_content is not None
        return result.structured_content

    async def delete(self, animal: Any = 7, beside: dict[str, Any] | None = None, **more: Any) -> Envelope:
        params = {"animal_id": animal, **more}
        return await self.send("delete", {"operation": "delete_animal", "params": params, **(beside or {})})

    async def token(self, animal: Any = 7) -> str:
        envelope = await self.delete(animal)
        assert envelope["error"]["code"] == "CONFIRMATION_REQUIRED"
        return str(envelope["confirmation"]["token"])


@asynccontextmanager
async def agent(dispatcher: Dispatcher, era: str = "auto") -> AsyncIterator[Agent]:
    async with Client(build_server(dispatcher), mode=era) as client:
        yield Agent(client)


def code(envelope: Envelope) -> str:
    assert envelope["success"] is False, envelope
    return str(envelope["error"]["code"])


@ERAS
async def test_a_delete_asks_once_is_confirmed_and_runs_once(zoo: Dispatcher, api: FakeApi, era: str) -> None:
    """R-SAFE-3: said in words, with the token in both places."""
    async with agent(zoo, era) as client:
        asked = await client.delete()
        details, confirmation = asked["error"]["details"], asked["confirmation"]
        assert code(asked) == "CONFIRMATION_REQUIRED"
        assert re.fullmatch(r"conf_[0-9A-Za-z_-]{64}", details["confirmation_token"])
        assert confirmation == {
            "token": details["confirmation_token"],
            "expires_at": confirmation["expires_at"],
            "message": confirmation["message"],
            "reasons": ["Removes data", "May not be undone"],
        }
        assert "Removes data" not in str(details), "the question is read once"
        assert (details["operation"], details["danger_level"]) == ("delete_animal", "destructive")
        assert confirmation["message"].startswith(
            "Delete animal 7? This cannot be undone.\nDELETE https://zoo.example/v1/animals/"
        )
        assert confirmation["message"].endswith("\n- animal_id: 7")
        assert api.sent == []
        done = await client.delete(confirmation_token=confirmation["token"])
        assert done["success"], done
        assert done["data"] == {"animal_id": 7}
        assert len(api.sent) == 1
        assert code(await client.delete(confirmation_token=confirmation["token"])) == "TOKEN_ALREADY_USED"
        assert len(api.sent) == 1


@ERAS
@pytest.mark.parametrize("place", ["inside", "beside"])
@pytest.mark.parametrize("name", ["confirmation_token", "_confirmation"])
async def test_a_token_is_taken_under_both_names_and_in_both_places(
    zoo: Dispatcher, api: FakeApi, era: str, place: str, name: str
) -> None:
    """R-SAFE-3"""
    async with agent(zoo, era) as client:
        sent = {name: await client.token()}
        assert (await client.delete(beside=sent) if place == "beside" else await client.delete(**sent))["success"]
    assert json.loads(api.sent[0].content or b"") == {"animal_id": 7}


@ERAS
async def test_an_expired_token_is_refused(zoo: Dispatcher, api: FakeApi, era: str) -> None:
    """R-SAFE-3: the clock's grace is added to its time."""
    now = [1_000_000.0]
    zoo.gatekeeper.asking.tokens.clock = lambda: now[0]
    async with agent(zoo, era) as client:
        late, just = await client.token(), await client.token()
        now[0] += 329
        assert (await client.delete(confirmation_token=just))["success"]
        now[0] += 2
        envelope = await client.delete(confirmation_token=late)
        assert code(envelope) == "TOKEN_EXPIRED"
        assert envelope["error"]["details"]["expired_at"] < envelope["error"]["details"]["current_time"]
    assert len(api.sent) == 1


@ERAS
async def test_a_token_of_another_session_is_refused_and_goes_with_its_session(
    zoo: Dispatcher, api: FakeApi, era: str
) -> None:
    """R-SAFE-3, R-OPS-2"""
    async with agent(zoo, era) as first, agent(zoo, era) as second:
        token = await first.token()
        confirming = {"operation": "confirm_operation", "params": {"confirmation_token": token}}
        for envelope in (await second.delete(confirmation_token=token), await second.send("execute", confirming)):
            assert code(envelope) == "TOKEN_SCOPE_MISMATCH"
        assert code(await first.delete()) == "CONFIRMATION_REQUIRED"
        assert (await first.delete(confirmation_token=token))["success"]
        gone = await second.token()
    async with agent(zoo, era) as third:
        assert code(await third.delete(confirmation_token=gone)) == "TOKEN_SCOPE_MISMATCH"
    assert len(api.sent) == 1


@ERAS
async def test_a_token_of_another_operation_or_adapter_is_refused(
    make: Make, package: Path, api: FakeApi, era: str
) -> None:
    """R-SAFE-3"""
    operations = json.loads(json.dumps(OPERATIONS))
    operations["delete"]["remove_animal"] = operations["delete"]["delete_animal"]
    write_package(package / "more", {**ADAPTER, "counts": {**ADAPTER["counts"], "delete": 2}}, operations)
    folder = package / "more"
    dispatcher = Dispatcher(Adapter.load(folder), Table(folder), api, Config())
    async with agent(dispatcher, era) as client:
        params = {"animal_id": 7, "confirmation_token": await client.token()}
        envelope = await client.send("delete", {"operation": "remove_animal", "params": params})
        assert code(envelope) == "TOKEN_SCOPE_MISMATCH"
    session = Session("shared")
    asked = await dispatcher.handle(None, {"operation": "delete_animal", "params": {"animal_id": 7}}, session)
    other = {"operation": "delete_animal", "params": {"animal_id": 7, "_confirmation": asked["confirmation"]["token"]}}
    assert code(await make().handle(None, other, session)) == "TOKEN_INVALID"
    assert api.sent == []


async def test_a_session_is_given_only_so_many_tokens_a_minute(make: Make) -> None:
    """R-SAFE-3"""
    few = ConfirmationSettings(per_minute=3)
    async with agent(make(confirmation=few)) as client, agent(make(confirmation=few)) as other:
        for _ in range(3):
            await client.token()
        envelope = await client.delete()
        assert code(envelope) == "RATE_LIMIT_EXCEEDED"
        assert 1 <= envelope["error"]["details"]["retry_after_seconds"] <= 60
        await other.token()


@ERAS
async def test_what_cannot_run_is_not_asked_about(zoo: Dispatcher, era: str) -> None:
    """R-SAFE-3: validation comes first."""
    async with agent(zoo, era) as client:
        envelope = await client.send("delete", {"operation": "delete_animal", "params": {}})
        assert code(envelope) == "VALIDATION_MISSING_PARAM"


@ERAS
async def test_confirm_operation_lets_the_call_through_once(zoo: Dispatcher, api: FakeApi, era: str) -> None:
    """R-SAFE-3"""
    async with agent(zoo, era) as client:
        params = {"confirmation_token": await client.token()}
        confirmed = await client.send("execute", {"operation": "confirm_operation", "params": params})
        assert confirmed["data"]["operation"] == "delete_animal"
        assert code(await client.delete(8)) == "CONFIRMATION_REQUIRED"
        assert (await client.delete())["success"]
        assert code(await client.delete()) == "CONFIRMATION_REQUIRED"
        assert code(await client.delete(**params)) == "TOKEN_ALREADY_USED"
    assert len(api.sent) == 1


@ERAS
async def test_a_batch_halts_where_it_must_be_confirmed_and_one_token_is_for_all_of_a_kind(
    zoo: Dispatcher, api: FakeApi, era: str
) -> None:
    """R-SAFE-3, R-BAT-1, R-BAT-2: what is sent again with the token beside it runs, and nothing else does."""
    read = {"operation": "get_animal", "params": {"animal_id": 1}}
    deletes = [{"operation": "delete_animal", "params": {"animal_id": number}} for number in (1, 2, 3)]
    async with agent(zoo, era) as client:
        asked = await client.send("delete", {"operations": [read, *deletes]})
        assert [result["index"] for result in asked["results"]] == [0]
        assert asked["results"][0]["result"]["error"]["code"] == "VALIDATION_ENDPOINT_MISMATCH"
        halted = asked["halted_at"]
        assert (halted["index"], halted["operation"]) == (1, "delete_animal")
        assert set(halted["result"]) == {"success", "error"}
        assert asked["pending_operations"] == [{"index": index + 1, **deletes[index]} for index in (1, 2)]
        assert asked["summary"] == {"total": 4, "succeeded": 0, "failed": 1, "halted": 1, "pending": 2}
        details = halted["result"]["error"]["details"]
        assert all(f"animal_id: {number}" in details["confirmation_message"] for number in (1, 2, 3))
        assert api.sent == []
        token = {"confirmation_token": details["confirmation_token"]}
        for others in (deletes[:2], [*deletes, deletes[0]], deletes[::-1]):
            refused = await client.send("delete", {"operations": others, **token})
            assert {result["result"]["error"]["code"] for result in refused["results"]} == {"TOKEN_SCOPE_MISMATCH"}
        assert api.sent == []
        done = await client.send("delete", {"operations": deletes, **token})
        assert done["summary"] == {"total": 3, "succeeded": 3, "failed": 0}
        again = await client.send("delete", {"operations": deletes, **token})
        assert again["error"]["code"] == "TOKEN_ALREADY_USED"
    assert len(api.sent) == 3


@ERAS
async def test_an_operation_of_a_batch_may_have_its_own_token(zoo: Dispatcher, api: FakeApi, era: str) -> None:
    """R-SAFE-3, R-BAT-1: a token given out for a call alone is good for it within a batch, too, and for no other."""
    calls = [{"operation": "delete_animal", "params": {"animal_id": number}} for number in (1, 2)]
    async with agent(zoo, era) as client:
        token = (await client.send("delete", calls[0]))["confirmation"]["token"]
        confirmed = [{**calls[0], "confirmation_token": token}, {**calls[1], "_confirmation": token}]
        done = await client.send("delete", {"operations": confirmed})
        assert [result["result"]["success"] for result in done["results"]] == [True, False]
    assert len(api.sent) == 1


async def test_the_owners_words_stand_in_the_question(tmp_path: Path, api: FakeApi) -> None:
    """R-SAFE-3"""
    operations = json.loads(json.dumps(OPERATIONS))
    operations["delete"]["delete_animal"]["confirmation"] = "The animal is gone\nfor good."
    folder = write_package(tmp_path / "zoo", operations=operations)
    async with agent(Dispatcher(Adapter.load(folder), Table(folder), api, Config())) as client:
        envelope = await client.delete()
    message = envelope["confirmation"]["message"]
    assert message.startswith("Delete animal 7? The animal is gone for good.\n")


@pytest.mark.parametrize("policy", ["none", "Strict!", "lax", "true", " "])
def test_an_unknown_policy_is_refused(package: Path, policy: str) -> None:
    """R-SAFE-2"""
    with pytest.raises(ConfigError, match="'standard', 'strict' or 'open'"):
        load(package, {"MCP_AQL_POLICY": policy})


@pytest.mark.parametrize("name", ["list_keepers", "create_animal", "delete_animal"])
async def test_strict_asks_about_what_is_under_review(tmp_path: Path, api: FakeApi, name: str) -> None:
    """R-SAFE-2: whatever its danger, unless an override has settled it."""
    operations = json.loads(json.dumps(OPERATIONS))
    calls = {"list_keepers": {}, "create_animal": {"name": "Ada", "species": "lion"}, "delete_animal": {"animal_id": 7}}
    outcomes = {}
    for review in ([], ["category: weak-verb (called request)"]):
        for rows in operations.values():
            if name in rows:
                rows[name]["review"] = review
        folder = write_package(tmp_path / f"zoo{len(review)}", operations=operations)
        for policy in ("standard", "strict"):
            config = Config(policy=policy, trust_level="validated")
            dispatcher = Dispatcher(Adapter.load(folder), Table(folder), api, config)
            envelope = await dispatcher.handle(None, {"operation": name, "params": calls[name]})
            outcomes[policy, bool(review)] = envelope["success"]
            if policy == "strict" and review:
                assert "weak-verb (called request)" in envelope["confirmation"]["message"]
    grave = name == "delete_animal"
    assert outcomes == {
        ("standard", False): not grave,
        ("standard", True): not grave,
        ("strict", False): not grave,
        ("strict", True): False,
    }


async def test_without_a_session_a_token_is_good_where_there_is_none(zoo: Dispatcher, api: FakeApi) -> None:
    """R-SAFE-3: HTTP with protocol 2026-07-28, where each request has a session of its own."""

    async def call(session: Session, **more: Any) -> Envelope:
        try:
            return await zoo.handle(None, {"operation": "delete_animal", "params": {"animal_id": 7, **more}}, session)
        finally:
            session.close()

    token = (await call(Session()))["confirmation"]["token"]
    assert code(await call(Session("one"), _confirmation=token)) == "TOKEN_SCOPE_MISMATCH"
    assert (await call(Session(), _confirmation=token))["success"]
    assert code(await call(Session(), _confirmation=token)) == "TOKEN_ALREADY_USED"
    assert len(api.sent) == 1


# on_decision, as a user writes it


@ERAS
async def test_on_decision_sees_every_decision_and_may_record_tighten_and_relax(
    make: Make, api: FakeApi, era: str
) -> None:
    """R-LOOP-6"""
    seen: list[tuple[str, str, str]] = []

    async def on_decision(decision: GateDecision, call: Call) -> GateDecision | None:
        seen.append((call.operation, decision.danger, decision.outcome))
        if call.operation == "create_animal":
            return decision._replace(outcome="confirm", reasons=("animals cost money",))
        if call.params.get("animal_id") == 1:
            return decision._replace(outcome="allow")
        if call.params.get("animal_id") == 2:
            raise Refuse("the last of its kind")
        return None

    async with agent(make(Hooks.load(SimpleNamespace(on_decision=on_decision))), era) as client:
        assert (await client.send("read", {"operation": "list_keepers"}))["success"]
        asked = await client.send("create", {"operation": "create_animal", "name": "Ada", "species": "lion"})
        assert asked["confirmation"]["reasons"] == ["animals cost money"]
        assert (await client.delete(1))["success"]
        refused = await client.delete(2)
        assert refused["error"]["message"] == "Permission denied: the last of its kind"
        assert code(await client.delete(3)) == "CONFIRMATION_REQUIRED"
    assert seen == [
        ("list_keepers", "safe", "allow"),
        ("create_animal", "reversible", "allow"),
        *[("delete_animal", "destructive", "confirm")] * 3,
    ]
    assert len(api.sent) == 2


@pytest.mark.parametrize("answer", [ValueError("sesame"), "a string", GateDecision("perhaps", "safe", "open")])  # type: ignore[arg-type]
async def test_an_on_decision_that_is_broken_refuses_the_call(
    make: Make, api: FakeApi, answer: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """R-LOOP-6"""

    def on_decision(decision: GateDecision, call: Call) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    async with agent(make(Hooks.load(SimpleNamespace(on_decision=on_decision)))) as client:
        envelope = await client.send("read", {"operation": "list_keepers"})
    assert code(envelope) == "INTERNAL_ERROR"
    assert "sesame" not in json.dumps(envelope)
    assert "on_decision" in capsys.readouterr().err
    assert api.sent == []
