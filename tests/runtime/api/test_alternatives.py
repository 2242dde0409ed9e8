"""Refusals of calls that fit no alternative, or that lack what other fields need."""

from __future__ import annotations

from typing import Any

from aqlgen.runtime.errors import Code
from tests.cases import each
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


UNION = {"anyOf": [{"$ref": "#/types/Card"}, {"$ref": "#/types/Bank"}]}
EITHER = {**PLAIN, "anyOf": [{"required": ["card_no", "holder"]}, {"required": ["iban", "bic"]}]}
NEAREST = "Parameter 'pay' fits none of the alternatives. Nearest is type "


@each(
    ("value", "code", "message"),
    [
        (
            {"type": "card", "iban": "x"},
            Code.MISSING_PARAM,
            f"{NEAREST}'card': Missing required parameter 'pay.number' (and 1 more, see details.problems)",
        ),
        (
            {"number": "1", "expiry": "2"},
            Code.MISSING_PARAM,
            f"{NEAREST}'card': Missing required parameter 'pay.type'",
        ),
        (
            {"type": "bank", "iban": "x", "cvc": "1"},
            Code.INVALID_VALUE,
            f"{NEAREST}'bank': Parameter 'pay' has unknown fields: 'cvc'",
        ),
        (
            {"type": "bank", "iban": 5},
            Code.INVALID_TYPE,
            f"{NEAREST}'bank': Parameter 'pay.iban' expected 'string', got 'integer'. Give \"5\", in quotes",
        ),
        (
            {},
            Code.MISSING_PARAM,
            f"{NEAREST}'bank': Missing required parameter 'pay.type' (and 1 more, see details.problems)",
        ),
    ],
)
def test_the_nearest_alternative_is_told_by_its_tag_else_by_the_fields_that_were_given(
    package: Make, value: Any, code: Code, message: str
) -> None:
    """R-ENV-5"""
    failure = within(package).refused({"pay": value})
    assert (failure.code, failure.message) == (code, message)
    assert failure.details["alternatives"] == ["type 'card' with number and expiry", "type 'bank' with iban"]


def test_a_change_that_is_merged_may_lack_what_an_alternative_requires(package: Make) -> None:
    body = {"content_type": "application/json", "shape": "whole", "parameter": "input", "schema": UNION}
    row = operation("PATCH", parameters={"input": {"in": "body", "schema": UNION}}, body=body)
    pets = package({"op": {**row, "update": {"strategy": "patch"}}}, {"Card": CARD, "Bank": BANK}, family="update")
    failure = pets.refused({"input": {"type": "card", "number": []}})
    assert failure.message.endswith("Nearest is type 'card': Parameter 'input.number' expected 'string', got 'array'")


@each(
    ("schema", "params", "messages"),
    [
        (
            EITHER,
            {"holder": "Ada"},
            [
                "The fields fit none of the alternatives. "
                "Nearest is the one needing card_no and holder: Missing required parameter 'card_no'"
            ],
        ),
        (
            UNION,
            {"type": "bank", "number": "1"},
            [
                "The fields fit none of the alternatives. Nearest is type 'bank': Missing required parameter 'iban' "
                "(and 1 more, see details.problems)",
                "The body has unknown fields: 'number'",
            ],
        ),
        ({**PLAIN, "minProperties": 2}, {"bic": "1"}, ["The body needs a minimum of 2 fields"]),
        ({**PLAIN, "required": ["card_no"]}, {"bic": "1"}, ["Missing required parameter 'card_no'"]),
    ],
)
def test_the_fields_of_a_body_are_told_by_the_names_of_parameters(
    package: Make, schema: dict[str, Any], params: dict[str, Any], messages: list[str]
) -> None:
    """R-ENV-5"""
    types = {"Card": CARD, "Bank": BANK} if schema is UNION else {}
    failure = in_body(package, schema, **types).refused(params)
    assert [failure.message, *(each["message"] for each in failure.details.get("problems", ()))] == messages


def test_a_whole_alternative_is_sent(package: Make) -> None:
    assert in_body(package, EITHER).build({"iban": "1", "bic": "2"}).content == b'{"iban":"1","bic":"2"}'
