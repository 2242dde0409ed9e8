"""The mock answers with the document's examples, else with samples of the schema."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from aqlgen.runtime.schema.validators import Schemas
from aqlgen.table.sample_values import ValueMaker
from tests.cases import each

from .hand_made import STRING, Make, Package, operation


def call(pets: Package, params: dict[str, Any] | None = None) -> Any:
    row = pets.row()

    async def run() -> Any:
        request = pets.api.build(row, pets.api.validate(row, params or {}))
        return pets.api.decode(await pets.api.send(request, row), row, params or {})

    return asyncio.run(run())


def test_a_declared_example_is_answered_in_wire_form(package: Make) -> None:
    types = {"Pet": {"type": "object", "properties": {"pet_id": {"type": "integer", "x-name": "petId"}}}}
    rows = {"op": operation(responses={"201": {"content_type": "application/json", "schema": {"$ref": "#/types/Pet"}}})}
    examples = {"op": {"status": 201, "content_type": "application/json", "body": {"petId": 77}}}
    assert call(package(rows, types, transport="mock", examples=examples)) == {"pet_id": 77}


def test_an_answer_is_made_of_the_schema_and_comes_back_under_agent_names(package: Make) -> None:
    types: dict[str, Any] = {
        "Pet": {
            "type": "object",
            "required": ["pet_id"],
            "properties": {
                "pet_id": {"type": "integer", "minimum": 10, "x-name": "petId"},
                "kind": {"$ref": "#/types/Kind"},
                "born_on": {"type": "string", "format": "date", "x-name": "bornOn"},
                "code": {"type": "string", "pattern": "^[A-Z]{3}$"},
                "price": {"type": "number", "exclusiveMinimum": 2, "multipleOf": 0.5},
                "friends": {"type": "array", "items": {"$ref": "#/types/Pet"}},
                "owner": {"anyOf": [{"$ref": "#/types/Owner"}, {"type": "null"}]},
                "nick": {"type": ["null", "string"], "minLength": 20},
                "anything": {"type": "array", "items": {"description": "not told"}},
                "something": {"type": "array", "items": {}, "minItems": 1},
                "shown": {"type": "string", "examples": ["as shown"]},
            },
        },
        "Kind": {"type": "string", "enum": ["cat", "dog"]},
        "Owner": {"allOf": [{"$ref": "#/types/Named"}, {"type": "object", "properties": {"age": {"type": "integer"}}}]},
        "Named": {"type": "object", "properties": {"full_name": {"type": "string", "x-name": "fullName"}}},
    }
    schema = {"type": "array", "items": {"$ref": "#/types/Pet"}}
    pets = package(
        {"op": operation(responses={"200": {"content_type": "application/json", "schema": schema}})},
        types,
        transport="mock",
    )
    data = call(pets)
    validator = Schemas(pets.table).schema(schema)
    assert validator is not None
    assert [str(error) for error in validator.iter_errors(data)] == []
    assert data[0]["kind"] == "cat"
    assert data[0]["owner"] == {"full_name": "example", "age": 1}
    assert data[0]["shown"] == "as shown"
    assert (data[0]["anything"], data[0]["something"]) == ([], ["example"])
    assert call(pets) == data


@pytest.mark.parametrize(
    ("responses", "data"),
    [
        ({"204": {}}, None),
        ({}, None),
        ({"200": {"content_type": "text/plain", "schema": STRING}}, "example"),
        ({"default": {"content_type": "application/json", "schema": {"type": "boolean"}}}, True),
        ({"2XX": {"content_type": "application/json", "schema": {"type": "boolean"}}}, True),
        ({"200": {"content_type": "application/json", "schema": {}}}, "example"),
    ],
)
def test_every_kind_of_response_has_an_answer(package: Make, responses: dict[str, Any], data: Any) -> None:
    assert call(package({"op": operation(responses=responses)}, transport="mock")) == data


def test_endless_schemas_end(package: Make) -> None:
    types: dict[str, Any] = {
        "Loop": {"$ref": "#/types/Loop"},
        "Tree": {"type": "object", "required": ["next"], "properties": {"next": {"$ref": "#/types/Tree"}}},
        "Alt": {"oneOf": [{"$ref": "#/types/Alt"}, {"type": "string"}]},
    }
    for name in types:
        responses = {"200": {"content_type": "application/json", "schema": {"$ref": f"#/types/{name}"}}}
        call(package({"op": operation(responses=responses)}, types, transport="mock"))


@pytest.mark.parametrize(
    ("properties", "data"),
    [
        ({"status": {**STRING, "examples": ["error"]}, "error": STRING}, {"status": "ok", "error": "example"}),
        (
            {"stat": {**STRING, "examples": ["fail"], "enum": ["fail", "done"]}, "message": STRING},
            {"stat": "done", "message": "example"},
        ),
        ({"success": {"type": "boolean", "default": False}, "error": STRING}, {"success": True, "error": "example"}),
        ({"id": STRING, "status": {**STRING, "examples": ["failed"]}}, {"id": "example", "status": "failed"}),
    ],
)
def test_an_example_of_a_failure_is_answered_as_a_success(package: Make, properties: Any, data: Any) -> None:
    entry = {"content_type": "application/json", "schema": {"type": "object", "properties": properties}}
    assert call(package({"op": operation(responses={"200": entry})}, transport="mock")) == data


@each(
    "schema, value",
    [
        ({"type": "object", "examples": ['{"a": 1}'], "properties": {"a": {"type": "integer"}}}, {"a": 1}),
        ({"type": "integer", "examples": ["7", 7]}, 7),
        ({"type": "number", "examples": [7]}, 7),
        ({"type": ["string", "null"], "examples": [None]}, None),
        ({"examples": ["any"]}, "any"),
        ({"type": "integer", "enum": ["1", "2"]}, "1"),
    ],
)
def test_a_sample_is_of_the_type_that_its_schema_declares(schema: dict[str, Any], value: object) -> None:
    assert ValueMaker({}).answer(schema) == value


def test_what_a_list_within_an_answer_refers_to_has_its_plain_fields() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"id": {"type": "integer"}, "name": {"type": "string"}}}
    for step in ("things", "data"):
        schema = {"type": "array", "items": schema} if step == "things" else schema
        schema = {"type": "object", "properties": {step: schema}}
    assert ValueMaker({}).answer(schema) == {"data": {"things": [{"id": 1, "name": "example"}]}}
