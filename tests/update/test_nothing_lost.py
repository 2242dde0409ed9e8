"""Whatever is edited and whatever a release changes: each line of the user's is there afterwards."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aqlgen.project import Project
from aqlgen.project.generation import Regenerated, regenerate
from aqlgen.render.provenance import Kind, kind
from tests.examples import examples
from tests.update.conftest import committed
from tests.update.repos import Repo

PACKAGE = "shop_adapter"
DEEDS = ("insert", "replace", "delete lines", "delete", "rename", "rename and edit", "truncate")


@pytest.fixture(scope="module")
def regenerated(generated: Path) -> Regenerated:
    project = Project.open(generated)
    return regenerate(project, project.options(), "", lambda _stage: None)


def edited(text: str, deed: str, where: float, mark: str) -> str:
    lines = text.splitlines(keepends=True)
    at = int(where * len(lines))
    if deed in ("insert", "rename and edit"):
        lines.insert(at, f"# {mark}\n")
    elif deed == "replace":
        lines[at : at + 2] = [f"# {mark}\n"]
    elif deed == "delete lines":
        del lines[at : at + 3]
    elif deed == "truncate":
        return f"# {mark}\n"
    return "".join(lines)


edits = st.lists(st.tuples(st.integers(0, 10_000), st.sampled_from(DEEDS), st.floats(0, 0.999)), max_size=6)


def by_hand(repo: Repo, paths: list[str], what: list[tuple[int, str, float]]) -> Iterator[str]:
    """Edit files as a user; yield the lines that the user wrote."""
    for number, (index, deed, where) in enumerate(what):
        path = paths[index % len(paths)]
        file = repo.folder / path
        if not file.exists():
            continue
        mark = f"ours-{number}"
        if deed == "delete":
            file.unlink()
            continue
        text = edited(file.read_text(encoding="utf-8"), deed, where, mark)
        if mark in text:
            yield mark
        if deed.startswith("rename"):
            file.rename(file.with_name(f"our_{file.name}"))
            path = str(Path(path).with_name(f"our_{file.name}"))
        repo.write(path, text)


def by_release(tree: Mapping[str, bytes], paths: list[str], what: list[tuple[int, str, float]]) -> dict[str, bytes]:
    """Change what is generated as a new release would."""
    files = dict(tree)
    for number, (index, deed, where) in enumerate(what):
        path = paths[index % len(paths)]
        if path in files:
            text = edited(files.pop(path).decode(), deed, where, f"theirs-{number}")
            target = path if not deed.startswith("rename") else f"{path}.moved"
            if deed != "delete":
                files[target] = text.encode()
    return files


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ours=edits, theirs=edits)
def test_each_line_of_the_users_is_there_afterwards(
    generated: Path, regenerated: Regenerated, ours: list[tuple[int, str, float]], theirs: list[tuple[int, str, float]]
) -> None:
    paths = [path for path in regenerated.tree if kind(path, PACKAGE) is Kind.SHARED and regenerated.tree[path]]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "shop"
        shutil.copytree(generated, folder)
        repo = committed(folder, folder)
        marks = list(by_hand(repo, paths, ours))
        before, taken = files_of(folder), [path for path in paths if not (folder / path).exists()]
        repo.commit()
        marks = [mark for mark in marks if mark in "".join(before.values())]
        new = replace(regenerated, tree=by_release(regenerated.tree, paths, theirs))
        with patch("aqlgen.project.update.regenerate", return_value=new):
            done = repo.update("--output-format", "json")
        assert done.code in (0, 1), done
        after, conflicts = files_of(folder), set(done.json["files"]["conflicts"])
        assert [mark for mark in marks if mark not in "".join(after.values())] == []
        assert {Path(path).name for path in before.keys() - after.keys()} <= {
            Path(path).name for path in done.json["files"]["removed"]
        }
        assert {path for path in taken if path in after} <= conflicts
        assert {path for path, text in after.items() if "\n<<<<<<< " in f"\n{text}"} <= conflicts
        assert (done.code == 1) == bool(conflicts) == bool(done.json["conflicts"])


def files_of(folder: Path) -> dict[str, str]:
    skipped = {".git", "vendor"}  # the archive of the runtime is no text
    files = (path for path in folder.rglob("*") if path.is_file() and not skipped & set(path.parts))
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in files}
