"""NAME=VALUE on the adapter's command line: what each text means for a schema."""

from __future__ import annotations

from typing import Any

import pytest

from aqlgen.runtime.cli.values import Declared, ValueProblem, read_pairs, read_value
from tests.cases import each

TYPES = {
    "Size": {"type": "string", "enum": ["1", "2"]},
    "Input": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
    "Name": {"type": "string"},
    "Loop": {"allOf": [{"$ref": "#/types/Loop"}]},
}
STRING, INTEGER, BOOLEAN = {"type": "string"}, {"type": "integer"}, {"type": "boolean"}
TEXTS = {"type": "array", "items": STRING}
NUMBERS = {"type": "array", "items": {"type": "number"}}


@each(
    ("schema", "text", "value"),
    [
        (STRING, "123", "123"),
        (STRING, "true", "true"),
        (STRING, '{"a": 1}', '{"a": 1}'),
        (STRING, '"quoted"', '"quoted"'),
        (STRING, "", ""),
        ({"type": "string", "format": "date"}, "2026-01-31", "2026-01-31"),
        ({"$ref": "#/types/Size"}, "1", "1"),
        ({"type": ["string", "null"]}, "123", "123"),
        ({"type": ["string", "null"]}, "null", None),
        ({"type": ["string", "null"]}, '"null"', "null"),
        (INTEGER, "123", 123),
        (INTEGER, "2.0", 2),
        ({"type": "number"}, "2", 2),
        ({"type": "number"}, "2.5", 2.5),
        (BOOLEAN, "true", True),
        (BOOLEAN, "False", False),
        ({"type": ["integer", "string"]}, "123", 123),
        ({"type": ["integer", "string"]}, '"123"', "123"),
        ({"type": ["integer", "string"]}, "abc", "abc"),
        ({"enum": [1, 2]}, "2", 2),
        ({"const": "7"}, "7", "7"),
        (TEXTS, "a", ["a"]),
        (TEXTS, "1,2", ["1", "2"]),
        (TEXTS, '["a, b"]', ["a, b"]),
        (NUMBERS, "1,2.5", [1, 2.5]),
        ({"type": "array", "items": {"$ref": "#/types/Size"}}, "1,2", ["1", "2"]),
        ({"type": "object"}, '{"a": "1"}', {"a": "1"}),
        ({"properties": {"a": STRING}}, '{"a": "1"}', {"a": "1"}),
        ({"$ref": "#/types/Input"}, "hello, you", "hello, you"),
        ({"$ref": "#/types/Input"}, '["hello"]', ["hello"]),
        ({}, "123", 123),
        ({}, "abc", "abc"),
        ({"$ref": "#/types/Loop"}, "abc", "abc"),
        ({"allOf": [{"$ref": "#/types/Name"}], "description": "a name"}, "123", "123"),
    ],
)
def test_a_text_is_read_as_the_schema_has_it(schema: dict[str, Any], text: str, value: Any) -> None:
    assert read_value("x", text, schema, TYPES) == value
    assert type(read_value("x", text, schema, TYPES)) is type(value)


@each(
    ("schema", "text", "message"),
    [
        (INTEGER, "seven", "'x' wants an integer, and 'seven' is none"),
        (INTEGER, "1.5", "'x' wants an integer, and '1.5' is none"),
        (INTEGER, "", "'x' wants an integer, and nothing is given"),
        ({"type": "number"}, "NaN", "'x' wants a number"),
        (BOOLEAN, "yes", "'x' wants true or false"),
        ({"enum": [1, 2]}, "3", "'x' wants one of 1, 2"),
        ({"type": "object"}, "a", "'x' wants an object, and 'a' is none; give JSON: x='{"),
        ({"type": "object"}, "[1]", "'x' wants an object"),
        (TEXTS, "a, b", "'x' wants a list, and 'a, b' is none; give JSON: x='[…]'"),
        (TEXTS, "", "'x' wants a list"),
        (TEXTS, '["a"', "'x' wants a list"),
        (NUMBERS, "1,b", "'x' wants a number, and 'b' is none"),
        ({"type": "array", "items": {"type": "object"}}, "a", "'x' wants a list"),
        ({"type": "array", "items": {"type": ["string", "integer"]}}, "1,2", "'x' wants a list"),
    ],
)
def test_what_is_of_another_type_or_has_two_readings_is_refused(
    schema: dict[str, Any], text: str, message: str
) -> None:
    with pytest.raises(ValueProblem) as caught:
        read_value("x", text, schema, TYPES)
    assert str(caught.value).startswith(message)


def test_a_name_that_is_given_again_adds_to_a_list() -> None:
    declared = Declared({"tags": TEXTS, "name": STRING}, TYPES)
    assert read_pairs(["tags=a,b", "TAGS=c"], declared) == {"tags": ["a", "b"], "TAGS": ["c"]}
    assert read_pairs(["tags=a=1", "tags=b"], declared) == {"tags": ["a=1", "b"]}
    with pytest.raises(ValueProblem, match="'name' is given 2 times"):
        read_pairs(["name=a", "name=b"], declared)
