"""Edits × changes: an update gives a fresh generation plus the user's edits, or marks a conflict; nothing is lost.

An edit stands where the second release changes nothing, or, to be a conflict, just where it does: at the end of a file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from unittest.mock import patch

import pytest

from aqlgen.render.provenance import FILE, file_hash, tree_hash
from tests.cases import each
from tests.generator.commands import run
from tests.update.conftest import committed
from tests.update.repos import SHOP, SOURCE, Repo, Templates, grown, operation

pytestmark = pytest.mark.long
Tree = MutableMapping[str, bytes]
"""The files of a project, path → content."""

CHANGES = ("template changes", "API changes", "both")
PACKAGE = "src/shop_adapter/"
RUNTIME = PACKAGE + "runtime/"
HOOKS = PACKAGE + "hooks.py"
YOURS = ("adapter.toml", HOOKS)

GROWN = (
    f"{SOURCE}/__init__.py",
    ".github/workflows/test.yml",
    ".github/workflows/update-adapter.yml",
    "tests/test_adapter.py.jinja",
    "README.md.jinja",
    "pyproject.toml.jinja",
    "Dockerfile.jinja",
    "src/{{package}}/__main__.py",
    "src/{{package}}/hooks.py",
    "adapter.toml",
    "overrides.yaml",
)
"""Files of the first release to which the second appends a line; the user's own files must not get it."""
DROPPED = (f"{SOURCE}/dropped.py", "tests/dropped.py", "scripts/dropped.sh")
RENAMED = {
    f"{SOURCE}/formerly.py": f"{SOURCE}/lately/formerly.py",
    "tests/formerly.py": "tests/lately.py",
    "scripts/formerly.sh": "scripts/lately.sh",
}
ADDED = ("NEWS.md", f"{SOURCE}/newly.py", "tests/newly.py")
GONE = {"replace_good": "PUT /goods/{id}"}
"""The name of the operation that the second document does not have."""
UNTRACKED = {"scratch.txt": b"mine, and never committed\n", ".env": b"MINE=ignored\n"}


@dataclass(frozen=True)
class Edit:
    """An edit by a user, and the files that can be conflicts because of it when the templates change."""

    make: Callable[[Tree], None]
    conflicts: Mapping[str, str] = field(default_factory=dict)
    """Path → the text of the user's that the conflict leaves in the file, "" for one that the user took away."""
    undone: Callable[[Tree], None] | None = None
    """Another edit, which an update takes back."""
    retired: Mapping[str, str] = field(default_factory=dict)
    """Names that the user replaced, which an update remembers, each with the operation that it stood for."""


def insert(tree: Tree, path: str, line: int, text: str) -> None:
    lines = tree[path].decode().splitlines(keepends=True)
    assert len(lines) > line + 4, f"{path} is too short for an edit in its middle"
    tree[path] = "".join([*lines[:line], text + "\n", *lines[line:]]).encode()


def append(tree: Tree, path: str, text: str) -> None:
    tree[path] += text.encode() + b"\n"


def code(tree: Tree) -> None:
    insert(tree, "scripts/update-adapter.sh", 9, "# mine: of a module")
    insert(tree, ".github/workflows/test.yml", 9, "# mine: far from what is new")
    append(tree, ".github/workflows/update-adapter.yml", "# mine: where something is new")
    for name in {"tests/formerly.py", "tests/dropped.py"} & tree.keys():
        insert(tree, name, 20, f"# mine: {name}")


def own_places(tree: Tree) -> None:
    append(tree, HOOKS, "# mine: a hook")
    append(tree, "adapter.toml", "# mine: a setting")
    tree["overrides.yaml"] = b"# mine\nDELETE /goods/{id}:\n  name: bin_good\n  danger: dangerous\n"


def texts(tree: Tree) -> None:
    insert(tree, "README.md", 12, "Mine: of this adapter.")
    append(tree, "README.md", "\nMine: a last word.")
    tree["pyproject.toml"] = tree["pyproject.toml"].replace(b"\ndependencies = [", b'\ndependencies = ["mine",')
    insert(tree, "deploy/compose.yaml", 4, "# mine: of a test")


def deletions(tree: Tree) -> None:
    for path in ("Dockerfile", "CLIENTS.md", HOOKS, "tests/dropped.py"):
        tree.pop(path, None)


def machine_files_gone(tree: Tree) -> None:
    data = ("OPERATIONS.md", PACKAGE + "operations/read.json", "schema/adapter.yaml")
    modules = ("dropped.py", "formerly.py", "__init__.py", "dispatch/arguments.py")
    for path in (*data, "hatch_build.py", *(RUNTIME + name for name in modules)):
        tree.pop(path)


def additions(tree: Tree) -> None:
    tree["notes/todo.md"] = b"mine\n"
    tree[PACKAGE + "extra.py"] = b"# mine: a module\n"
    tree[RUNTIME + "extra.py"] = b"# mine: a module among others\n"
    tree["tests/test_mine.py"] = b"# mine: a test\n"
    tree["NEWS.md"] = b"mine: a file that aqlgen comes to have too\n"
    tree["data/mine.bin"] = bytes(range(256))


UPDATER = ".github/workflows/update-adapter.yml"
CODE = {name: f"# mine: {name}" for name in ("tests/formerly.py", "tests/dropped.py")}
EDITS: Mapping[str, Edit] = {
    "no edits": Edit(lambda _: None),
    "code": Edit(code, {UPDATER: "# mine: where something is new", **CODE}),
    "hooks and overrides": Edit(own_places, retired={"delete_good": "DELETE /goods/{id}"}),
    "README and pyproject": Edit(texts, {"README.md": "Mine: a last word."}),
    "files deleted": Edit(deletions, undone=machine_files_gone),
    "own files": Edit(additions, {"NEWS.md": "mine: a file that aqlgen comes to have too"}),
}


def lines_of(about: str) -> str:
    """Return a file of some length, each line of which occurs only there."""
    return "".join(f"# {about}, line {number}\n" for number in range(1, 41))


class Releases:
    """Two releases of the templates and two versions of a document, and what is generated of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.templates = {name: Templates(folder / name) for name in ("first", "second")}
        for release in self.templates.values():
            for path in (*DROPPED, *RENAMED):
                release.add(path, lines_of(path))
        for path in DROPPED:
            self.templates["second"].remove(path)
        for path, name in RENAMED.items():
            self.templates["second"].remove(path)
            self.templates["second"].add(name, lines_of(path))
        for path in ADDED:
            self.templates["second"].add(path, lines_of(path))
        for path in GROWN:
            file = self.templates["second"].path(path)
            self.templates["second"].add(path, file.read_text(encoding="utf-8") + "\n# newly\n")
        first = json.loads(json.dumps(SHOP))
        first["paths"]["/goods/{id}"]["put"] = operation("replaceGood")
        second = json.loads(json.dumps(grown(orders={"get": operation("listOrders")})))
        second["info"]["version"] = "2"
        limit = {"name": "limit", "in": "query", "schema": {"type": "integer"}}
        second["paths"]["/goods"]["get"] |= {"summary": "List what we sell", "parameters": [limit]}
        for name, document in (("first", first), ("second", second)):
            (folder / f"{name}.json").write_text(json.dumps(document, indent=2), encoding="utf-8")

    @contextmanager
    def running(self, release: str) -> Iterator[None]:
        """Let aqlgen be that release."""
        with patch("aqlgen.render.template.own_templates", lambda: self.templates[release].folder):
            yield

    def fresh(self, release: str, document: str, overrides: bytes | None = None) -> dict[str, bytes]:
        """Generate a project as if there had been none before."""
        place = self.folder / f"fresh-{len(list(self.folder.iterdir()))}"
        place.mkdir()
        (place / "overrides.yaml").write_bytes(overrides or b"")
        options = ("--runtime", "source", "--add", "all", "-q", "-o", place / "shop")
        options += () if overrides is None else ("--overrides", place / "overrides.yaml")
        with self.running(release):
            assert run("from-openapi", self.folder / f"{document}.json", *options).code == 0
        return files_of(place / "shop")


def files_of(folder: Path) -> dict[str, bytes]:
    names = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in names.items() if not name.startswith(".git/")}


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> Releases:
    return Releases(tmp_path_factory.mktemp("releases"))


@pytest.fixture(scope="module")
def first(releases: Releases) -> Mapping[str, bytes]:
    return releases.fresh("first", "first")


def recorded(record: bytes, kept: Mapping[str, bytes], retired: Mapping[str, str]) -> bytes:
    """Return a record of generation in which some files and the retired names are earlier ones."""
    files = json.loads(record)["files"]
    hashes = files["each"] | {path: file_hash(content) for path, content in kept.items()}
    for path in kept:
        record = record.replace(files["each"][path].encode(), hashes[path].encode())
    record = record.replace(files["hash"].encode(), tree_hash(hashes).encode())
    written = json.dumps({"retired": retired}, indent=2).replace("\n", "\n  ")[1:-4]
    return record.replace(b'"names": {}', f'"names": {{}},{written}'.encode()) if retired else record


@each(("change", "edit"), list(product(CHANGES, EDITS)), ids=["-".join(pair) for pair in product(CHANGES, EDITS)])
def test_an_update_gives_a_fresh_generation_plus_the_users_edits_or_marks_a_conflict(
    releases: Releases, first: Mapping[str, bytes], tmp_path: Path, change: str, edit: str
) -> None:
    """The user's own files stay as the first release made them."""
    by_user, before = EDITS[edit], dict(first)
    by_user.make(before)
    if by_user.undone is not None:
        by_user.undone(before)
    repo = Repo(tmp_path / "shop", tmp_path / "shop")
    for path, content in before.items():
        (repo.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (repo.folder / path).write_bytes(content)
    committed(repo.folder, repo.top)
    for path, content in UNTRACKED.items():
        (repo.folder / path).write_bytes(content)
    spec = () if change == "template changes" else ("--spec", releases.folder / "second.json")
    release = "first" if change == "API changes" else "second"
    with releases.running(release):
        done = repo.update(*spec, "--output-format", "json")

    conflicts = {} if change == "API changes" else by_user.conflicts
    assert done.code == bool(conflicts), done.out + done.err
    assert set(done.json["files"]["conflicts"]) == set(conflicts)
    after = files_of(repo.folder)
    for path, mine in conflicts.items():
        text = after[path].decode()
        assert repo.git("ls-files", "--unmerged", "--", repo.folder / path)
        assert mine in text
        assert "<<<<<<< yours" not in text or text.index("=======") < text.index(">>>>>>> ")
    overrides = before["overrides.yaml"]
    wanted = releases.fresh(release, "second" if spec else "first", overrides)
    kept = {path: first[path] for path in YOURS}
    wanted |= {FILE: recorded(wanted[FILE], kept, by_user.retired | (GONE if spec else {})), **kept}
    by_user.make(wanted)
    wanted |= {"overrides.yaml": overrides} | UNTRACKED
    differing = {path for path in wanted.keys() | after.keys() if wanted.get(path) != after.get(path)}
    assert differing <= set(conflicts)
