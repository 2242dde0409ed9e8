"""Generated files that somebody edited: the edits become overrides, or are refused where overrides cannot say them."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aqlgen.decide.overrides import parse
from aqlgen.project.edits.deriving import entry
from aqlgen.project.edits.rows import Found
from tests.edits.conftest import OPERATIONS, PACKAGE, Petstore
from tests.examples import examples

pytestmark = pytest.mark.long

Rows = dict[str, Any]
PET = "POST /pets"


def renamed(rows: Rows) -> None:
    rows["take_pet"] = rows.pop("create_pet")


def text(key: str, value: str) -> Any:
    return lambda rows: rows["create_pet"].update({key: value})


def parameter(name: str, **more: Any) -> Any:
    return lambda rows: rows["create_pet"]["parameters"][name].update(more)


def hidden_parameter(rows: Rows) -> None:
    del rows["create_pet"]["parameters"]["tags"]


def renamed_parameter(rows: Rows) -> None:
    parameters = rows["create_pet"]["parameters"]
    parameters["born"] = parameters.pop("birth_date")


def parameter_example(rows: Rows) -> None:
    rows["create_pet"]["parameters"]["name"]["schema"]["examples"] = ["Bo"]


def unpaged(rows: Rows) -> None:
    del rows["list_pets"]["pagination"]


CASES = {
    "name": ("create", renamed, {PET: {"name": "take_pet"}}),
    "name that types are called after": (
        "read",
        lambda rows: rows.update(see_owners=rows.pop("list_owners")),
        {"GET /owners": {"name": "see_owners"}},
    ),
    "name that other rows tell of": (
        "read",
        lambda rows: rows.update(see_visits=rows.pop("list_owner_visits")),
        {"GET /owners/{ownerId}/visits": {"name": "see_visits"}},
    ),
    "danger": ("create", text("danger", "dangerous"), {PET: {"danger": "dangerous"}}),
    "confirmation": ("create", text("confirmation", "Really?"), {PET: {"confirmation": "Really?"}}),
    "summary": ("create", text("summary", "A new pet: Rosa"), {PET: {"description": "A new pet: Rosa"}}),
    "description": (
        "update",
        lambda rows: rows["update_pet"].update(description="Changes what is given."),
        {
            "PATCH /pets/{petId}": {
                "description": "Changes what is given.",
                "summary": "Change some of what is known about a pet",
            }
        },
    ),
    "example": (
        "create",
        lambda rows: rows["create_pet"].update(example={"name": "Bo", "kind": "cat"}),
        {PET: {"example": {"name": "Bo", "kind": "cat"}}},
    ),
    "hidden": ("create", lambda rows: rows.pop("create_pet"), {PET: {"hidden": True}}),
    "parameter described": (
        "create",
        parameter("name", description="Its name"),
        {PET: {"parameters": {"name": {"description": "Its name"}}}},
    ),
    "parameter sensitive": (
        "create",
        parameter("tags", sensitive=True),
        {PET: {"parameters": {"tags": {"sensitive": True}}}},
    ),
    "parameter hidden": ("create", hidden_parameter, {PET: {"parameters": {"tags": {"hidden": True}}}}),
    "parameter named": ("create", renamed_parameter, {PET: {"parameters": {"birthDate": {"name": "born"}}}}),
    "parameter example": ("create", parameter_example, {PET: {"parameters": {"name": {"example": "Bo"}}}}),
    "aliases": (
        "create",
        lambda rows: rows["create_pet"].update(aliases=[{"name": "add_pet", "until": "2099-12-31"}]),
        {PET: {"aliases": [{"name": "add_pet", "until": "2099-12-31"}]}},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_an_edit_that_overrides_can_say_is_told_as_overrides(pets: Petstore, case: str) -> None:
    family, change, overrides = CASES[case]
    pets.edit(family, change)
    assert pets.report()["edits"] == {"overrides": overrides, "refused": []}


def test_edits_stay_as_overrides_when_the_project_is_updated(pets: Petstore) -> None:
    def change(rows: Rows) -> None:
        for case in ("danger", "confirmation", "summary", "parameter described", "parameter hidden", "aliases"):
            CASES[case][1](rows)
        renamed(rows)

    pets.edit("create", change)
    edited = pets.rows("create")
    pets.commit()
    done = pets.changed()
    assert done["success"], done
    assert done["overrides_added"] == [PET]
    assert pets.read("overrides.yaml").startswith("# yours: ")
    explained = {"rule", "confidence", "review", "danger_reason", "resource", "verb", "relative"}
    now = pets.rows("create")
    assert now.keys() == edited.keys()
    for name, row in edited.items():
        assert {key: value for key, value in now[name].items() if key not in explained} == {
            key: value for key, value in row.items() if key not in explained
        }
    pets.commit()
    assert pets.update().code == 0
    assert pets.status() == []


def test_a_row_that_was_moved_to_another_family_stays_there_as_dangerous_as_it_was(pets: Petstore) -> None:
    row = pets.rows("read")["get_pet"]
    pets.edit("read", lambda rows: rows.pop("get_pet"))
    pets.edit("delete", lambda rows: rows.update(get_pet=row))
    pets.commit()
    assert pets.changed()["success"]
    assert yaml.safe_load(pets.read("overrides.yaml")) == {
        "GET /pets/{petId}": {"category": "DELETE", "danger": "safe"}
    }
    assert pets.rows("delete")["get_pet"]["danger"] == "safe"


def test_a_name_that_was_changed_in_all_files_at_once_becomes_one_override(pets: Petstore) -> None:
    for path in (
        *(f"{OPERATIONS}/{family}.json" for family in ("create", "read")),
        "OPERATIONS.md",
        "schema/adapter.yaml",
    ):
        pets.write(path, pets.read(path).replace("create_pet", "take_pet"))
    for name in ("adapter", "mock"):
        pets.write(f"{PACKAGE}/{name}.json", pets.read(f"{PACKAGE}/{name}.json").replace("create_pet", "take_pet"))
    pets.commit()
    assert pets.changed()["overrides_added"] == [PET]
    assert yaml.safe_load(pets.read("overrides.yaml")) == {PET: {"name": "take_pet"}}


def test_edits_go_beside_what_the_overrides_say_already(pets: Petstore) -> None:
    text = (
        f"# mine\n{PET}:\n  danger: safe   # it only asks\n  parameters:\n    name: {{description: Call it}}\n# end\n"
    )
    pets.write("overrides.yaml", text)
    pets.commit()
    assert pets.update().code == 0
    pets.commit()

    def change(rows: Rows) -> None:
        renamed(rows)
        rows["take_pet"]["parameters"]["name"]["sensitive"] = True

    pets.edit("create", change)
    pets.commit()
    assert pets.update().code == 0
    assert pets.read("overrides.yaml") == (
        f"# mine\n{PET}:\n  danger: safe   # it only asks\n  parameters:\n"
        "    name: {description: Call it, sensitive: true}\n  name: take_pet\n# end\n"
    )


def broken(pets: Petstore) -> None:
    pets.write(f"{OPERATIONS}/create.json", "{\n  <<<<<<< HEAD\n")


def changed(family: str, change: Any) -> Any:
    return lambda pets: pets.edit(family, change)


def appended(path: str) -> Any:
    return lambda pets: pets.write(path, pets.read(path) + "\n")


REFUSED = {
    "schema": (
        changed("create", lambda rows: rows["create_pet"]["parameters"]["name"]["schema"].update(maxLength=5)),
        f"{OPERATIONS}/create.json",
        "`create_pet`: `schema` of the parameter",
        "overlay",
    ),
    "response": (
        changed("create", lambda rows: rows["create_pet"].update(responses={})),
        f"{OPERATIONS}/create.json",
        "`responses`",
        "overlay",
    ),
    "path": (
        changed("create", lambda rows: rows["create_pet"].update(path="/cats")),
        f"{OPERATIONS}/create.json",
        "no operation POST /cats",
        "overlay",
    ),
    "required parameter taken out": (
        changed("create", lambda rows: rows["create_pet"]["parameters"].pop("name")),
        f"{OPERATIONS}/create.json",
        "`name` is required and cannot be hidden",
        "overlay",
    ),
    "name taken": (
        changed("create", lambda rows: rows.update(list_pets=rows.pop("create_pet"))),
        f"{OPERATIONS}/create.json",
        "POST /pets: the name `list_pets` is that of GET /pets",
        "overlay",
    ),
    "name reserved": (
        changed("create", lambda rows: rows.update(introspect=rows.pop("create_pet"))),
        f"{OPERATIONS}/create.json",
        "reserved",
        "overlay",
    ),
    "example": (
        changed("create", lambda rows: rows["create_pet"].update(example={"nope": 1})),
        f"{OPERATIONS}/create.json",
        "no parameter `nope`",
        "overlay",
    ),
    "explanation": (
        changed("create", lambda rows: rows["create_pet"].update(confidence=1)),
        f"{OPERATIONS}/create.json",
        "`confidence`",
        "overlay",
    ),
    "no JSON": (broken, f"{OPERATIONS}/create.json", "not JSON", "delete the file"),
    "types": (appended(f"{PACKAGE}/types.json"), f"{PACKAGE}/types.json", "by hand", "overlay"),
    "adapter": (appended(f"{PACKAGE}/adapter.json"), f"{PACKAGE}/adapter.json", "by hand", "adapter.toml"),
    "page": (appended("OPERATIONS.md"), "OPERATIONS.md", "by hand", "README"),
    "document": (appended("openapi/openapi.yaml"), "openapi/openapi.yaml", "by hand", "--spec"),
    "answers": (appended(".copier-answers.yml"), ".copier-answers.yml", "by hand", "options"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_any_other_edit_is_refused_with_its_place_and_the_way_out(pets: Petstore, case: str) -> None:
    change, path, message, way = REFUSED[case]
    change(pets)
    report = pets.report()
    refused = report["edits"]["refused"]
    refusal = next(refusal for refusal in refused if message in refusal["message"])
    assert refusal["path"].endswith(path)
    assert refusal["code"] == "machine-file-edited"
    assert refusal["line"] >= 1
    assert way in refusal["suggestion"]


def test_a_refusal_names_the_line_of_the_edit(pets: Petstore) -> None:
    pets.edit("create", lambda rows: rows["create_pet"].update(operation_id="other"))
    (refusal,) = pets.refusals()
    line = pets.read(f"{OPERATIONS}/create.json").splitlines()[refusal["line"] - 1]
    assert '"operation_id": "other"' in line


def test_an_edit_that_the_file_of_overrides_has_no_place_for_is_shown_to_be_pasted(pets: Petstore) -> None:
    pets.write("overrides.yaml", f"GET /pets: &all {{danger: safe}}\n{PET}: *all\n")
    pets.commit()
    assert pets.update().code == 0
    pets.edit("create", renamed)
    (refusal,) = pets.refusals()
    assert f"{PET}: {{name: take_pet}}" in refusal["suggestion"]


def test_a_refused_edit_that_is_deleted_as_the_message_says_is_written_anew(pets: Petstore) -> None:
    before = pets.read("OPERATIONS.md")
    pets.write("OPERATIONS.md", before + "note\n")
    pets.commit()
    assert pets.update().code == 3
    (pets.folder / "OPERATIONS.md").unlink()
    pets.commit()
    assert pets.update().code == 0
    assert pets.read("OPERATIONS.md") == before


def test_edits_are_kept_while_the_api_changes(pets: Petstore, tmp_path: Any) -> None:
    document = yaml.safe_load(pets.read("openapi/openapi.yaml"))
    document["paths"]["/pets"]["post"]["summary"] = "Another text"
    newer = tmp_path / "newer.json"
    newer.write_text(json.dumps(document, default=str))
    pets.edit("create", renamed)
    pets.commit()
    done = pets.changed("--spec", newer)
    assert done["success"], done
    row = pets.rows("create")["take_pet"]
    assert row["summary"] == "Another text"


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Yield the path of everything within a JSON value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, member in inner for place in ((*path, key), *places(member, (*path, key)))]


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_no_edit_of_a_row_is_ever_passed_over(pets: Petstore, data: st.DataObject) -> None:
    family = data.draw(st.sampled_from(["create", "read", "update", "delete", "execute"]))
    file = f"{OPERATIONS}/{family}.json"
    before = pets.read(file)
    rows = json.loads(before)
    *way, last = data.draw(st.sampled_from(places(rows)))
    holder = rows
    for key in way:
        holder = holder[key]
    if data.draw(st.booleans()):
        del holder[last]
    else:
        old = holder[last]
        holder[last] = data.draw(st.sampled_from(["other", 7, {}, [], {"a": "b"}]).filter(lambda value: value != old))
    pets.write(file, json.dumps(rows, indent=1))
    try:
        edits = pets.report()["edits"]
    finally:
        pets.write(file, before)
    assert edits["overrides"] or edits["refused"]


def test_an_edit_of_how_a_list_is_paged_is_an_override_that_is_read() -> None:
    """What a row has beside, the parameters and those that are demanded, follows from the operation."""
    paging = {"style": "page", "page_param": "page", "items": "/pets"}
    old = {"pagination": {**paging, "demanded": ["page"], "parameters": {}}, "parameters": {}}
    new = {**old, "pagination": {**old["pagination"], "items": "/data"}}
    override = entry(Found("list_pets", "read", old), Found("list_pets", "read", new), None, frozenset())
    assert override == {"pagination": {**paging, "items": "/data"}}
    assert not parse(yaml.safe_dump({"GET /pets": override})).diagnostics
