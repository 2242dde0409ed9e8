"""Validation of a call's parameters, and the messages of refusals."""

from __future__ import annotations

import gc
import re
import time
from typing import Any

import pytest

from aqlgen.runtime.errors import Code
from tests.cases import each
from tests.documents import INTEGER, list_of, object_of, parameter

from .hand_made import STRING, Make, operation

PET = parameter("petId", "path", INTEGER)
PLAIN = {
    "op": operation(
        path="/pets/{petId}",
        parameters={
            "pet_id": PET,
            "status": {"in": "query", "required": True, "schema": {"enum": ["available", "sold"]}},
            "limit": {"in": "query", "schema": {"type": "integer", "minimum": 1, "maximum": 100, "default": 20}},
            "born": {"in": "query", "schema": {"type": "string", "format": "date-time"}},
            "code": {"in": "query", "schema": {"type": "string", "pattern": "^[A-Z]{3}$"}},
        },
    )
}
GOOD = {"pet_id": 5, "status": "sold"}


def test_valid_parameters_pass_and_no_default_is_added(package: Make) -> None:
    """R-REQ-4: a default says what the server does without the parameter, so it is not sent."""
    assert package(PLAIN).validate(GOOD) == GOOD


def test_the_apis_own_spelling_is_accepted_and_normalised(package: Make) -> None:
    """R-REQ-2."""
    pets = package(PLAIN)
    assert pets.validate({"petId": 5, "status": "sold"}) == GOOD
    assert pets.validate({"PET-ID": 5, "Status": "sold"}) == GOOD


def test_a_parameter_given_under_two_spellings_is_refused(package: Make) -> None:
    failure = package(PLAIN).refused({"petId": 5, "pet_id": 6, "status": "sold"})
    assert failure.code is Code.INVALID_VALUE
    assert "given twice" in failure.message


def test_keys_that_begin_with_an_underscore_are_never_unknown(package: Make) -> None:
    """R-REQ-3."""
    assert package(PLAIN).validate({**GOOD, "_trace": {"any": 1}}) == GOOD


def test_all_missing_parameters_are_told_in_one_answer_with_what_they_want(package: Make) -> None:
    """R-ENV-5, R-ERR-1."""
    failure = package(PLAIN).refused({})
    assert failure.code is Code.MISSING_PARAM
    assert failure.message.startswith("Missing required parameter 'pet_id'")
    assert "integer" in failure.message
    assert "'status' (one of 'available', 'sold')" in failure.message
    assert failure.details["param_name"] == "pet_id"
    assert failure.details["operation"] == "op"
    assert failure.details["missing_params"] == ["pet_id", "status"]


def test_an_unknown_parameter_is_refused_with_the_valid_ones_and_the_nearest(package: Make) -> None:
    """R-REQ-3."""
    failure = package(PLAIN).refused({**GOOD, "limitt": 3})
    assert failure.code is Code.UNKNOWN_PARAM
    assert failure.message.startswith("Unknown parameter(s) for operation 'op': limitt")
    assert "Did you mean 'limit'" in failure.message
    assert failure.details["unknown_params"] == ["limitt"]
    assert failure.details["valid_params"] == ["pet_id", "status", "limit", "born", "code"]


def test_an_operation_without_parameters_says_so(package: Make) -> None:
    failure = package({"op": operation()}).refused({"a": 1})
    assert failure.code is Code.UNKNOWN_PARAM
    assert failure.details["valid_params"] == []


def test_the_first_problem_gives_the_code_and_the_rest_stand_in_details(package: Make) -> None:
    """R-REQ-4, R-ENV-5: missing before unknown before types."""
    failure = package(PLAIN).refused({"status": "lost", "colour": 1, "limit": 1000})
    assert failure.code is Code.MISSING_PARAM
    assert [problem["code"] for problem in failure.details["problems"]] == [
        "VALIDATION_UNKNOWN_PARAM",
        "VALIDATION_INVALID_VALUE",
        "VALIDATION_INVALID_VALUE",
    ]
    assert {problem["param_name"] for problem in failure.details["problems"]} == {"colour", "status", "limit"}


@pytest.mark.parametrize(
    ("value", "actual"),
    [("5", "string"), (5.5, "number"), (True, "boolean"), (None, "null"), ([], "array"), ({}, "object")],
)
def test_a_wrong_type_is_refused_where_nothing_is_to_be_understood(package: Make, value: Any, actual: str) -> None:
    failure = package(PLAIN).refused({**GOOD, "limit": value})
    assert failure.code is Code.INVALID_TYPE
    assert failure.message.startswith(f"Parameter 'limit' expected 'integer', got '{actual}'")
    assert failure.details["param_name"] == "limit"
    assert (failure.details["expected_type"], failure.details["actual_type"]) == ("integer", actual)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"status": "lost"}, ["'available'", "'sold'"]),
        ({"limit": 0}, ["minimum of 1"]),
        ({"limit": 101}, ["maximum of 100"]),
        ({"born": "yesterday"}, ["date and time", "2026-01-31T12:00:00Z"]),
        ({"code": "abc"}, ["^[A-Z]{3}$"]),
    ],
)
def test_a_value_that_breaks_a_constraint_is_told_with_what_is_allowed(
    package: Make, params: dict[str, Any], words: list[str]
) -> None:
    """R-ENV-5."""
    failure = package(PLAIN).refused({**GOOD, **params})
    assert failure.code is Code.INVALID_VALUE
    assert next(iter(params)) in failure.message
    for word in words:
        assert word in failure.message


@each(
    ("form", "expected"),
    [("duration", "a duration, such as 'PT1H'"), ("date", "a date, such as '2026-01-31'"), ("time", "a time with")],
)
def test_a_number_for_a_span_or_a_moment_is_answered_with_its_form(package: Make, form: str, expected: str) -> None:
    waiting = package({"op": operation(parameters={"wait": {"in": "query", "schema": {**STRING, "format": form}}})})
    for value in (3600.0, 3600):
        assert waiting.misunderstood({"wait": value}).message.startswith(f"Parameter 'wait' must be {expected}")


def test_a_sensitive_value_is_not_repeated(package: Make) -> None:
    """R-ENV-4."""
    rows = {"op": operation(parameters={"key": {"in": "query", "sensitive": True, "schema": INTEGER}})}
    failure = package(rows).refused({"key": "hunter2"})
    assert "hunter2" not in str(failure.envelope())


def test_text_that_is_not_unicode_is_refused_as_such(package: Make) -> None:
    rows = {"op": operation(parameters={"q": {"in": "query", "schema": STRING}})}
    assert package(rows).refused({"q": "\ud800"}).code is Code.INVALID_ENCODING


UPDATE_TYPES = {
    "Named": object_of(full_name={"type": "string", "x-name": "fullName", "minLength": 2}),
    "PetInput": {"allOf": [{"$ref": "#/types/Named"}, object_of(tag=STRING)], "x-read-only": ["id", "created_at"]},
}
UPDATE = {
    "op": operation(
        "PATCH",
        "/pets/{petId}",
        parameters={"pet_id": PET, "input": {"in": "body", "required": True, "schema": {"$ref": "#/types/PetInput"}}},
        body={
            "content_type": "application/json",
            "shape": "whole",
            "parameter": "input",
            "schema": {"$ref": "#/types/PetInput"},
        },
    )
}


def test_an_update_takes_declared_fields_in_either_spelling(package: Make) -> None:
    """R-UPD-1, R-SEL-1."""
    pets = package(UPDATE, UPDATE_TYPES, family="update")
    assert pets.validate({"pet_id": 1, "input": {"fullName": "Rex"}})["input"] == {"full_name": "Rex"}
    assert (
        pets.build({"pet_id": 1, "input": {"full_name": "Rex", "tag": "x"}}).content == b'{"fullName":"Rex","tag":"x"}'
    )


def test_an_update_refuses_unknown_and_read_only_fields(package: Make) -> None:
    """R-UPD-1."""
    pets = package(UPDATE, UPDATE_TYPES, family="update")
    unknown = pets.refused({"pet_id": 1, "input": {"full_nam": "Rex"}})
    assert unknown.code is Code.UNKNOWN_FIELD
    assert "Did you mean 'full_name'" in unknown.message
    for name in ("created_at", "createdAt", "id"):
        assert pets.refused({"pet_id": 1, "input": {name: 3}}).code is Code.READ_ONLY_FIELD
    identifier = pets.refused({"pet_id": 1, "input": {"pet_id": 1}})
    assert identifier.code is Code.UNKNOWN_FIELD


def test_all_problems_of_an_update_come_in_one_answer(package: Make) -> None:
    """R-ENV-5."""
    pets = package(UPDATE, UPDATE_TYPES, family="update")
    failure = pets.refused({"x": 1, "input": {"what": 1, "id": 2, "full_name": "R"}})
    codes = [failure.code.value, *(problem["code"] for problem in failure.details["problems"])]
    assert codes == [
        "VALIDATION_MISSING_PARAM",
        "VALIDATION_UNKNOWN_PARAM",
        "VALIDATION_UNKNOWN_FIELD",
        "VALIDATION_READ_ONLY_FIELD",
        "VALIDATION_INVALID_VALUE",
    ]


def test_an_update_of_a_map_takes_any_field(package: Make) -> None:
    types = {"PetInput": {"type": "object", "properties": {"a": STRING}, "additionalProperties": STRING}}
    pets = package(UPDATE, types, family="update")
    assert pets.validate({"pet_id": 1, "input": {"b": "x"}})["input"] == {"b": "x"}
    assert pets.refused({"pet_id": 1, "input": {"b": 1}}).code is Code.INVALID_TYPE


def test_nested_problems_name_their_place(package: Make) -> None:
    types = {"Toy": object_of("name", name=STRING)}
    rows = {"op": operation("POST", parameters={"toys": {"in": "body", "schema": list_of({"$ref": "#/types/Toy"})}})}
    pets = package(rows, types, family="create")
    failure = pets.refused({"toys": [{"name": "a"}, {"name": 3}]})
    assert failure.message == "Parameter 'toys[1].name' expected 'string', got 'integer'. Give \"3\", in quotes"
    assert pets.refused({"toys": [{}]}).details["param_name"] == "toys[0].name"


def test_alternatives_are_told_by_the_one_that_comes_nearest(package: Make) -> None:
    types = {"Card": object_of("number", number=STRING), "Bank": object_of("iban", "bic", iban=STRING, bic=STRING)}
    pay = {"in": "body", "schema": {"anyOf": [{"$ref": "#/types/Card"}, {"$ref": "#/types/Bank"}, {"type": "null"}]}}
    pets = package({"op": operation("POST", parameters={"pay": pay})}, types, family="create")
    assert pets.validate({"pay": None}) == {"pay": None}
    assert pets.validate({"pay": {"number": "1"}}) == {"pay": {"number": "1"}}
    assert pets.refused({"pay": {"number": 1}}).code is Code.INVALID_TYPE
    failure = pets.refused({"pay": 4})
    assert failure.code is Code.INVALID_TYPE
    assert failure.details["expected_type"] == "null or object"


def test_a_body_whose_fields_relate_is_validated_as_a_whole(package: Make) -> None:
    body = {
        "content_type": "application/json",
        "shape": "fields",
        "validate": True,
        "schema": {
            "type": "object",
            "properties": {"card_no": {"type": "string", "x-name": "cardNo"}, "iban": STRING},
            "oneOf": [{"required": ["card_no"]}, {"required": ["iban"]}],
        },
    }
    parameters = {
        "card_no": {"in": "body", "name": "cardNo", "schema": STRING},
        "iban": {"in": "body", "schema": STRING},
    }
    pets = package({"op": operation("POST", parameters=parameters, body=body)}, family="create")
    assert pets.build({"card_no": "1"}).content == b'{"cardNo":"1"}'
    assert pets.refused({"card_no": "1", "iban": "2"}).code is Code.INVALID_VALUE
    assert pets.build({}).content is None


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "pattern": "[unclosed"},
        {"type": "string", "pattern": "\\p{Nonsense}"},
        {"type": "strnig"},
        {"minimum": "1"},
        {"required": True},
        {"$ref": "#/types/Absent"},
        {"$ref": "https://example.com/elsewhere.json"},
        {"$id": "https://example.com/a", "$ref": "#/types/Absent"},
        {"patternProperties": {"[": {}}},
        {"items": {"anyOf": "x"}},
        {"enum": []},
    ],
)
def test_a_schema_that_cannot_be_compiled_breaks_no_operation(package: Make, schema: dict[str, Any]) -> None:
    rows = {
        "op": operation(parameters={"a": {"in": "query", "schema": schema}, "n": {"in": "query", "schema": INTEGER}})
    }
    pets = package(rows)
    assert pets.validate({"a": "x", "n": 1}) == {"a": "x", "n": 1}
    assert pets.refused({"n": "x"}).code is Code.INVALID_TYPE


def test_a_pattern_that_is_none_is_dropped_and_the_rest_of_its_schema_stays(package: Make) -> None:
    types = {"Code": {"type": "string", "pattern": "(", "maxLength": 3}}
    pets = package({"op": operation(parameters={"a": {"in": "query", "schema": {"$ref": "#/types/Code"}}})}, types)
    assert pets.validate({"a": "x"}) == {"a": "x"}
    assert pets.refused({"a": "xxxx"}).code is Code.INVALID_VALUE


def test_recursive_types_are_validated(package: Make) -> None:
    types = {"Node": object_of(name=STRING, next={"$ref": "#/types/Node"})}
    pets = package(
        {"op": operation("POST", parameters={"node": {"in": "body", "schema": {"$ref": "#/types/Node"}}})},
        types,
        family="create",
    )
    assert pets.refused({"node": {"next": {"next": {"name": 1}}}}).details["param_name"] == "node.next.next.name"


LEAK = re.compile(r"at\s+\S+|typeerror|referenceerror|syntaxerror|/src/|/node_modules/|\.[tj]s:\d+", re.IGNORECASE)


@pytest.mark.parametrize(
    "params",
    [
        {"format": 1, "flat": "a b"},
        {"lat": "x", "flat": "lost"},
        {"at home": 1},
        {"what": 1, "format": 2, "cat": 3},
        {"input at x": 1, "lat": 1},
    ],
)
def test_no_message_reads_like_a_stack_trace(package: Make, params: dict[str, Any]) -> None:
    """R-ENV-4."""
    parameters = {
        "lat": {"in": "query", "required": True, "schema": {"type": "number"}},
        "format": {"in": "query", "required": True, "schema": {"enum": ["at one", "flat two"]}},
        "flat": {"in": "query", "schema": {"type": "string", "pattern": "^at .*$", "minLength": 9, "format": "uuid"}},
    }
    failure = package({"op": operation(parameters=parameters)}).refused(params)
    assert not LEAK.search(failure.message)
    for problem in failure.details.get("problems", ()):
        assert not LEAK.search(problem["message"])


LOOKAROUND = (r"^((a|aa)+)(?!b)\1!$", r"^(?!z)(\w+\s?)+(?<!q)$", r"(a+)+\1$")


@pytest.mark.parametrize("pattern", LOOKAROUND)
def test_a_pattern_that_backtracks_without_end_is_given_up_and_leaves_the_value_to_the_api(
    package: Make, pattern: str
) -> None:
    """R-TRUST-4"""
    items = {"type": "string", "pattern": pattern}
    pets = package({"op": operation(parameters={"codes": {"in": "query", "schema": list_of(items)}})})
    params = {"codes": ["a" * 5000 + "?"] * 20}
    begin = time.monotonic()
    assert pets.validate(params) == params
    assert time.monotonic() - begin < 3


def test_a_pattern_of_nested_repeats_is_checked_in_linear_time(package: Make) -> None:
    """R-TRUST-4"""
    code = {"in": "query", "schema": {"type": "string", "pattern": "^(a+)+$"}}
    begin = time.monotonic()
    package({"op": operation(parameters={"code": code})}).refused({"code": "a" * 50_000 + "?"})
    assert time.monotonic() - begin < 3


def test_the_validators_of_few_operations_are_kept(package: Make) -> None:
    names = [f"op{number}" for number in range(150)]
    pets, before = package(dict.fromkeys(names, PLAIN["op"])), _prepared()
    for name in names * 2:
        assert pets.validate(GOOD, name) == GOOD
    assert _prepared() - before <= 100


def _prepared() -> int:
    gc.collect()
    return sum(type(each).__name__ == "_Checks" for each in gc.get_objects())
