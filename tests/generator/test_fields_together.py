"""What introspection says of fields that go together, of values listed twice, and of one name in several places."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.documents import INTEGER, TEXT, body_of, list_of, object_of, parameter
from tests.generator.commands import api, posting, tabulate

CARD = object_of(
    "type", "number", "expiryDate", type={"enum": ["card"]}, number=TEXT, expiryDate=TEXT, cvc=TEXT, note=TEXT
)
BANK = object_of("type", "iban", type={"enum": ["bank"]}, iban=TEXT, note=TEXT)
SETS = "type 'card' with number and expiry_date, optionally cvc; or type 'bank' with iban."


def description(tmp_path: Path, schema: Any, **more: Any) -> str:
    return str(tabulate(tmp_path, posting(schema, **more)).details("create_thing")["description"])


@pytest.mark.parametrize("discriminator", [{}, {"discriminator": {"propertyName": "type"}}])
def test_a_body_of_alternatives_says_which_fields_go_together(tmp_path: Path, discriminator: dict[str, Any]) -> None:
    text = description(tmp_path, {"oneOf": [CARD, BANK], **discriminator})
    assert text == f"Create thing. Give one of: {SETS}"


def test_an_update_says_it_of_its_input(tmp_path: Path) -> None:
    put = {"operationId": "updateThing", "requestBody": body_of({"oneOf": [CARD, BANK]}), "responses": {}}
    document = api({"PUT /things/{id}": put})
    text = tabulate(tmp_path, document).details("update_thing")["description"]
    assert text.endswith(f"Give in input one of: {SETS}")


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        (
            {"anyOf": [{"required": ["url"]}, {"required": ["ownerId", "name"]}]},
            "Give one of: url; or owner_id and name.",
        ),
        ({"minProperties": 1}, "1 or more of url, owner_id, name."),
        ({"minProperties": 1, "maxProperties": 1}, "1 of url, owner_id, name."),
        ({"anyOf": [{"required": ["url"]}, {}]}, ""),
        ({"minProperties": 1, "required": ["url"]}, ""),
    ],
)
def test_what_fields_need_of_one_another_is_said_as_a_person_would(
    tmp_path: Path, rule: dict[str, Any], sentence: str
) -> None:
    schema = object_of(url=TEXT, ownerId=TEXT, name=TEXT)
    assert description(tmp_path, schema | rule) == f"Create thing. {sentence}".strip()


@pytest.mark.parametrize(
    ("branches", "shown"),
    [
        ([TEXT, TEXT, TEXT], {"type": "string"}),
        (
            [{**TEXT, "description": "An id."}, {**TEXT, "description": "a name"}],
            {"type": "string", "description": "An id; or a name."},
        ),
        (
            [{**TEXT, "maxLength": 5}, {**TEXT, "maxLength": 9}],
            {"type": "string", "description": "One of: string(≤5), string(≤9)."},
        ),
        ([{"enum": ["a", "b"]}, {"enum": ["b", "c"]}, {"const": "a"}], {"type": "string", "enum": ["a", "b", "c"]}),
        (
            [TEXT, {**TEXT, "enum": ["a", "b"]}],
            {"type": "string", "description": "Known values: 'a', 'b'; others are possible."},
        ),
        ([TEXT, {"type": "integer"}, TEXT], {"type": "any", "description": "One of: string, int."}),
        (
            [list_of(TEXT), list_of(INTEGER)],
            {
                "type": "array",
                "items": {"type": "any", "description": "One of: string, int."},
                "description": "One of: [string], [int].",
            },
        ),
    ],
)
def test_branches_that_agree_are_one(tmp_path: Path, branches: list[Any], shown: dict[str, Any]) -> None:
    (field, _) = tabulate(tmp_path, posting(object_of(size={"oneOf": branches}))).details("create_thing")["parameters"]
    assert field == {"name": "size", "required": False, **shown}


def test_a_name_in_several_places_says_where_each_goes(tmp_path: Path) -> None:
    parameters = [parameter("id", "path", description="The shop"), parameter("id"), parameter("size")]
    body = body_of(object_of(ID=TEXT))
    operation = {"operationId": "addThing", "parameters": parameters, "requestBody": body, "responses": {}}
    table = tabulate(tmp_path, api({"POST /shops/{id}/things": operation}))
    (name,) = table.rows
    details = table.details(name)
    descriptions = {field["name"]: field.get("description") for field in details["parameters"]}
    assert descriptions == {
        "shop_id": "The shop. In the path.",
        "shop_thing_id": "In the query.",
        "size": None,
        "id": "In the body.",
        "dry_run": "Show the request, and send nothing",
    }
