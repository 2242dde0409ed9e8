"""The sentences of introspection for what schemas say beyond its keys."""

from __future__ import annotations

from typing import Any

from aqlgen.runtime.introspection.fields import parameter_info, type_details
from aqlgen.runtime.table import Parameter
from tests.cases import each

TYPES: dict[str, Any] = {
    "Code": {"type": "string", "enum": [f"c{index}" for index in range(5000)]},
    "Level": {"type": "integer", "enum": [1, 2, 3]},
    "Maybe": {"type": ["object", "null"], "properties": {"a": {"type": "string"}}},
    "Cat": {"type": "object", "properties": {"kind": {"type": "string"}}},
    "Dog": {"type": "object", "properties": {"kind": {"type": "string"}}},
    "Pet": {
        "anyOf": [{"$ref": "#/types/Cat"}, {"$ref": "#/types/Dog"}],
        "discriminator": {"propertyName": "kind", "mapping": {"cat": "#/types/Cat", "dog": "#/types/Dog"}},
    },
    "Closed": {"type": "object", "properties": {"a": {}}, "additionalProperties": False},
}


def parameter(schema: dict[str, Any]) -> Parameter:
    return Parameter(name="one", wire="one", location="body", schema=schema)


@each(
    ("schema", "sentence"),
    [
        ({"$ref": "#/types/Code"}, "One of 5000 values, such as 'c0', 'c1', 'c2': introspect the type for all."),
        ({"$ref": "#/types/Maybe"}, "May be null. Fields: {a: string}."),
        ({"type": "string", "writeOnly": True}, "Never given back."),
        ({"type": "array", "prefixItems": [{"type": "string"}], "items": False}, "In this order: string, and no more."),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, "Every value is int."),
        ({"type": "object", "patternProperties": {"^x": {"type": "string"}}}, "Keys that match '^x' hold string."),
        ({"type": "object", "minProperties": 1}, "1 or more keys."),
        ({"type": "object", "minProperties": 2, "maxProperties": 2}, "2 keys."),
        ({"type": "object", "maxProperties": 9}, "0 to 9 keys."),
        (
            {"anyOf": [{"type": "string", "maxLength": 2}, {"type": "string", "format": "uuid"}]},
            "One of: string(≤2), uuid.",
        ),
        ({"anyOf": [{"type": "string"}, {"enum": ["a", "b"]}]}, "Known values: 'a', 'b'; others are possible."),
    ],
)
def test_a_parameter_says_its_rules(schema: dict[str, Any], sentence: str) -> None:
    assert parameter_info(parameter(schema), TYPES)["description"] == sentence


def test_a_short_enumeration_of_numbers_is_shown_with_the_parameter() -> None:
    assert parameter_info(parameter({"$ref": "#/types/Level"}), TYPES)["enum"] == [1, 2, 3]


def test_a_union_says_which_value_means_which_type() -> None:
    assert type_details("Pet", TYPES["Pet"], TYPES)["description"] == "Told apart by kind: 'cat' is Cat, 'dog' is Dog."


def test_a_type_says_its_rules() -> None:
    assert type_details("Closed", TYPES["Closed"], TYPES)["description"] == "No other keys."
    assert type_details("Level", TYPES["Level"], TYPES)["description"] == "One of 1, 2, 3."


def test_what_very_many_values_are_is_bounded() -> None:
    union = {"anyOf": [{"const": index} for index in range(3000)]}
    assert parameter_info(parameter(union), {})["description"].endswith(" and 2950 more.")
