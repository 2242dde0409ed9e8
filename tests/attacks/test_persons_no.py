"""Attacks on a person's no: asking again in other words, among others, at once, at other doors, wearing out."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp.types import ElicitResult

from aqlgen.runtime.safety.audit import Audit
from aqlgen.runtime.server.mcp import build_server
from aqlgen.runtime.session import Session, with_caller
from aqlgen.runtime.settings.tables import ConfirmationSettings
from tests.attacks.guarded_shop import OPERATIONS, Human, Shop, open_shop, write_shop
from tests.cases import each

pytestmark = pytest.mark.anyio
DELETE: dict[str, Any] = {"operation": "delete_item", "params": {"item_id": "7"}}
PAY: dict[str, Any] = {"operation": "pay", "params": {"amount": 1, "recipient": "Eve", "metadata": {"a": 1, "b": 2}}}


def shop(folder: Path, **settings: Any) -> Shop:
    operations = copy.deepcopy(OPERATIONS)
    operations["execute"]["pay"]["idempotency"] = {"parameter": "note", "in": "body"}
    operations["delete"]["delete_item"]["idempotency"] = {"header": "Idempotency-Key"}
    return open_shop(write_shop(folder / "shop", operations), folder / "audit.jsonl", **settings)


def deletion(name: str = "delete_item", **params: Any) -> dict[str, Any]:
    return {"operation": name, "params": {"item_id": "7", **params}}


def payment(**params: Any) -> dict[str, Any]:
    return {"operation": "pay", "params": {**PAY["params"], **params}}


def batch(*calls: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {"operations": list(calls), **more}


def steps(*calls: Mapping[str, Any]) -> dict[str, Any]:
    listed = [{"id": f"s{number}", **call} for number, call in enumerate(calls)]
    return {"operation": "run_steps", "params": {"steps": listed}}


OTHER = {"operation": "delete_item", "params": {"item_id": "8"}}
AGAIN: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "the same": (DELETE, DELETE),
    "an older name": (DELETE, deletion("erase_item")),
    "the operationId": (DELETE, deletion("removeItem")),
    "another spelling of the name": (DELETE, deletion("DELETE_ITEM")),
    "method and path": (DELETE, deletion("DELETE /items/{itemId}")),
    "a number for a text": (DELETE, deletion(item_id=7)),
    "the API's name of a parameter": (DELETE, {"operation": "delete_item", "params": {"itemId": "7"}}),
    "another case of a parameter": (DELETE, {"operation": "delete_item", "params": {"Item_ID": "7"}}),
    "a default spelled out": (DELETE, deletion(force=False)),
    "a default left out": (deletion(force=False), DELETE),
    "a default as text": (DELETE, deletion(force="false")),
    "parameters as text": (DELETE, {"operation": "delete_item", "params": '{"item_id": "7"}'}),
    "parameters wrapped": (DELETE, {"operation": "delete_item", "params": {"params": {"item_id": "7"}}}),
    "an invented token": (DELETE, {**DELETE, "confirmation_token": "conf_x"}),
    "a token within": (DELETE, deletion(_confirmation="conf_x")),
    "a batch of one": (DELETE, batch(DELETE)),
    "among others": (DELETE, batch(OTHER, DELETE)),
    "before others": (DELETE, batch(DELETE, OTHER)),
    "twice in a batch": (DELETE, batch(DELETE, DELETE)),
    "a plan": (DELETE, steps(DELETE)),
    "a plan among others": (DELETE, steps(OTHER, DELETE)),
    "a plan after a read": (DELETE, steps({"operation": "get_item", "params": {"item_id": "7"}}, DELETE)),
    "a batch again": (batch(DELETE, OTHER), batch(DELETE, OTHER)),
    "a batch in another order": (batch(DELETE, OTHER), batch(OTHER, DELETE)),
    "a batch as a plan": (batch(DELETE, OTHER), steps(DELETE, OTHER)),
    "a plan again": (steps(DELETE, OTHER), steps(DELETE, OTHER)),
    "a plan in another order": (steps(DELETE, OTHER), steps(OTHER, DELETE)),
    "a payment again": (PAY, PAY),
    "another key of idempotency": (PAY, payment(note="k2")),
    "its default spelled out": (PAY, payment(currency="EUR")),
    "another order within": (PAY, payment(metadata={"b": 2, "a": 1})),
    "another order and another key": (PAY, payment(metadata={"b": 2, "a": 1}, note="k3")),
    "another number form": (PAY, payment(amount=1.0)),
    "a payment in a batch": (PAY, batch(PAY)),
    "a payment in a plan": (PAY, steps(OTHER, PAY)),
}


@each("approval", ["agent", "person"])
@each("first, again", AGAIN.values(), ids=[*AGAIN])
async def test_what_was_declined_is_refused_without_another_question(
    tmp_path: Path, first: dict[str, Any], again: dict[str, Any], approval: str
) -> None:
    place = shop(tmp_path, confirmation=ConfirmationSettings(approval=approval))
    session, person = Session("session_1"), Human(says=False)
    await place.dispatcher.handle(None, first, session, person)
    assert len(person.asked) == 1
    person.says = True
    await place.dispatcher.handle(None, again, session, person)
    assert len(person.asked) == 1
    assert [request for request in place.wire.sent if request.method != "GET"] == []


@each("call", [OTHER, deletion(force=True), payment(amount=2), payment(recipient="Ada"), payment(currency="USD")])
async def test_another_call_is_asked_about_and_runs(tmp_path: Path, call: dict[str, Any]) -> None:
    place, session, person = shop(tmp_path), Session("session_1"), Human(says=False)
    for declined in (DELETE, PAY):
        await place.dispatcher.handle(None, declined, session, person)
    person.says = True
    assert (await place.dispatcher.handle(None, call, session, person))["success"]
    assert (len(person.asked), len(place.wire.sent)) == (3, 1)


@each("way", ["without a person", "a token from before", "a new session"])
async def test_a_no_holds_at_other_doors(tmp_path: Path, way: str) -> None:
    """An agent in agent mode confirms nothing by a token that a person declined; a known caller has one memory."""
    place, session, person = shop(tmp_path), Session("session_1"), Human(says=False)
    caller = "ada" if way == "a new session" else None
    with with_caller({}, caller):
        token = (await place.dispatcher.handle(None, DELETE, session))["confirmation"]["token"]
        await place.dispatcher.handle(None, DELETE, session, person)
        more = {"confirmation_token": token} if way == "a token from before" else {}
        again = Session("session_2") if way == "a new session" else session
        envelope = await place.dispatcher.handle(None, {**DELETE, **more}, again)
    assert envelope["error"]["code"] == "PERMISSION_DENIED"
    assert "not asked again" in envelope["error"]["message"]
    assert place.wire.sent == []


async def test_one_callers_no_is_not_anothers(tmp_path: Path) -> None:
    place, person = shop(tmp_path), Human(says=False)
    for number, caller in enumerate(("ada", "eve"), 1):
        with with_caller({}, caller):
            await place.dispatcher.handle(None, DELETE, Session(f"session_{number}"), person)
    assert len(person.asked) == 2


@each("era", ["auto", "legacy"])
@each("says", ["decline", "cancel"])
async def test_a_person_is_asked_so_many_times_and_no_more(tmp_path: Path, era: str, says: str) -> None:
    """120 different calls: each is another question; the budget is the caller's, and a yes costs none of it."""
    place = shop(tmp_path, confirmation=ConfirmationSettings(declined_per_hour=5))
    asked: list[str] = []
    answers = ["accept"] * 8

    async def callback(_: Any, params: Any) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action=answers.pop() if answers else says)  # type: ignore[arg-type]

    async with Client(build_server(place.dispatcher), mode=era, elicitation_callback=callback) as client:
        for number in range(120):
            arguments = {"operation": "delete_item", "params": {"item_id": f"x/{number}"}}
            answer = await client.call_tool("mcp_aql_delete", arguments)
        error = answer.structured_content["error"]  # type: ignore[index]
    assert len(asked) == 8 + 5
    assert len(place.wire.sent) == 8
    assert error["code"] == "RATE_LIMIT_EXCEEDED"
    assert error["details"]["limit"] == 5


@each(
    "error, code",
    [(RuntimeError("no form"), "CONFIRMATION_REQUIRED"), (MCPError(-1, "User rejected it"), "PERMISSION_DENIED")],
)
@each("approval", ["agent", "person"])
async def test_a_form_that_fails_is_nobodys_no(tmp_path: Path, error: Exception, code: str, approval: str) -> None:
    """A client that answers with a protocol error cannot ask; the error of a user who rejects is a no."""
    place = shop(tmp_path, confirmation=ConfirmationSettings(approval=approval))

    async def callback(_: Any, __: Any) -> ElicitResult:
        raise error

    async with Client(build_server(place.dispatcher), mode="legacy", elicitation_callback=callback) as client:
        first, again = [await client.call_tool("mcp_aql_delete", DELETE) for _ in range(2)]
    assert first.structured_content["error"]["code"] == code  # type: ignore[index]
    envelope: Any = again.structured_content
    assert envelope["error"]["code"] == (code if approval == "agent" else "PERMISSION_DENIED")
    assert ("confirmation" in envelope) == (code == "CONFIRMATION_REQUIRED" and approval == "agent")
    assert ("a person refused" in envelope["error"]["message"]) == (code == "PERMISSION_DENIED")
    assert place.wire.sent == []


@each("era", ["auto", "legacy"])
async def test_of_calls_at_once_one_is_asked_about(tmp_path: Path, era: str) -> None:
    place = shop(tmp_path)
    open_questions, most, answered = 0, 0, 0

    async def callback(_: Any, __: Any) -> ElicitResult:
        nonlocal open_questions, most, answered
        open_questions += 1
        most = max(most, open_questions)
        await asyncio.sleep(0.05)
        open_questions -= 1
        answered += 1
        return ElicitResult(action="accept")

    async with Client(build_server(place.dispatcher), mode=era, elicitation_callback=callback) as client:
        calls = [{"operation": "delete_item", "params": {"item_id": f"x/{number}"}} for number in range(30)]
        answers = await asyncio.gather(*(client.call_tool("mcp_aql_delete", arguments) for arguments in calls))
        assert (await client.call_tool("mcp_aql_delete", calls[-1])).structured_content["success"]  # type: ignore[index]
    contents = [answer.structured_content or {} for answer in answers]
    refused = [content["error"] for content in contents if not content["success"]]
    assert most == 1
    assert len(place.wire.sent) == answered
    assert refused
    assert {error["details"]["reason"] for error in refused} == {"another question is open"}


async def test_a_refusal_by_an_earlier_no_is_in_the_audit_log(tmp_path: Path) -> None:
    place, session, person = shop(tmp_path), Session("session_1"), Human(says=False)
    assert isinstance(place.dispatcher.audit, Audit)
    for _ in range(2):
        await place.dispatcher.handle(None, DELETE, session, person)
    assert [entry["reason"] for entry in place.events()] == [
        "a person did not confirm it",
        "a person declined it before",
    ]
