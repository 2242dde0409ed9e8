"""Random edits at random places of random files: whatever a user did is there after an update, or in a marked conflict.

The number of cases is in the variable AQLGEN_UPDATE_CASES: a few by default, always the same; 500 to be sure:

    AQLGEN_UPDATE_CASES=500 python -m pytest -n auto tests/matrix/test_random_edits.py

They come in parts that have nothing to do with one another, so that every core takes some.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from aqlgen.render.provenance import Kind, is_code, kind
from tests.matrix import clones
from tests.matrix.conftest import CHANGES, Bench
from tests.matrix.edits import PACKAGE, RUNTIME, Tree

pytestmark = pytest.mark.long

CASES = int(os.environ.get("AQLGEN_UPDATE_CASES", "0"))
PARTS = 8 if CASES else 1
LIKELY = (
    "README.md",
    "pyproject.toml",
    "Dockerfile",
    "overrides.yaml",
    "adapter.toml",
    "scripts/dropped.sh",
    "scripts/formerly.sh",
    PACKAGE + "hooks.py",
    ".github/workflows/update-adapter.yml",
    ".github/workflows/test.yml",
    "tests/dropped.py",
    "tests/formerly.py",
    RUNTIME + "dropped.py",
)
"""Files that the second release changes, and files of the user."""

NAMES = (
    "NEWS.md",
    "scripts/lately.sh",
    "scripts/newly.sh",
    "tests/newly.py",
    RUNTIME + "newly.py",
    RUNTIME + "mine.py",
    "notes/sub folder/ünïcode.txt",
    "-dash.md",
    'quo"te\\s.txt',
    "NEWS.md/inner.txt",
)
"""Names for files that are added or renamed; the second release has some of them too."""

ACTIONS = ("insert", "insert", "insert", "replace", "cut", "remove", "rename", "add", "unended")


@dataclass(frozen=True)
class Action:
    """One thing that a user does. `place` is how far down in a file, from 0 to 1."""

    what: str
    file: int
    likely: bool
    place: float
    count: int
    name: str


actions = st.lists(
    st.builds(
        Action,
        what=st.sampled_from(ACTIONS),
        file=st.integers(0, 10_000),
        likely=st.sampled_from([True, True, True, False]),
        place=st.sampled_from([0.0, 0.02, 0.1, 0.5, 0.9, 0.98, 1.0]),
        count=st.integers(1, 12),
        name=st.sampled_from(NAMES),
    ),
    min_size=1,
    max_size=8,
)


@dataclass
class User:
    """Somebody who edits a project, and knows what they wrote and what they took away."""

    tree: Tree
    written: set[str] = field(default_factory=set)
    taken: dict[str, str] = field(default_factory=dict)
    """Line → the file that it was taken out of."""
    removed: set[str] = field(default_factory=set)

    def do(self, action: Action, number: int) -> None:
        """Do one thing."""
        if action.what == "add":
            if self._is_free(action.name):
                self.tree[action.name] = "".join(self._line(number, line) for line in range(action.count)).encode()
            return
        paths = [path for path in LIKELY if path in self.tree] if action.likely else []
        if not paths:  # an edit of code is refused, which would hide what else a user does
            free = (path for path in self.tree if path != ".gitattributes" and not is_code(path, "shop_adapter"))
            paths = sorted(free)
        self._to(paths[action.file % len(paths)], action, number)

    def _to(self, path: str, action: Action, number: int) -> None:
        lines = self.tree[path].decode("utf-8", "replace").splitlines(keepends=True)
        at = round(action.place * len(lines))
        match action.what:
            case "insert":
                if at and not lines[at - 1].endswith("\n"):
                    lines[at - 1] += "\n"
                self._write(path, [*lines[:at], self._line(number, 0), *lines[at:]])
            case "replace" | "cut":
                self._take(path, lines[at : at + action.count])
                addition = [self._line(number, 0)] if action.what == "replace" else []
                self._write(path, [*lines[:at], *addition, *lines[at + action.count :]])
            case "unended":
                self.tree[path] = self.tree[path].rstrip(b"\n")
            case "remove":
                del self.tree[path]
                self._forget(lines)
                self.removed.add(path)
            case "rename" if self._is_free(action.name):
                self.tree[action.name] = self.tree.pop(path)
                self.removed.add(path)

    def _write(self, path: str, lines: list[str]) -> None:
        self.tree[path] = "".join(lines).encode()

    def _line(self, number: int, line: int) -> str:
        text = f"# mine: {number}.{line}."
        self.written.add(text)
        return text + "\n"

    def _take(self, path: str, lines: list[str]) -> None:
        self._forget(lines)
        self.taken |= {line.strip(): path for line in lines if "# mine: " not in line}

    def _forget(self, lines: list[str]) -> None:
        """Forget what was written and is taken away again."""
        self.written -= {line.strip() for line in lines}

    def _is_free(self, name: str) -> bool:
        return not any(path == name or path.startswith(f"{name}/") or name.startswith(f"{path}/") for path in self.tree)


def unique(bench: Bench, lines: Mapping[str, str]) -> set[str]:
    """Return those of the lines that occur only once in everything that is generated."""
    tree = bench.fresh(bench.newer, "second", bench.generated()["overrides.yaml"])
    texts = [content.decode("utf-8", "replace") for content in bench.generated().values()]
    later = {path: content.decode("utf-8", "replace") for path, content in tree.items()}
    return {
        line
        for line, path in lines.items()
        if len(line) > 12
        and sum(text.count(line) for text in texts) == 1
        and sum(text.count(line) for text in later.values()) == later.get(path, "").count(line) <= 1
    }


def nothing_is_lost(bench: Bench, change: str, clone: str, done: list[Action]) -> None:
    user = User(bench.generated())
    for number, action in enumerate(done):
        user.do(action, number)
    folder = Path(tempfile.mkdtemp(dir=bench.folder))
    try:
        repo = bench.make(clone, folder, user.tree)
        before = clones.read(repo.folder)
        run = bench.update(repo, change)
        after = clones.read(repo.folder)
        report = run.json
    finally:
        shutil.rmtree(folder)
    assert run.code in (0, 1, 3, 4), run.out + run.err
    if run.code > 1:
        assert after == before
        assert all(detail["suggestion"] for detail in report["error"]["details"]), run.out
        return
    conflicts = set(report["files"]["conflicts"])
    assert bool(conflicts) == run.code
    texts = {path: content.decode("utf-8", "replace") for path, content in after.items()}
    lines = {line.strip() for text in texts.values() for line in text.splitlines()}
    assert user.written <= lines
    assert {path for path, text in texts.items() if "\n<<<<<<< " in f"\n{text}"} <= conflicts
    for path in user.removed - user.tree.keys():
        machine = kind(path, "shop_adapter") is Kind.MACHINE
        assert path not in after or path in conflicts or machine, f"{path} is back"
    clean = [text for path, text in texts.items() if path not in conflicts]
    back = {line for line in unique(bench, user.taken) if any(line in text for text in clean)}
    assert not {line for line in back if user.taken[line] in user.tree}


@pytest.mark.parametrize("part", range(PARTS))
def test_nothing_of_the_users_is_lost(bench: Bench, part: int) -> None:
    """Without the variable the cases are always the same, so that nothing fails by chance.

    A case that fails is short enough to be read, and shrinking it would take hundreds of updates.
    """

    @settings(
        max_examples=len(range(part, CASES or 6, PARTS)),
        derandomize=not CASES,
        database=None,
        deadline=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(change=st.sampled_from(CHANGES), clone=st.sampled_from(clones.CLONES), done=actions)
    def cases(change: str, clone: str, done: list[Action]) -> None:
        nothing_is_lost(bench, change, clone, done)

    cases()
