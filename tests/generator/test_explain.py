"""`aqlgen explain` shows a reviewer every decision, on any terminal, and as much of it as is asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.generator.commands import FIXTURES, api, run

PETSTORE = FIXTURES / "petstore.yaml"


@pytest.fixture
def doubtful(tmp_path: Path) -> Path:
    """Return a document with an operation to look at: its name says one thing, its summary another."""
    post = {"operationId": "writeRole", "summary": "Create a role", "responses": {"200": {"description": "ok"}}}
    spec = tmp_path / "document.json"
    spec.write_text(json.dumps(api({"/auth/{mount}/roles/{role}/a-rather-long-path-of-many-words": {"post": post}})))
    return spec


def test_there_is_a_line_for_each_operation(doubtful: Path) -> None:
    head, row, blank, counts = run("explain", doubtful).out.splitlines()
    assert (head.split()[4:6], blank, counts[:12]) == (["why", "was"], "", "1 operation:")
    assert "POST /auth/{mount}/roles/{role}/a-rather-long-path-of-many-words / writeRole" in row
    assert "to review: category" in row


def test_the_last_line_counts_by_category_danger_and_review() -> None:
    shown = run("explain", PETSTORE).out
    assert "PETSTORE_API_KEY  header X-API-Key: {key}  14 of 15 operations" in shown
    last = shown.splitlines()[-1]
    assert last.startswith("15 operations: 1 create, 8 read, 2 update, 1 delete, 3 execute; 8 safe, ")
    assert "2 destructive, 1 dangerous" in last
    assert last.endswith("skipped.")


def shown(*options: str) -> list[dict[str, Any]]:
    result = run("explain", PETSTORE, "--output-format", "json", *options)
    assert result.code == 0, result.out
    operations: list[dict[str, Any]] = result.json["operations"]
    return operations


def test_a_review_shows_a_part_changes_no_decision_and_says_how_many_it_leaves(doubtful: Path) -> None:
    operations = shown()
    assert shown("--review") == [operation for operation in operations if operation["needs_review"]]
    last = run("explain", PETSTORE, "--review").out.splitlines()[-1]
    assert " of 15 operations shown: " in last


def test_the_json_tells_the_rule_and_the_confidence_of_each_decision() -> None:
    """R-NAME-4"""
    for operation in shown():
        assert operation["confidence"] == min(operation["category_confidence"], operation["name_confidence"])
        assert 0 < operation["confidence"] <= 1
        assert operation["needs_review"] == bool(operation["review_reasons"])
        assert operation["rule"]
        assert operation["name_rule"]
        assert operation["danger_rule"]
        assert isinstance(operation["traits"], list)


def test_text_of_the_document_never_acts_on_the_terminal(tmp_path: Path) -> None:
    evil = "\x1b[2J\u202e[bold]x[/bold]"
    get = {"operationId": f"get{evil}", "summary": evil, "responses": {"200": {"description": "ok"}}}
    spec = tmp_path / "document.json"
    spec.write_text(json.dumps(api({f"/pets{evil}": {"get": get}})))
    result = run("explain", spec)
    assert result.code == 0
    assert "\x1b" not in result.out
    assert "\u202e" not in result.out
    assert "[bold]" in result.out


def test_a_project_is_explained_as_an_update_would_generate_it(tmp_path: Path, doubtful: Path) -> None:
    project = tmp_path / "project"
    assert run("from-openapi", doubtful, "-o", project, "--quiet").code == 0
    (project / "overrides.yaml").write_text("POST /auth/{mount}/**:\n  name: make_role\n  category: CREATE\n")
    explained = run("explain", project, "--output-format", "json").json["operations"]
    assert [(row["name"], row["rule"], row["needs_review"]) for row in explained] == [("make_role", "override", False)]
    without = tmp_path / "none.yaml"
    without.write_text("")
    (row,) = run("explain", project, "--overrides", without, "--output-format", "json").json["operations"]
    assert row["needs_review"] is True


def test_it_tells_where_each_credential_is_sent_and_by_how_many_operations() -> None:
    result = run("explain", PETSTORE, "--output-format", "json")
    assert result.json["credentials"] == [
        {
            "name": "apiKey",
            "type": "apiKey",
            "variables": ["PETSTORE_API_KEY"],
            "optional_variables": {},
            "sent": {"in": "header", "name": "X-API-Key", "format": "{key}"},
            "operations": {"using": 14, "needing": 13},
        },
        {
            "name": "staff",
            "type": "http",
            "variables": ["PETSTORE_STAFF"],
            "optional_variables": {},
            "sent": {"in": "header", "name": "Authorization", "format": "Bearer {key}"},
            "operations": {"using": 2, "needing": 1},
        },
    ]
