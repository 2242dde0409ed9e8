"""The two wheels, the documents, and the repositories, each made once and copied for each test."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from threading import RLock
from typing import Any

import pytest

from tests.generator.commands import Run
from tests.matrix import clones
from tests.matrix.edits import EDITS
from tests.matrix.wheels import Aqlgen, build
from tests.update.repos import SHOP, Repo, grown, operation

CHANGES = ("template changes", "API changes", "both")
"""The new inputs: the second release, the second document, or both."""


class Bench:
    """Everything that is made once: two releases of aqlgen, two versions of a document, and what was made of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.older, self.newer = build(folder)
        self.documents = {"first": folder / "first.json", "second": folder / "second.json"}
        for name, document in (("first", first()), ("second", second())):
            self.documents[name].write_text(json.dumps(document, indent=2), encoding="utf-8")
        self._fresh: dict[tuple[str, str, str, bytes | None], dict[str, bytes]] = {}
        self._repos: dict[tuple[str, str, str], Repo] = {}
        self._begun: dict[tuple[str, str], Path] = {}
        self._lock = RLock()

    def generated(self, runtime: str = "source") -> dict[str, bytes]:
        """Return the project as the older release makes it of the first document."""
        return self.fresh(self.older, "first", None, runtime)

    def fresh(
        self, aqlgen: Aqlgen, document: str, overrides: bytes | None, runtime: str = "source"
    ) -> dict[str, bytes]:
        """Generate a project as if there had been none before."""
        key = (aqlgen.version, document, runtime, overrides)
        with self._lock:
            if key not in self._fresh:
                place = self.folder / f"fresh-{len(self._fresh)}"
                place.mkdir()
                options: tuple[str | Path, ...] = ("--runtime", runtime, "--add", "all", "-q", "-o", place / "shop")
                if overrides is not None:
                    (place / "overrides.yaml").write_bytes(overrides)
                    options = ("--overrides", place / "overrides.yaml", *options)
                run = aqlgen.run("from-openapi", self.documents[document], *options)
                assert run.code == 0, run.err
                self._fresh[key] = clones.read(place / "shop")
            return dict(self._fresh[key])

    def aqlgen(self, change: str) -> Aqlgen:
        """Return the release that runs an update."""
        return self.older if change == "API changes" else self.newer

    def update(self, repo: Repo, change: str, *options: str) -> Run:
        """Update a project to the new inputs."""
        spec = [] if change == "template changes" else ["--spec", self.documents["second"]]
        return self.aqlgen(change).run("update", repo.folder, *spec, *options, "--output-format", "json")

    def repo(self, clone: str, edit: str, runtime: str = "source") -> Repo:
        """Return a repository in which a user made an edit; it must not be changed."""
        with self._lock:
            key = (clone, edit, runtime)
            if key not in self._repos:
                edited, user_edit = self.generated(runtime), EDITS[edit]
                user_edit.make(edited)
                if user_edit.undone is not None:
                    user_edit.undone(edited)
                self._repos[key] = self.make(clone, self.folder / f"repo-{len(self._repos)}", edited, runtime)
            return self._repos[key]

    def make(self, clone: str, folder: Path, edited: Mapping[str, bytes], runtime: str = "source") -> Repo:
        """Make a repository of the project as somebody edited it."""
        key = ("subfolder" if clone == "subfolder" else "root", runtime)
        if key not in self._begun:
            self._begun[key] = self.folder / f"begun-{len(self._begun)}"
            clones.begin(key[0], self._begun[key], self.generated(runtime))
        return clones.make(clone, self._begun[key], folder, self.generated(runtime), edited)

    def copy(self, repo: Repo, folder: Path) -> Repo:
        """Copy a repository to a folder of its own."""
        shutil.copytree(repo.top, folder)
        return Repo(folder / repo.folder.relative_to(repo.top), folder)


def first() -> dict[str, Any]:
    document = json.loads(json.dumps(SHOP))
    document["paths"]["/goods/{id}"]["put"] = operation("replaceGood")
    return document


def second() -> dict[str, Any]:
    """Return the newer version: with a new operation, without another, and with a third that is changed."""
    document = json.loads(json.dumps(grown(orders={"get": operation("listOrders")})))
    document["info"]["version"] = "2"
    limit = {"name": "limit", "in": "query", "schema": {"type": "integer"}}
    document["paths"]["/goods"]["get"] |= {"summary": "List what we sell", "parameters": [limit]}
    return document


@pytest.fixture(scope="session")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    folder = tmp_path_factory.mktemp("matrix")
    bench = Bench(folder)
    yield bench
    bench.older.stop()
    bench.newer.stop()
