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


@pytest.mark.usefixtures("forked")
def test_an_update_that_asks_may_read_before_it_writes(tmp_path: Path) -> None:
    answer = {"responses": {"200": {"description": "OK", **JSON}}}
    update = {"operationId": "updateThing", "requestBody": {"required": True, **JSON}, **answer}
    paths = {
        "/things/{id}": {"parameters": [ID], "get": {"operationId": "getThing", **answer}, "put": update},
        "/parts/{id}": {"parameters": [ID], "delete": {"operationId": "deletePart", "responses": {}}},
    }
    overrides = tmp_path / "overrides.yaml"
    overrides.write_text("PUT /things/{id}: {danger: destructive}\n", encoding="utf-8")
    document = api(paths, servers=[{"url": "https://shop.example"}])
    project = generate(tmp_path, document, "--overrides", str(overrides))
    assert project.rows["update_thing"]["update"]["strategy"] == "put-merge"
    assert project.rows["update_thing"]["danger"] == "destructive"
    unpack_runtime(project.package)
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "destructive or person or forbidden"],
        cwd=project.folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout
