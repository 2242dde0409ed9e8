"""Names in the project: kept from an earlier table, answered as aliases, and explained where they need it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from aqlgen.diagnostics.errors import OptionError
from aqlgen.render.adapter_element import adapter_element
from tests.generator.commands import Tabulation, api, generate, tabulate

OK = {"responses": {"200": {"description": "ok"}}}
DOCUMENT = api({"/pets": {"get": OK, "post": OK}, "/owners": {"get": OK}})
TODAY = datetime.now(UTC).date()
YESTERDAY = (TODAY - timedelta(days=1)).isoformat()


def tabulated(
    tmp_path: Path, overrides: str = "", names: Mapping[str, str] | None = None, **options: Any
) -> Tabulation:
    """Build the table of the document while keeping names."""
    return tabulate(tmp_path, DOCUMENT, overrides=overrides, names=names or {}, **options)


def test_kept_names_stand_in_the_table_and_those_that_would_change_are_pinned(tmp_path: Path) -> None:
    """R-NAME-3"""
    names = {"GET /pets": "fetch_pets", "GET /owners": "list_owners", "GET /gone": "gone"}
    first = tabulated(tmp_path, names=names)
    assert sorted(first.rows) == ["create_pet", "fetch_pets", "list_owners"]
    assert first.prepared.pinned == {"GET /pets": "fetch_pets"}
    second = tabulated(tmp_path, names=first.prepared.pinned)
    assert second.texts == first.texts
    assert second.prepared.pinned == first.prepared.pinned


def test_a_first_project_has_no_pinned_names_in_its_record(tmp_path: Path) -> None:
    """R-CONF-2"""
    record = json.loads((generate(tmp_path, DOCUMENT).folder / "MCPAQL-PROVENANCE.json").read_text())
    assert record["options"]["names"] == {}


def test_aliases_stand_in_the_row_and_in_the_table_for_readers(tmp_path: Path) -> None:
    text = "GET /pets:\n  name: browse_pets\n  aliases: [list_pets, {name: pets, until: 2099-12-31}]\n"
    table = tabulated(tmp_path, text)
    assert table.rows["browse_pets"]["aliases"] == [{"name": "list_pets"}, {"name": "pets", "until": "2099-12-31"}]
    assert "aliases" not in table.rows["list_owners"]
    assert r"alias list\_pets; alias pets until 2099-12-31" in table.page


@pytest.mark.parametrize(
    ("overrides", "names", "message"),
    [
        ("GET /pets: {aliases: [list_pets]}", {}, "the alias `list_pets` is the own name of GET /pets"),
        ("GET /pets: {aliases: [my]}", {"GET /owners": "my"}, "the alias `my` is taken by GET /owners"),
        ("GET /pets: {aliases: [my]}", {"GET /pets": "my"}, "the alias `my` is the own name of GET /pets"),
    ],
)
def test_an_alias_that_is_a_name_is_refused_with_its_place(
    tmp_path: Path, overrides: str, names: Mapping[str, str], message: str
) -> None:
    with pytest.raises(OptionError) as caught:
        tabulated(tmp_path, overrides, names, stale="report")
    (error,) = caught.value.diagnostics
    assert (error.message, error.line, error.column) == (message, 1, 23)
    assert error.file == str(tmp_path / "overrides.yaml")


def test_the_name_of_an_operation_that_is_gone_or_hidden_can_be_an_alias_of_what_replaces_it(tmp_path: Path) -> None:
    names = {"GET /gone": "gone", "GET /owners": "list_owners"}
    table = tabulated(tmp_path, "GET /pets: {aliases: [gone, list_owners]}\nGET /owners: {hidden: true}\n", names)
    assert table.rows["list_pets"]["aliases"] == [{"name": "gone"}, {"name": "list_owners"}]


def test_an_alias_whose_day_has_passed_is_warned_of_and_stays_in_the_table(tmp_path: Path) -> None:
    overrides = (
        f"GET /pets:\n  aliases:\n    - {{name: old, until: {YESTERDAY}}}\n    - {{name: new, until: {TODAY}}}\n"
    )
    table = tabulated(tmp_path, overrides)
    (warning,) = table.warnings
    assert (warning["code"], warning["line"], warning["column"]) == ("expired-alias", 3, 14)
    assert warning["message"] == f"the time of the alias `old` of GET /pets ended with {YESTERDAY}"
    assert table.rows["list_pets"]["aliases"][0] == {"name": "old", "until": YESTERDAY}


def test_the_canonical_relative_of_a_verb_stands_in_the_row_and_in_the_adapters_description(tmp_path: Path) -> None:
    """R-NAME-2"""
    paths = {"/pets": {"get": OK}, "/pets/search": {"get": {**OK, "summary": "Find pets"}}}
    table = tabulate(tmp_path, api(paths))
    assert table.rows["search_pets"]["relative"] == "list"
    assert "relative" not in table.rows["list_pets"]
    description = adapter_element(table.prepared.table)
    assert '"Find pets (a kind of list)"' in description
    assert description.count("a kind of") == 1


COLLECTIONS = api(
    {
        "/collections/{name}": {"delete": {**OK, "operationId": "deleteCollection"}},
        "/collections/{name}/delete": {"post": OK},
    },
)
WHOLE, RECORDS = "DELETE /collections/{name}", "POST /collections/{name}/delete"


@pytest.mark.parametrize(
    ("names", "overrides"),
    [
        ({RECORDS: "delete_collection", WHOLE: "delete_it"}, ""),
        ({}, f"{RECORDS}: {{name: x, aliases: [delete_collection]}}\n{WHOLE}: {{name: delete_it}}\n"),
        ({}, f"{RECORDS}: {{name: delete_collection}}\n{WHOLE}: {{name: delete_it}}\n"),
    ],
    ids=["kept", "alias", "name"],
)
def test_a_name_that_is_the_operation_id_of_another_stays_and_is_told(
    tmp_path: Path, names: Mapping[str, str], overrides: str
) -> None:
    """R-NAME-3"""
    table = tabulate(tmp_path, COLLECTIONS, names=names, overrides=overrides)
    names_of = {
        row["path"]: (name, *(alias["name"] for alias in row.get("aliases", ()))) for name, row in table.rows.items()
    }
    assert "delete_collection" in names_of["/collections/{name}/delete"]
    (warning,) = [each for each in table.warnings if each["code"] == "operation-id-of-another"]
    assert warning["message"] == f"'delete_collection' is the operationId of {WHOLE}, and calls {RECORDS}"
    assert warning["column"] == json.dumps(COLLECTIONS).index('"operationId"') + 1


@pytest.mark.parametrize(
    ("overrides", "names"),
    [
        ("GET /pets: {name: list_owners}", {}),
        ("GET /pets: {name: browse}", {"GET /owners": "browse"}),
    ],
    ids=["first", "kept"],
)
def test_a_name_that_another_operation_has_is_refused_with_its_place(
    tmp_path: Path, overrides: str, names: Mapping[str, str]
) -> None:
    """R-NAME-3"""
    with pytest.raises(OptionError) as caught:
        tabulated(tmp_path, overrides, names, stale="report" if names else "error")
    (error,) = caught.value.diagnostics
    name = "browse" if names else "list_owners"
    assert (error.message, error.line, error.column) == (f"the name `{name}` is that of GET /owners", 1, 19)
    assert error.help == "Choose another, or give that operation another `name`, too."
    assert error.file == str(tmp_path / "overrides.yaml")


@pytest.mark.parametrize(
    ("overrides", "names"),
    [
        ("GET /pets: {name: list_owners}\nGET /owners: {name: list_pets}", {}),
        ("GET /pets: {name: list_owners}\nGET /owners: {hidden: true}", {}),
        ("GET /pets: {name: list_owners}", {"GET /pets": "list_owners"}),
    ],
    ids=["exchanged", "hidden", "given before the other operation came"],
)
def test_a_name_that_no_other_operation_would_have_can_be_given(
    tmp_path: Path, overrides: str, names: Mapping[str, str]
) -> None:
    """R-NAME-3"""
    assert tabulated(tmp_path, overrides, names).rows["list_owners"]["path"] == "/pets"


def test_a_project_whose_override_took_a_name_once_is_generated_again_from_its_record(tmp_path: Path) -> None:
    """R-NAME-3"""
    assert tabulated(tmp_path, "GET /pets: {name: list_owners}", stale="report").rows["list_owners"]["path"] == "/pets"
