"""The outcome is the same with any settings of git, and wherever an update runs."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.generator.commands import run
from tests.update.repos import Repo, Templates, git, grown, operation

Spec = Callable[[Any], Path]


@pytest.fixture
def edited(repo: Repo, newer: Templates) -> Repo:
    """Make a project that has edits elsewhere and in the same place as the new release."""
    repo.replace("Dockerfile", "FROM ", "FROM our-registry/")
    repo.write("README.md", repo.read("README.md") + "\nOurs.\n")
    repo.commit()
    newer.replace("Dockerfile.jinja", "FROM ", "FROM newer-")
    newer.replace("README.md.jinja", "\n## ", "\nA line of the new release.\n\n## ")
    return repo


@pytest.mark.parametrize(
    "settings",
    [
        {"commit.gpgSign": "true", "gpg.program": "/nonexistent"},
        {"merge.conflictStyle": "merge", "merge.renames": "false", "diff.renames": "false"},
        {"rerere.enabled": "true", "rerere.autoupdate": "true"},
        {"core.autocrlf": "true"},
        {"core.autocrlf": "input", "core.safecrlf": "true"},
        {"core.quotePath": "true", "status.relativePaths": "true", "status.short": "true", "color.ui": "always"},
        {"diff.noprefix": "true", "diff.mnemonicPrefix": "true", "diff.external": "/nonexistent"},
        {"core.fsmonitor": "true", "core.untrackedCache": "true", "status.showUntrackedFiles": "all"},
        {"i18n.logOutputEncoding": "latin1", "log.showSignature": "true"},
        {"alias.update-index": "!false", "core.editor": "/nonexistent", "core.pager": "/nonexistent"},
    ],
    ids=lambda settings: next(iter(settings)),
)
def test_settings_of_git_do_not_matter(edited: Repo, settings: dict[str, str]) -> None:
    for key, value in settings.items():
        edited.git("config", key, value)
    done = edited.changed()
    assert done["files"]["conflicts"] == ["Dockerfile"]
    assert done["files"]["changed"] == ["MCPAQL-PROVENANCE.json", "README.md"]
    assert "||||||| " in edited.read("Dockerfile")
    assert "A line of the new release." in edited.read("README.md")


def test_global_attributes_do_not_matter(edited: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "attributes").write_text("* merge=union\n*.md binary\n", encoding="utf-8")
    (tmp_path / "config").write_text(f"[core]\n\tattributesFile = {tmp_path / 'attributes'}\n", encoding="utf-8")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "config"))
    assert edited.changed()["files"]["conflicts"] == ["Dockerfile"]


def test_hooks_do_not_run(edited: Repo, tmp_path: Path) -> None:
    """R-TRUST-9"""
    for name in ("pre-commit", "commit-msg", "prepare-commit-msg", "post-checkout", "post-index-change", "post-merge"):
        hook = edited.top / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {tmp_path / 'ran'}\nexit 1\n", encoding="utf-8")
        hook.chmod(0o755)
    assert edited.changed()["files"]["conflicts"] == ["Dockerfile"]
    assert not (tmp_path / "ran").exists()


def test_it_may_run_within_a_hook_of_another_repository(
    edited: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(tmp_path / "objects"))
    done = edited.update("--output-format", "json")
    assert done.json["files"]["conflicts"] == ["Dockerfile"]
    assert not (tmp_path / "index").exists()


def test_it_runs_in_a_linked_work_tree(edited: Repo, tmp_path: Path) -> None:
    edited.git("worktree", "add", "--quiet", tmp_path / "linked")
    linked = Repo(tmp_path / "linked", tmp_path / "linked")
    tried = linked.changed("--dry-run")
    assert linked.status() == []
    done = linked.changed()
    assert tried["files"] == done["files"]
    assert edited.status() == []


def test_the_repository_may_name_its_objects_by_sha256(generated: Path, newer: Templates, tmp_path: Path) -> None:
    shutil.copytree(generated, tmp_path / "shop")
    git("init", "--quiet", "--object-format=sha256", cwd=tmp_path / "shop")
    repo = Repo(tmp_path / "shop", tmp_path / "shop")
    repo.commit()
    newer.replace("Dockerfile.jinja", "FROM ", "# newer\nFROM ")
    assert repo.changed("--dry-run")["files"] == repo.changed()["files"]
    assert "# newer" in repo.read("Dockerfile")


def test_it_runs_through_a_link_to_the_project(edited: Repo, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(edited.folder)
    assert run("update", tmp_path / "link").code == 1
    assert "UU Dockerfile" in edited.status()


def test_it_runs_from_within_the_project(edited: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(edited.folder)
    assert run("update", "--dry-run").code == 1
    assert run("update").code == 1
    assert "UU Dockerfile" in edited.status()


def test_names_of_files_may_be_odd(repo: Repo, newer: Templates, spec: Spec) -> None:
    names = ["with space.md", "-dash.md", 'quote".md', "tab\there.md", "日本.md", "[glob]*.md", ":(top)magic.md"]
    for name in names:
        repo.write(name, "ours\n")
    repo.commit()
    newer.add("tests of 日本 *.md", "Newer. \n")
    assert repo.update("--spec", spec(grown(orders={"get": operation("listOrders")}))).code == 0
    assert "Newer. " in repo.read("tests of 日本 *.md")
    assert all(repo.read(name) == "ours\n" for name in names)


def test_what_is_told_takes_an_update_back(inner: Repo, newer: Templates, spec: Spec) -> None:
    """Also one with conflicts, and with other work going on elsewhere in the repository."""
    inner.replace("Dockerfile", "FROM ", "FROM our-registry/")
    inner.commit()
    newer.replace("Dockerfile.jinja", "FROM ", "FROM newer-")
    newer.add("docs/USING.md", "# New\n")
    newer.remove("adapter.toml")
    (inner.top / "README.md").write_text("# Work that goes on\n", encoding="utf-8")
    before = {path: text for path, text in inner.snapshot().items() if not path.startswith(".git/")}
    done = inner.update("--spec", spec(grown(orders={"get": operation("listOrders")})))
    assert done.code == 1
    command = next(line for line in done.out.splitlines() if "undoes it" in line).split("`")[1]
    subprocess.run(shlex.split(command), cwd=inner.top, check=True)
    assert {path: text for path, text in inner.snapshot().items() if not path.startswith(".git/")} == before
