"""However git stores files (other line ends, Git LFS, a filter), an untouched file is not edited, and no filter runs.

The user's own git runs the filter here: aqlgen takes such files as they are in the work tree, and leaves what it
changes in them for `git add`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.generator.commands import run
from tests.update.repos import Repo, Templates, grown, operation

pytestmark = pytest.mark.long

Spec = Callable[[Any], Path]
FILTER = """import hashlib, os, sys
what, store = sys.argv[1:]; content = sys.stdin.buffer.read()
def file(oid, mode): return open(os.path.join(store, oid), mode)
if content.startswith(b"version https://git-lfs") and what == "clean":
    sys.stdout.buffer.write(content)
elif what == "clean":
    oid = hashlib.sha256(content).hexdigest()
    with file(oid, "wb") as stream: stream.write(content)
    pointer = f"version https://git-lfs.github.com/spec/v1\\noid sha256:{oid}\\nsize {len(content)}\\n"
    sys.stdout.buffer.write(pointer.encode())
else:
    oid = content.decode().split("sha256:")[1].split()[0]
    kept = os.path.exists(os.path.join(store, oid))
    sys.stdout.buffer.write(file(oid, "rb").read() if kept else content)
"""
POINTER = "version https://git-lfs"


def files(repo: Repo) -> dict[str, bytes]:
    return {path: content for path, content in repo.snapshot().items() if not path.startswith(".git/")}


def report(repo: Repo) -> Any:
    return run("status", repo.folder, "--output-format", "json").json


def orders() -> dict[str, Any]:
    return grown(orders={"get": operation("listOrders")})


@pytest.fixture
def stored(repo: Repo, tmp_path: Path) -> Repo:
    """Store JSON, the README and the overrides in a substitute for Git LFS."""
    (tmp_path / "store").mkdir()
    (tmp_path / "filter.py").write_text(FILTER, encoding="utf-8")
    for what in ("clean", "smudge"):
        command = f"'{sys.executable}' -IS '{tmp_path / 'filter.py'}' {what} '{tmp_path / 'store'}'"
        repo.git("config", f"filter.lfs.{what}", command)
    names = ("*.json", "README.md", "overrides.yaml")
    repo.write(".gitattributes", repo.read(".gitattributes") + "".join(f"{pattern} filter=lfs\n" for pattern in names))
    repo.git("add", "--renormalize", ".")
    repo.commit()
    assert repo.git("show", "HEAD:README.md").startswith(POINTER)
    return repo


def test_an_update_leaves_new_contents_of_git_lfs_to_git_add(stored: Repo, newer: Templates, spec: Spec) -> None:
    newer.replace("README.md.jinja", "\n## ", "\nA line of the new release.\n\n## ")
    newer.add("docs/extra.json", "{}\n")
    changed = ["README.md", "src/shop_adapter/operations/read.json", "MCPAQL-PROVENANCE.json", "docs/extra.json"]
    assert stored.changed("--dry-run", "--spec", spec(orders()))["files"]["added"] == ["docs/extra.json"]
    done = stored.update("--spec", spec(orders()))
    assert done.code == 0
    assert "`git add` them: " in done.out
    assert "src/shop_adapter/operations/read.json" in done.out.partition("`git add` them: ")[2].splitlines()[0]
    assert "list_orders" in stored.read("src/shop_adapter/operations/read.json")
    assert "A line of the new release." in stored.read("README.md")
    assert stored.git("diff", "--cached", "--name-only", "--", *changed) == ""
    assert set(changed[:3]) <= set(stored.git("diff", "--name-only").splitlines())
    stored.git("add", "--all")
    for path in changed:
        assert stored.git("show", f":{path}").startswith(POINTER)
    assert stored.git("diff", "--name-only") == ""
    stored.commit()
    assert [file["path"] for file in report(stored)["files"]["changed"]] == [".gitattributes"]


@pytest.mark.parametrize("ends", ["crlf", "lf"])
def test_line_ends_that_git_converts_are_no_edit(repo: Repo, spec: Spec, ends: str) -> None:
    """The project's own attributes keep them as they are; without those, git turns them as it is set to."""
    repo.git("config", "core.autocrlf", "true" if ends == "crlf" else "input")
    repo.write(".gitattributes", "* text=auto\n")
    repo.commit()
    repo.git("rm", "--quiet", "-r", "--cached", ".")
    repo.git("reset", "--quiet", "--hard")
    assert ("\r\n" in (repo.folder / "README.md").read_bytes().decode()) == (ends == "crlf")
    assert [file["path"] for file in report(repo)["files"]["changed"]] == [".gitattributes"]
    before = files(repo)
    assert repo.update().code == 0
    assert files(repo) == before
    assert repo.update("--spec", spec(orders())).code == 0
    assert repo.git("diff", "--name-only") == ""
    assert "\r" not in repo.git("show", ":src/shop_adapter/operations/read.json")


def test_a_document_whose_line_ends_git_converts_is_not_edited(repo: Repo, tmp_path: Path) -> None:
    document = (repo.folder / "openapi/openapi.json").read_bytes().replace(b"\n", b"\r\n")
    (tmp_path / "windows.json").write_bytes(document)
    assert run("from-openapi", tmp_path / "windows.json", "-o", tmp_path / "other", "-q").code == 0
    other = Repo(tmp_path / "other", tmp_path / "other")
    other.write(".gitattributes", "* text=auto\n")
    other.git("init", "--quiet")
    other.commit()
    assert "\r" not in other.git("show", "HEAD:openapi/openapi.json")
    before = files(other)
    done = other.update()
    assert done.code == 0, done.err
    assert files(other) == before


def test_what_is_yours_is_not_edited_because_its_template_is_another_now(repo: Repo, newer: Templates) -> None:
    newer.replace("adapter.toml", "#", "# newer\n#")
    newer.replace("src/{{package}}/hooks.py", '"""', '"""Newer. ')
    newer.replace("README.md.jinja", "\n## ", "\nA line of the new release.\n\n## ")
    assert repo.update().code == 0
    repo.commit()
    assert report(repo)["files"]["changed"] == []
    repo.write("adapter.toml", repo.read("adapter.toml") + "# ours\n")
    assert [file["path"] for file in report(repo)["files"]["changed"]] == ["adapter.toml"]
    repo.commit()
    before = json.loads(repo.read("MCPAQL-PROVENANCE.json"))
    assert repo.update().code == 0
    assert json.loads(repo.read("MCPAQL-PROVENANCE.json")) == before
