"""Secrets within a call's parameters, by the document's word: in neither question nor audit log (R-SAFE-5)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aqlgen.runtime.hooks import GateDecision
from aqlgen.runtime.safety.audit import masked_params
from aqlgen.runtime.safety.question_texts import SECRET_NAME, secret_names
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
    assert secret_names(operation, table.types) == {"lock_code", "lockCode"}


@pytest.mark.parametrize("name", ["passphrase", "authorization"])
def test_the_sentence_hides_what_the_question_and_the_log_hide(row: tuple[Row, Any], name: str) -> None:
    """R-SAFE-5: names of secrets are one list for all of them."""
    operation, table = row
    kept = masked_params(operation, {name: CODE}, table.types)
    assert CODE not in str(kept)
    assert SECRET_NAME.search(name)
