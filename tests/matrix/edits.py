"""Edits by users: each is made to the project, and to what the project should have become.

An edit stands where the second release changes nothing, or, to be a conflict, just where it does: at the end of a file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import TypeAlias

Tree: TypeAlias = MutableMapping[str, bytes]
"""The files of a project, path → content."""

PACKAGE = "src/shop_adapter/"
RUNTIME = PACKAGE + "runtime/"
HOOKS = PACKAGE + "hooks.py"
YOURS = ("overrides.yaml", "adapter.toml", HOOKS)


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
    """Insert a line."""
    lines = tree[path].decode().splitlines(keepends=True)
    assert len(lines) > line + 4, f"{path} is too short for an edit in its middle"
    tree[path] = "".join([*lines[:line], text + "\n", *lines[line:]]).encode()


def append(tree: Tree, path: str, text: str) -> None:
    """Append a line."""
    tree[path] += text.encode() + b"\n"


def nothing(tree: Tree) -> None:
    """Leave everything as it is."""


def code(tree: Tree) -> None:
    insert(tree, "scripts/update-adapter.sh", 9, "# mine: of a module")
    insert(tree, ".github/workflows/test.yml", 9, "# mine: far from what is new")
    append(tree, ".github/workflows/update-adapter.yml", "# mine: where something is new")
    if "tests/formerly.py" in tree:
        insert(tree, "tests/formerly.py", 20, "# mine: of a module that gets another name")
    if "tests/dropped.py" in tree:
        insert(tree, "tests/dropped.py", 20, "# mine: of a module that goes")


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


EDITS: Mapping[str, Edit] = {
    "no edits": Edit(nothing),
    "code": Edit(
        code,
        {
            ".github/workflows/update-adapter.yml": "# mine: where something is new",
            "tests/formerly.py": "# mine: of a module that gets another name",
            "tests/dropped.py": "# mine: of a module that goes",
        },
    ),
    "hooks and overrides": Edit(own_places, retired={"delete_good": "DELETE /goods/{id}"}),
    "README and pyproject": Edit(texts, {"README.md": "Mine: a last word."}),
    "files deleted": Edit(deletions, undone=machine_files_gone),
    "own files": Edit(additions, {"NEWS.md": "mine: a file that aqlgen comes to have too"}),
}
"""The edits of the matrix."""
