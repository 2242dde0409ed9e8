"""Attacks on what operators decide: stretching an approval, evading a denial, deciding as an agent (R-TRUST-6)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from forms import FORMS, altered, unwrapped, wrapped
from guarded_shop import Human, Shop, open_shop, write_shop

from aqlgen.runtime.safety.questions import QuestionStore
from aqlgen.runtime.session import Session, with_caller
from aqlgen.runtime.settings.tables import ConfirmationSettings
from aqlgen.runtime.state.custody import State, open_store
from tests.runtime.safety.test_revocation import code

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("form", FORMS)]
DELETE = {"operation": "delete_item", "params": {"item_id": "7"}}
PAY = {"operation": "pay", "params": {"amount": 100, "recipient": "DE89", "metadata": {"a": 1}}}
Envelope = dict[str, Any]


@dataclass
class Place:
    """A shop whose calls wait for an operator, and the operator's own view of the store."""

    shop: Shop
    desk: QuestionStore
    form: str
    session: Session

    async def send(
        self, call: dict[str, Any], caller: str | None = "anna", session: Session | None = None, form: str = ""
    ) -> Envelope:
        with with_caller({}, caller):
            handle = self.shop.dispatcher.handle
            return unwrapped(
                await handle(None, wrapped(form or self.form, call), session or self.session, Human(reachable=True))
            )

    async def decided(self, call: dict[str, Any], verdict: Any) -> None:
        """Have a call decided by the operator."""
        await self.send(call)
        (matter,) = [matter for matter in await self.desk.questions() if not matter.verdict]
        assert await self.desk.decide(matter.id, verdict, "operator:ada")


@pytest.fixture
async def place(tmp_path: Path, form: str) -> AsyncIterator[Callable[..., Place]]:
    url, states = f"sqlite:///{tmp_path}/state.sqlite3", list[State]()

    def make(**settings: Any) -> Place:
        states.extend(State(open_store(url, "shop", {}), "shop") for _ in range(2))
        folder = write_shop(tmp_path / "shop")
        confirmation = ConfirmationSettings(**{"approval": "operator", **settings})
        shop = open_shop(
            folder, tmp_path / "audit.jsonl", files=str(tmp_path), state=states[-2], confirmation=confirmation
        )
        return Place(shop, QuestionStore(states[-1].shared), form, Session.new())

    yield make
    for state in states:
        await state.close()


STRETCHED: dict[str, dict[str, Any]] = {
    "another item": altered(DELETE, item_id="8"),
    "a blank": altered(DELETE, item_id="7 "),
    "a zero": altered(DELETE, item_id="07"),
    "fullwidth": altered(DELETE, item_id="\uff17"),
    "a step in the path": altered(DELETE, item_id="7/../8"),
    "an encoded step": altered(DELETE, item_id="7%2f..%2f8"),
    "a query": altered(DELETE, item_id="7?force=true"),
    "a star": altered(DELETE, item_id="*"),
    "with force": altered(DELETE, force=True),
    "without force, said": altered(DELETE, force=False),
    "a token of its own": altered(DELETE, confirmation_token="conf_" + "0" * 64),
    "a token of another name": altered(DELETE, _confirmation="conf_" + "0" * 64),
    "another operation": {"operation": "purge", "params": {}},
    "a replacement": {"operation": "replace_item", "params": {"item_id": "7", "input": {"name": "x"}}},
    "a payment": PAY,
    "the other first": {"operations": [altered(DELETE, item_id="8"), DELETE]},
    "confirming itself": {"operation": "confirm_operation", "params": {"confirmation_token": "conf_" + "0" * 64}},
}


@pytest.mark.parametrize("attack", STRETCHED)
async def test_an_approval_is_not_stretched(place: Callable[..., Place], attack: str) -> None:
    """R-TRUST-6, R-SAFE-4: neither sent nor used up; the call that was approved runs afterwards, once."""
    home = place()
    await home.decided(DELETE, "approved")
    for _ in range(2):
        answer = await home.send(STRETCHED[attack])
        assert '"success": true' not in json.dumps(answer)
    assert {request.method for request in home.shop.wire.sent} <= {"GET"}, "an update reads before it is asked about"
    home.shop.wire.sent.clear()
    assert (await home.send(DELETE))["success"]
    assert code(await home.send(DELETE)) == "CONFIRMATION_REQUIRED"
    assert len(home.shop.wire.sent) == 1


@pytest.mark.parametrize("item", ["7", "8"])
async def test_in_a_batch_it_is_for_the_one_call(place: Callable[..., Place], item: str) -> None:
    """R-TRUST-6, R-SAFE-4: the next, the same one too, is asked about."""
    home = place()
    await home.decided(DELETE, "approved")
    answer = await home.send({"operations": [DELETE, altered(DELETE, item_id=item)]})
    assert answer["halted_at"]["result"]["error"]["code"] == "CONFIRMATION_REQUIRED"
    assert len(home.shop.wire.sent) == 1


PAID: dict[str, dict[str, Any]] = {
    "more": altered(PAY, amount=101),
    "an exact number": altered(PAY, amount=100.5),
    "another recipient": altered(PAY, recipient="DE90"),
    "another case": altered(PAY, recipient="de89"),
    "a note": altered(PAY, note="x"),
    "an empty note": altered(PAY, note=""),
    "a default, said": altered(PAY, currency="EUR"),
    "another field within": altered(PAY, metadata={"a": 1, "b": 2}),
    "no field within": altered(PAY, metadata={}),
    "lines": altered(PAY, lines=[]),
    "a switch": altered(PAY, zz_refund_all=True),
    "a secret": altered(PAY, pin="1234"),
}


@pytest.mark.parametrize("attack", PAID)
@pytest.mark.parametrize("approval", ["operator", "person", "agent"])
async def test_an_approval_is_for_each_value(place: Callable[..., Place], attack: str, approval: str) -> None:
    """R-TRUST-6, R-SAFE-4: also where others may confirm; a person behind the client is not asked to help."""
    home = place(approval=approval)
    human = Human(reachable=False)

    async def send(call: dict[str, Any]) -> Envelope:
        with with_caller({}, "anna"):
            arguments = wrapped(home.form, call)
            return unwrapped(await home.shop.dispatcher.handle(None, arguments, home.session, human))

    await send(PAY)
    (matter,) = await home.desk.questions()
    assert await home.desk.decide(matter.id, "approved", "operator:ada")
    assert not (await send(PAID[attack]))["success"]
    assert home.shop.wire.sent == []
    assert (await send(PAY))["success"]
    assert len(home.shop.wire.sent) == 1


@pytest.mark.parametrize("other", ["caller", "nobody", "session", "no session", "caller and session"])
async def test_an_approval_is_nobody_elses(place: Callable[..., Place], other: str) -> None:
    """R-TRUST-6, R-SAFE-4"""
    home = place()
    await home.decided(DELETE, "approved")
    who: dict[str, dict[str, Any]] = {
        "caller": {"caller": "bert"},
        "nobody": {"caller": None},
        "session": {"session": Session.new()},
        "no session": {"session": Session()},
        "caller and session": {"caller": "bert", "session": Session.new()},
    }
    assert code(await home.send(DELETE, **who[other])) == "CONFIRMATION_REQUIRED"
    assert home.shop.wire.sent == []


@pytest.mark.parametrize("second", FORMS)
@pytest.mark.parametrize("name", ["delete_item", "erase_item", "removeItem", "DELETE /items/{itemId}", "Delete-Item"])
async def test_a_denial_is_not_evaded_by_another_form_or_name(
    place: Callable[..., Place], second: str, name: str
) -> None:
    """R-TRUST-6, R-SAFE-4"""
    home = place(approval="agent")
    with with_caller({}, "anna"):
        await home.shop.dispatcher.handle(None, wrapped(home.form, DELETE), home.session, None)
    (matter,) = await home.desk.questions()
    assert await home.desk.decide(matter.id, "denied", "operator:ada")
    answer = await home.send({**DELETE, "operation": name}, form=second)
    assert not answer["success"]
    assert "operator said no" in json.dumps(answer)
    assert home.shop.wire.sent == []


async def test_a_file_that_is_exchanged_after_the_approval_is_not_sent(
    place: Callable[..., Place], tmp_path: Path
) -> None:
    """R-TRUST-6: nor does the approval of one file stand for another of its name."""
    file = tmp_path / "a.txt"
    file.write_bytes(b"hello")
    send = {"operation": "send_file", "params": {"file": {"path": "a.txt"}}}
    home = place()
    await home.decided(send, "approved")
    file.write_bytes(b"other")
    assert code(await home.send(send)) == "CONFIRMATION_REQUIRED"
    assert home.shop.wire.sent == []
