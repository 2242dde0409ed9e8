"""The element that a project can have: it says what introspection says."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from aqlgen.render.adapter_element import adapter_element, adapter_markdown
from aqlgen.runtime.introspection.fields import type_details
from aqlgen.runtime.introspection.info import operation_type
from tests.element.reading import BOOKS, read, read_file
from tests.generator.commands import FIXTURES, Tabulation, api, posting, run, tabulate
from tests.generator.test_goldens import CASES
from tests.update.conftest import _own_git, committed, packed  # noqa: F401 - no git configuration of the machine's
from tests.update.repos import Repo

KEYS = ("type", "default", "minimum", "maximum", "pattern", "format")
PARAMETER_KEYS = {*KEYS, "required", "description", "enum"}
OPERATION_KEYS = {
    "name", "maps_to", "description", "params", "response", "pagination", "supports_fields", "danger_level",
    "requires_confirmation", "non_idempotent",
}  # fmt: skip
ROOT_KEYS = {"name", "type", "version", "description", "target", "auth", "operations"}


@cache
def table_of(case: str, folder: Path) -> Tabulation:
    return tabulate(folder, CASES[case].read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("elements")


def element_of(table: Tabulation) -> dict[str, Any]:
    """Return the element of a table as data."""
    data: dict[str, Any] = yaml.safe_load(adapter_element(table.prepared.table))
    return data


def operations_of(element: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the operations of an element by name, each with its family."""
    return {
        operation["name"]: {**operation, "family": family}
        for family, operations in element["operations"].items()
        for operation in operations
    }


def introspected(table: Tabulation, name: str) -> dict[str, dict[str, Any]]:
    """Return the parameters of an operation as introspection describes them in full, by name."""
    row = table.table.find(name)
    assert row is not None
    return {field["name"]: field for field in operation_type(row, table.table)["fields"]}


def assert_says_the_same(table: Tabulation, operation: Mapping[str, Any]) -> None:
    """Assert that an element says of an operation's parameters what introspection says."""
    fields = introspected(table, operation["name"])
    params = operation.get("params", {})
    assert list(params) == list(fields)
    for name, entry in params.items():
        field = fields[name]
        assert {key: entry[key] for key in KEYS if key in entry} == {key: field[key] for key in KEYS if key in field}
        assert entry.get("required", False) is field["required"]
        values = field.get("enum")
        if values is None and field["type"] in table.types:
            values = type_details(field["type"], table.types[field["type"]], table.types).get("values")
        texts = values if values and all(isinstance(value, str) for value in values) else None
        assert entry.get("enum") == texts


@pytest.mark.parametrize("case", CASES)
def test_an_element_says_what_introspection_says(case: str, folder: Path) -> None:
    """R-INT-4"""
    table = table_of(case, folder)
    operations = operations_of(element_of(table))
    assert {name: operation["family"] for name, operation in operations.items()} == {
        row.name: row.family for row in table.prepared.table.rows
    }
    for operation in operations.values():
        assert_says_the_same(table, operation)


@pytest.mark.parametrize("case", CASES)
def test_an_element_has_the_keys_of_the_protocol_alone(case: str, folder: Path) -> None:
    element = element_of(table_of(case, folder))
    assert element.keys() == ROOT_KEYS
    for operation in operations_of(element).values():
        assert operation.keys() - {"family"} <= OPERATION_KEYS
        for entry in operation.get("params", {}).values():
            assert entry.keys() <= PARAMETER_KEYS


def element_entry(tmp_path: Path, schema: Any, version: str = "3.1.0") -> dict[str, Any]:
    """Return what an element says of the field `value` of a body."""
    table = tabulate(tmp_path, posting({"type": "object", "properties": {"value": schema}}, version))
    operation = operations_of(element_of(table))["create_thing"]
    assert_says_the_same(table, operation)
    entry: dict[str, Any] = operation["params"]["value"]
    return entry


def test_an_enumeration_that_admits_null_keeps_its_values(tmp_path: Path) -> None:
    schema = {"type": "string", "nullable": True, "enum": ["open", "closed", None]}
    assert element_entry(tmp_path, schema, "3.0.3") == {
        "type": "string",
        "description": "May be null.",
        "enum": ["open", "closed"],
    }


def test_a_union_of_one_kind_has_that_type(tmp_path: Path) -> None:
    schema = {"oneOf": [{"type": "string", "format": "uuid"}, {"type": "string", "enum": ["latest"]}]}
    entry = element_entry(tmp_path, schema)
    assert entry["type"] == "string"
    assert "latest" in entry["description"]


def test_a_union_of_several_kinds_says_which(tmp_path: Path) -> None:
    entry = element_entry(tmp_path, {"oneOf": [{"type": "string"}, {"type": "integer"}]})
    assert entry == {"type": "any", "description": "One of: string, int."}


def test_values_that_are_no_texts_stand_in_the_description(tmp_path: Path) -> None:
    assert element_entry(tmp_path, {"type": "integer", "enum": [1, 2]}) == {
        "type": "integer",
        "description": "One of 1, 2.",
    }


def test_bounds_without_a_key_stand_in_the_description(tmp_path: Path) -> None:
    entry = element_entry(tmp_path, {"type": "string", "minLength": 1, "maxLength": 9, "format": "password"})
    assert entry == {"type": "string", "description": "1 to 9 characters. A secret.", "format": "password"}


def test_the_markdown_form_has_the_same_element_as_front_matter(folder: Path) -> None:
    table = table_of("petstore", folder).prepared.table
    element = adapter_element(table)
    markdown = adapter_markdown(table, element)
    assert markdown.startswith(f"---\n{element}---\n\n# Petstore\n")


def test_the_element_of_an_element_says_the_same_again(tmp_path: Path) -> None:
    first = element_of(read_file(BOOKS))
    second = element_of(read(tmp_path, yaml.safe_dump(first, sort_keys=False)))
    before, after = operations_of(first), operations_of(second)
    assert {name: entry["maps_to"] for name, entry in after.items()} == {
        name: entry["maps_to"] for name, entry in before.items()
    }
    assert {**second, "operations": {}} == {**first, "operations": {}}


def test_operations_that_only_a_fragment_tells_apart_are_written_as_they_are_sent(tmp_path: Path) -> None:
    paths = {f"/actions#{name}": {"post": {"operationId": name}} for name in ("start_engine", "stop_engine")}
    old = tabulate(tmp_path, api(paths, servers=[{"url": "https://api.example.com"}]))
    assert {item["maps_to"] for item in operations_of(element_of(old)).values()} == {"POST /actions"}
    new = read(tmp_path, adapter_element(old.prepared.table))
    assert new.rows.keys() == old.rows.keys()


def test_operations_at_another_address_than_the_elements_are_told(tmp_path: Path) -> None:
    files = {"get": {"operationId": "getFile", "servers": [{"url": "https://files.acme.dev"}], "responses": {}}}
    document = api({"/pets": {"get": {"operationId": "listPets", "responses": {}}}, "/files": files},
                   servers=[{"url": "https://api.acme.dev"}])  # fmt: skip
    path, project = tmp_path / "api.json", tmp_path / "project"
    path.write_text(json.dumps(document), encoding="utf-8")
    assert run("from-openapi", path, "-o", project).code == 0
    output = run("add", "element", "--project", project).out
    assert "1 operation at https://files.acme.dev: an adapter of the element calls its base_url instead." in output
    element = (project / "schema/adapter.yaml").read_text(encoding="utf-8")
    assert element.count("The API serves this at https://files.acme.dev, not at base_url.") == 1


def test_a_folder_named_as_an_adapters_names_that_of_an_element(tmp_path: Path) -> None:
    result = run("from-schema", BOOKS, "-o", tmp_path / "el-adapter", "--dry-run", "--output-format", "json")
    assert result.json["package"] == "el_adapter"


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """Generate a project of the books' element, and commit it."""
    folder = tmp_path_factory.mktemp("books") / "books"
    result = run("from-schema", BOOKS, "-o", folder, "--output-format", "json")
    assert result.code == 0, result.out
    assert result.json["operations"]["total"] == 7
    assert run("add", "element", "--project", folder).code == 0
    return packed(committed(folder, folder))


@pytest.fixture
def repo(begun: Repo, tmp_path: Path) -> Repo:
    return begun.copy(tmp_path / "books")


def test_a_project_keeps_its_element_and_has_its_own_in_both_forms(begun: Repo) -> None:
    assert begun.read("openapi/adapter.md") == BOOKS.read_text(encoding="utf-8")
    element = begun.read("schema/adapter.yaml")
    assert yaml.safe_load(element)["name"] == "books"
    assert begun.read("schema/books-adapter.md").startswith(f"---\n{element}---\n")


def test_status_and_check_know_the_project(begun: Repo) -> None:
    assert "Up to date" in run("status", begun.folder).out
    assert run("check", begun.folder, "--pristine", "-q").code == 0
    assert "strike_book" in run("explain", begun.folder / "openapi/adapter.md").out


def test_an_update_without_news_changes_nothing(repo: Repo) -> None:
    assert "is up to date" in repo.update().out
    assert repo.git("status", "--porcelain") == ""


def test_an_update_takes_a_newer_element(repo: Repo, tmp_path: Path) -> None:
    text = BOOKS.read_text(encoding="utf-8").replace("Get a book", "Get one book").replace("strike_book", "drop_book")
    newer = tmp_path / "newer.md"
    newer.write_text(text, encoding="utf-8")
    shown = run("diff", repo.folder, newer)
    assert shown.code == 1
    assert "renamed, now `drop_book`: strike_book" in shown.out
    result = repo.update("--spec", newer)
    assert result.code == 0, result.err
    assert repo.read("openapi/adapter.md") == text
    assert '"drop_book"' in repo.read("src/books_adapter/operations/delete.json")


def test_an_element_that_was_edited_in_its_place_is_given_by_spec(repo: Repo) -> None:
    text = BOOKS.read_text(encoding="utf-8").replace("Get a book", "Get one book")
    repo.write("openapi/adapter.md", text)
    repo.commit()
    refused = repo.update()
    assert refused.code == 3
    assert "--spec" in refused.err
    assert repo.update("--spec", repo.folder / "openapi/adapter.md").code == 0
    assert "Get one book" in repo.read("OPERATIONS.md")


def test_an_update_with_an_invalid_element_changes_nothing(repo: Repo, tmp_path: Path) -> None:
    broken = tmp_path / "broken.md"
    broken.write_text(BOOKS.read_text(encoding="utf-8").replace("type: integer", "type: int"), encoding="utf-8")
    assert repo.update("--spec", broken).code == 2
    assert repo.git("status", "--porcelain") == ""


def test_a_project_stays_of_its_kind(repo: Repo, tmp_path: Path) -> None:
    result = repo.update("--spec", FIXTURES / "petstore.yaml")
    assert result.code == 2
    assert "not an adapter element" in result.err


def test_the_help_has_examples() -> None:
    shown = run("from-schema", "--help")
    assert shown.code == 0
    assert "aqlgen from-schema github-api-adapter.md" in shown.out
