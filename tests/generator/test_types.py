"""The schemas of a document as types in JSON Schema 2020-12, under the agent's names."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aqlgen.schemas import field_names, prose, shorten
from tests.cases import each
from tests.documents import INTEGER, TEXT, body_of, object_of, ref, replies
from tests.generator.commands import api, posting, tabulate


def thing(schema: Any, tmp_path: Path, version: str = "3.1.0", **schemas: Any) -> dict[str, Any]:
    """Return the schema of the field `thing` of a created thing."""
    table = tabulate(tmp_path, posting(object_of("thing", thing=schema), version, components={"schemas": schemas}))
    return {**table.rows["create_thing"]["parameters"]["thing"]["schema"], "types": table.types}


@pytest.mark.parametrize(
    ("schema", "fits", "misfits"),
    [
        ({"type": "string", "nullable": True}, [None, "a"], [1]),
        ({"type": "string", "enum": ["a"], "nullable": True}, [None, "a"], ["b"]),
        ({"type": "integer", "minimum": 1, "exclusiveMinimum": True}, [2], [1]),
        ({"allOf": [ref("Name")], "nullable": True}, [None, {"first": "a"}], [{"first": 1}]),
        ({"oneOf": [{"type": "string"}, {"type": "integer"}]}, ["a", 1], [True]),
    ],
)
def test_openapi_3_0_keywords_mean_in_2020_12_what_they_meant(
    schema: Any, fits: list[Any], misfits: list[Any], tmp_path: Path
) -> None:
    name = object_of(first=TEXT)
    validator = jsonschema_rs.validator_for(thing(schema, tmp_path, "3.0.3", Name=name))
    assert all(validator.is_valid(value) for value in fits)
    assert not any(validator.is_valid(value) for value in misfits)


def test_every_nested_object_is_a_named_type(tmp_path: Path) -> None:
    """R-INT-4, R-INT-5"""
    schema = thing(object_of(homeAddress=object_of(street=TEXT)), tmp_path)
    assert schema["$ref"] == "#/types/CreateThingThing"
    address = schema["types"]["CreateThingThing"]["properties"]["home_address"]
    assert address == {"$ref": "#/types/CreateThingThingHomeAddress", "x-name": "homeAddress"}


def test_all_of_objects_is_one_object_with_the_fields_of_all(tmp_path: Path) -> None:
    more = {"properties": {"name": TEXT}, "required": ["name"]}
    schema = thing({"allOf": [ref("Base"), more]}, tmp_path, Base=object_of("id", id=INTEGER))
    merged = schema["types"]["CreateThingThing"]
    assert merged["properties"].keys() == {"id", "name"}
    assert merged["required"] == ["id", "name"]


def test_a_union_of_constants_is_an_enumeration(tmp_path: Path) -> None:
    schema = thing({"oneOf": [{"const": 1, "title": "first"}, {"const": 2, "title": "second"}]}, tmp_path)
    assert schema["enum"] == [1, 2]


def test_read_only_properties_are_kept_out_of_requests_and_named(tmp_path: Path) -> None:
    """R-UPD-1"""
    pet = object_of("id", "name", id={**INTEGER, "readOnly": True}, name=TEXT)
    put = {"operationId": "updatePet", "requestBody": body_of(ref("Pet")), "responses": replies(ref("Pet"))}
    table = tabulate(tmp_path, api({"PUT /pets/{petId}": put}, components={"schemas": {"Pet": pet}}))
    assert table.types["PetInput"]["properties"].keys() == {"name"}
    assert table.types["PetInput"]["required"] == ["name"]
    assert table.types["PetInput"]["x-read-only"] == ["id"]
    assert table.types["Pet"]["required"] == ["id", "name"]
    either = {"oneOf": [pet, object_of("name", name=TEXT, id={**TEXT, "readOnly": True})]}
    [row] = tabulate(tmp_path, api({"POST /pets": {"requestBody": body_of(either)}})).rows.values()
    assert [name for name, field in row["parameters"].items() if field["in"] == "body"] == ["name"]


def test_types_that_no_operation_uses_are_left_out(tmp_path: Path) -> None:
    assert "Unused" not in thing(TEXT, tmp_path, Unused=object_of(a={}))["types"]


def test_a_type_never_takes_the_name_of_one_of_the_protocol(tmp_path: Path) -> None:
    """R-INT-5"""
    schema = thing(ref("OperationInput"), tmp_path, OperationInput=object_of(a=TEXT))
    assert schema["$ref"] == "#/types/ApiOperationInput"


def test_a_reference_that_leads_nowhere_is_any_value_and_a_warning_with_its_line(tmp_path: Path) -> None:
    document = """\
openapi: 3.1.0
info: {title: Shop, version: "1"}
paths:
  /things:
    post:
      operationId: createThing
      requestBody:
        content:
          application/json:
            schema:
              type: object
              properties:
                part:
                  $ref: '#/components/schemas/Gone'
      responses: {}
"""
    table = tabulate(tmp_path, document)
    assert table.rows["create_thing"]["parameters"]["part"]["schema"] == {}
    (warning,) = table.warnings
    assert (warning["code"], warning["line"]) == ("unresolved-reference", 14)


WIRES = st.lists(st.text(min_size=1, max_size=12), unique=True, max_size=12)


@given(WIRES)
def test_field_names_are_unique_whatever_the_api_calls_them(wires: list[str]) -> None:
    """R-SEL-1"""
    names = field_names(wires, preserve=False)
    assert list(names) == wires
    assert len(set(names.values())) == len(wires)


def test_two_names_that_fold_to_one_keep_their_own_spelling() -> None:
    """R-SEL-1"""
    names = field_names(["petId", "pet_id", "homeAddress"], preserve=False)
    assert names == {"petId": "petId", "pet_id": "pet_id", "homeAddress": "home_address"}


@given(st.text(max_size=400), st.integers(20, 100))
def test_a_shortened_text_keeps_its_limit_and_its_beginning(text: str, limit: int) -> None:
    short = shorten(text, limit)
    assert len(short) <= limit + 2
    assert prose(text).startswith(short.removesuffix(" …"))


def test_a_description_keeps_its_words_without_links_and_tags() -> None:
    """Addresses and tags cost an agent tokens and tell it nothing; what stands in angle brackets otherwise stays."""
    text = "See [the guide](https://example.com/a?b=c) and <code>ids</code> of <owner>.<br/>Done"
    assert shorten(text, 200) == "See the guide and ids of <owner>. Done"


def test_numbers_that_a_text_is_to_be_chosen_of_are_taken_as_text(tmp_path: Path) -> None:
    table = tabulate(tmp_path, posting(object_of(kind={"type": "string", "enum": [0, 1, 99]})))
    assert table.rows["create_thing"]["parameters"]["kind"]["schema"]["enum"] == ["0", "1", "99"]


def test_a_field_that_is_required_and_not_declared_is_a_parameter(tmp_path: Path) -> None:
    schema = {"type": "object", "required": ["name", "rates"], "properties": {"name": {"type": "string"}}}
    parameters = tabulate(tmp_path, posting(schema)).rows["create_thing"]["parameters"]
    assert parameters["rates"]["required"] is True
    assert parameters["rates"]["schema"] == {}


def test_values_that_an_array_is_to_be_chosen_of_are_those_of_its_items(tmp_path: Path) -> None:
    table = tabulate(tmp_path, posting(object_of(events={"type": "array", "enum": ["started", "ended"]})))
    schema = table.rows["create_thing"]["parameters"]["events"]["schema"]
    assert schema == {"type": "array", "items": {"enum": ["started", "ended"]}}


@each(
    ("text", "words"),
    [
        ("<p>Go.</p> <important> <p>It is slow.</p> </important>", "Go. It is slow."),
        ("Go. <Warning kind='x'>Never do this.</Warning> <kbd>Tab</kbd>", "Go. Never do this. Tab"),
        ("`/items/<id>` of List<string>, <id> or <name>", "`/items/<id>` of List<string>, <id> or <name>"),
        ("Send <name>doggie</name> or `<note>a b</note>`", "Send <name>doggie</name> or `<note>a b</note>`"),
        ("`<b>` and `<p>` are understood, 10<sup>-9</sup>", "`<b>` and `<p>` are understood, 10<sup>-9</sup>"),
        ("</a> <value> <value> </none>", "<value> <value> </none>"),
    ],
)
def test_markup_is_no_part_of_a_description_and_placeholders_are(text: str, words: str) -> None:
    assert prose(text) == words


def test_tags_in_any_number_are_read_in_time() -> None:
    started = time.process_time()
    prose("<a1>x y" * 20_000 + "</a1>" * 20_000)
    prose("</a1>" * 40_000 + "<" * 40_000 + "`" * 40_001 + "<a1 " * 20_000)
    assert time.process_time() - started < 2
