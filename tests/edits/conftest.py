"""The petstore's adapter in a repository, generated once and copied for each test."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aqlgen.document.read import open_document
from tests.generator.commands import FIXTURES, run
from tests.update.conftest import _own_git, committed, packed  # noqa: F401 - no git configuration of the machine's here either
from tests.update.repos import Repo

PACKAGE = "src/petstore_adapter"
OPERATIONS = f"{PACKAGE}/operations"


class Petstore(Repo):
    """The project, with hands that edit its generated files."""

    def rows(self, family: str) -> dict[str, Any]:
        return json.loads(self.read(f"{OPERATIONS}/{family}.json"))

    def edit(self, family: str, change: Callable[[dict[str, Any]], object]) -> None:
        """Change the rows of a family's file, and write them as an editor that formats JSON would."""
        rows = self.rows(family)
        change(rows)
        self.write(f"{OPERATIONS}/{family}.json", json.dumps(rows, indent=2))

    def report(self) -> Any:
        return run("status", self.folder, "--output-format", "json").json

    def checked(self) -> Any:
        return run("check", self.folder, "--pristine", "--output-format", "json").json["pristine"]

    def refusals(self) -> list[dict[str, Any]]:
        """Commit, update, and return the details of the refusal."""
        self.commit()
        before = self.snapshot()
        done = self.update("--output-format", "json")
        assert done.code == 3
        assert self.snapshot() == before
        return done.json["error"]["details"]


@pytest.fixture(scope="session")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Generate the project once; it needs no copy of the runtime, which would be most of its files."""
    folder = tmp_path_factory.mktemp("petstore") / "petstore"
    assert run("from-openapi", FIXTURES / "petstore.yaml", "-o", folder, "-q", "--add", "all").code == 0
    return folder


@pytest.fixture(scope="session")
def begun(generated: Path) -> Repo:
    """Commit the project at the root of a repository; it is copied for each test."""
    folder = generated.parent / "begun" / "pets"
    shutil.copytree(generated, folder)
    return packed(committed(folder, folder))


@pytest.fixture
def pets(begun: Repo, tmp_path: Path) -> Petstore:
    """Return a repository with the project at its root."""
    copy = begun.copy(tmp_path / "pets")
    return Petstore(copy.folder, copy.top)


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list to which each reading of a document adds what is read."""
    specs: list[str] = []

    def reading(spec: str, **options: Any) -> Any:
        specs.append(spec)
        return open_document(spec, **options)

    monkeypatch.setattr("aqlgen.document.assemble.open_document", reading)
    return specs
