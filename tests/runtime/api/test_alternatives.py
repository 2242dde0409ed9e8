"""Refusals of calls that fit no alternative, or that lack what other fields need."""

from __future__ import annotations

from typing import Any

import pytest

from aqlgen.runtime.errors import Code
from tests.runtime.api.hand_made import Make, Package, operation

STRING = {"type": "string"}
CARD: dict[str, Any] = {
    "type": "object",
    "required": ["type", "number", "expiry"],
    "properties": {"type": {"enum": ["card"]}, "number": STRING, "expiry": STRING, "cvc": STRING},
}
BANK: dict[str, Any] = {
    "type": "object",
    "required": ["type", "iban"],
    "properties": {"type": {"enum": ["bank"]}, "iban": STRING},
    "additionalProperties": False,
}
PLAIN: dict[str, Any] = {
    "type": "object",
    "properties": {"card_no": {"type": "string", "x-name": "cardNo"}, "holder": STRING, "iban": STRING, "bic": STRING},
}


def in_body(package: Make, schema: dict[str, Any], **types: Any) -> Package:
    """Build an adapter whose operation has each field of a body as a parameter."""
    fields = {
        name: {"in": "body", "name": field.get("x-name", name), "schema": STRING}
        for part in (schema, *types.values())
        for name, field in part.get("properties", {}).items()
    }
    body = {"content_type": "application/json", "shape": "fields", "validate": True, "schema": schema}
    return package({"op": operation("POST", parameters=fields, body=body)}, types, family="create")


def within(package: Make) -> Package:
    """Build an adapter with a parameter that is one of two objects, or null."""
    union = {"anyOf": [{"$ref": "#/types/Card"}, {"$ref": "#/types/Bank"}, {"type": "null"}]}
    rows = {"op": operation("POST", parameters={"pay": {"in": "body", "schema": union}})}
    return package(rows, {"Card": CARD, "Bank": BANK}, family="create")


def test_the_value_that_names_an_alternative_decides_which_is_nearest(package: Make) -> None:
    failure = within(package).refused({"pay": {"type": "card", "iban": "x"}})
    assert failure.code is Code.MISSING_PARAM
    assert failure.message == (
        "Parameter 'pay' fits none of the alternatives. Nearest is type 'card': it lacks 'pay.number' and 'pay.expiry'"
    )
    assert failure.details["missing_params"] == ["pay.number", "pay.expiry"]
    assert failure.details["alternatives"] == ["type 'card' with number and expiry", "type 'bank' with iban"]


def test_without_it_the_fields_that_were_given_decide(package: Make) -> None:
    failure = within(package).refused({"pay": {"number": "1", "expiry": "2"}})
    assert failure.message.endswith("Nearest is type 'card': it lacks 'pay.type'")


def test_what_the_nearest_alternative_does_not_take_is_said(package: Make) -> None:
    failure = within(package).refused({"pay": {"type": "bank", "iban": "x", "cvc": "1"}})
    assert failure.code is Code.INVALID_VALUE
    assert failure.message.endswith("Nearest is type 'bank': it does not take 'pay.cvc'")


def test_a_wrong_value_within_the_nearest_alternative_is_said(package: Make) -> None:
    failure = within(package).refused({"pay": {"type": "bank", "iban": 5}})
    assert failure.message.endswith(
        "Nearest is type 'bank': parameter 'pay.iban' expected 'string', got 'integer'. Give \"5\", in quotes"
    )


def test_where_nothing_speaks_for_one_alternative_all_are_told(package: Make) -> None:
    failure = within(package).refused({"pay": {}})
    assert failure.message.endswith("Give one of: type 'card' with number and expiry; type 'bank' with iban")


def test_a_change_that_is_merged_may_lack_what_an_alternative_requires(package: Make) -> None:
    union = {"anyOf": [{"$ref": "#/types/Card"}, {"$ref": "#/types/Bank"}]}
    body = {"content_type": "application/json", "shape": "whole", "parameter": "input", "schema": union}
    row = operation("PATCH", parameters={"input": {"in": "body", "schema": union}}, body=body)
    pets = package({"op": {**row, "update": {"strategy": "patch"}}}, {"Card": CARD, "Bank": BANK}, family="update")
    failure = pets.refused({"input": {"type": "card", "number": []}})
    assert failure.message.endswith("Nearest is type 'card': parameter 'input.number' expected 'string', got 'array'")


def test_fields_of_the_body_are_told_by_the_names_of_parameters(package: Make) -> None:
    pets = in_body(package, {**PLAIN, "anyOf": [{"required": ["card_no", "holder"]}, {"required": ["iban", "bic"]}]})
    failure = pets.refused({"holder": "Ada"})
    assert failure.message == (
        "The fields fit none of the alternatives. Nearest is the one needing card_no and holder: it lacks 'card_no'"
    )
    assert failure.details["param_name"] == "card_no"
    assert pets.build({"iban": "1", "bic": "2"}).content == b'{"iban":"1","bic":"2"}'


def test_the_branch_of_a_body_is_named_by_its_discriminator(package: Make) -> None:
    union = {"anyOf": [{"$ref": "#/types/Card"}, {"$ref": "#/types/Bank"}]}
    failure = in_body(package, union, Card=CARD, Bank=BANK).refused({"type": "bank", "number": "1"})
    assert failure.message == (
        "The fields fit none of the alternatives. "
        "Nearest is type 'bank': it lacks 'iban', and it does not take 'number'"
    )


@pytest.mark.parametrize(
    ("rule", "params", "message"),
    [
        ({"dependentRequired": {"card_no": ["holder"]}}, {"card_no": "1"}, "'holder' is needed with card_no"),
        ({"minProperties": 2}, {"bic": "1"}, "The body needs 2 or more of card_no, holder, iban, bic"),
        ({"required": ["card_no"]}, {"bic": "1"}, "Missing required parameter 'card_no'"),
    ],
)
def test_fields_that_need_one_another_are_told_as_a_person_would(
    package: Make, rule: dict[str, Any], params: dict[str, Any], message: str
) -> None:
    assert in_body(package, {**PLAIN, **rule}).refused(params).message == message
