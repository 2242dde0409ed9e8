"""Examples are valid values of their schemas, for every kind of schema."""

from __future__ import annotations

from typing import Any

from aqlgen.table.example_calls import Checker
from aqlgen.table.sample_values import ValueMaker
from tests.cases import each
from tests.schemas.adapter import adapted

NODE = "#/components/schemas/Node"


@each(
    "schema",
    [
        {"type": "string", "pattern": "^[A-Z]{3}-[0-9]{2,4}$", "minLength": 8},
        {"type": "string", "format": "uuid"},
        {"type": "integer", "minimum": 5, "multipleOf": 4},
        {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        {"type": "integer", "exclusiveMaximum": -3},
        {"type": "array", "items": {"enum": ["a", "b", "c"]}, "minItems": 3, "uniqueItems": True},
        {"type": "array", "items": {"type": "string", "pattern": "^a+$"}, "minItems": 2, "uniqueItems": True},
        {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "minItems": 2, "items": False},
        {"type": "object", "minProperties": 3, "additionalProperties": {"type": "integer"}},
        {
            "type": "object",
            "minProperties": 1,
            "patternProperties": {"^x-[a-z]+$": {"type": "string"}},
            "additionalProperties": False,
        },
        {
            "type": "object",
            "minProperties": 2,
            "properties": {"aB": {"type": "string"}, "c": {"type": "boolean"}, "d": {}},
        },
        {"type": "object", "required": ["a"], "properties": {"a": {}}, "dependentRequired": {"a": ["bC"]}},
        {"anyOf": [{"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}}, {"type": "array"}]},
        {"allOf": [{"type": "object", "properties": {"a": {"type": "string"}}}, {"anyOf": [{"required": ["a"]}]}]},
        {"oneOf": [{"const": None}, {"type": "string", "maxLength": 2}]},
        {"type": "string", "examples": [12], "maxLength": 4},
        {"type": "string", "minLength": 40, "maxLength": 41},
    ],
)
def test_one_of_the_values_that_are_tried_is_valid(schema: Any) -> None:
    ours = adapted(schema)
    checker = Checker(ours.types)
    assert any(checker.valid(ours.schema, value) for value in ValueMaker(ours.types).candidates(ours.schema))


def test_only_the_types_that_a_value_touches_are_looked_at() -> None:
    """An adapter's types may all refer to one another; an example is validated by those of its own values only."""
    types: dict[str, Any] = {
        f"T{index}": {"properties": {"next": {"$ref": f"#/types/T{index + 1}"}}, "required": ["id"]}
        for index in range(3000)
    }
    types["T1"] = {"type": "string"}
    checker = Checker(types)
    assert checker.valid({"$ref": "#/types/T0"}, {"id": 1, "next": "text"})
    assert not checker.valid({"$ref": "#/types/T0"}, {"id": 1, "next": 1})


def test_an_example_contains_the_discriminator_of_its_alternative() -> None:
    cat = {"type": "object", "properties": {"name": {"type": "string"}, "petType": {"type": "string"}}}
    union = {"oneOf": [{"$ref": "#/components/schemas/Cat"}], "discriminator": {"propertyName": "petType"}}
    union["oneOf"].append({"$ref": "#/components/schemas/Dog"})
    ours = adapted({"type": "array", "items": union}, {"Cat": cat, "Dog": {**cat, "description": "A dog."}})
    value = next(iter(ValueMaker(ours.types).candidates(ours.schema)))
    assert value == [{"pet_type": "Cat"}]


def first(schema: Any, components: dict[str, Any] | None = None) -> Any:
    ours = adapted(schema, components)
    return next(ValueMaker(ours.types).candidates(ours.schema))


def test_a_base_with_a_discriminator_is_shown_as_the_first_of_its_subtypes() -> None:
    base = {
        "type": "object",
        "required": ["type"],
        "properties": {"type": {"type": "string"}},
        "discriminator": {"propertyName": "type", "mapping": {"text": "Text", "image": "Image"}},
    }
    refers = [{"$ref": "#/components/schemas/Message"}]
    components = {
        "Message": base,
        "Text": {"allOf": refers, "required": ["words"], "properties": {"words": {"type": "string"}}},
        "Image": {"allOf": refers, "required": ["url"], "properties": {"url": {"type": "string"}}},
    }
    assert first(refers[0], components) == {"type": "text", "words": "example"}


def test_an_object_within_another_is_not_shown_empty() -> None:
    item = {"type": "object", "properties": {"name": {"type": "string"}, "size": {"type": "integer"}}}
    schema = {"type": "object", "required": ["items"], "properties": {"items": {"type": "array", "items": item}}}
    assert first(schema) == {"items": [{"name": "example"}]}


def test_a_property_that_admits_nothing_is_not_chosen() -> None:
    inner = {"type": "object", "properties": {"additionalProperties": False, "name": {"type": "string"}}}
    schema = {"type": "object", "required": ["inner"], "properties": {"inner": inner}}
    assert first(schema) == {"inner": {"name": "example"}}


def test_required_values_are_generated_at_any_depth() -> None:
    schema: dict[str, Any] = {"type": "integer"}
    for _ in range(15):
        schema = {"type": "object", "required": ["data"], "properties": {"data": schema}}
    value = first(schema)
    for _ in range(15):
        value = value["data"]
    assert value == 1


def test_values_of_endless_types_are_bounded() -> None:
    names = [f"child{number}" for number in range(9)]
    endless = {"type": "object", "required": names, "properties": {name: {"$ref": NODE} for name in names}}
    assert len(str(first({"$ref": NODE}, {"Node": endless}))) < 200_000


def test_the_first_meaningful_value_of_an_enumeration_is_shown() -> None:
    assert first({"type": "string", "enum": ["", "small", "large"]}) == "small"
