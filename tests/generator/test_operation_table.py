"""What becomes of the operations of a document: rows with parameters, a body, responses and an example that works."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from tests.generator.commands import FIXTURES, api, posting, tabulate

OBJECT = {
    "type": "object",
    "required": ["fullName"],
    "properties": {"fullName": {"type": "string"}, "age": {"type": "integer"}},
}


def updating(schema: Any, method: str = "patch") -> dict[str, Any]:
    body = {"content": {"application/json": {"schema": schema}}}
    operation = {"operationId": "updateThing", "requestBody": body, "responses": {"200": {"description": "it"}}}
    path = {"name": "thingId", "in": "path", "required": True, "schema": {"type": "string"}}
    return api({"/things/{thingId}": {"parameters": [path], method: operation}})


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
    table = tabulate(tmp_path, updating(OBJECT))
    (row,) = table.rows.values()
    assert row["parameters"].keys() == {"thing_id", "input", "dry_run"}
    assert row["parameters"]["input"]["required"] is True
    name = row["parameters"]["input"]["schema"]["$ref"].rsplit("/", 1)[-1]
    assert table.types[name]["properties"]["full_name"]["x-name"] == "fullName"


def test_a_body_that_is_no_object_is_one_parameter(tmp_path: Path) -> None:
    row = tabulate(tmp_path, posting({"type": "array", "items": {"type": "string"}})).rows["create_thing"]
    assert row["parameters"].keys() == {"body", "dry_run"}
    assert row["body"]["shape"] == "whole"


def test_a_body_of_alternatives_offers_the_fields_of_all_and_is_validated_as_a_whole(tmp_path: Path) -> None:
    other = {"type": "object", "required": ["size"], "properties": {"size": {"type": "integer"}}}
    row = tabulate(tmp_path, posting({"oneOf": [OBJECT, other]})).rows["create_thing"]
    assert row["parameters"].keys() == {"full_name", "age", "size", "dry_run"}
    assert not any(entry.get("required") for entry in row["parameters"].values())
    assert row["body"]["validate"] is True


def test_parameters_of_one_name_in_several_places_are_told_apart(tmp_path: Path) -> None:
    """R-REQ-2"""
    document = posting({"type": "object", "properties": {"region": {"type": "string"}}})
    document["paths"]["/things"]["post"]["parameters"] = [
        {"name": "region", "in": "query", "schema": {"type": "string"}},
        {"name": "Region", "in": "header", "schema": {"type": "string"}},
    ]
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
    document["paths"]["/things"]["post"]["parameters"] = [
        {"name": "api_key", "in": "query", "required": True, "schema": {"type": "string"}}
    ]
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
        "code": {"type": "string", "pattern": "^[A-Z]{3}-[0-9]{4}$"},
        "day": {"type": "string", "format": "date"},
        "share": {"type": "number", "exclusiveMinimum": 10, "maximum": 11},
        "tags": {"type": "array", "minItems": 3, "uniqueItems": True, "items": {"type": "string"}},
        "long": {"type": "string", "minLength": 40},
    }
    schema = {"type": "object", "required": list(fields), "properties": fields}
    example = tabulate(tmp_path, posting(schema)).rows["create_thing"]["example"]
    assert jsonschema_rs.is_valid(schema, example, validate_formats=True)


def test_an_example_of_a_path_holds_no_step_to_elsewhere(tmp_path: Path) -> None:
    """R-INT-4: the adapter sends no such path."""
    key = {"in": "path", "name": "key", "required": True, "schema": {"type": "string", "pattern": "^thing:a/[.]*$"}}
    reading = {"operationId": "getThing", "parameters": [key], "responses": {"200": {"description": "OK"}}}
    row = tabulate(tmp_path, api({"/things/{key}": {"get": reading}})).rows["get_thing"]
    example = row.get("example")
    assert example is None or not {".", ".."} & set(example["key"].split("/"))


def test_the_documents_example_is_the_call_where_a_field_is_one_of_several_objects(tmp_path: Path) -> None:
    """R-INT-4"""
    apple = {
        "type": "object",
        "required": ["applePayToken"],
        "properties": {"type": {"enum": ["applepay"]}, "applePayToken": {"type": "string"}},
    }
    card = {"type": "object", "properties": {"type": {"enum": ["scheme"]}, "holderName": {"type": "string"}}}
    methods = {"type": "array", "items": {"oneOf": [{"oneOf": [card, apple]}, {"type": "string"}]}}
    schema = {
        "type": "object",
        "required": ["payWith", "others"],
        "properties": {"payWith": {"oneOf": [card, apple]}, "others": methods},
    }
    method = {"type": "applepay", "applePayToken": "VNRW"}
    document = posting(schema)
    content = document["paths"]["/things"]["post"]["requestBody"]["content"]["application/json"]
    content["example"] = {"payWith": method, "others": [method, "cash"]}
    example = tabulate(tmp_path, document).rows["create_thing"]["example"]
    ours = {"type": "applepay", "apple_pay_token": "VNRW"}
    assert example == {"pay_with": ours, "others": [ours, "cash"]}


def test_an_operation_whose_body_cannot_be_made_is_skipped_and_the_rest_served(tmp_path: Path) -> None:
    document = posting(OBJECT)
    document["paths"]["/drawings"] = {
        "post": {
            "requestBody": {"required": True, "content": {"multipart/mixed": {"schema": {"type": "string"}}}},
            "responses": {},
        }
    }
    table = tabulate(tmp_path, document)
    assert table.rows.keys() == {"create_thing"}
    assert len(table.skipped) == 1
    assert "unsupported-media-type" in {warning["code"] for warning in table.warnings}
    assert "POST /drawings" in table.page


def test_a_form_that_declares_no_fields_cannot_be_made(tmp_path: Path) -> None:
    document = posting(OBJECT)
    body = {"required": True, "content": {"multipart/form-data": {"schema": {"type": "string", "format": "binary"}}}}
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
    get = {"operationId": "RetrievePet", "summary": "retrieve_pet", "responses": {"200": {"description": "ok"}}}
    described = tabulate(tmp_path, api({"/pets/{id}": {"get": {**get, "description": "Gives one pet."}}}))
    (row,) = described.rows.values()
    assert row["summary"] == "Gives one pet."
    plain = tabulate(tmp_path, api({"/pets/{id}": {"get": get}}))
    (row,) = plain.rows.values()
    assert row["summary"] == "retrieve_pet"
