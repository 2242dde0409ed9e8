"""Projects in git repositories, as their users have them, and templates of other releases."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.documents import replies
from tests.generator.commands import Run, api, run

ROOT = Path(__file__).parent.parent.parent
ISOLATED = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
WHO = ("-c", "user.name=User", "-c", "user.email=user@example.com", "-c", "commit.gpgSign=false")

SOURCE = "src/{{package}}/runtime"
"""Where a project has the runtime. The template has a link there, to the package."""

_CACHES = shutil.ignore_patterns("__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache")


def git(*arguments: str | Path, cwd: Path) -> str:
    command = ["git", *WHO, *map(str, arguments)]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, env=clean | ISOLATED)
    assert done.returncode == 0, done.stderr
    return done.stdout


@dataclass(frozen=True)
class Repo:
    """A project in a repository, at its root or in a folder of it."""

    folder: Path
    top: Path

    def git(self, *arguments: str | Path) -> str:
        return git(*arguments, cwd=self.top)

    def copy(self, top: Path) -> Repo:
        """Copy the whole repository to a folder that is not there yet, and let git know the files of the copy."""
        shutil.copytree(self.top, top)
        copy = Repo(top / self.folder.relative_to(self.top), top)
        copy.git("update-index", "-q", "--refresh")
        return copy

    def commit(self) -> None:
        self.git("add", "--all", "--force")
        self.git("commit", "--quiet", "--allow-empty", "--no-verify", "-m", "by hand")

    def update(self, *options: str | Path) -> Run:
        return run("update", self.folder, *options)

    def changed(self, *options: str | Path) -> Any:
        """Update, and return the JSON output."""
        return self.update("--output-format", "json", *options).json

    def read(self, path: str) -> str:
        return (self.folder / path).read_text(encoding="utf-8")

    def write(self, path: str, text: str) -> None:
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / path).write_text(text, encoding="utf-8", newline="")

    def replace(self, path: str, old: str, new: str) -> None:
        text = self.read(path)
        assert old in text
        self.write(path, text.replace(old, new, 1))

    def status(self) -> list[str]:
        return self.git("status", "--short").splitlines()

    def snapshot(self) -> dict[str, bytes]:
        """Return every byte of the work tree and of the state of git."""
        return {
            path.relative_to(self.top).as_posix(): path.read_bytes() for path in self.top.rglob("*") if path.is_file()
        }

    def assert_up_to_date(self, *options: str | Path) -> None:
        """Assert that an update succeeds and changes no byte, neither of the work tree nor of the state of git."""
        before = self.snapshot()
        assert self.update(*options).code == 0
        assert self.snapshot() == before


def operation(name: str, **more: Any) -> dict[str, Any]:
    return {
        "operationId": name,
        "summary": f"About {name}",
        "responses": replies({"type": "object"}),
        **more,
    }


SHOP: Mapping[str, Any] = api(
    {
        "GET /goods": operation("listGoods"),
        "POST /goods": operation("createGood"),
        "GET /goods/{id}": operation("getGood"),
        "DELETE /goods/{id}": operation("deleteGood"),
    },
    servers=[{"url": "https://shop.example.com/v1"}],
)


def grown(**paths: Any) -> dict[str, Any]:
    """Return the document with other paths: `orders={…}` is at /orders."""
    return {**SHOP, "paths": {**SHOP["paths"], **{f"/{name}": item for name, item in paths.items()}}}


class Templates:
    """A copy of the templates that stands for another release's, in the shape of a repository."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(ROOT / "templates", folder / "templates", symlinks=True, ignore=_CACHES)
        shutil.copy(ROOT / "copier.yml", folder)

    def path(self, path: str) -> Path:
        """Return the place of a file of the template. The runtime is copied once a test names a file of it."""
        if not path.startswith(f"{SOURCE}/"):
            return self.folder / "templates" / "project" / path
        runtime = self.folder / "aqlgen" / "runtime"
        if not runtime.exists():
            shutil.copytree(ROOT / "aqlgen" / "runtime", runtime, ignore=_CACHES)
        return runtime / path.removeprefix(f"{SOURCE}/")

    def add(self, path: str, text: str) -> None:
        self.path(path).parent.mkdir(parents=True, exist_ok=True)
        self.path(path).write_text(text, encoding="utf-8")

    def replace(self, path: str, old: str, new: str) -> None:
        text = self.path(path).read_text(encoding="utf-8")
        assert old in text
        self.add(path, text.replace(old, new, 1))

    def remove(self, path: str) -> None:
        self.path(path).unlink()
