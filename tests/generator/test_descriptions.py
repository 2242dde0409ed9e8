"""What the details of an operation say and cost: no boilerplate, an example that does something, a bounded size."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aqlgen.runtime.introspection import Bounds
from aqlgen.runtime.introspection.info import operation_type
from aqlgen.runtime.schema.notation import notation
from aqlgen.schemas import useful
from tests.cases import each
from tests.documents import INTEGER, JSON, TEXT, object_of, parameter, replies
from tests.generator.commands import api, posting, tabulate


def shop(descriptions: list[str]) -> dict[str, Any]:
    return api(
        {
            f"GET /things{index}": {"operationId": f"listThings{index}", "description": text, "responses": {}}
            for index, text in enumerate(descriptions)
        }
    )


def texts(rows: dict[str, Any]) -> list[str]:
    return [row.get("description", row["summary"]) for row in rows.values()]


@each(
    ("text", "words"),
    [
        ("Lists pets. For more information, see [Pets](https://a.example/pets).", "Lists pets."),
        ("Lists pets. See the [guide](https://a.example/guide) first.\n\nhttps://a.example/more", "Lists pets."),
        ("See which pets are at home.", "See which pets are at home."),
        ("> [!NOTE]\n> Pets may **bite**.\n\n---\n# Limits\nFive pets.", "Pets may bite. Limits Five pets."),
        (
            "Gets a pet. It takes these media types.\n\n- **`application/vnd.a.raw+json`**: Raw. The default.\n"
            "- **`application/vnd.a.html+json`**: HTML.",
            "Gets a pet.",
        ),
        ("Takes image/png, and no other media type.", "Takes image/png, and no other media type."),
        ("See [the guide](https://a.example/guide).", "See the guide."),
    ],
)
def test_what_says_nothing_to_an_agent_is_left_out(text: str, words: str) -> None:
    assert useful(text) == words


def test_a_sentence_that_many_operations_repeat_is_left_out(tmp_path: Path) -> None:
    repeated = "Tokens need the admin scope."
    table = tabulate(tmp_path, shop([f"Lists things {index}. {repeated}" for index in range(12)]))
    assert set(texts(table.rows)) == {f"Lists things {index}." for index in range(12)}
    few = tabulate(tmp_path, shop([f"Lists things {index}. {repeated}" for index in range(5)]))
    assert texts(few.rows)[0] == f"Lists things 0. {repeated}"


@pytest.mark.parametrize("sentence", ["This action cannot be undone.", "Use the other one instead.", "Lists things."])
def test_a_repeated_sentence_that_matters_stays(tmp_path: Path, sentence: str) -> None:
    text = sentence if sentence == "Lists things." else f"Lists. {sentence}"
    rows = tabulate(tmp_path, shop([text] * 12)).rows
    assert set(texts(rows)) == {text}


@pytest.mark.parametrize(
    ("properties", "example"),
    [
        (
            {"chargeId": TEXT, "created": {"type": "string", "format": "date-time"}, "reason": TEXT},
            {"reason": "example"},
        ),
        ({"on": {"type": "boolean"}, "a": TEXT, "b": {"type": "integer"}, "c": TEXT}, {"a": "example", "b": 1}),
        ({"on": {"type": "boolean"}}, {"on": True}),
        ({"data": object_of(id=TEXT, name=TEXT, note=TEXT)}, {"data": {"name": "example", "note": "example"}}),
        ({"old": {**TEXT, "deprecated": True}, "password": TEXT, "name": TEXT}, {"name": "example"}),
    ],
)
def test_the_example_of_a_write_that_requires_nothing_writes_something(
    tmp_path: Path, properties: dict[str, Any], example: dict[str, Any]
) -> None:
    """R-INT-4"""
    row = tabulate(tmp_path, posting(object_of(**properties))).rows["create_thing"]
    assert row["example"] == example


def test_the_documents_own_example_of_a_body_comes_first(tmp_path: Path) -> None:
    document = posting(object_of(name=TEXT, ownerId=TEXT, size=INTEGER))
    media = document["paths"]["/things"]["post"]["requestBody"]["content"][JSON]
    media["example"] = {"ownerId": "u7", "size": 3, "unknown": 1}
    row = tabulate(tmp_path, document).rows["create_thing"]
    assert row["example"] == {"owner_id": "u7", "size": 3}


def test_alternatives_that_require_nothing_have_an_example_that_fits_one(tmp_path: Path) -> None:
    branch = object_of(name=TEXT)
    row = tabulate(tmp_path, posting({"anyOf": [branch, {**branch, "minProperties": 1}]})).rows["create_thing"]
    assert row["example"] == {"name": "example"}


def test_details_are_bounded_and_the_rest_is_one_call_away(tmp_path: Path) -> None:
    """R-INT-4"""
    inner = object_of(**{f"part{index}": TEXT for index in range(30)})
    about = {"description": f"What it is. {'Words. ' * 40}"}
    fields = {f"someLongFieldName{index}": {**(inner if index % 2 else TEXT), **about} for index in range(300)}
    table = tabulate(tmp_path, posting(object_of("someLongFieldName299", **fields)))
    details = table.details("create_thing")
    assert len(json.dumps(details)) <= 8000
    shown = [parameter["name"] for parameter in details["parameters"]]
    assert "some_long_field_name299" in shown
    left = 301 - len(shown)
    text = details["description"]
    assert f"introspect types, name create_thing.params. {left} more: some_long" in text
    row = table.table.find("create_thing")
    assert row is not None
    whole = operation_type(row, table.table)
    assert whole["name"] == "create_thing.params"
    assert {field["name"] for field in whole["fields"]} == row.parameters.keys()


@pytest.mark.parametrize("kind", ["objects", "choices", "values", "texts"])
def test_hundreds_of_huge_required_parameters_are_described_within_bounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """R-INT-4: neither the work nor the answer grows with a document that is made to make them grow."""
    inner = {f"a_long_field_name_{index}": {**TEXT, "description": "x " * 200} for index in range(30)}
    schema: dict[str, Any] = {
        "objects": object_of(*inner, **inner),
        "choices": {"anyOf": [object_of(**{f"{n}{key}": TEXT for key in inner}) for n in range(4)]},
        "values": {**TEXT, "enum": [f"{index}{'x' * 2000}" for index in range(9)]},
        "texts": {**TEXT, "pattern": f"^{'a' * 3000}$", "description": "x " * 2000},
    }[kind]
    fields = {f"p{index}": {**schema, "title": f"P{index}"} for index in range(200)}
    table = tabulate(tmp_path, posting(object_of(*fields, **fields)))
    row = table.table.find("create_thing")
    assert row is not None
    shapes = 0

    def counted(*arguments: Any) -> str:
        nonlocal shapes
        shapes += 1
        return notation(*arguments)

    monkeypatch.setattr("aqlgen.runtime.introspection.fields.notation", counted)
    details = table.details("create_thing")
    assert len(json.dumps(details)) <= 40_000
    assert shapes <= 150
    assert {parameter["name"] for parameter in details["parameters"]} <= row.parameters.keys()
    assert all(parameter["required"] for parameter in details["parameters"])
    assert " more: p" in details["description"] or len(details["parameters"]) >= 200
    page = operation_type(row, table.table, Bounds(tokens=10_000))
    assert len(json.dumps(page)) <= 50_000
    assert len(page["fields"]) >= 200 or "more follow" in page["description"]


def test_a_very_long_example_gives_way_to_a_made_up_one(tmp_path: Path) -> None:
    document = posting(object_of("proof", proof=object_of("certificate", certificate=TEXT)))
    media = document["paths"]["/things"]["post"]["requestBody"]["content"][JSON]
    media["example"] = {"proof": {"certificate": "x" * 5000}}
    row = tabulate(tmp_path, document).rows["create_thing"]
    assert row["example"] == {"proof": {"certificate": "example"}}


def test_an_optional_parameter_of_nearly_all_operations_is_common_and_no_other(tmp_path: Path) -> None:
    """R-INT-6: by how many operations have it, whatever it is called; one that is required somewhere is not."""

    def things(count: int) -> dict[str, Any]:
        quux, halves = parameter("quux", description="How it is written"), [parameter("half")]
        return {
            f"GET /things{number}": {
                "operationId": f"getThing{number}",
                "parameters": [quux, parameter("tenant", required=number == 3), *halves[: number % 2]],
                "responses": replies(),
            }
            for number in range(count)
        }

    assert tabulate(tmp_path, api(things(30))).adapter["common"] == {"quux": "How it is written"}
    assert "common" not in tabulate(tmp_path, api(things(5))).adapter
