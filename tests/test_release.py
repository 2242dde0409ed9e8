"""The command that makes a release: when it refuses to, and that it pushes nothing."""

from __future__ import annotations

import hashlib
import json
import runpy
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.checkouts import ROOT

RELEASE = runpy.run_path(str(ROOT / "release.py"))


def git(folder: Path, *arguments: str) -> None:
    settings = ["-c", "user.name=U", "-c", "user.email=u@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *settings, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "aqlgen").mkdir()
    (tmp_path / "aqlgen/__init__.py").write_text('__version__ = "0.2.0"\n', encoding="utf-8")
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## 0.2.0 (2026-12-01)\n\n## 0.1.0\n", encoding="utf-8")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "--quiet", "--message", "x")
    return tmp_path


def problems(tree: Path, version: str = "0.2.0") -> list[str]:
    return list(RELEASE["problems"](tree, version))


def test_a_clean_tree_with_its_version_in_code_and_changelog_can_be_released(tree: Path) -> None:
    assert problems(tree) == []


def test_anything_else_is_refused_with_the_reason(tree: Path) -> None:
    assert problems(tree, "0.3.0") == [
        "aqlgen/__init__.py says 0.2.0, not 0.3.0",
        "the first heading of CHANGELOG.md is not 0.3.0",
    ]
    assert problems(tree, "--force") == ["'--force' is no version such as 0.2.0"]
    git(tree, "tag", "v0.2.0")
    (tree / "new").touch()
    assert problems(tree) == ["there are uncommitted changes", "there is a tag v0.2.0 already"]


def test_nothing_is_pushed_or_uploaded() -> None:
    text = (ROOT / "release.py").read_text(encoding="utf-8")
    assert 'run("git", "push"' not in text
    assert "twine" not in text


def test_the_provenance_names_the_commit_and_the_hash_of_each_file(tmp_path: Path) -> None:
    wheel = tmp_path / "aqlgen-0.2.0-py3-none-any.whl"
    wheel.write_bytes(b"wheel")
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, check=True, capture_output=True, text=True)
    statement = json.loads(RELEASE["provenance"]([wheel], "v0.2.0", commit.stdout.strip()).read_bytes())
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    assert statement["subject"] == [{"name": wheel.name, "digest": {"sha256": hashlib.sha256(b"wheel").hexdigest()}}]
    (source,) = statement["predicate"]["buildDefinition"]["resolvedDependencies"]
    assert source["digest"] == {"gitCommit": commit.stdout.strip()}
    assert source["uri"].endswith("@refs/tags/v0.2.0")


@pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="ssh-keygen signs")
def test_it_is_signed_by_the_key_of_git_and_the_signature_can_be_verified(tree: Path, tmp_path: Path) -> None:
    key, file, owners = tmp_path / "key", tmp_path / "provenance.json", tmp_path / "owners"
    file.write_text("{}", encoding="utf-8")
    git(tree, "config", "gpg.format", "openpgp")
    assert RELEASE["sign"](file, cwd=tree) == []
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    git(tree, "config", "gpg.format", "ssh")
    git(tree, "config", "user.signingkey", str(key))
    (signature,) = RELEASE["sign"](file, cwd=tree)
    owners.write_text(f"u@example.org {key.with_suffix('.pub').read_text(encoding='utf-8')}", encoding="utf-8")
    verify = ["ssh-keygen", "-Y", "verify", "-f", str(owners), "-I", "u@example.org", "-n", "aqlgen-release", "-s"]
    for text, code in (("{}", 0), ("{ }", 255)):
        done = subprocess.run([*verify, str(signature)], input=text, text=True, check=False, capture_output=True)
        assert done.returncode == code
