"""`aqlgen explain` shows a reviewer every decision, on any terminal, and as much of it as is asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from tests.cases import each
from tests.generator.commands import FIXTURES, Run, api, run

PETSTORE = FIXTURES / "petstore.yaml"


def on_a_terminal(columns: int, *arguments: str | Path) -> Run:
    """Run `explain` as on a terminal of that width."""
    with patch("aqlgen.cli.decisions.terminal_width", lambda: columns):
        return run("explain", *arguments)


@each("columns", [60, 72, 80, 120, 140, 200])
def test_the_table_fits_the_terminal(columns: int) -> None:
    result = on_a_terminal(columns, PETSTORE)
    assert result.code == 0
    assert max(map(len, result.out.splitlines())) <= columns
    for name in ("list_pets", "cancel_visit", "DELETE", "destructive"):
        assert name in result.out


@pytest.fixture
def doubtful(tmp_path: Path) -> Path:
    """Return a document with an operation to look at: its name says one thing, its summary another."""
    post = {"operationId": "writeRole", "summary": "Create a role", "responses": {"200": {"description": "ok"}}}
    spec = tmp_path / "document.json"
    spec.write_text(json.dumps(api({"/auth/{mount}/roles/{role}/a-rather-long-path-of-many-words": {"post": post}})))
    return spec


def test_a_narrow_terminal_has_the_address_and_what_to_review_below_and_whole(doubtful: Path) -> None:
    head, name, *rest = on_a_terminal(90, doubtful).out.splitlines()
    address, review = (next(line for line in rest if line.startswith(start)) for start in ("  POST", "  to review:"))
    assert head.split() == ["operation", "category", "danger", "conf", "why"]
    assert name.split()[1:3] == ["UPDATE", "destructive"]
    assert address == "  POST /auth/{mount}/roles/{role}/a-rather-long-path-of-many-words"
    assert review.startswith("  to review: category: named-verb (called write, though its summary has create)")


def test_programs_get_a_line_for_each_operation(doubtful: Path) -> None:
    head, row, blank, counts = run("explain", doubtful).out.splitlines()
    assert (head.split()[4:6], blank, counts[:12]) == (["why", "was"], "", "1 operation:")
    assert "POST /auth/{mount}/roles/{role}/a-rather-long-path-of-many-words / writeRole" in row
    assert "to review: category" in row


def test_the_last_line_counts_by_category_danger_and_review() -> None:
    last = run("explain", PETSTORE).out.splitlines()[-1]
    assert last.startswith("15 operations: 1 create, 8 read, 2 update, 1 delete, 3 execute; 8 safe, ")
    assert "2 destructive, 1 dangerous" in last
    assert last.endswith("skipped.")


def shown(*options: str) -> list[dict[str, Any]]:
    result = run("explain", PETSTORE, "--output-format", "json", *options)
    assert result.code == 0, result.out
    operations: list[dict[str, Any]] = result.json["operations"]
    return operations


def test_filters_show_a_part_and_go_together() -> None:
    operations = shown()
    assert {operation["category"] for operation in shown("--category", "update", "--category", "DELETE")} == {
        "UPDATE",
        "DELETE",
    }
    assert {operation["danger"] for operation in shown("--danger", "destructive")} == {"destructive"}
    assert shown("--review") == [operation for operation in operations if operation["needs_review"]]
    both = shown("--category", "read", "--include", "path:/pets*")
    assert both == [
        operation
        for operation in operations
        if operation["category"] == "READ" and operation["path"].startswith("/pets")
    ]
    assert shown("--category", "read", "--danger", "destructive") == []


def test_a_filter_changes_no_decision_and_says_how_many_it_leaves() -> None:
    operations = shown()
    assert all(operation in operations for operation in shown("--danger", "safe"))
    last = run("explain", PETSTORE, "--category", "delete").out.splitlines()[-1]
    assert last.startswith("1 of 15 operations shown: ")


def test_an_unknown_category_is_refused_with_those_there_are() -> None:
    result = run("explain", PETSTORE, "--category", "remove")
    assert result.code == 3
    assert "'delete'" in result.err


def test_the_json_tells_the_rule_and_the_confidence_of_each_decision() -> None:
    """R-NAME-4"""
    for operation in shown():
        assert operation["confidence"] == min(operation["category_confidence"], operation["name_confidence"])
        assert operation["rule"]
        assert operation["name_rule"]
        assert operation["danger_rule"]
        assert isinstance(operation["traits"], list)


def test_text_of_the_document_never_acts_on_the_terminal(tmp_path: Path) -> None:
    evil = "\x1b[2J\u202e[bold]x[/bold]"
    get = {"operationId": f"get{evil}", "summary": evil, "responses": {"200": {"description": "ok"}}}
    spec = tmp_path / "document.json"
    spec.write_text(json.dumps(api({f"/pets{evil}": {"get": get}})))
    for columns in (80, 200):
        result = on_a_terminal(columns, spec)
        assert result.code == 0
        assert "\x1b" not in result.out
        assert "\u202e" not in result.out
        assert "[bold]" in result.out.replace("\n", "")


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
