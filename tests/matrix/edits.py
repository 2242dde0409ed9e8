"""Edits by users: each is made to the project, and to what the project should have become.

An edit stands where the second release changes nothing, or, to be a conflict, just where it does: at the end of a file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import TypeAlias

Tree: TypeAlias = MutableMapping[str, bytes]
"""The files of a project, path → content."""

PACKAGE = "src/shop_adapter/"
RUNTIME = PACKAGE + "runtime/"
HOOKS = PACKAGE + "hooks.py"
READ, CREATE = (f"{PACKAGE}operations/{family}.json" for family in ("read", "create"))
YOURS = ("overrides.yaml", "adapter.toml", HOOKS)


@dataclass(frozen=True)
class Edit:
    """An edit by a user, and the files that can be conflicts because of it when the templates change."""

    make: Callable[[Tree], None]
    conflicts: Mapping[str, str] = field(default_factory=dict)
    """Path → the text of the user's that the conflict leaves in the file, "" for one that the user took away."""
    undone: Callable[[Tree], None] | None = None
    """Another edit, which an update takes back."""
    is_there: Callable[[Mapping[str, bytes]], bool] | None = None
    """Return True if the edit is there, where an update writes it in another form."""
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


def move(tree: Tree, path: str, name: str) -> None:
    """Rename a file, if it is there."""
    if path in tree:
        tree[name] = tree.pop(path)


def nothing(tree: Tree) -> None:
    """Leave everything as it is."""


def code(tree: Tree) -> None:
    insert(tree, "scripts/update-adapter.sh", 9, "# mine: of a module")
    insert(tree, ".github/workflows/test.yml", 9, "# mine: far from what is new")
    append(tree, ".github/workflows/update-adapter.yml", "# mine: where something is new")
    if "tests/formerly.py" in tree:
        insert(tree, "tests/formerly.py", 20, "# mine: of a module that gets another name")
    else:
        insert(tree, "tests/lately.py", 20, "# mine: of a module that gets another name")
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


def renames(tree: Tree) -> None:
    move(tree, "Dockerfile", "Containerfile")
    move(tree, "CLIENTS.md", "docs/CLIENTS.md")
    move(tree, "scripts/formerly.sh", "scripts/mine.sh")
    move(tree, HOOKS, PACKAGE + "my_hooks.py")


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


def replace(tree: Tree, path: str, old: str, new: str) -> None:
    """Replace what stands in a file once."""
    assert tree[path].decode().count(old) == 1
    tree[path] = tree[path].decode().replace(old, new).encode()


def machine(tree: Tree) -> None:
    replace(tree, READ, '"list_goods": {', '"browse_goods": {')
    replace(tree, READ, '"summary": "About getGood"', '"summary": "Look at one good, closely"')
    replace(tree, READ, '"good_id": {"in"', '"which": {"in"')
    tree[CREATE] = re.sub(rb'"danger": "\w+"', b'"danger": "dangerous"', tree[CREATE])


def has_machine_edits(tree: Mapping[str, bytes]) -> bool:
    read, created = json.loads(tree[READ]), json.loads(tree[CREATE])
    good = read["get_good"]
    return (
        "browse_goods" in read
        and (good["summary"], "which" in good["parameters"]) == ("Look at one good, closely", True)
        and created["create_good"]["danger"] == "dangerous"
    )


EDITS: Mapping[str, Edit] = {
    "no edits": Edit(nothing),
    "code": Edit(
        code,
        {
            ".github/workflows/update-adapter.yml": "# mine: where something is new",
            "tests/dropped.py": "# mine: of a module that goes",
        },
    ),
    "hooks and overrides": Edit(own_places, retired={"delete_good": "DELETE /goods/{id}"}),
    "README and pyproject": Edit(texts, {"README.md": "Mine: a last word."}),
    "files renamed": Edit(
        renames,
        {
            "scripts/formerly.sh": "",
            "scripts/lately.sh": "scripts/formerly.sh, line 20",
            "scripts/mine.sh": "scripts/formerly.sh, line 20",
        },
    ),
    "files deleted": Edit(deletions, {"Dockerfile": ""}, undone=machine_files_gone),
    "own files": Edit(additions, {"NEWS.md": "mine: a file that aqlgen comes to have too"}),
    "machine files": Edit(nothing, undone=machine, is_there=has_machine_edits),
}
"""The edits of the matrix."""
