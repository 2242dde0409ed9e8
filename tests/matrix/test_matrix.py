"""Changes × edits × kinds of clones, on two real wheels: nothing of the user's is lost.

Every edit meets every kind of clone and every change, and every kind of clone every change; so do those with a copy of
the runtime. With the variable AQLGEN_UPDATE_CASES, as in `make bench`, all three meet, all with a copy.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import product
from pathlib import Path

import pytest

from aqlgen.render.provenance import FILE, file_hash, tree_hash
from tests.generator.commands import Run
from tests.matrix import clones
from tests.matrix.conftest import CHANGES, Bench
from tests.matrix.edits import EDITS, YOURS
from tests.matrix.wheels import AT_ONCE
from tests.update.repos import Repo

pytestmark = pytest.mark.long

GONE = {"replace_good": "PUT /goods/{id}"}
"""The name of the operation that the second document does not have."""

EDITED_CODE = ("__init__.py", "runtime/__init__.py", "runtime/dispatch/arguments.py", "runtime/dropped.py")
"""Modules of the adapter, one of them in a subpackage, one that the second release drops."""

SOURCE = ("code", "README and pyproject", "files deleted", "own files")
"""Edits of a project that holds the source of the runtime. The others are made where it is sealed: fewer files."""

CELLS = [
    (change, edit, clone)
    for a, change in enumerate(CHANGES)
    for b, edit in enumerate(EDITS)
    for c, clone in enumerate(clones.CLONES)
    if (a + b + c) % len(CHANGES) == 0 or "AQLGEN_UPDATE_CASES" in os.environ
]


def runtime_of(edit: str) -> str:
    """Return the form of the runtime in the project that an edit is tried on."""
    return "source" if edit in SOURCE or "AQLGEN_UPDATE_CASES" in os.environ else "sealed"


UNTRACKED = {"scratch.txt": b"mine, and never committed\n", ".env": b"MINE=ignored\n"}


def expected(bench: Bench, change: str, edit: str, overrides: bytes) -> dict[str, bytes]:
    """Return a fresh generation plus the user's edits and the names that are gone.

    The user's own files stay as the first release made them.
    """
    first = change == "template changes"
    runtime = runtime_of(edit)
    tree = bench.fresh(bench.aqlgen(change), "first" if first else "second", overrides, runtime)
    kept = {path: bench.generated(runtime)[path] for path in YOURS if path != "overrides.yaml"}
    tree |= {FILE: recorded(tree[FILE], kept, EDITS[edit].retired | ({} if first else GONE)), **kept}
    EDITS[edit].make(tree)
    tree["overrides.yaml"] = overrides
    return tree


def recorded(record: bytes, kept: Mapping[str, bytes], retired: Mapping[str, str]) -> bytes:
    """Return a record of generation in which some files and the retired names are earlier ones."""
    files = json.loads(record)["files"]
    each = files["each"] | {path: file_hash(content) for path, content in kept.items()}
    for path in kept:
        record = record.replace(files["each"][path].encode(), each[path].encode())
    record = record.replace(files["hash"].encode(), tree_hash(each).encode())
    written = json.dumps({"retired": retired}, indent=2).replace("\n", "\n  ")[1:-4]
    return record.replace(b'"names": {}', f'"names": {{}},{written}'.encode()) if retired else record


def updated(bench: Bench, folder: Path, change: str, edit: str, clone: str) -> tuple[Repo, Run]:
    repo = bench.copy(bench.repo(clone, edit, runtime_of(edit)), folder)
    clones.write(repo.folder, UNTRACKED)
    return repo, bench.update(repo, change)


@pytest.fixture(scope="module")
def cells(request: pytest.FixtureRequest, bench: Bench) -> Iterator[Mapping[tuple[str, ...], Future[tuple[Repo, Run]]]]:
    """Return the results of the selected updates of the matrix; they run ahead, two at once."""
    items = [item for item in request.session.items if item.path == request.path and hasattr(item, "callspec")]
    items = [item for item in items if {"change", "edit", "clone"} <= item.callspec.params.keys()]
    asked = [tuple(item.callspec.params[name] for name in ("change", "edit", "clone")) for item in items]
    pool = ThreadPoolExecutor(AT_ONCE)
    yield {key: pool.submit(updated, bench, bench.folder / f"cell-{n}", *key) for n, key in enumerate(asked)}
    pool.shutdown(cancel_futures=True)


@pytest.mark.parametrize(("change", "edit", "clone"), CELLS)
def test_an_update_gives_a_fresh_generation_plus_the_users_edits_or_marks_a_conflict(
    bench: Bench, cells: Mapping[tuple[str, ...], Future[tuple[Repo, Run]]], change: str, edit: str, clone: str
) -> None:
    repo, done = cells[change, edit, clone].result()
    user_edit = EDITS[edit]
    conflicts = {} if change == "API changes" else user_edit.conflicts
    assert done.code == bool(conflicts), done.out + done.err
    assert set(done.json["files"]["conflicts"]) == set(conflicts)
    after = clones.read(repo.folder)
    for path, mine in conflicts.items():
        marked(repo, path, after.get(path, b"").decode(), mine)
    wanted = expected(bench, change, edit, after["overrides.yaml"]) | UNTRACKED
    differing = {path for path in wanted.keys() | after.keys() if wanted.get(path) != after.get(path)}
    assert differing <= set(conflicts)
    assert not [name for name in ("CHERRY_PICK_HEAD", "MERGE_MSG", "sequencer") if (repo.top / ".git" / name).exists()]
    if clone == "subfolder":
        assert {path: (repo.top / path).read_bytes() for path in clones.BESIDE} == clones.BESIDE
    shutil.rmtree(repo.top)


def test_every_kind_of_clone_meets_every_change_with_a_copy_of_the_runtime() -> None:
    assert {(change, clone) for change, edit, clone in CELLS if edit in SOURCE} == {*product(CHANGES, clones.CLONES)}


def marked(repo: Repo, path: str, text: str, mine: str) -> None:
    """Check that git holds a conflict, and that the user is shown it with what they wrote."""
    stages = repo.git("ls-files", "--unmerged", "--", repo.folder / path).splitlines()
    assert stages
    if len(stages) > 1 and text:
        assert mine in text
    if len(stages) == 3 or {line.split("\t")[0][-1] for line in stages} == {"2", "3"}:
        assert text.index("<<<<<<< yours") < text.index("=======") < text.index(">>>>>>> ")


@pytest.mark.parametrize(
    ("tag", "comment", "code"),
    [("v0.2.0", "", 0), ("v0.1.0-3-gabcdef0", "", 0), ("v0.2.0", "# mine\n", 3), ("v0.1.0-3-gabcdef0", "# mine\n", 3)],
)
def test_what_copier_wrote_into_its_answers_is_no_edit_and_anything_else_is_refused(
    bench: Bench, tmp_path: Path, tag: str, comment: str, code: int
) -> None:
    repo = bench.copy(bench.repo("clean clone", "no edits", "sealed"), tmp_path / "work")
    repo.replace(".copier-answers.yml", "_commit: v0.1.0\n", f"_commit: {tag}\n{comment}")
    repo.commit()
    before = clones.read(repo.folder)
    done = bench.update(repo, "both")
    assert done.code == code, done.out
    assert not code or clones.read(repo.folder) == before


def test_a_runtime_that_got_another_name_is_generated_again(bench: Bench, tmp_path: Path) -> None:
    repo = bench.copy(bench.repo("shallow", "no edits"), tmp_path / "work")
    repo.git("mv", "src/shop_adapter/runtime", "src/shop_adapter/core")
    repo.commit()
    done = bench.update(repo, "template changes")
    assert (done.code, done.json["files"]["conflicts"]) == (0, [])
    package = repo.folder / "src/shop_adapter"
    assert "NEWLY = True" in (package / "runtime/__init__.py").read_text(encoding="utf-8")
    assert "NEWLY = True" not in (package / "core/__init__.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("clone", clones.CLONES)
def test_edited_code_is_refused_with_the_way_out(bench: Bench, tmp_path: Path, clone: str) -> None:
    repo = bench.copy(bench.repo(clone, "no edits"), tmp_path / "work")
    paths = [f"src/shop_adapter/{name}" for name in EDITED_CODE]
    for path in paths:
        repo.write(path, repo.read(path) + "# mine\n")
    repo.commit()
    before = clones.read(repo.folder)
    done = bench.update(repo, "both")
    assert (done.code, clones.read(repo.folder)) == (3, before)
    assert {detail["code"] for detail in done.json["error"]["details"]} == {"machine-file-edited"}


@pytest.mark.parametrize("edit", ["no edits", "code"])
def test_after_an_update_there_is_nothing_new(bench: Bench, tmp_path: Path, edit: str) -> None:
    repo = bench.copy(bench.repo("squashed", edit, runtime_of(edit)), tmp_path / "work")
    bench.update(repo, "both")
    repo.commit()
    before = repo.snapshot()
    again = bench.update(repo, "both")
    assert (again.code, again.json["files"]) == (
        0,
        {"added": [], "changed": [], "removed": [], "conflicts": [], "unstaged": []},
    )
    assert repo.snapshot() == before
