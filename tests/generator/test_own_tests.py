"""The tests that come with a project pass, whatever the API's operations are like."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.checkouts import unpack_runtime
from tests.generator.commands import api, generate

THING = {"type": "object", "properties": {"name": {"type": "string"}, "size": {"type": "integer"}}}
JSON = {"content": {"application/json": {"schema": THING}}}
ID = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}


ACTION = {"type": "object", "required": ["action"], "properties": {"action": {"enum": ["rename", "delete"]}}}
ACTIONS = {
    "type": "object",
    "required": ["actions"],
    "properties": {"actions": {"type": "array", "minItems": 1, "items": ACTION}},
}


@pytest.mark.usefixtures("forked")
def test_an_update_that_asks_may_read_before_it_writes_and_a_call_that_chooses_no_deletion_is_not_asked_about(
    tmp_path: Path,
) -> None:
    answer = {"responses": {"200": {"description": "OK", **JSON}}}
    update = {"operationId": "updateThing", "requestBody": {"required": True, **JSON}, **answer}
    paths = {
        "/things/{id}": {"parameters": [ID], "get": {"operationId": "getThing", **answer}, "put": update},
        "/changes": {
            "post": {
                "operationId": "makeChanges",
                "requestBody": {"required": True, "content": {"application/json": {"schema": ACTIONS}}},
                **answer,
            }
        },
        "/parts/{id}": {"parameters": [ID], "delete": {"operationId": "deletePart", "responses": {}}},
    }
    overrides = tmp_path / "overrides.yaml"
    overrides.write_text("PUT /things/{id}: {danger: destructive}\n", encoding="utf-8")
    document = api(paths, servers=[{"url": "https://shop.example"}])
    project = generate(tmp_path, document, "--overrides", str(overrides))
    assert project.rows["update_thing"]["update"]["strategy"] == "put-merge"
    changes = next(row for row in project.rows.values() if row["path"] == "/changes")
    assert project.rows["update_thing"]["danger"] == changes["danger"] == "destructive"
    assert changes["carries"]["places"][0]["harmless"] == ["rename"]
    unpack_runtime(project.package)
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "destructive or person or forbidden"],
        cwd=project.folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout
