"""A project in a repository, generated and committed once and copied for each test."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.generator.commands import run
from tests.update.repos import SHOP, Repo, Templates, git


@pytest.fixture(autouse=True)
def _own_git(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the machine's own configuration of git away: for aqlgen it would be the user's."""
    for name in [variable for variable in os.environ if variable.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)


@pytest.fixture(scope="session")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Generate the project."""
    folder = tmp_path_factory.mktemp("generated")
    (folder / "shop.json").write_text(json.dumps(SHOP, indent=2), encoding="utf-8")
    assert run("from-openapi", folder / "shop.json", "-o", folder / "shop", "-q").code == 0
    return folder / "shop"


@pytest.fixture
def repo(generated: Path, tmp_path: Path) -> Repo:
    """Commit the project at the root of a repository."""
    shutil.copytree(generated, tmp_path / "shop")
    return committed(tmp_path / "shop", tmp_path / "shop")


@pytest.fixture
def inner(generated: Path, tmp_path: Path) -> Repo:
    """Commit the project in a folder of a repository that holds other things too."""
    top = tmp_path / "mono"
    shutil.copytree(generated, top / "adapters" / "shop")
    (top / "README.md").write_text("# Everything\n", encoding="utf-8")
    return committed(top / "adapters" / "shop", top)


def committed(folder: Path, top: Path) -> Repo:
    git("init", "--quiet", "--initial-branch=main", cwd=top)
    repo = Repo(folder, top)
    repo.commit()
    return repo


@pytest.fixture
def spec(tmp_path: Path) -> Callable[[Any], Path]:
    """Return a function that writes a document and returns its path."""

    def written(document: Any) -> Path:
        path = tmp_path / "newer.json"
        path.write_text(json.dumps(document, indent=2), encoding="utf-8")
        return path

    return written


@pytest.fixture
def newer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Templates]:
    """Replace the templates of this aqlgen by a copy that a test can change: those of a release to come."""
    templates = Templates(tmp_path / "release")
    monkeypatch.setattr("aqlgen.render.template.own_templates", lambda: templates.folder)
    return templates
