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
    return _generated(tmp_path_factory.mktemp("generated"))


def _generated(folder: Path, *options: str) -> Path:
    (folder / "shop.json").write_text(json.dumps(SHOP, indent=2), encoding="utf-8")
    assert run("from-openapi", folder / "shop.json", "-o", folder / "shop", "-q", "--add", "all", *options).code == 0
    return folder / "shop"


@pytest.fixture(scope="session")
def begun_copied(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """Commit a project that holds the source of the runtime."""
    folder = _generated(tmp_path_factory.mktemp("copied"), "--runtime", "source")
    return packed(committed(folder, folder))


@pytest.fixture(scope="session")
def begun(generated: Path) -> Repo:
    """Commit the project at the root of a repository; it is copied for each test."""
    folder = generated.parent / "begun" / "shop"
    shutil.copytree(generated, folder)
    return packed(committed(folder, folder))


@pytest.fixture(scope="session")
def begun_inner(generated: Path) -> Repo:
    """Commit the project in a folder of a repository that holds other things too."""
    top = generated.parent / "begun-inner" / "mono"
    shutil.copytree(generated, top / "adapters" / "shop")
    (top / "README.md").write_text("# Everything\n", encoding="utf-8")
    return packed(committed(top / "adapters" / "shop", top))


@pytest.fixture
def repo(begun: Repo, tmp_path: Path) -> Repo:
    """Return a repository with the project at its root."""
    return begun.copy(tmp_path / "shop")


@pytest.fixture
def copied(begun_copied: Repo, tmp_path: Path) -> Repo:
    """Return a repository with a project that holds the source of the runtime, for what is about its code."""
    return begun_copied.copy(tmp_path / "shop")


@pytest.fixture
def inner(begun_inner: Repo, tmp_path: Path) -> Repo:
    """Return a repository with the project in a folder of it."""
    return begun_inner.copy(tmp_path / "mono")


def committed(folder: Path, top: Path) -> Repo:
    git("init", "--quiet", "--initial-branch=main", cwd=top)
    repo = Repo(folder, top)
    repo.commit()
    return repo


def packed(repo: Repo) -> Repo:
    """Pack the objects of a repository into one file, since it is copied often."""
    repo.git("gc", "--quiet")
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
