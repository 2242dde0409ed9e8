"""An obstacle to an update is named with the way out, and then nothing is changed."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aqlgen import __version__
from aqlgen.git import _version
from aqlgen.runtime.table import FORMAT
from tests.generator.commands import Run, run
from tests.update.repos import Repo, Templates, git, grown, operation

Spec = Callable[[Any], Path]


def refused(done: Run, code: str, *texts: str, exit_code: int = 4) -> None:
    assert done.code == exit_code, done
    assert f"[{code}]" in done.err
    assert "help: " in done.err
    assert "Traceback" not in done.err
    for text in texts:
        assert text in done.err


def test_a_folder_that_is_no_project(tmp_path: Path) -> None:
    refused(run("update", tmp_path), "not-a-project", str(tmp_path), "MCPAQL-PROVENANCE.json")
    refused(run("update", tmp_path / "none"), "not-a-project", "is not a folder")


def test_a_project_in_no_repository(generated: Path, tmp_path: Path) -> None:
    shutil.copytree(generated, tmp_path / "shop")
    refused(run("update", tmp_path / "shop"), "not-a-repository", "git init && git add --all && git commit")


def test_a_repository_without_a_commit(generated: Path, tmp_path: Path) -> None:
    shutil.copytree(generated, tmp_path / "shop")
    git("init", "--quiet", cwd=tmp_path / "shop")
    refused(run("update", tmp_path / "shop"), "no-commit", "git commit")


def test_a_project_that_is_not_in_the_commit(generated: Path, tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("shop/\n", encoding="utf-8")
    shutil.copytree(generated, tmp_path / "shop")
    git("init", "--quiet", cwd=tmp_path)
    git("add", "--all", cwd=tmp_path)
    git("commit", "--quiet", "-m", "without it", cwd=tmp_path)
    refused(run("update", tmp_path / "shop"), "project-not-committed", "git add --all --force")


def test_changes_that_are_not_committed(repo: Repo) -> None:
    repo.replace("README.md", "#", "# Ours:")
    before = repo.snapshot()
    refused(repo.update(), "uncommitted-changes", "README.md", "git stash")
    assert repo.snapshot() == before
    repo.git("add", "README.md")
    refused(repo.update("--dry-run"), "uncommitted-changes", "README.md")
    repo.git("reset", "--quiet")
    repo.git("mv", "Dockerfile", "Containerfile")
    refused(repo.update(), "uncommitted-changes", "Containerfile")


def test_a_file_that_was_deleted_and_not_committed(repo: Repo) -> None:
    (repo.folder / "Dockerfile").unlink()
    refused(repo.update(), "uncommitted-changes", "Dockerfile")


def test_elsewhere_in_the_repository_only_what_is_staged_is_in_the_way(inner: Repo, spec: Spec) -> None:
    (inner.top / "README.md").write_text("# Changed\n", encoding="utf-8")
    inner.git("add", "README.md")
    refused(inner.update(), "uncommitted-changes", "elsewhere", "README.md")
    inner.git("reset", "--quiet")
    assert inner.update("--spec", spec(grown(orders={"get": operation("listOrders")}))).code == 0
    assert " M README.md" in inner.status()


def test_a_merge_in_progress(repo: Repo) -> None:
    repo.git("checkout", "--quiet", "-b", "other")
    repo.replace("README.md", "#", "# Theirs:")
    repo.commit()
    repo.git("checkout", "--quiet", "main")
    repo.replace("README.md", "#", "# Ours:")
    repo.commit()
    with pytest.raises(AssertionError):
        repo.git("merge", "other")
    refused(repo.update(), "merge-in-progress", "git merge --abort")


def test_conflicts_of_an_update_that_are_not_resolved(repo: Repo, newer: Templates) -> None:
    repo.replace("Dockerfile", "FROM ", "FROM our-registry/")
    repo.commit()
    newer.replace("Dockerfile.jinja", "FROM ", "FROM newer-")
    assert repo.update().code == 1
    refused(repo.update(), "unresolved-conflicts", "Dockerfile", "git add")


def test_a_project_that_a_newer_aqlgen_made(repo: Repo) -> None:
    repo.replace("MCPAQL-PROVENANCE.json", f'"version": "{__version__}"', '"version": "99.1"')
    repo.commit()
    refused(repo.update(), "aqlgen-too-old", "99.1", "pip install", exit_code=3)


def test_what_is_not_committed_is_never_written_over(repo: Repo, newer: Templates) -> None:
    repo.write("docs/USING.md", "ours, and nobody has a copy\n")
    newer.add("docs/USING.md", "theirs\n")
    for options in ((), ("--dry-run",)):
        refused(repo.update(*options), "untracked-in-the-way", "docs/USING.md", "git add")
    repo.write(".git/info/exclude", "docs\n")
    refused(repo.update(), "untracked-in-the-way", "docs/USING.md")
    shutil.rmtree(repo.folder / "docs")
    repo.write("docs", "a file where a folder is to be\n")
    refused(repo.update(), "untracked-in-the-way", "docs")
    assert repo.read("docs") == "a file where a folder is to be\n"


def test_git_that_is_not_installed(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    _version.cache_clear()
    monkeypatch.setenv("PATH", "")
    refused(repo.update(), "git-missing", "Install git")
    _version.cache_clear()


def test_git_that_is_too_old(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "git").write_text("#!/bin/sh\necho git version 2.17.1\n", encoding="utf-8")
    (tmp_path / "git").chmod(0o755)
    _version.cache_clear()
    monkeypatch.setenv("PATH", str(tmp_path))
    refused(repo.update(), "git-too-old", "2.17", "2.34 or newer")
    _version.cache_clear()


def test_an_index_that_another_git_has_locked(repo: Repo, spec: Spec) -> None:
    (repo.top / ".git" / "index.lock").touch()
    before = repo.snapshot()
    done = repo.update("--spec", spec(grown(orders={"get": operation("listOrders")})))
    refused(done, "git-failed", "index.lock")
    after = repo.snapshot()
    assert {path for path in after if before.get(path) != after[path] and "objects/" not in path} == set()


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("MCPAQL-PROVENANCE.json", "{"),
        ("MCPAQL-PROVENANCE.json", "[]"),
        ("MCPAQL-PROVENANCE.json", "{}"),
        (".copier-answers.yml", "a: [\n"),
        (".copier-answers.yml", "just text\n"),
        (".copier-answers.yml", "title: no package\n"),
    ],
)
def test_records_that_cannot_be_used(repo: Repo, path: str, text: str) -> None:
    repo.write(path, text)
    repo.commit()
    refused(repo.update(), "project-damaged", path, "git checkout")


def test_records_that_are_gone(repo: Repo) -> None:
    (repo.folder / ".copier-answers.yml").unlink()
    repo.commit()
    refused(repo.update(), "project-damaged", ".copier-answers.yml")


def test_a_record_that_was_deleted_is_told_as_gone(repo: Repo) -> None:
    (repo.folder / "MCPAQL-PROVENANCE.json").unlink()
    repo.commit()
    refused(repo.update(), "project-damaged", "it is gone", "git log -- MCPAQL-PROVENANCE.json")


def test_an_option_that_was_edited_into_nonsense_is_not_taken(repo: Repo) -> None:
    repo.replace("MCPAQL-PROVENANCE.json", '"field_case": null', '"field_case": "bogus"')
    repo.commit()
    assert repo.update().code == 0
    assert "bogus" not in repo.read("src/shop_adapter/adapter.json")


def test_two_branches_that_both_updated_find_the_way_out(repo: Repo, spec: Spec) -> None:
    """The advice in the message is followed word for word."""
    repo.git("checkout", "--quiet", "-b", "other")
    assert repo.update("--spec", spec(grown(bills={"get": operation("listBills")}))).code == 0
    repo.commit()
    repo.git("checkout", "--quiet", "main")
    newest = grown(orders={"get": operation("listOrders")})
    assert repo.update("--spec", spec(newest)).code == 0
    repo.commit()
    with pytest.raises(AssertionError):
        repo.git("merge", "other")
    done = repo.update("--output-format", "json")
    assert done.code == 4
    (detail,) = done.json["error"]["details"]
    assert detail["code"] == "records-in-conflict"
    command = detail["suggestion"].split("`")[1]
    subprocess.run(shlex.split(command), cwd="/", check=True, capture_output=True)
    repo.commit()
    assert repo.update("--spec", spec(newest)).code == 0
    assert run("check", repo.folder, "--pristine").code == 0
    assert "list_orders" in repo.read("src/shop_adapter/operations/read.json")
    assert "list_bills" not in repo.read("src/shop_adapter/operations/read.json")


def test_a_kept_document_that_is_gone_can_be_given_again(repo: Repo, spec: Spec) -> None:
    shutil.rmtree(repo.folder / "openapi")
    repo.commit()
    refused(repo.update(), "kept-document-missing", "--spec")
    assert repo.update("--spec", spec(grown())).code == 0
    assert (repo.folder / "openapi" / "openapi.json").is_file()


def test_a_document_that_cannot_be_used(repo: Repo, tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text('{"openapi": "3.1.0"}', encoding="utf-8")
    before = repo.snapshot()
    done = repo.update("--spec", tmp_path / "bad.json")
    assert done.code == 2
    done = repo.update("--spec", tmp_path / "none.json")
    refused(done, "file-not-found")
    assert repo.snapshot() == before


def test_overrides_that_cannot_be_used(repo: Repo) -> None:
    repo.write("overrides.yaml", "GET /goods:\n  nmae: list_all\n")
    repo.commit()
    refused(repo.update(), "bad-override", "overrides.yaml:2", exit_code=3)


def test_a_refusal_as_data(repo: Repo) -> None:
    repo.replace("README.md", "#", "# Ours:")
    repo.replace("Dockerfile", "FROM", "# ours\nFROM")
    done = repo.update("--output-format", "json")
    assert done.code == 4
    error = done.json["error"]
    assert (error["code"], error["type"]) == (4, "file")
    assert [Path(detail["file"]).name for detail in error["details"]] == ["Dockerfile", "README.md"]
    assert error["details"][0]["code"] == "uncommitted-changes"


PROVENANCE = "MCPAQL-PROVENANCE.json"
COMMANDS = {
    "update": ("update", "{folder}"),
    "status": ("status", "{folder}"),
    "check": ("check", "{folder}", "--pristine"),
    "diff": ("diff", "{folder}", "{folder}"),
    "explain": ("explain", "{folder}"),
}


def run_all(repo: Repo, *options: str) -> dict[str, Run]:
    return {
        name: run(*(word.format(folder=repo.folder) for word in words), *options) for name, words in COMMANDS.items()
    }


def damage(repo: Repo) -> None:
    """Write what this aqlgen could not read, as a newer one may."""
    repo.write(PROVENANCE, json.dumps({**json.loads(repo.read(PROVENANCE)), "files": "of another form"}))
    repo.write("overrides.yaml", "of: another form\n")


def test_a_newer_aqlgen_is_told_of_before_anything_else(repo: Repo) -> None:
    repo.replace(PROVENANCE, f'"version": "{__version__}"', '"version": "99.1"')
    damage(repo)
    for name, done in run_all(repo).items():
        assert done.code == 3, name
        first, way = done.err.splitlines()
        assert "the project was made by aqlgen 99.1" in first, name
        assert first.endswith("[aqlgen-too-old]")
        assert str(repo.folder) in first
        assert "Install aqlgen 99.1 or newer" in way


def test_a_newer_table_is_told_of_too(repo: Repo) -> None:
    path = next((repo.folder / "src").glob("*/adapter.json"))
    adapter = json.loads(path.read_bytes())
    path.write_text(json.dumps({**adapter, "format": FORMAT + 1}), encoding="utf-8")
    damage(repo)
    for name, done in run_all(repo).items():
        assert done.code == 3, name
        assert f"format {FORMAT + 1}" in done.err.splitlines()[0], name
        assert "Install the newest aqlgen" in done.err
