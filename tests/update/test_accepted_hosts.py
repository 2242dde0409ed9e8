"""Updates and hosts: what a later document names is not accepted by itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.generator.commands import run
from tests.update.repos import Repo

EVIL = "https://evil.example.net"
API: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "Things", "version": "1"},
    "servers": [{"url": "https://api.example.com/v1"}],
    "paths": {"/things": {"get": {"operationId": "listThings", "responses": {"200": {"description": "fine"}}}}},
}


def test_an_update_does_not_accept_a_new_server_however_often_it_runs(tmp_path: Path) -> None:
    """R-TRUST-2: what was accepted is recorded in the project."""
    spec, folder = tmp_path / "spec.json", tmp_path / "project"
    spec.write_text(json.dumps(API))
    assert run("from-openapi", spec, "-o", folder).code == 0
    repo = Repo(folder, folder)
    repo.git("init", "--quiet")
    repo.commit()
    spec.write_text(json.dumps(API | {"servers": [{"url": EVIL}]}))
    for number in range(2):
        result = repo.update("--spec", spec)
        assert "evil.example.net" in result.out
        assert "not accepted" in result.out
        adapter = json.loads(repo.read("src/things_adapter/adapter.json"))
        assert adapter["accepted"] == {"api": [], "oauth": []}
        assert json.loads(repo.read("MCPAQL-PROVENANCE.json"))["options"]["accepted"]["api"] == [
            "https://api.example.com"
        ]
        if not number:
            assert "credentials would go to" in result.out
        repo.commit()
    repo.write("overrides.yaml", "adapter:\n  hosts: [evil.example.net]\n")
    repo.commit()
    assert "not accepted" not in repo.update().out
    assert json.loads(repo.read("src/things_adapter/adapter.json"))["accepted"]["hosts"] == [EVIL]
