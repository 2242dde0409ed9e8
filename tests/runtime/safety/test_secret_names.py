"""Secrets within a call's parameters, by the document's word: in neither question nor audit log (R-SAFE-5)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aqlgen.runtime.calls.selection import Selection
from aqlgen.runtime.hooks import GateDecision
from aqlgen.runtime.redaction import SECRET_NAME
from aqlgen.runtime.safety.audit import masked_params
from aqlgen.runtime.safety.question_texts import secret_names
from aqlgen.runtime.safety.view import view_of
from aqlgen.runtime.table import Row
from aqlgen.runtime.wire import ApiRequest
from tests.documents import TEXT, body_of, list_of, object_of, ref, replies
from tests.generator.commands import api, tabulate

LOCK = object_of(lockCode={**TEXT, "format": "password"}, color={})
SPARE = {"oneOf": [ref("Lock"), {"type": "null"}]}
BIKE = object_of(frame=TEXT, locks=list_of(ref("Lock")), spare=SPARE, parts=list_of(ref("Bike")))
CHANGE = {"operationId": "changeBike", "requestBody": body_of(ref("Bike")), "responses": replies(status="204")}
DOCUMENT = api({"PATCH /bikes/{bikeId}": CHANGE}, components={"schemas": {"Lock": LOCK, "Bike": BIKE}})
CODE = "four words in a row"
CALLS = [
    {"locks": [{"lock_code": CODE, "color": "red"}]},
    {"spare": {"lock_code": CODE}},
    {"spare": {"lockCode": CODE}},
    {"parts": [{"parts": [{"locks": [{"lock_code": CODE}]}]}]},
]


@pytest.fixture
def row(tmp_path: Path) -> tuple[Row, Any]:
    table = tabulate(tmp_path, DOCUMENT).prepared.table
    return table.rows[0].row, table


@pytest.mark.parametrize("fields", CALLS)
def test_what_the_document_declares_a_secret_is_hidden_at_any_depth(
    row: tuple[Row, Any], fields: dict[str, Any]
) -> None:
    """R-SAFE-5"""
    operation, table = row
    params = {"bike_id": 7, "input": fields}
    kept = masked_params(operation, params, table.types)
    assert CODE not in str(kept)
    assert kept["bike_id"] == 7
    request = ApiRequest("PATCH", "https://bikes.example/bikes/7", (), None)
    view = view_of(operation, params, GateDecision("confirm", "destructive", "standard"), request, table.types)
    assert CODE not in view.text
    assert "color" not in str(fields) or "red" in view.text


def test_a_type_that_holds_itself_is_looked_at_once(row: tuple[Row, Any]) -> None:
    operation, table = row
    assert secret_names(operation, table.types).declared == {"lock_code", "lockCode"}


@pytest.mark.parametrize("name", ["passphrase", "authorization"])
def test_the_sentence_hides_what_the_question_and_the_log_hide(row: tuple[Row, Any], name: str) -> None:
    """R-SAFE-5: names of secrets are one list for all of them."""
    operation, table = row
    kept = masked_params(operation, {name: CODE}, table.types)
    assert CODE not in str(kept)
    assert SECRET_NAME.search(name)


CARD = object_of(token=TEXT, lastFour=TEXT, panToken=TEXT)
KEY = object_of(apiKey=TEXT, label=TEXT)
CARDS = {
    "GET /cards": {"operationId": "listCards", "responses": replies(object_of(data=list_of(ref("Card"))))},
    "GET /cards/{card_token}": {"operationId": "getCard", "responses": replies(ref("Card"))},
    "PATCH /cards/{card_token}": {
        "operationId": "updateCard",
        "requestBody": body_of(object_of(funding_card_token=TEXT, card_token=TEXT, pan_token=TEXT)),
        "responses": replies(ref("Card")),
    },
    "GET /api_keys": {"operationId": "listKeys", "responses": replies(list_of(ref("Key")))},
    "GET /api_keys/{api_key}": {"operationId": "getKey", "responses": replies(ref("Key"))},
    "DELETE /api_keys/{api_key}": {"operationId": "dropKey", "responses": replies(status="204")},
}


@pytest.fixture
def cards(tmp_path: Path) -> Any:
    return tabulate(tmp_path, api(CARDS, components={"schemas": {"Card": CARD, "Key": KEY}})).prepared.table


def test_the_key_of_a_thing_that_the_api_lists_is_shown_whatever_it_sounds_like(cards: Any) -> None:
    """R-SAFE-5: a person sees which card is changed; a token that no list shows stays hidden."""
    row = next(each.row for each in cards.rows if each.row.name == "update_card")
    params = {"card_token": "card-7", "input": {"card_token": "card-8", "pan_token": CODE}}
    view = view_of(
        row,
        params,
        GateDecision("confirm", "destructive", "standard"),
        ApiRequest("PATCH", "https://cards.example/cards/card-7", (), None),
        cards.types,
    )
    assert "card-7" in view.text
    assert CODE not in view.text
    kept = masked_params(row, params, cards.types)
    assert kept["card_token"] == "card-7"
    assert CODE not in str(kept)


def test_a_path_that_names_the_secret_itself_hides_it(cards: Any) -> None:
    """R-SAFE-5: `/api_keys/{api_key}` has the key itself, though a list shows it."""
    row = next(each.row for each in cards.rows if each.row.method == "DELETE")
    assert row.parameters["api_key"].sensitive
    assert CODE not in str(masked_params(row, {"api_key": CODE, "input": {"apiKey": CODE}}, cards.types))


def test_the_short_form_of_a_thing_has_the_key_of_its_path(cards: Any) -> None:
    row = next(each.row for each in cards.rows if each.row.name == "list_cards")
    answer = {"data": [{"token": "card-7", "last_four": "1234", "pan_token": "x"}]}
    short = Selection(cards).select(answer, row, "minimal").whole()
    assert short == {"data": [{"token": "card-7"}]}
