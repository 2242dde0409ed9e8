"""The ways in which a repository lies on somebody's disk."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from tests.update.repos import Repo, git

CLONES = ("clean clone", "shallow", "squashed", "subfolder", "no network")
BESIDE: Mapping[str, bytes] = {
    "README.md": b"# Everything\n",
    "Dockerfile": b"FROM scratch\n",
    "other/scripts/formerly.sh": b"echo of somebody else's\n",
}
"""Other files in a repository that holds the project in a folder."""


def write(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files."""
    for path, content in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


def read(folder: Path) -> dict[str, bytes]:
    """Read every file but those of git."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {
        name: path.read_bytes()
        for path in files
        if not (name := path.relative_to(folder).as_posix()).startswith(".git/")
    }


def begin(kind: str, top: Path, files: Mapping[str, bytes]) -> None:
    """Make a repository of a project as it was generated, to be copied: in one pack, since clones of it take that."""
    top.mkdir()
    git("init", "--quiet", "--initial-branch=main", cwd=top)
    for key in ("core.compression", "pack.window"):
        git("config", key, "0", cwd=top)
    if kind == "subfolder":
        write(top, BESIDE)
    write(top / _inner(kind), files)
    _commit(top)
    git("repack", "-a", "-d", "--quiet", cwd=top)


def make(kind: str, begun: Path, folder: Path, before: Mapping[str, bytes], after: Mapping[str, bytes]) -> Repo:
    """Make the repository that a user has: begun with the project as it was generated, then edited."""
    top = folder / "origin"
    shutil.copytree(begun, top)
    inner = top / _inner(kind)
    for path in before.keys() - after.keys():
        (inner / path).unlink()
    write(inner, {path: content for path, content in after.items() if before.get(path) != content})
    _commit(top, *(["--amend"] if kind == "squashed" else []))
    if kind in ("squashed", "subfolder"):
        return Repo(inner, top)
    how = {"clean clone": [], "shallow": ["--depth=1"], "no network": ["--filter=blob:none"]}[kind]
    git("config", "uploadpack.allowFilter", "true", cwd=top)
    git("clone", "--quiet", *how, f"file://{top}", "clone", cwd=folder)
    git("remote", "set-url", "origin", "https://nowhere.invalid/shop.git", cwd=folder / "clone")
    shutil.rmtree(top)
    return Repo(folder / "clone", folder / "clone")


def _inner(kind: str) -> str:
    return "adapters/shop" if kind == "subfolder" else ""


def _commit(top: Path, *options: str) -> None:
    git("add", "--all", "--force", cwd=top)
    git("commit", "--quiet", "--allow-empty", "--no-verify", "--message=by hand", *options, cwd=top)
