"""Adapter elements that people write: what an adapter has of them, in both forms of the protocol's documents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from aqlgen.diagnostics.errors import DocumentError, OptionError
from aqlgen.document.request import Request
from aqlgen.pipeline import Options, prepare
from aqlgen.table.access import table_hosts
from tests.element.reading import BOOKS, element, read, read_file, reading, written
from tests.generator.commands import Tabulation


@pytest.fixture(scope="module")
def books() -> Tabulation:
    return read_file(BOOKS)


def parameters(table: Tabulation, name: str) -> dict[str, Any]:
    """Return the API's parameters of an operation, by the agent's names."""
    return {key: item for key, item in table.rows[name]["parameters"].items() if item["in"] != "adapter"}


def test_names_families_and_danger_are_those_of_the_element(books: Tabulation) -> None:
    assert {row.name: row.family for row in books.prepared.table.rows} == {
        "add_book": "create",
        "list_books": "read",
        "get_book": "read",
        "find_new_books": "read",
        "correct_book": "update",
        "strike_book": "delete",
        "lend_book": "execute",
    }
    assert books.rows["strike_book"]["danger"] == "dangerous"
    assert books.rows["strike_book"]["rule"] == "element"
    doubts = {decision.name: decision.danger_reason.rule for decision in books.prepared.decisions if decision.concerns}
    assert doubts == {"correct_book": "unproven"}, "no answer is described that would show the old values"


def test_a_reason_names_the_place_in_the_element(books: Tabulation) -> None:
    (strike,) = [decision for decision in books.prepared.decisions if decision.name == "strike_book"]
    assert strike.category_reason.note == "`operations.delete[0]` of the adapter element"
    assert strike.danger_reason.note == "`operations.delete[0]` of the adapter element"


def test_what_is_to_be_confirmed_is_destructive_at_least(books: Tabulation) -> None:
    assert books.rows["lend_book"]["danger"] == "destructive"


def test_the_danger_that_an_element_does_not_state_is_decided_by_the_rules(tmp_path: Path) -> None:
    table = read(tmp_path, element(operations={"delete": [{"name": "drop_all", "maps_to": "DELETE /things"}]}))
    assert table.rows["drop_all"]["danger"] != "safe"
    assert not table.rows["drop_all"]["danger_reason"].startswith("element")


def test_parameters_go_into_the_path_the_query_or_the_body(books: Tabulation) -> None:
    assert parameters(books, "get_book")["id"]["in"] == "path"
    assert parameters(books, "list_books")["state"]["in"] == "query"
    assert parameters(books, "add_book")["title"] == {
        "in": "body",
        "required": True,
        "schema": {"type": "string", "minLength": 1},
    }


def test_a_name_that_is_not_snake_case_stays_the_apis_and_agents_get_another(books: Tabulation) -> None:
    """R-SEL-1"""
    assert parameters(books, "add_book")["shelf_mark"]["name"] == "shelfMark"


def test_constraints_are_those_of_the_element(books: Tabulation) -> None:
    named = parameters(books, "add_book")
    assert named["genre"]["schema"] == {"type": "string", "enum": ["novel", "poetry", "science"], "default": "novel"}
    assert named["copies"]["schema"] == {"type": "integer", "minimum": 1, "maximum": 500, "default": 1}


def test_the_fields_of_an_update_are_those_of_its_input(books: Tabulation) -> None:
    """R-UPD-1"""
    assert set(parameters(books, "correct_book")) == {"id", "input"}
    assert set(books.types["CorrectBookInput"]["properties"]) == {"title", "genre"}
    assert parameters(books, "correct_book")["input"]["required"]


def test_a_list_is_paged_by_the_parameters_that_the_element_names(books: Tabulation) -> None:
    """R-SEL-3"""
    assert {"first", "after"} <= books.rows["list_books"]["parameters"].keys()
    paging = books.rows["list_books"]["pagination"]
    assert (paging["style"], paging["page_param"], paging["size_param"], paging["size_max"]) == (
        "page",
        "page",
        "per_page",
        100,
    )


def test_the_query_of_maps_to_holds_fixed_values_and_the_apis_names(books: Tabulation) -> None:
    row = books.rows["find_new_books"]
    assert row["path"] == "/books?sort=newest"
    assert parameters(books, "find_new_books")["words"]["name"] == "q"


def test_credentials_are_read_from_the_variable_that_the_element_names(books: Tabulation) -> None:
    (scheme,) = books.adapter["security_schemes"].values()
    assert (scheme["type"], scheme["in"], scheme["name"]) == ("apiKey", "header", "X-Books-Key")
    assert scheme["variables"] == ["BOOKS_KEY"]
    assert books.adapter["security"] == [["auth"]]


def test_requests_and_credentials_go_to_the_base_url_alone(books: Tabulation) -> None:
    assert books.adapter["servers"] == [{"url": "https://books.example.com/v1"}]
    assert [use.origin for use in table_hosts(books.prepared.table) if use.is_used] == ["https://books.example.com"]


def test_overrides_win_over_the_element(tmp_path: Path) -> None:
    (tmp_path / "overrides.yaml").write_text(
        "operation:strike_book:\n  danger: forbidden\nGET /books/{id}:\n  name: look_up_book\n", encoding="utf-8"
    )
    table = read_file(BOOKS, overrides=tmp_path / "overrides.yaml")
    assert table.rows["strike_book"]["danger"] == "forbidden"
    assert "look_up_book" in table.rows
    assert "get_book" not in table.rows


@pytest.mark.parametrize("name", ["adapter.md", "adapter.yaml", "adapter.json"])
def test_an_element_is_kept_as_it_was_read(tmp_path: Path, name: str) -> None:
    content = json.dumps(element()) if name.endswith(".json") else yaml.safe_dump(element())
    text = f"---\n{content}\n---\n# Shop\n" if name.endswith(".md") else content
    kept = read(tmp_path, text, name).prepared.kept
    assert kept == {name: text.encode()}


def test_positions_in_markdown_are_those_of_the_file(tmp_path: Path) -> None:
    text = BOOKS.read_text(encoding="utf-8").replace("danger_level: dangerous", "danger_level: deadly")
    text += "\nNotes: see the wiki: page 1.\n"
    with pytest.raises(DocumentError) as caught:
        read(tmp_path, text, "books.md")
    (finding,) = caught.value.diagnostics
    line = text.splitlines()[finding.line - 1]
    assert line[finding.column - 1 :] == "danger_level: deadly"
    assert finding.path == "operations.delete[0].danger_level"


def test_two_operations_may_send_the_same_request(tmp_path: Path) -> None:
    both = [
        {"name": "invite_user", "maps_to": "POST /users", "params": {"email": {"type": "string", "required": True}}},
        {"name": "add_user", "maps_to": "POST /users", "params": {"login": {"type": "string", "required": True}}},
    ]
    table = read(tmp_path, element(operations={"create": both}))
    assert {row.name: row.row.path for row in table.prepared.table.rows} == {
        "add_user": "/users#add_user",
        "invite_user": "/users",
    }


@pytest.mark.parametrize(
    ("auth", "scheme"),
    [
        ({"type": "bearer", "token_env": "T"}, {"type": "http", "scheme": "bearer"}),
        ({"type": "bearer", "header": "Authorization", "prefix": "Token "}, {"type": "http", "scheme": "Token"}),
        (
            {"type": "api_key", "header": "Authorization", "prefix": "Token token="},
            {"type": "apiKey", "name": "Authorization", "format": "Token token={key}"},
        ),
        ({"type": "bearer", "header": "X-Auth", "prefix": ""}, {"type": "apiKey", "in": "header", "name": "X-Auth"}),
        ({"type": "api_key", "in": "query", "name": "key"}, {"type": "apiKey", "in": "query", "name": "key"}),
        ({"type": "basic", "username_env": "U", "password_env": "P"}, {"type": "http", "scheme": "basic"}),
    ],
)
def test_auth_is_a_security_scheme(tmp_path: Path, auth: dict[str, str], scheme: dict[str, str]) -> None:
    (entry,) = read(tmp_path, element(auth=auth)).adapter["security_schemes"].values()
    assert {key: entry.get(key) for key in scheme} == scheme


def test_oauth_takes_the_addresses_of_the_element(tmp_path: Path) -> None:
    auth = {"type": "oauth2", "token_url": "https://login.example.com/token", "scopes": ["read"]}
    (entry,) = read(tmp_path, element(auth=auth)).adapter["security_schemes"].values()
    assert entry["flows"] == {"clientCredentials": {"token_url": "https://login.example.com/token", "scopes": ["read"]}}


def test_an_element_without_auth_sends_no_credential(tmp_path: Path) -> None:
    for auth in ({}, {"auth": {"type": "none"}}):
        assert read(tmp_path, element(**auth)).adapter["security_schemes"] == {}


def test_a_form_is_sent_where_the_element_says_so(tmp_path: Path) -> None:
    target = {**element()["target"], "serialization": "form"}
    post = [{"name": "add_thing", "maps_to": "POST /things", "params": {"size": {"type": "integer"}}}]
    table = read(tmp_path, element(target=target, operations={"create": post}))
    assert table.rows["add_thing"]["body"]["content_type"] == "application/x-www-form-urlencoded"


def test_unions_and_the_apis_types_can_be_anything_that_they_say(tmp_path: Path) -> None:
    params = {"ref": {"type": "string | integer"}, "pet": {"type": "Pet"}, "free": {"type": "any"}}
    named = parameters(read(tmp_path, reading(params=params)), "get_thing")
    assert named["ref"]["schema"] == {"anyOf": [{"type": "string"}, {"type": "integer"}]}
    assert named["pet"]["schema"] == named["free"]["schema"] == {}


def test_what_an_element_says_without_effect_is_a_warning(tmp_path: Path) -> None:
    table = read(tmp_path, element(rate_limits={"requests_per_minute": 60}, trust={"level": "high"}))
    assert [finding["path"] for finding in table.findings("SCHEMA_NOT_USED")] == ["rate_limits", "trust"]


def test_an_element_is_read_from_files_alone(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="from a file"):
        prepare(Options((Request("https://example.com/adapter.yaml", element=True),)), lambda _stage: None)


def test_a_project_of_openapi_is_not_made_of_an_element(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="this is an adapter element") as caught:
        prepare(Options((Request(str(written(tmp_path, element()))),)), lambda _stage: None)
    assert "from-schema" in caught.value.diagnostics[0].help
