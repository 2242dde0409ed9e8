"""NAME=VALUE on the adapter's command line: what each text means for a schema."""

from __future__ import annotations

from typing import Any

from aqlgen.runtime.cli.operations import Declared, read_value
from tests.cases import each

TYPES = {
    "Size": {"type": "string", "enum": ["1", "2"]},
    "Input": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
    "Chosen": {"anyOf": [{"enum": ["minimal", "full"]}, {"type": "array", "items": {"type": "string"}}]},
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
        (INTEGER, "seven", "seven"),
        (INTEGER, "", ""),
        ({"type": "number"}, "2", 2),
        ({"type": "number"}, "2.5", 2.5),
        (BOOLEAN, "true", True),
        (BOOLEAN, "False", "False"),
        ({"type": "number"}, "Infinity", "Infinity"),
        ({"type": "object"}, "[1]", "[1]"),
        ({"type": ["integer", "string"]}, "123", 123),
        ({"type": ["integer", "string"]}, '"123"', "123"),
        ({"type": ["integer", "string"]}, "abc", "abc"),
        ({"enum": [1, 2]}, "2", 2),
        ({"const": "7"}, "7", "7"),
        (TEXTS, "a", ["a"]),
        (TEXTS, "1,2", ["1", "2"]),
        (TEXTS, '["a, b"]', ["a, b"]),
        (TEXTS, "a, b", ["a", " b"]),
        (NUMBERS, "1,2.5", [1, 2.5]),
        (NUMBERS, "1,b", [1, "b"]),
        ({"type": "array", "items": {"$ref": "#/types/Size"}}, "1,2", ["1", "2"]),
        ({"type": "object"}, '{"a": "1"}', {"a": "1"}),
        ({"properties": {"a": STRING}}, '{"a": "1"}', {"a": "1"}),
        ({"$ref": "#/types/Input"}, "hello, you", "hello, you"),
        ({"$ref": "#/types/Chosen"}, "id,name", ["id", "name"]),
        ({"$ref": "#/types/Chosen"}, "full", "full"),
        ({"$ref": "#/types/Input"}, '["hello"]', ["hello"]),
        ({}, "123", 123),
        ({}, "abc", "abc"),
        ({"$ref": "#/types/Loop"}, "abc", "abc"),
        ({"allOf": [{"$ref": "#/types/Name"}], "description": "a name"}, "123", "123"),
    ],
)
def test_a_text_is_read_as_the_schema_has_it_and_else_stands_as_it_is(
    schema: dict[str, Any], text: str, value: Any
) -> None:
    assert read_value(text, schema, TYPES) == value
    assert type(read_value(text, schema, TYPES)) is type(value)


def test_a_name_that_is_given_again_adds_to_a_list() -> None:
    declared = Declared({"tags": TEXTS, "name": STRING}, TYPES)
    assert declared.read(["tags=a,b", "TAGS=c"]) == {"tags": ["a", "b"], "TAGS": ["c"]}
    assert declared.read(["tags=a=1", "tags=b", "name=c"]) == {"tags": ["a=1", "b"], "name": "c"}
