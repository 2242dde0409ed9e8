"""The shape of a value in one line, and the details of an operation within their budget."""

from __future__ import annotations

import json
from typing import Any

from aqlgen.runtime.introspection.fields import Detail, parameter_info
from aqlgen.runtime.schema.notation import notation
from aqlgen.runtime.table import Parameter
from aqlgen.runtime.text import brief
from tests.cases import each
from tests.documents import INTEGER, list_of, object_of

STRING = {"type": "string"}
TYPES: dict[str, Any] = {
    "Person": object_of("id", name=STRING, id={"type": "integer", "minimum": 1}),
    "Node": object_of("next", next={"$ref": "#/types/Node"}, peers=list_of({"$ref": "#/types/Node"})),
    "Color": {"type": "string", "enum": [f"color{index}" for index in range(40)]},
    "Deep": object_of(
        first=object_of(second=object_of(third={"$ref": "#/types/Person"}, size=STRING), size=STRING), size=STRING
    ),
}


def ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/types/{name}"}


@each(
    ("schema", "text"),
    [
        (ref("Person"), "{id*: int≥1, name: string}"),
        ({"type": "array", "items": ref("Person"), "maxItems": 5}, "[{id*: int≥1, name: string}](≤5)"),
        (ref("Node"), "{next*: Node, peers: [Node]}"),
        (ref("Color"), "Color"),
        ({"enum": ["a", "b"], "default": "a"}, "'a'|'b' = 'a'"),
        ({"type": "integer", "minimum": 1, "maximum": 9, "default": 3}, "int 1..9 = 3"),
        ({"type": "integer", "minimum": -(2**63), "maximum": 2**63}, "int"),
        ({"type": "integer", "maximum": 9, "description": "The price (in cents)."}, "int≤9 cents"),
        ({"type": "number", "description": "Seconds to wait"}, "number seconds"),
        ({"type": "string", "minLength": 3, "maxLength": 3}, "string(3)"),
        ({"type": "string", "pattern": "^[a-z]+$"}, "string /^[a-z]+$/"),
        ({"type": "string", "format": "date-time"}, "date-time"),
        ({"type": ["string", "null"], "maxLength": 4}, "string(≤4)"),
        ({"type": "object", "additionalProperties": ref("Person")}, "{key: {id*: int≥1, name: string}}"),
        ({"anyOf": [STRING, ref("Person")]}, "string|{id*: int≥1, name: string}"),
        ({"type": "object", "properties": {"a b": STRING, "old": {"deprecated": True}}}, "{'a b': string}"),
        (
            object_of("key", key={**STRING, "readOnly": True}, at={**STRING, "readOnly": True}, a=STRING),
            "{key*: string, a: string}",
        ),
        (
            {"allOf": [ref("Person"), {"properties": {"age": INTEGER}}]},
            "{id*: int≥1, name: string, age: int}",
        ),
    ],
)
def test_a_shape_is_one_line(schema: dict[str, Any], text: str) -> None:
    """R-INT-4"""
    assert notation(schema, TYPES, 300) == text


def test_what_is_too_deep_is_named_by_its_type_and_required_fields() -> None:
    text = "{first: {second: {third: Person {id*}, size: string}, size: string}, size: string}"
    assert notation(ref("Deep"), TYPES, 300) == text
    assert notation(ref("Deep"), TYPES, 60) == "{first: object {second, size}, size: string}"


def test_what_is_too_deep_and_requires_nothing_is_named_by_its_first_fields() -> None:
    inner = {"type": "object", "properties": dict.fromkeys(("a", "b", "c", "d", "e", "f"), STRING)}
    schema = object_of(spec=inner, kind=STRING)
    assert notation(schema, {}, 60) == "{spec: object {a, b, c, d, e, …}, kind: string}"


def test_what_an_alternative_or_the_rest_of_an_enumeration_is_stands_there_if_it_is_short() -> None:
    names = [f"state_{number}" for number in range(12)]
    assert notation({"enum": names}, {}, 400) == "|".join(f"'{name}'" for name in names)
    assert notation({"enum": [name * 3 for name in names]}, {}, 400).endswith("|… 9 more")
    wanted = object_of(slug=STRING)
    assert "object|" not in notation({"anyOf": [{"type": "object"}, wanted, STRING]}, {}, 400)


def test_an_envelope_is_no_depth_and_no_end() -> None:
    """`{data: {…}}` shows what is in it; envelopes in envelopes end."""
    fields = {"type": "object", "properties": {name: {**STRING, "maxLength": 99} for name in "abc"}}
    wrapped = object_of(data=fields)
    assert notation(wrapped, {}, 60) == "{data: {a: string(≤99), b: string(≤99), c: string(≤99)}}"
    assert notation(object_of(more=wrapped, x=STRING), {}, 40) == "{more: object {data}, x: string}"
    for _ in range(300):
        wrapped = object_of(data=wrapped)
    assert len(notation(wrapped, {}, 300)) <= 300


def test_required_objects_go_deeper_than_optional_ones() -> None:
    schema: dict[str, Any] = STRING
    for name in "edcba":
        schema = {"type": "object", "required": [name], "properties": {name: schema}}
    assert notation(schema, TYPES, 300) == "{a*: {b*: {c*: {d*: {e*: string}}}}}"


def test_all_fields_of_an_object_are_at_least_named_or_counted_with_its_type() -> None:
    """An agent that sees two of twenty names asks again."""
    properties = {f"field_{index}": {"type": "string", "format": "date-time"} for index in range(20)}
    text = notation({"type": "object", "required": ["field_3"], "properties": properties}, {}, 100)
    assert text.startswith("{field_3*: date-time, field_0, field_1, field_2, field_4,")
    assert text.endswith("field_19}")
    types = {"Wide": {"type": "object", "properties": {f"field_number_{index}": STRING for index in range(40)}}}
    parameter = Parameter(name="wide", wire="wide", location="body", schema=ref("Wide"))
    info = parameter_info(parameter, types, detail=Detail(text=40, shape=90, values=5))
    assert info["description"] == "Fields: {field_number_0: string, field_number_1: string, … 38 more in Wide}."


def test_the_values_and_the_unit_that_a_cut_description_says_stay() -> None:
    words, values = f"How dependents are deleted. {'Many words, ' * 20}", "'Orphan' - keeps; 'Background' - later."
    for kind, end, note in (("string", values, "Also: 'Orphan', 'Background'."), ("integer", "In days.", "In days.")):
        schema = {"type": kind, "description": f"{words}{end}"}
        parameter = Parameter(name="policy", location="query", wire="policy", schema=schema)
        info = parameter_info(parameter, {}, detail=Detail(text=40, shape=0, values=5))
        assert info["description"] == f"How dependents are deleted. {note}"


@each(
    ("text", "short"),
    [
        ("The limit, e.g. 5. Then comes more.", "The limit, e.g. 5."),
        ("What is cut at a clause, if the sentence has no end for as long as this", "What is cut at a clause …"),
        ("What is cut at a word if the sentence has no end for as long as this", "What is cut at a word if …"),
    ],
)
def test_a_text_is_cut_after_a_sentence_or_else_a_clause(text: str, short: str) -> None:
    assert brief(text, 26) == short


def test_the_shape_of_any_document_is_bounded() -> None:
    many = {f"field_{index}": ref("Wide") for index in range(400)}
    types: dict[str, Any] = {"Wide": {"type": "object", "properties": many, "required": list(many)}}
    union: dict[str, Any] = {"anyOf": [ref("Union"), list_of(ref("Union"))] * 20}
    lists: dict[str, Any] = STRING
    for _ in range(90):
        lists = list_of(lists)
    for schema in (ref("Wide"), {"properties": {"x" * 9999: STRING}}, ref("Union"), lists, {"enum": ["y" * 9999]}):
        assert len(notation(schema, types | {"Union": union}, 200)) <= 200


def test_a_parameter_that_names_a_type_shows_its_shape() -> None:
    """R-INT-4"""
    parameter = Parameter(name="owner", wire="owner", location="body", schema=ref("Person"), description="Whose it is")
    info = parameter_info(parameter, TYPES)
    assert info["type"] == "Person"
    assert info["description"] == "Whose it is. Fields (* required): {id*: int≥1, name: string}."
    items = parameter_info(Parameter(name="all", wire="all", location="body", schema=list_of(ref("Person"))), TYPES)
    assert json.loads(json.dumps(items))["items"] == {
        "type": "Person",
        "description": "Fields (* required): {id*: int≥1, name: string}.",
    }
