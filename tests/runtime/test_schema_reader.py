"""The reader of JSON Schemas: composition, references that form cycles, null and alternatives."""

from __future__ import annotations

from typing import Any

from aqlgen.runtime.schema import (
    agent_path,
    follow,
    is_object,
    json_type,
    nullable,
    only_type,
    parts,
    schema_at,
    shape_of,
    type_named,
    union_of,
    without_null,
)
from tests.cases import each

TYPES: dict[str, Any] = {
    "Node": {"type": "object", "properties": {"next": {"$ref": "#/types/Node"}}, "allOf": [{"$ref": "#/types/Node"}]},
    "Alias": {"anyOf": [{"$ref": "#/types/Cat"}, {"type": "null"}]},
    "Circle": {"$ref": "#/types/Ring"},
    "Ring": {"$ref": "#/types/Circle"},
    "Base": {
        "type": "object",
        "required": ["id"],
        "properties": {"id": {"type": "integer", "x-name": "ID"}, "name": {"type": "string", "maxLength": 9}},
    },
    "Cat": {"allOf": [{"$ref": "#/types/Base"}], "properties": {"name": {"description": "What it is called"}}},
    "Dog": {"allOf": [{"$ref": "#/types/Base"}], "properties": {"toys": {"type": "array", "items": {}}}},
    "Pet": {"oneOf": [{"$ref": "#/types/Cat"}, {"$ref": "#/types/Dog"}]},
    "Page": {"properties": {"data_items": {"x-name": "data-items", "items": {"$ref": "#/types/Cat"}}}},
}


def test_what_composes_a_schema_comes_before_the_schema() -> None:
    schema = {"allOf": [{"$ref": "#/types/Base"}, {"minProperties": 1}], "maxProperties": 5}
    assert parts(schema, TYPES) == [TYPES["Base"], {"$ref": "#/types/Base"}, {"minProperties": 1}, schema]


def test_references_in_a_circle_end() -> None:
    assert TYPES["Node"] in parts({"$ref": "#/types/Node"}, TYPES)
    assert follow({"$ref": "#/types/Circle"}, TYPES) == {}
    assert nullable({"$ref": "#/types/Circle"}, TYPES) is False


def test_a_property_declared_twice_has_the_keywords_of_both() -> None:
    shape = shape_of(TYPES, {"$ref": "#/types/Cat"})
    description = {"description": "What it is called"}
    assert shape.properties["name"] == ("name", {"type": "string", "maxLength": 9, **description})
    assert shape.properties["id"][0] == "ID"
    assert shape.required == {"id"}


def test_a_union_has_the_properties_of_all_alternatives() -> None:
    assert shape_of(TYPES, {"$ref": "#/types/Pet"}).properties == {}
    assert union_of(TYPES, {"$ref": "#/types/Pet"}).properties.keys() == {"id", "name", "toys"}


def test_a_property_of_several_alternatives_is_what_each_of_them_has() -> None:
    def option(kind: Any, acts: Any) -> Any:
        return {"properties": {"kind": kind, "acts": acts}}

    paid, sent = ({"type": "array", "items": {"$ref": f"#/types/{name}"}} for name in ("Cat", "Page"))
    kinds = (({"const": "paid"}, paid), ({"enum": ["sent", "lost"]}, sent), ({"const": "x"}, {"title": "Acts"}))
    options = [option(*kind) for kind in kinds]
    shown = {name: schema for name, (_, schema) in union_of(TYPES, {"anyOf": options}).properties.items()}
    assert shown["kind"] == {"enum": ["paid", "sent", "lost", "x"]}
    assert shown["acts"] == {"anyOf": [paid, sent]}
    described = union_of(TYPES, {"anyOf": [option({}, {"description": "Acts"}), option({}, paid)]}).properties["acts"]
    assert described[1] == {"description": "Acts", **paid}


def test_paths_are_translated_to_the_agents_names() -> None:
    page = {"$ref": "#/types/Page"}
    assert agent_path(TYPES, page, "/data-items/undeclared~1key") == ("data_items", "undeclared/key")
    assert schema_at(TYPES, page, ("data_items",), items=True) == {"$ref": "#/types/Cat"}


@each(
    ("schema", "target", "null"),
    [
        ({"type": ["string", "null"]}, {"type": ["string", "null"]}, True),
        ({"type": "string"}, {"type": "string"}, False),
        ({"enum": ["1", None]}, {"enum": ["1", None]}, True),
        ({"anyOf": [{"type": "null"}, {"type": "string"}], "title": "t"}, {"title": "t", "type": "string"}, True),
        ({"oneOf": [{"const": None}, {"$ref": "#/types/Cat"}]}, {"$ref": "#/types/Cat"}, True),
        ({"allOf": [{"$ref": "#/types/Cat"}], "description": "d"}, {"description": "d", "$ref": "#/types/Cat"}, False),
    ],
)
def test_null_is_taken_out_of_a_schema(schema: Any, target: Any, null: bool) -> None:
    assert without_null(schema) == (target, null)


@each(
    ("schema", "expected"),
    [
        ({}, True),
        ({"$ref": "#/types/Alias"}, True),
        ({"$ref": "#/types/Base"}, False),
        ({"type": ["integer", "null"]}, True),
        ({"type": "integer"}, False),
        ({"enum": ["a", None]}, True),
        ({"enum": ["a"]}, False),
        ({"allOf": [{}]}, False),
    ],
)
def test_a_schema_admits_null_where_it_says_so_or_says_nothing(schema: Any, expected: bool) -> None:
    assert nullable(schema, TYPES) is expected


@each(
    ("schema", "guess", "expected"),
    [
        ({"type": "null"}, True, "any"),
        ({"type": ["integer", "null"]}, True, "integer"),
        ({"type": ["integer", "string"]}, True, None),
        ({"properties": {}}, True, "object"),
        ({"properties": {}}, False, None),
        ({"items": {}}, True, "array"),
        ({"const": "x"}, True, "string"),
        ({"enum": [1]}, True, None),
    ],
)
def test_the_type_is_declared_or_follows_from_the_keywords(schema: Any, guess: bool, expected: str | None) -> None:
    assert only_type(schema, guess=guess) == expected


def test_alternatives_alone_make_no_object() -> None:
    assert not is_object({"type": "object", "anyOf": [{"type": "object"}, {"type": "object"}]}, TYPES)
    assert is_object({"type": "object"}, TYPES)


def test_references_name_types_also_when_escaped() -> None:
    assert type_named("#/types/a~1b%20c") == "a/b c"
    assert type_named("#/components/schemas/Pet") is None


@each(
    ("value", "name"),
    [(None, "null"), (True, "boolean"), (1, "integer"), (1.5, "number"), ("", "string"), ({}, "object"), ([], "array")],
)
def test_a_value_has_a_json_type(value: Any, name: str) -> None:
    assert json_type(value) == name
