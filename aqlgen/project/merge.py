"""The merge by git: base and theirs become commits, and the change between them is cherry-picked onto the last commit.

Both commits hold the whole tree of the last commit except for the project's folder, so that git looks for renames
within the project only. `--dry-run` does the same with the folder alone, in a temporary repository that borrows the
objects.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from aqlgen import git
from aqlgen.diagnostics.errors import FileError
from aqlgen.git.isolation import Isolated, without_configuration
from aqlgen.project.generated_paths import read_below, remove_below
from aqlgen.project.merge_inputs import Blob, MergeInputs
from aqlgen.project.repository import Entry, Repository, listed, some

__all__ = ["Conflict", "Merged", "merge", "refuse_in_the_way", "rehearsal"]

_PICK: Final = {
    "diff.renames": "true",
    "merge.conflictStyle": "diff3",
    "merge.default": "text",
    "merge.directoryRenames": "true",
    "merge.renameLimit": "10000",
    "merge.renames": "true",
    "merge.renormalize": "false",
}

_APART: Final = ("-c", "core.fileMode=false", "-c", "core.sparseCheckout=false")
"""Settings for adding files of another folder to an index."""

_ATTRIBUTES: Final = ".gitattributes"

_WHY: Final = {
    "123": "changed by you and by aqlgen in the same place",
    "13": "deleted by you, changed by aqlgen",
    "12": "changed by you, no longer generated",
    "23": "added by you and by aqlgen",
    "1": "given another name by you, changed or named otherwise by aqlgen",
    "2": "given another name by you, changed or named otherwise by aqlgen",
    "3": "given another name by you, changed or named otherwise by aqlgen",
}
"""The reason for a conflict by the stages of the index: 1 is the base, 2 the user's side, 3 what is generated."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """A file that the user has to resolve."""

    path: str
    why: str


@dataclass(frozen=True, slots=True)
class Merged:
    """The result of a merge; all paths are within the project."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    unstaged: tuple[str, ...] = ()
    """Files among those added and changed that have a filter of git, which runs only when the user adds them."""

    @property
    def nothing(self) -> bool:
        """True if no file is changed."""
        return not (self.added or self.changed or self.removed or self.conflicts)


def merge(repository: Repository, inputs: MergeInputs, label: str) -> Merged:
    """Merge what changed between the sides into the work tree and the index, conflicts in the style of diff3.

    Raises FileError when something is in the way; then nothing is changed.
    """
    if inputs.base == inputs.theirs:
        return Merged()
    entries = repository.files()
    blobs = repository.store_filtered()
    with tempfile.TemporaryDirectory(prefix="aqlgen-") as name:
        index, other = Path(name) / "index", Path(name) / "other"
        repository.isolated.run("read-tree", repository.head, env={"GIT_INDEX_FILE": str(index)})
        shutil.copyfile(index, other)
        base = _tree(repository, entries, inputs.base, index)
        theirs = _tree(repository, entries, inputs.theirs, other)
    if base == theirs:
        return Merged()
    old = repository.isolated.run("commit-tree", base, "-m", "what was generated last time").text
    new = repository.isolated.run("commit-tree", theirs, "-p", old, "-m", label).text
    with git.undisturbed():
        for path in _untracked(repository, inputs, entries):
            if _is_begun(repository.top / repository.prefix, path, inputs.theirs[path]):
                remove_below(repository.top / repository.prefix, path)
        _put(repository, {path: entries[path] for path in blobs})
        try:
            merged = _pick(repository, new)
        except FileError:
            repository.left_unstaged(blobs)
            raise
        unchanged = blobs.keys() - {*merged.added, *merged.changed, *(conflict.path for conflict in merged.conflicts)}
        repository.left_unstaged(unchanged - set(merged.removed))
        return replace(merged, unstaged=repository.left_unstaged((*merged.added, *merged.changed)))


@contextmanager
def rehearsal(repository: Repository) -> Iterator[Repository]:
    """Yield a temporary repository with the project's folder, as it is committed, at its root.

    Nothing is written to the user's repository, not even an object.
    """
    objects = repository.isolated.env["GIT_OBJECT_DIRECTORY"]
    form = "sha256" if len(repository.head) > 40 else "sha1"
    with tempfile.TemporaryDirectory(prefix="aqlgen-") as name:
        top = Path(name)
        place = Isolated(top, {**without_configuration(), "GIT_DIR": str(top / ".git")})
        place.run("init", "--quiet", f"--object-format={form}")
        own_objects = top / ".git" / "objects"
        (own_objects / "info").mkdir(parents=True, exist_ok=True)
        (own_objects / "info" / "alternates").write_bytes(os.fsencode(f"{objects}\n"))
        entries = repository.files()
        blobs = repository.store_filtered({"GIT_OBJECT_DIRECTORY": str(own_objects)})
        place.run("read-tree", f"{repository.head}:{repository.prefix}")
        inner = Repository(place, "", "0" * len(repository.head), top, top / ".git")
        _put(inner, {path: entries[path] for path in blobs})
        head = place.run("commit-tree", place.run("write-tree").text, "-m", "HEAD").text
        place.run("reset", "--quiet", "--hard", head)
        yield replace(inner, head=head)


def _put(repository: Repository, entries: Mapping[str, Entry]) -> None:
    """Put entries into the index."""
    lines = "".join(f"{entry.mode} {entry.oid}\t{repository.prefix}{path}\0" for path, entry in entries.items())
    if lines:
        repository.isolated.run("update-index", "-z", "--index-info", stdin=os.fsencode(lines))


def _tree(
    repository: Repository,
    entries: Mapping[str, Entry],
    side: Mapping[str, Blob],
    file: Path,
) -> str:
    """Store a side as a tree: that of the last commit, which an index file holds, with only the side in the folder."""
    index = {"GIT_INDEX_FILE": str(file)}
    stored = {path: blob for path, blob in side.items() if isinstance(blob, bytes)}
    _add(repository, stored, file.parent, index)
    known = {path: blob for path, blob in side.items() if isinstance(blob, Entry)}
    removed = "0" * len(repository.head)
    lines = [f"0 {removed}\t{repository.prefix}{path}" for path in entries if path not in side]
    lines += [f"{entry.mode} {entry.oid}\t{repository.prefix}{path}" for path, entry in known.items()]
    changes = os.fsencode("".join(f"{line}\0" for line in lines))
    repository.isolated.run("update-index", "-z", "--index-info", env=index, stdin=changes)
    return repository.isolated.run("write-tree", env=index).text


def _add(repository: Repository, contents: Mapping[str, bytes], place: Path, index: Mapping[str, str]) -> None:
    """Put contents into an index in the form in which the user's git commits them, as `git add` would.

    Attributes are those of the last commit, not those that are generated now.
    """
    if not contents:
        return
    plain = [path for path in contents if path.endswith(_ATTRIBUTES)]
    with tempfile.TemporaryDirectory(dir=place) as name:
        for path, content in contents.items():
            file = Path(name) / (repository.prefix + path if path not in plain else f"{plain.index(path)}")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        names = os.fsencode("".join(f"{repository.prefix}{path}\0" for path in contents if path not in plain))
        apart = {**index, "GIT_WORK_TREE": name}
        added = (*_APART, "update-index", "--add", "--replace", "-z", "--stdin")
        replace(repository.isolated, top=Path(name)).run(*added, env=apart, stdin=names)
        for number, path in enumerate(plain):
            stored = ("hash-object", "-w", "--no-filters", str(Path(name) / str(number)))
            line = f"100644 {repository.isolated.run(*stored).text}\t{repository.prefix}{path}\0"
            repository.isolated.run("update-index", "-z", "--index-info", env=index, stdin=os.fsencode(line))


def refuse_in_the_way(repository: Repository, inputs: MergeInputs, entries: Mapping[str, Entry]) -> None:
    """Refuse to overwrite files that are not committed: git would, where they are ignored. Raises FileError.

    A file that holds only the beginning of what would be written there is left over from an update that was killed, and
    may be overwritten.
    """
    root = repository.top / repository.prefix
    paths = _untracked(repository, inputs, entries)
    occupied = [path for path in paths if not _is_begun(root, path, inputs.theirs[path])]
    if occupied:
        raise listed(
            "untracked-in-the-way",
            f"the update would write over what is not committed: {some(occupied)}",
            "Commit it (`git add --force` where it is ignored), or move it away.",
            [str(repository.folder / path) for path in occupied],
        )


def _untracked(repository: Repository, inputs: MergeInputs, entries: Mapping[str, Entry]) -> list[str]:
    """Return the paths at which the update adds a file, and something exists that is not committed."""
    root = repository.top / repository.prefix
    return [path for path in inputs.theirs if path not in entries and _is_there(root, path)]


def _is_begun(root: Path, path: str, blob: Blob) -> bool:
    content = read_below(root, path) if isinstance(blob, bytes) else None
    return isinstance(blob, bytes) and content is not None and blob.startswith(content)


def _is_there(root: Path, path: str) -> bool:
    """Return True if something exists at a path, or a file where one of its folders has to be."""
    place = root
    *folders, name = path.split("/")
    for folder in folders:
        place = place / folder
        if not place.is_dir() and os.path.lexists(place):
            return True
    return os.path.lexists(place / name)


def _pick(repository: Repository, commit: str) -> Merged:
    settings = [argument for key, value in _PICK.items() for argument in ("-c", f"{key}={value}")]
    before = repository.isolated.run("write-tree").text  # the user may have staged files of their own
    done = repository.isolated.attempt(*settings, "cherry-pick", "--no-commit", "--allow-empty", commit)
    conflicts = _conflicts(repository)
    if done.code and not conflicts and "CONFLICT" not in done.text:
        raise git.failed(("cherry-pick",), done)
    if done.code and not conflicts:  # about folders, not about a file: git only says so
        messages = re.findall(r"^CONFLICT \(.*?\): (.*)$", done.text, re.MULTILINE)
        conflicts = tuple(Conflict(repository.prefix or ".", message) for message in messages)
    unmerged = {conflict.path for conflict in conflicts}
    states: dict[str, list[str]] = {"A": [], "M": [], "D": []}
    listed = (
        "diff",
        "--cached",
        "--name-status",
        "--no-renames",
        "-z",
        before,
        "--",
        f":(top,literal){repository.prefix}",
    )
    words = iter(os.fsdecode(repository.isolated.run(*listed).out).split("\0")[:-1])
    for state, path in zip(words, words, strict=True):
        inner = path.removeprefix(repository.prefix)
        if inner not in unmerged:
            states["M" if state == "T" else state[0]].append(inner)
    added, changed, removed = (tuple(sorted(states[state])) for state in "AMD")
    return Merged(added, changed, removed, conflicts)


def _conflicts(repository: Repository) -> tuple[Conflict, ...]:
    stages: dict[str, str] = {}
    for record in os.fsdecode(repository.isolated.run("ls-files", "--unmerged", "-z").out).split("\0"):
        if record:
            about, _, path = record.partition("\t")
            inner = path.removeprefix(repository.prefix)
            stages[inner] = stages.get(inner, "") + about[-1]
    return tuple(Conflict(path, _WHY["".join(sorted(numbers))]) for path, numbers in sorted(stages.items()))
