"""What is compared: documents, projects, revisions of both, and what is in the work tree."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.compare.shops import SHOP, edited, fields
from tests.generator.commands import Run, run


def broken(document: dict[str, Any]) -> None:
    fields(document, "Pet").pop("born")


def other(document: dict[str, Any]) -> None:
    fields(document, "Owner").pop("name")


@pytest.fixture(autouse=True)
def _own_git(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the machine's own configuration of git away."""
    for name in [variable for variable in os.environ if variable.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)


@pytest.fixture(scope="module")
def committed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make two commits of a document in a folder and of a project of it; the second breaks both."""
    top = tmp_path_factory.mktemp("committed") / "repository"
    (top / "api").mkdir(parents=True)
    git(top, "init", "--quiet", "--initial-branch=main")
    for document in (SHOP, edited(broken)):
        (top / "api/shop.json").write_text(json.dumps(document), encoding="utf-8")
        shutil.rmtree(top / "adapter", ignore_errors=True)
        assert run("from-openapi", top / "api/shop.json", "-o", top / "adapter", "-q").code == 0
        git(top, "add", "--all", "--force")
        git(top, "commit", "--quiet", "--message=shop")
    git(top, "tag", "v2")
    return top


@pytest.fixture
def repository(committed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository for one test, and run the test in it."""
    monkeypatch.chdir(shutil.copytree(committed, tmp_path / "repository"))
    return tmp_path / "repository"


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


def rules(done: Run) -> list[str]:
    assert done.code in (0, 1), done.out + done.err
    return [change["rule"] for change in done.json["changes"]]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("HEAD~1:api/shop.json", "HEAD:api/shop.json"),
        ("HEAD~1:api", "v2:api"),
        ("HEAD~1:api/shop.json", None),
        ("HEAD~1:adapter", "HEAD:adapter"),
        ("HEAD~1:adapter", None),
        ("HEAD~1:adapter", "adapter"),
        ("HEAD~1:adapter", "api/shop.json"),
        ("HEAD~1:api/shop.json", "adapter"),
        ("HEAD~1:./api/shop.json", "main:api/shop.json"),
    ],
)
def test_each_side_is_a_document_or_a_project_now_or_at_a_revision(repository: Path, old: str, new: str | None) -> None:
    sides = [old] if new is None else [old, new]
    assert rules(run("diff", *sides, "--output-format", "json")) == ["field-removed"]


def test_a_revision_alone_is_that_of_the_project_here(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repository / "adapter")
    assert rules(run("diff", "HEAD~1", "--output-format", "json")) == ["field-removed"]
    assert run("diff").out == "From HEAD to your files:\nNothing changed for an agent.\n"
    done = run("diff", "HEAD~1", "HEAD", "--output-format", "json")
    assert (done.json["old"], done.json["new"]) == ("HEAD~1", "HEAD")
    assert rules(done) == ["field-removed"]


def test_a_new_document_is_decided_as_the_project_was(repository: Path) -> None:
    overrides = repository / "adapter/overrides.yaml"
    overrides.write_text("GET /pets/{pet_id}:\n  name: fetch_animal\nDELETE /pets/{pet_id}:\n  hidden: true\n")
    document = repository / "next.json"
    document.write_text(json.dumps(edited(broken)), encoding="utf-8")
    project = repository / "made"
    assert run("from-openapi", document, "-o", project, "--overrides", overrides, "-q").code == 0
    assert run("diff", project, document).out == f"From {project} to {document}:\nNothing changed for an agent.\n"
    document.write_text(json.dumps(edited(broken, other)), encoding="utf-8")
    assert rules(run("diff", project, document, "--output-format", "json")) == ["field-removed"]


def test_a_document_of_several_files_is_read_at_its_revision(repository: Path) -> None:
    shop = edited()
    pet = shop["components"]["schemas"].pop("Pet")
    shop["components"]["schemas"]["Pet"] = {"$ref": "types/pet.json"}
    folder = repository / "split"
    (folder / "types").mkdir(parents=True)
    pet = json.loads(json.dumps(pet).replace("#/components", "../shop.json#/components"))
    (folder / "shop.json").write_text(json.dumps(shop), encoding="utf-8")
    (folder / "types/pet.json").write_text(json.dumps(pet), encoding="utf-8")
    git(repository, "add", "split")
    git(repository, "commit", "--quiet", "--message=split")
    del pet["properties"]["born"]
    (folder / "types/pet.json").write_text(json.dumps(pet), encoding="utf-8")
    assert rules(run("diff", "HEAD:split/shop.json", "--output-format", "json")) == ["field-removed"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["nowhere.json"], 4, "nowhere.json is not a file, a folder or a git revision here"),
        (["HEAD:nowhere.json"], 4, "the revision HEAD has no nowhere.json"),
        (["-", "-"], 3, "only one side can be standard input"),
        (["v9:api/shop.json"], 4, "v9:api/shop.json is not a file, a folder or a git revision here"),
        (["--", "-x"], 4, "-x is not a file"),
    ],
)
def test_what_is_not_there_is_reported_with_the_way_out(
    repository: Path, arguments: list[str], code: int, message: str
) -> None:
    done = run("diff", *arguments)
    assert done.code == code
    assert message in done.err
    assert "help: " in done.err


def test_an_error_in_a_document_of_a_revision_names_the_revision(repository: Path) -> None:
    (repository / "bad.json").write_text('{"openapi": "3.1.0", "info": {}, "paths": 3}', encoding="utf-8")
    git(repository, "add", "bad.json")
    git(repository, "commit", "--quiet", "--message=bad")
    done = run("diff", "HEAD:bad.json", "api/shop.json", "--output-format", "json")
    assert done.code == 2
    assert done.json["error"]["details"][0]["file"] == "HEAD:bad.json"


@pytest.mark.parametrize(
    "damage",
    [
        lambda package: (package / "types.json").unlink(),
        lambda package: (package / "types.json").write_text("<<<<<<< HEAD\n"),
        lambda package: (package / "operations/read.json").write_text("[]"),
        lambda package: (package / "operations/read.json").write_text('{"list_pets": {"method": 3}}'),
    ],
    ids=["missing", "in conflict", "not an object", "no operation"],
)
def test_a_broken_project_is_reported_with_the_file(repository: Path, damage: Callable[[Path], object]) -> None:
    damage(next((repository / "adapter/src").iterdir()))
    done = run("diff", "HEAD:adapter")
    assert done.code == 4
    assert "shop_adapter/" in done.err
    assert "[not-a-project]" in done.err


def test_nothing_is_left_behind(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    before = {path for path in tmp_path.rglob("*") if ".git" not in path.parts}
    run("diff", "HEAD~1:api/shop.json")
    assert {path for path in tmp_path.rglob("*") if ".git" not in path.parts} == before
