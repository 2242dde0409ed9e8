"""The difference between two versions of a project: what a reviewer must see; no document changes the code."""

from __future__ import annotations

import difflib
import json
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.generator.commands import FIXTURES, api, generate, run, tabulate

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


ACTING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]"
)
EVIL = '\x1b[2J\u202egpj.exe\u2066\x9b31m\x07\U000e0041 {{7*7}} `x` | <b> ](javascript:alert(1)) """ \\ \n# owned\n'


def hostile() -> dict[str, object]:
    parameters = [
        {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}},
        {"name": "q" + EVIL, "in": "query", "description": EVIL, "schema": {"type": "string", "enum": ["a" + EVIL]}},
    ]
    responses = {"200": {"description": EVIL}}
    operation = {"operationId": "op" + EVIL, "summary": EVIL, "tags": [EVIL], "parameters": parameters}
    schemes = {"k\u202e": {"type": "apiKey", "in": "header", "name": "X\u202e", "description": EVIL}}
    return api(
        {"/a" + EVIL + "/{id}": {"get": {**operation, "responses": responses}, "trace": {"responses": responses}}},
        servers=[{"url": "https://x.example/\u202e", "description": EVIL}],
        tags=[{"name": EVIL, "description": EVIL}],
        components={"securitySchemes": schemes},
    ) | {"info": {"title": "Shop" + EVIL, "version": "1" + EVIL, "description": EVIL}}


def test_no_generated_file_holds_a_character_that_acts_or_hides(tmp_path: Path):
    """R-TRUST-8"""
    project = generate(tmp_path, hostile())
    for path in project.folder.rglob("*"):
        name = path.relative_to(project.folder).as_posix()
        assert re.fullmatch(r"[A-Za-z0-9._/-]+", name)
        if path.is_file() and not name.startswith(("openapi/", "vendor/")):
            assert not ACTING.search(path.read_text("utf-8")), name


def test_no_heading_or_row_of_a_page_is_the_documents(tmp_path: Path):
    page = tabulate(tmp_path, hostile()).page
    assert not re.search(r"^# owned", page, re.MULTILINE)
    (row,) = [line for line in page.splitlines() if "| READ |" in line or line.startswith("| `get")]
    assert len(re.findall(r"(?<!\\)\|", row)) == 9


@pytest.mark.parametrize("form", ["human", "json"])
def test_nothing_that_is_printed_acts_on_a_terminal(tmp_path: Path, form: str):
    spec = tmp_path / "hostile.json"
    spec.write_text(json.dumps(hostile()))
    for command in (("explain",), ("from-openapi", "--dry-run", "-v")):
        result = run(*command, spec, "--output-format", form)
        assert result.code == 0
        assert not ACTING.search((result.out + result.err).replace("\n", ""))


def test_an_address_that_is_none_is_no_internal_error(tmp_path: Path):
    table = tabulate(tmp_path, api({"/a": {"get": {}}}, servers=[{"url": "http://["}]) | {"info": {"title": "API"}})
    assert len(table.rows) == 1


def test_references_that_multiply_in_place_end_soon(tmp_path: Path):
    """R-TRUST-4"""
    spec = tmp_path / "document.json"
    again = [{"$ref": "#/paths/~1a"}] * 3000
    path = {"get": {"callbacks": {"c": {f"{{$url}}/{number}": reference for number, reference in enumerate(again)}}}}
    spec.write_text(json.dumps(api({"/a": path}) | {"info": {"description": [{"$ref": "#/info"}] * 3000, "$id": "x"}}))
    begin = time.monotonic()
    assert run("explain", spec).code in (0, 2)
    assert time.monotonic() - begin < 15


def test_the_example_of_a_parameter_in_a_path_is_never_empty(tmp_path: Path):
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    parameter = {"name": "filter", "in": "path", "required": True, "schema": schema}
    (row,) = tabulate(tmp_path, api({"/a/{filter}": {"get": {"parameters": [parameter]}}})).rows.values()
    assert row["example"] == {"filter": {"name": "example"}}
