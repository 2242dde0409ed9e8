"""Decisions of overrides.yaml take effect in the adapter; those that cannot are refused with their position."""

from __future__ import annotations

import json
import keyword
import string
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aqlgen.decide.naming.spelling import RESERVED
from aqlgen.diagnostics.errors import OptionError
from aqlgen.diagnostics.report import as_json
from tests.cases import each
from tests.documents import JSON, TEXT, body_of, object_of, parameter, replies
from tests.examples import examples
from tests.generator.commands import Tabulation, api, run, tabulate

PET = object_of("petName", petName=TEXT, note=TEXT, mood={"enum": ["calm", "wild"], "type": "string"})
PETS: Any = {"tags": ["pets"], "responses": replies()}
WRITING: Any = {"tags": ["pets", "writing"], "responses": replies()}
QUERY = [parameter("q"), parameter("x-id", "header"), parameter("page")]
DOCUMENT = api(
    {
        "GET /pets": {"operationId": "listPets", "parameters": QUERY, **PETS},
        "POST /pets": {"operationId": "createPet", "requestBody": body_of(PET, JSON, "multipart/form-data"), **WRITING},
        "GET /pets/{id}": {"operationId": "getPet", "parameters": [parameter("id")], **PETS},
        "PATCH /pets/{id}": {"operationId": "updatePet", "requestBody": body_of(PET), **WRITING},
        "DELETE /pets/{id}": {"operationId": "deletePet", **WRITING},
    }
)


def tabulated(tmp_path: Path, overrides: str, **options: Any) -> Tabulation:
    return tabulate(tmp_path, DOCUMENT, overrides=overrides, **options)


def refused(tmp_path: Path, overrides: str) -> list[tuple[int, int, str, str]]:
    """Return line, column, message and suggestion of everything that is refused."""
    with pytest.raises(OptionError) as caught:
        tabulated(tmp_path, overrides)
    return places(as_json(caught.value.diagnostics), tmp_path / "overrides.yaml")


def places(details: list[Any], file: Path) -> list[tuple[int, int, str, str]]:
    assert {detail["path"] for detail in details} == {str(file)}
    return [(detail["line"], detail["column"], detail["message"], detail["suggestion"]) for detail in details]


def test_a_parameter_is_renamed_described_and_marked_and_keeps_its_wire_name(tmp_path: Path) -> None:
    rows = tabulated(
        tmp_path,
        """
        GET /pets:
          parameters:
            q: {name: words, description: What to look for., example: rabbit, sensitive: true}
            header:x-id: {hidden: true}
        POST /pets:
          parameters:
            petName: {name: called, example: Rosa}
        """,
    ).rows
    words = rows["list_pets"]["parameters"]["words"]
    assert (words["name"], words["in"], words["description"]) == ("q", "query", "What to look for.")
    assert words["sensitive"] is True
    assert words["schema"]["examples"] == ["rabbit"]
    assert set(rows["list_pets"]["parameters"]) == {"words", "page"}
    assert rows["create_pet"]["parameters"]["called"]["name"] == "petName"
    assert rows["create_pet"]["example"]["called"] == "Rosa"


def test_a_name_given_to_a_parameter_makes_others_step_aside(tmp_path: Path) -> None:
    rows = tabulated(tmp_path, "GET /pets: {parameters: {q: {name: page}}}").rows
    assert {name: entry.get("name", name) for name, entry in rows["list_pets"]["parameters"].items()} == {
        "page": "q",
        "query_page": "page",
        "x_id": "x-id",
    }


def test_a_place_tells_parameters_of_one_name_apart(tmp_path: Path) -> None:
    rows = tabulated(tmp_path, "GET /pets/{id}: {parameters: {'query:id': {name: revision}}}").rows
    locations = {name: entry["in"] for name, entry in rows["get_pet"]["parameters"].items()}
    assert locations.pop("revision") == "query"
    assert list(locations.values()) == ["path"]
    ((line, column, message, hint),) = refused(tmp_path, "GET /pets/{id}: {parameters: {id: {name: x}}}")
    assert (line, column) == (1, 31)
    assert message == "`id` matches several parameters of GET /pets/{id}"
    assert "`path:id`" in hint
    assert "`query:id`" in hint


def test_what_is_said_of_a_tag_holds_for_its_operations_but_their_own_entry_wins_key_by_key(tmp_path: Path) -> None:
    """R-OWN-2"""
    rows = tabulated(
        tmp_path,
        """
        tag:writing: {danger: dangerous, description: Writes., parameters: {note: {description: A note.}}}
        POST /pets: {danger: safe, parameters: {petName: {description: Its name.}}}
        """,
    ).rows
    assert (rows["create_pet"]["danger"], rows["create_pet"]["summary"]) == ("safe", "Writes.")
    assert rows["create_pet"]["parameters"]["note"]["description"] == "A note."
    assert rows["create_pet"]["parameters"]["pet_name"]["description"] == "Its name."
    assert (rows["delete_pet"]["danger"], rows["delete_pet"]["summary"]) == ("dangerous", "Writes.")
    assert rows["list_pets"]["danger"] == "safe"


def test_hidden_false_shows_what_a_tag_or_the_document_hides(tmp_path: Path) -> None:
    rows = tabulated(tmp_path, "tag:writing: {hidden: true}\nPOST /pets: {hidden: false}").rows
    assert set(rows) == {"list_pets", "create_pet", "get_pet"}


def test_paging_is_the_users_to_state_or_to_turn_off(tmp_path: Path) -> None:
    paging = "{style: page, page_param: page, items: /pets, has_more: /more}"
    row = tabulated(tmp_path, f"GET /pets: {{pagination: {paging}}}").rows["list_pets"]
    assert row["pagination"].pop("parameters").keys() == {"page"}
    assert row["pagination"] == {"style": "page", "page_param": "page", "items": "/pets", "has_more": "/more"}
    assert "pagination" not in tabulated(tmp_path, "GET /pets: {pagination: false}").rows["list_pets"]
    ((_, _, message, hint),) = refused(tmp_path, "GET /pets: {pagination: {style: page, page_param: pag}}")
    assert message == "GET /pets has no parameter `pag` in its query"
    assert hint == "Did you mean `page`?"


def test_the_content_type_of_the_body_is_chosen(tmp_path: Path) -> None:
    row = tabulated(tmp_path, "POST /pets: {body: {content_type: multipart/form-data}}").rows["create_pet"]
    assert row["body"]["content_type"] == "multipart/form-data"
    refusals = refused(
        tmp_path, "POST /pets: {body: {content_type: multipart/mixed}}\nGET /pets: {body: {content_type: text/plain}}"
    )
    assert refusals[0][2] == "POST /pets has no body of type `multipart/mixed` that can be sent"
    assert refusals[1][2] == "GET /pets has no body"


def test_the_example_of_a_call_is_the_users_if_it_works(tmp_path: Path) -> None:
    row = tabulated(tmp_path, "POST /pets: {example: {pet_name: Rosa, mood: calm}}").rows["create_pet"]
    assert row["example"] == {"pet_name": "Rosa", "mood": "calm"}
    refusals = refused(tmp_path, "POST /pets:\n  example: {mood: angry, nte: x}")
    assert {(line, column) for line, column, _, _ in refusals} == {(2, 12)}
    messages = " / ".join(message for _, _, message, _ in refusals)
    assert "the example of `mood` does not fit" in messages
    assert "the example has no parameter `nte`" in messages
    assert "the example lacks `pet_name`" in messages
    assert "Did you mean `note`?" in [hint for _, _, _, hint in refusals]


def test_the_text_of_a_confirmation_stands_in_the_row(tmp_path: Path) -> None:
    row = tabulated(tmp_path, "DELETE /pets/{id}: {confirmation: The pet is gone for good.}").rows["delete_pet"]
    assert row["confirmation"] == "The pet is gone for good."


def test_the_spelling_of_fields_is_the_files_unless_the_option_says_otherwise(tmp_path: Path) -> None:
    overrides = "adapter: {field_case: preserve}"
    assert tabulated(tmp_path, overrides).adapter["field_case"] == "preserve"
    assert tabulated(tmp_path, overrides, field_case="snake").adapter["field_case"] == "snake"


def test_everything_that_is_wrong_is_told_at_once_in_the_order_of_the_file(tmp_path: Path) -> None:
    """R-NAME-4"""
    file, spec = tmp_path / "overrides.yaml", tmp_path / "document.json"
    spec.write_text(json.dumps(DOCUMENT))
    file.write_text(
        """GET /pets:
  nmae: x
  parameters:
    qq: {name: y}
POST /petz: {hidden: true}
tag:write: {hidden: true}
POST /pets:
  danger: mortal
  example: {mood: angry, pet_name: Rosa}
GET /pets/{id}:
  parameters: {'path:id': {hidden: true}, 'query:id': {name: input}}
"""
    )
    refusal = run("explain", spec, "--overrides", file, "--output-format", "json")
    assert refusal.code == 3, refusal.out
    refusals = places(refusal.json["error"]["details"], file)
    assert [(line, column, hint) for line, column, _, hint in refusals if "angry" not in hint] == [
        (2, 3, "Did you mean `name`?"),
        (4, 5, "Did you mean `q`?"),
        (5, 1, "Did you mean `POST /pets`?"),
        (6, 1, "Did you mean `writing`?"),
        (8, 11, "Choose one of safe, reversible, destructive, dangerous, forbidden."),
        (9, 12, "Give a value that is valid."),
        (11, 36, "Hide the operation, or describe the parameter."),
        (11, 62, "Choose another name."),
    ]


@each(
    "overrides, message",
    [
        ("GET /pets: {parameters: {q: {name: a}, page: {name: a}}}", "`a` is taken by the parameter `q`"),
        ("POST /pets: {parameters: {note: {name: dry_run}}}", "`dry_run` is taken by the parameter of the adapter"),
    ],
)
def test_two_parameters_cannot_be_given_one_name(tmp_path: Path, overrides: str, message: str) -> None:
    ((_, _, refusal, _),) = refused(tmp_path, overrides)
    assert refusal == f"the name {message}"


def test_the_fields_of_an_update_are_said_to_stand_in_input(tmp_path: Path) -> None:
    ((_, _, message, hint),) = refused(tmp_path, "PATCH /pets/{id}: {parameters: {petName: {name: x}}}")
    assert message == "PATCH /pets/{id} has no parameter `petName`"
    assert "`input`" in hint


def test_overrides_that_fit_nothing_any_more_can_be_reported_instead(tmp_path: Path) -> None:
    overrides = (
        "GET /gone: {name: gone}\ntag:gone: {hidden: true}\n"
        "GET /pets: {name: my_pets, parameters: {gone: {name: x}, q: {name: words}}}\n"
        "POST /pets: {body: {content_type: text/gone}}\n"
    )
    prepared = tabulated(tmp_path, overrides, stale="report").prepared
    stale = [finding for finding in prepared.diagnostics if finding.code == "unmatched-override"]
    assert [(finding.line, finding.severity) for finding in stale] == [
        (1, "warning"),
        (2, "warning"),
        (3, "warning"),
        (4, "warning"),
    ]
    row = next(row for row in prepared.table.rows if row.name == "my_pets")
    assert "words" in set(row.row.shown_parameters), "what still fits is kept"


NAMES = st.text(string.ascii_lowercase + string.digits + "_", min_size=1, max_size=64).filter(
    lambda name: (
        name[0].isalpha()
        and not keyword.iskeyword(name)
        and not keyword.issoftkeyword(name)
        and name not in RESERVED | {"input", "operation", "params"}
    )
)


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    names=st.lists(NAMES, min_size=5, max_size=5, unique=True),
    inner=st.lists(NAMES, min_size=3, max_size=3, unique=True),
)
def test_every_rename_by_override_sticks(tmp_path: Path, names: list[str], inner: list[str]) -> None:
    """R-NAME-3: whatever the names of operations and parameters are, and however they collide with those decided."""
    keys = [
        f"{method.upper()} {path}"
        for path, item in DOCUMENT["paths"].items()
        for method in item
        if method != "parameters"
    ]
    overrides: dict[str, Any] = {key: {"name": name} for key, name in zip(keys, names, strict=True)}
    wires = ("q", "header:x-id", "page")
    overrides["GET /pets"]["parameters"] = {wire: {"name": name} for wire, name in zip(wires, inner, strict=True)}
    table = tabulated(tmp_path, json.dumps(overrides)).prepared.table
    assert {row.decision.operation.key: row.name for row in table.rows} == dict(zip(keys, names, strict=True))
    row = next(row for row in table.rows if row.decision.operation.key == "GET /pets")
    shown = {parameter.wire: parameter.name for parameter in row.row.shown_parameters.values()}
    assert shown == dict(zip(("q", "x-id", "page"), inner, strict=True))


def test_a_summary_of_the_users_stands_in_lists_and_the_description_stays(tmp_path: Path) -> None:
    text = "POST /pets:\n  summary: Take a pet\nGET /pets: {summary: See pets, description: All of them}"
    rows = tabulated(tmp_path, text).rows
    assert rows["create_pet"]["summary"] == "Take a pet"
    assert (rows["list_pets"]["summary"], rows["list_pets"]["description"]) == ("See pets", "All of them")
    paths = {"GET /pets": {"summary": "List pets"}}
    row = tabulate(tmp_path, api(paths), overrides="GET /pets: {description: All of them}").rows["list_pets"]
    assert (row["summary"], row["description"]) == ("List pets", "All of them")


@each(
    ("overrides", "warned"),
    [
        ("DELETE /pets/{id}: {asked: never}", "`asked: never` has no effect on delete_pet: its danger is destructive"),
        (
            "POST /payments: {asked: first, danger: reversible}",
            "`asked: first` has no effect on create_payment: it moves money",
        ),
        ('"* /**": {asked: never}', None),  # it has one on the others
        ("DELETE /pets/{id}: {asked: never, danger: reversible}", None),
    ],
)
def test_a_time_to_ask_without_effect_is_warned_of(overrides: str, warned: str | None, tmp_path: Path) -> None:
    paths = {"DELETE /pets/{id}": {}, "POST /pets": {}, "POST /payments": {}}
    warnings = tabulate(tmp_path, api(paths), overrides=overrides).warnings
    assert [each["message"] for each in warnings if each["code"] == "ineffective-override"] == [*filter(None, [warned])]
