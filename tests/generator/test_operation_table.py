"""What becomes of the operations of a document: rows with parameters, a body, responses and an example that works."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from tests.documents import INTEGER, TEXT, body_of, list_of, object_of, parameter, replies
from tests.generator.commands import FIXTURES, api, posting, tabulate

OBJECT = object_of("fullName", fullName=TEXT, age=INTEGER)


def test_the_fields_of_a_creating_body_are_parameters_that_keep_the_names_of_the_api(tmp_path: Path) -> None:
    """R-REQ-2, R-SEL-1"""
    row = tabulate(tmp_path, posting(OBJECT)).rows["create_thing"]
    assert row["parameters"]["full_name"] == {
        "in": "body",
        "name": "fullName",
        "required": True,
        "schema": {"type": "string"},
    }
    assert row["body"] == {"content_type": "application/json", "shape": "fields", "required": True}


def test_the_fields_of_an_updating_body_stand_in_input(tmp_path: Path) -> None:
    """R-UPD-1"""
    patch = {"operationId": "updateThing", "requestBody": body_of(OBJECT), "responses": replies()}
    table = tabulate(tmp_path, api({"PATCH /things/{thingId}": patch}))
    (row,) = table.rows.values()
    assert row["parameters"].keys() == {"thing_id", "input", "dry_run"}
    assert row["parameters"]["input"]["required"] is True
    name = row["parameters"]["input"]["schema"]["$ref"].rsplit("/", 1)[-1]
    assert table.types[name]["properties"]["full_name"]["x-name"] == "fullName"


def test_a_body_that_is_no_object_is_one_parameter(tmp_path: Path) -> None:
    row = tabulate(tmp_path, posting(list_of(TEXT))).rows["create_thing"]
    assert row["parameters"].keys() == {"body", "dry_run"}
    assert row["body"]["shape"] == "whole"


def test_a_body_of_alternatives_offers_the_fields_of_all_and_is_validated_as_a_whole(tmp_path: Path) -> None:
    row = tabulate(tmp_path, posting({"oneOf": [OBJECT, object_of("size", size=INTEGER)]})).rows["create_thing"]
    assert row["parameters"].keys() == {"full_name", "age", "size", "dry_run"}
    assert not any(entry.get("required") for entry in row["parameters"].values())
    assert row["body"]["validate"] is True


def test_parameters_of_one_name_in_several_places_are_told_apart(tmp_path: Path) -> None:
    """R-REQ-2"""
    document = posting(object_of(region=TEXT))
    document["paths"]["/things"]["post"]["parameters"] = [parameter("region"), parameter("Region", "header")]
    parameters = tabulate(tmp_path, document).rows["create_thing"]["parameters"]
    assert {name: entry["in"] for name, entry in parameters.items() if entry["in"] != "adapter"} == {
        "region": "query",
        "header_region": "header",
        "body_region": "body",
    }


def test_a_credential_is_no_parameter(tmp_path: Path) -> None:
    """R-OWN-1"""
    document = posting(OBJECT, security=[{"key": []}])
    document["components"] = {"securitySchemes": {"key": {"type": "apiKey", "in": "query", "name": "api_key"}}}
    document["paths"]["/things"]["post"]["parameters"] = [parameter("api_key", required=True)]
    table = tabulate(tmp_path, document)
    assert "api_key" not in table.rows["create_thing"]["parameters"]
    assert table.adapter["security_schemes"]["key"]["variables"] == ["SHOP_KEY"]


def test_every_operation_of_the_petstore_has_an_example_that_fits_its_parameters(tmp_path: Path) -> None:
    """R-INT-4"""
    table = tabulate(tmp_path, (FIXTURES / "petstore.yaml").read_text(encoding="utf-8"))
    for name, row in table.rows.items():
        for key, value in row["example"].items():
            schema = {**row["parameters"][key]["schema"], "types": table.types}
            assert jsonschema_rs.is_valid(schema, value), (name, key)
        assert {key for key, entry in row["parameters"].items() if entry.get("required")} <= row["example"].keys()


def test_a_made_up_example_matches_pattern_format_and_bounds(tmp_path: Path) -> None:
    """R-INT-4"""
    fields = {
        "code": {**TEXT, "pattern": "^[A-Z]{3}-[0-9]{4}$"},
        "day": {**TEXT, "format": "date"},
        "share": {"type": "number", "exclusiveMinimum": 10, "maximum": 11},
        "tags": {**list_of(TEXT), "minItems": 3, "uniqueItems": True},
        "long": {**TEXT, "minLength": 40},
    }
    schema = object_of(*fields, **fields)
    example = tabulate(tmp_path, posting(schema)).rows["create_thing"]["example"]
    assert jsonschema_rs.is_valid(schema, example, validate_formats=True)


def test_an_example_of_a_path_holds_no_step_to_elsewhere(tmp_path: Path) -> None:
    """R-INT-4: the adapter sends no such path."""
    key = parameter("key", "path", {**TEXT, "pattern": "^thing:a/[.]*$"})
    reading = {"operationId": "getThing", "parameters": [key], "responses": replies()}
    row = tabulate(tmp_path, api({"GET /things/{key}": reading})).rows["get_thing"]
    example = row.get("example")
    assert example is None or not {".", ".."} & set(example["key"].split("/"))


def test_the_documents_example_is_the_call_where_a_field_is_one_of_several_objects(tmp_path: Path) -> None:
    """R-INT-4"""
    apple = object_of("applePayToken", type={"enum": ["applepay"]}, applePayToken=TEXT)
    payment = {"oneOf": [object_of(type={"enum": ["scheme"]}, holderName=TEXT), apple]}
    method = {"type": "applepay", "applePayToken": "VNRW"}
    document = posting(object_of("payWith", "others", payWith=payment, others=list_of({"oneOf": [payment, TEXT]})))
    content = document["paths"]["/things"]["post"]["requestBody"]["content"]["application/json"]
    content["example"] = {"payWith": method, "others": [method, "cash"]}
    example = tabulate(tmp_path, document).rows["create_thing"]["example"]
    ours = {"type": "applepay", "apple_pay_token": "VNRW"}
    assert example == {"pay_with": ours, "others": [ours, "cash"]}


def test_an_operation_whose_body_cannot_be_made_is_skipped_and_the_rest_served(tmp_path: Path) -> None:
    document = posting(OBJECT)
    document["paths"]["/drawings"] = {"post": {"requestBody": body_of(TEXT, "multipart/mixed"), "responses": {}}}
    table = tabulate(tmp_path, document)
    assert table.rows.keys() == {"create_thing"}
    assert len(table.skipped) == 1
    assert "unsupported-media-type" in {warning["code"] for warning in table.warnings}
    assert "POST /drawings" in table.page


def test_a_form_that_declares_no_fields_cannot_be_made(tmp_path: Path) -> None:
    document = posting(OBJECT)
    body = body_of({**TEXT, "format": "binary"}, "multipart/form-data")
    document["paths"]["/files"] = {"post": {"requestBody": body, "responses": {}}}
    table = tabulate(tmp_path, document)
    assert table.rows.keys() == {"create_thing"}
    assert [warning["code"] for warning in table.warnings] == ["unsupported-media-type"]


def test_an_operation_stands_with_one_parameter_a_line_and_a_blank_line_after_it(tmp_path: Path) -> None:
    document = posting(OBJECT)
    document["paths"]["/parts"] = {"post": document["paths"]["/things"]["post"] | {"operationId": "createPart"}}
    table = tabulate(tmp_path, document)
    text = table.texts["operations/create.json"]
    assert sum('"full_name"' in line and '"in": "body"' in line for line in text.splitlines()) == 2
    assert text.count("\n\n") == 1


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"deprecated": True}, None),
        ({"x-deprecated": True}, None),
        ({"x-sunset": "2027-02-20"}, {"removal_date": "2027-02-20"}),
        ({"x-sunset": "soon"}, None),
        ({"deprecated": True, "x-removal-date": "2027-02-20T00:00:00Z"}, {"removal_date": "2027-02-20"}),
        (
            {"x-vendor": {"deprecationDate": "2026-01-01", "removalDate": "2027-02-20"}},
            {"removal_date": "2027-02-20"},
        ),
        ({"deprecated": True, "x-replaced-by": "makeThing"}, {"replacement": "create_made"}),
        ({"deprecated": True, "x-vendor-deprecation-replacement": "POST /made"}, {"replacement": "create_made"}),
        ({"deprecated": True, "x-replaced-by": "the new console"}, {"replacement": "the new console"}),
        ({"x-replaced-by": "makeThing"}, None),
        (
            {"x-deprecated": True, "x-deprecation-docs": "https://a.example/why"},
            {"migration_guide": "https://a.example/why"},
        ),
        ({"deprecated": True, "x-migration-guide": "javascript:alert(1)"}, None),
    ],
)
def test_what_extensions_tell_of_a_deprecation_stands_in_the_row(
    tmp_path: Path, changed: dict[str, Any], expected: dict[str, str] | None
) -> None:
    """R-WARN-2"""
    document = posting(OBJECT)
    document["paths"]["/made"] = {"post": document["paths"]["/things"]["post"] | {"operationId": "makeThing"}}
    document["paths"]["/things"]["post"] |= changed
    row = tabulate(tmp_path, document).rows["create_thing"]
    assert row.get("deprecation") == expected
    assert row.get("deprecated", False) is (
        expected is not None or "deprecated" in changed or "x-deprecated" in changed
    )


def test_a_summary_that_only_repeats_the_operation_id_gives_way_to_the_description(tmp_path: Path) -> None:
    get = {"operationId": "RetrievePet", "summary": "retrieve_pet", "responses": replies()}
    for more, summary in (({"description": "Gives one pet."}, "Gives one pet."), ({}, "Get pet.")):
        (row,) = tabulate(tmp_path, api({"GET /pets/{id}": get | more})).rows.values()
        assert row["summary"] == summary
