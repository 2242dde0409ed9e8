"""The difference between two versions of a project: what a reviewer must see, and not a line more."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from tests.generator.commands import FIXTURES, generate, tabulate

PETSTORE = (FIXTURES / "petstore.yaml").read_text(encoding="utf-8")
PARAMETERS = [{"name": "petId", "in": "path", "required": True, "schema": {"type": "integer"}}]
ADDED = {
    "/pets/{petId}/mascot": {
        "parameters": PARAMETERS,
        "get": {"operationId": "getMascot", "responses": {"200": {"description": "The mascot"}}},
        "delete": {"operationId": "deleteMascot", "responses": {"204": {"description": "Gone"}}},
    }
}


def project(folder: Path, **paths: Any) -> dict[str, str]:
    """Return the texts of a generated project by their path."""
    document = yaml.safe_load(PETSTORE)
    document["paths"].update(paths)
    folder.mkdir()
    root = generate(folder, json.dumps(document, default=str), "--name", "petstore").folder
    texts = (
        (path.relative_to(root).as_posix(), path)
        for path in root.rglob("*")
        if path.is_file() and path.suffix != ".zip"
    )
    return {name: path.read_text(encoding="utf-8") for name, path in texts}


def diff(old: Mapping[str, str], new: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the lines added and removed, by file, without files that are the same."""
    assert old.keys() == new.keys()
    changes = {}
    for path in sorted(path for path in old if old[path] != new[path]):
        lines = difflib.ndiff(old[path].splitlines(), new[path].splitlines())
        changes[path] = [line for line in lines if line[0] in "+-"]
    return changes


def test_two_more_operations_are_fewer_than_sixty_lines_in_the_whole_project(tmp_path: Path) -> None:
    changes = diff(project(tmp_path / "old"), project(tmp_path / "new", **ADDED))
    package = "src/petstore_adapter"
    assert set(changes) == {
        ".copier-answers.yml",
        "MCPAQL-PROVENANCE.json",
        "OPERATIONS.md",
        "README.md",
        "openapi/openapi.json",
        f"{package}/adapter.json",
        f"{package}/mock.json",
        f"{package}/operations/read.json",
        f"{package}/operations/delete.json",
        f"{package}/search.txt",
    }
    words = changes.pop(f"{package}/search.txt")  # which reviews fold, as they do code
    assert sum(map(len, changes.values())) < 60
    removed, added = changes["README.md"]  # what is asked about, which the mascot's deletion is
    assert "| destructive | 2 | `cancel_visit`, `delete_pet` |" in removed
    assert "| destructive | 3 | `cancel_visit`, `delete_pet`, `delete_pet_mascot` |" in added
    assert len(words) < 120, len(words)
    table = [line for path in changes if "operations/" in path for line in changes[path]]
    assert all(line.startswith("+") for line in table)


def test_a_danger_that_changes_is_a_line_of_the_table(tmp_path: Path) -> None:
    old = tabulate(tmp_path, PETSTORE)
    new = tabulate(tmp_path, PETSTORE, overrides="GET /pets: {danger: destructive}\n")
    removed, added = diff(old.texts, new.texts)["operations/read.json"]
    assert '"danger": "safe"' in removed
    assert '"danger": "destructive"' in added


def test_a_row_has_a_line_for_each_parameter(tmp_path: Path) -> None:
    table = tabulate(tmp_path, PETSTORE)
    lines = table.texts["operations/create.json"].splitlines()
    for name in table.rows["create_pet"]["parameters"]:
        assert sum(line.startswith(f'  "{name}": {{') for line in lines) >= 1
    assert any(line.startswith(' "method": "POST", "path": "/pets", "operation_id": ') for line in lines)
