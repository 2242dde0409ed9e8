"""Examples are valid values of their schemas, for every kind of schema."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from aqlgen.diagnostics import Severity
from aqlgen.schemas.patterns import matches, usable
from aqlgen.table.example_calls import Checker
from aqlgen.table.sample_scalars import MAX_LENGTH, matching_text
from aqlgen.table.sample_values import ValueMaker
from tests.cases import each
from tests.generator.commands import api, posting, tabulate
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


@each(
    "pattern",
    [
        r"^[a-z]+$",
        r"^\d{4}-\d{2}-\d{2}$",
        r"^(red|green)_[0-9A-F]{6}$",
        r"^[^/]+/[^/]+$",
        r"^arn:aws:[a-z]+:\w+:\d{12}:.*$",
        r"^(?:[A-Za-z0-9+/]{4})*$",
        r"^[\w.+-]+@[\w-]+\.[a-z]{2,}$",
        r"^[]a]$|x",
        r"^[\d-]+$",
        r"^\^\[\]$",
        r"^(?<year>\d+)$",
        "^$",
        "a*",
    ],
)
def test_a_text_made_for_a_pattern_matches_it(pattern: str) -> None:
    example = matching_text(pattern)
    assert example is not None
    assert matches(usable(pattern) or pattern, example)


@each("pattern", ["(a{1000}){1000}", "((((a{9999}){9999}){9999}){9999})", "(" * 5000, "[", "a{999999999}", "(?=", "\\"])
def test_an_expression_that_explodes_costs_nothing(pattern: str) -> None:
    """R-TRUST-4"""
    begin = time.perf_counter()
    example = matching_text(pattern)
    assert example is None or len(example) <= MAX_LENGTH
    assert time.perf_counter() - begin < 1


@given(st.text(alphabet="ab[]()|*+?{}^$\\d1,-.", max_size=20))
def test_any_text_as_a_pattern_gives_a_text_or_nothing(pattern: str) -> None:
    example = matching_text(pattern)
    assert example is None or len(example) <= MAX_LENGTH


def test_syntax_of_other_languages_is_translated() -> None:
    assert usable("/^[a-z]+$/i") == "(?i)^[a-z]+$"
    assert usable(r"^[\w-.]+\Z") == r"^[\w\-.]+$"
    assert usable("([a-z") is None
    assert usable("x" * 6000) is None


OBJECT_ID = "6762f2391bb69f9f2193bbf0"
UUID = "3fa85f64-5717-4562-b3fc-2c963f66afa6"


@each(
    ("schema", "value"),
    [
        ({"type": "string", "format": "uuid", "example": OBJECT_ID}, OBJECT_ID),
        ({"type": "string", "format": "uuid", "examples": [UUID, OBJECT_ID]}, OBJECT_ID),
        ({"type": "string", "format": "date", "enum": ["today", "tomorrow"]}, "today"),
        ({"type": "string", "format": "date-time", "default": "2026-01-31 12:00:00"}, "2026-01-31 12:00:00"),
        ({"type": "string", "format": "uri", "example": "shop.example.com/a"}, "shop.example.com/b"),
        ({"type": "integer", "format": "int32", "example": 4_294_967_296}, 4_294_967_296),
        ({"type": "integer", "format": "int32", "maximum": 9_000_000_000}, 9_000_000_000),
    ],
)
def test_a_format_that_its_surroundings_contradict_is_let_go(schema: dict[str, Any], value: Any) -> None:
    thing = adapted(schema)
    assert thing.admits(value)
    assert "format" not in thing.schema
    (finding,) = thing.findings
    assert (finding.code, finding.severity, finding.pointer) == ("bad-format", Severity.NOTE, "/x-schema/format")


@each(
    "schema",
    [
        {"format": "uuid", "example": UUID, "minLength": 36, "maxLength": 36},
        {"format": "uuid", "example": "<uuid>"},
        {"format": "uuid", "example": "string"},
        {"format": "date", "example": "YYYY-MM-DD"},
        {"format": "date-time", "example": "'2026-01-31T12:00:00Z'"},
        {"format": "uri", "example": "https://example.com/{id}"},
        {"format": "uri", "pattern": "^https://hooks\\."},
    ],
)
def test_a_format_that_nothing_contradicts_stays(schema: dict[str, Any]) -> None:
    thing = adapted({"type": "string", **schema})
    assert thing.schema["format"] == schema["format"]
    assert thing.findings == []


def test_the_example_that_stays_is_told() -> None:
    schema = {"type": "string", "format": "uuid", "example": OBJECT_ID, "description": "Its id."}
    assert adapted(schema).schema["description"] == f"Its id. Such as '{OBJECT_ID}'."


def test_examples_of_parameters_and_of_bodies_count_too(tmp_path: Path) -> None:
    identifier = {"type": "string", "format": "uuid"}
    path = {"name": "id", "in": "path", "required": True, "schema": identifier, "example": OBJECT_ID}
    operation = {"operationId": "getThing", "responses": {}, "parameters": [path]}
    table = tabulate(tmp_path, api({"/things/{id}": {"get": operation}}))
    assert table.rows["get_thing"]["parameters"]["thing_id"]["schema"] == {"type": "string"}
    assert [finding["code"] for finding in table.findings("bad-format")] == ["bad-format"]
    document = posting({"type": "object", "properties": {"owner": identifier, "shop": identifier}})
    body = document["paths"]["/things"]["post"]["requestBody"]["content"]["application/json"]
    body["example"] = {"owner": OBJECT_ID, "shop": UUID}
    parameters = tabulate(tmp_path, document).rows["create_thing"]["parameters"]
    assert parameters["owner"]["schema"] == {"type": "string"}
    assert parameters["shop"]["schema"] == identifier
