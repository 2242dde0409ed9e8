"""What changes in a project when the API changes: what a reviewer must see, and not a line more."""

from __future__ import annotations

import difflib
import json
from pathlib import Path
from typing import Any

import yaml

from tests.generator.commands import FIXTURES, Project, generate

PARAMETERS = [{"name": "petId", "in": "path", "required": True, "schema": {"type": "integer"}}]
ADDED = {
    "/pets/{petId}/mascot": {
        "parameters": PARAMETERS,
        "get": {"operationId": "getMascot", "responses": {"200": {"description": "The mascot"}}},
        "delete": {"operationId": "deleteMascot", "responses": {"204": {"description": "Gone"}}},
    }
}


def project(folder: Path, **paths: Any) -> Project:
    document = yaml.safe_load((FIXTURES / "petstore.yaml").read_text(encoding="utf-8"))
    document["paths"].update(paths)
    folder.mkdir()
    return generate(folder, json.dumps(document, default=str), "--name", "petstore")


def diff(one: Project, other: Project) -> dict[str, list[str]]:
    """Give the lines added and removed, by file, without files that are the same."""
    paths = {path.relative_to(root.folder) for root in (one, other) for path in root.folder.rglob("*")}
    found = {}
    for path in sorted(paths):
        sides = [root.folder / path for root in (one, other)]
        if not all(side.is_file() for side in sides):
            assert not any(side.is_file() for side in sides)
            continue
        texts = [side.read_text(encoding="utf-8").splitlines() for side in sides]
        lines = [line for line in difflib.ndiff(*texts) if line[0] in "+-"]
        if lines:
            found[path.as_posix()] = lines
    return found


def test_two_more_operations_are_fewer_than_sixty_lines_in_the_whole_project(tmp_path: Path) -> None:
    found = diff(project(tmp_path / "old"), project(tmp_path / "new", **ADDED))
    package = "src/petstore_adapter"
    assert set(found) == {
        "MCPAQL-PROVENANCE.json",
        "OPERATIONS.md",
        "openapi/openapi.json",
        "schema/adapter.yaml",
        f"{package}/adapter.json",
        f"{package}/operations/read.json",
        f"{package}/operations/delete.json",
    }
    assert sum(map(len, found.values())) < 60
    table = [line for path in found if "operations/" in path for line in found[path]]
    assert all(line.startswith("+") for line in table)


def test_a_danger_that_changes_is_a_line_of_the_table(tmp_path: Path) -> None:
    document = (FIXTURES / "petstore.yaml").read_text(encoding="utf-8")
    old = generate(tmp_path, document)
    (tmp_path / "overrides.yaml").write_text("GET /pets: {danger: destructive}\n")
    old.folder.rename(tmp_path / "old")
    new = generate(tmp_path, document, "--overrides", str(tmp_path / "overrides.yaml"))
    found = diff(Project(tmp_path / "old", old.run), new)
    removed, added = found["src/petstore_adapter/operations/read.json"]
    assert '"danger": "safe"' in removed
    assert '"danger": "destructive"' in added


def test_a_row_has_a_line_for_each_parameter(tmp_path: Path) -> None:
    made = generate(tmp_path, (FIXTURES / "petstore.yaml").read_text(encoding="utf-8"))
    lines = (made.package / "operations" / "create.json").read_text(encoding="utf-8").splitlines()
    for name in made.rows["create_pet"]["parameters"]:
        assert sum(line.startswith(f'  "{name}": {{') for line in lines) >= 1
    assert any(line.startswith(' "method": "POST", "path": "/pets", "operation_id": ') for line in lines)
