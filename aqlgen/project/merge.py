"""The merge of a project with what is generated now, each file by its owner.

A machine file is replaced, and a shared file merged by `git merge-file`, outside of any repository. The record holds
what was generated last time. Where an earlier aqlgen wrote the record, it does not: an edited file then keeps both
versions, in conflict where they differ.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from aqlgen import __version__, git
from aqlgen.diagnostics.errors import FileError
from aqlgen.diagnostics.plain import few
from aqlgen.git.isolation import without_configuration
from aqlgen.project.generated_paths import read_below
from aqlgen.project.records import ANSWERS
from aqlgen.project.repository import Repository, Sides
from aqlgen.project.worktree import Worktree, is_generated, is_windows
from aqlgen.project.write import changing
from aqlgen.render.provenance import FILE, Kind, bases, file_hash, kind

_LABELS: Final = ("yours", "as generated before", f"aqlgen {__version__}")
_ERROR: Final = 128
"""The lowest exit code of `git merge-file` that is not a number of conflicts."""


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


@dataclass(slots=True)
class Merge:
    """The files to write and to remove, by the path in the project."""

    written: dict[str, bytes] = field(default_factory=dict)
    removed: list[str] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)
    sides: dict[str, Sides] = field(default_factory=dict)
    """Of files in conflict."""

    def result(self, folder: Path, unstaged: Collection[str] = ()) -> Merged:
        """Return the result, before anything is written to the folder."""
        unmerged = {conflict.path for conflict in self.conflicts}
        merged = sorted(path for path in self.written if path not in unmerged)
        added = tuple(path for path in merged if not (folder / path).exists())
        changed = tuple(path for path in merged if path not in added)
        return Merged(added, changed, tuple(self.removed), tuple(self.conflicts), tuple(unstaged))


def merge(worktree: Worktree, tree: Mapping[str, bytes], yours: Mapping[str, bytes]) -> Merge:
    """Merge a project with what is generated now; nothing is written. `yours` is new content of the user's files."""
    project, result = worktree.project, Merge()
    recorded_bases = bases(project.provenance)
    for path in sorted({*tree, *project.recorded, *yours}):
        whose, recorded = kind(path, project.package), project.recorded.get(path)
        ours, theirs = worktree.read(path), tree.get(path)
        if whose is Kind.YOURS:
            written = yours.get(path, theirs if ours is None and recorded is None else ours)
        elif whose is Kind.SHARED or not (recorded or path in (FILE, ANSWERS)):
            written, why = _shared(ours, recorded_bases.get(path), theirs, recorded)
            if why:
                result.conflicts.append(Conflict(path, why))
                result.sides[path] = (recorded_bases.get(path), theirs)
        else:
            written = theirs
        if written is None and ours is not None:
            result.removed.append(path)
        elif written is not None and written != ours:
            result.written[path] = written if ours is None else _with_line_ends(project.folder / path, ours, written)
    return result


def _with_line_ends(file: Path, read: bytes, written: bytes) -> bytes:
    """Return the written content with the line ends of Windows, if the file has those where it was read without."""
    windows = is_windows(file.read_bytes()) and not is_windows(read) and not is_windows(written)
    return written.replace(b"\n", b"\r\n") if windows else written


def _shared(
    ours: bytes | None, base: bytes | None, theirs: bytes | None, recorded: str | None
) -> tuple[bytes | None, str]:
    """Return the new content of a shared file, None for no file, and the reason of its conflict, "" for none."""
    if recorded and (ours is None or (theirs is not None and file_hash(theirs) == recorded)):
        return ours, ""  # deleted by the user, or nothing is new in it
    if ours is None or is_generated(ours, recorded or ""):
        return theirs, ""
    if theirs is None:
        return ours, "changed by you, no longer generated"
    if recorded is None and theirs.startswith(ours):  # what an update that was killed left of a new file
        return theirs, ""
    return _merged(ours, base, theirs, new=recorded is None)


def _merged(ours: bytes, base: bytes | None, theirs: bytes, *, new: bool) -> tuple[bytes, str]:
    """Merge two versions of a file; return the result, and why it has conflicts, "" for none."""
    style = () if base is None else ("--diff3",)
    with tempfile.TemporaryDirectory(prefix="aqlgen-") as name:
        for number, content in enumerate((ours, base or b"", theirs)):
            (Path(name) / str(number)).write_bytes(content)
        labels = [word for label in _LABELS for word in ("-L", label)]
        outside = {**without_configuration(), "GIT_DIR": os.devnull}
        done = git.attempt("merge-file", "-p", *style, *labels, "0", "1", "2", cwd=Path(name), env=outside)
    if done.code >= _ERROR:
        return ours, "not text, and changed by you and by aqlgen; yours is kept"
    if not done.code:
        return done.out, ""
    if base is not None:
        return done.out, "changed by you and by aqlgen in the same place"
    earlier = "changed by you, and that aqlgen did not record the generated version"
    return done.out, "added by you and by aqlgen" if new else earlier


def refuse_in_the_way(repository: Repository, planned: Merge, worktree: Worktree, tree: Mapping[str, bytes]) -> None:
    """Refuse to overwrite files that are not committed. Raises FileError.

    A file that holds only the beginning of what would be written there is left over from an update that was killed.
    """
    project, committed = worktree.project, repository.committed()
    occupied = []
    for path in planned.written:
        if path in committed or not _is_there(project.folder, path):
            continue
        content = read_below(project.folder, path)
        begun = content is not None and tree.get(path, b"").startswith(content)
        if not begun and not (content is not None and is_generated(content, project.recorded.get(path, ""))):
            occupied.append(path)
    if occupied:
        raise FileError.of_all(
            "untracked-in-the-way",
            f"the update would overwrite uncommitted files: {few(occupied)}",
            [str(project.folder / path) for path in occupied],
            help="Commit it (`git add --force` where it is ignored), or move it away.",
        )


def _is_there(root: Path, path: str) -> bool:
    """Return True if something exists at a path, or a file where one of its folders has to be."""
    folders = [root.joinpath(*path.split("/")[:count]) for count in range(1, path.count("/") + 1)]
    return os.path.lexists(root / path) or any(os.path.lexists(folder) and not folder.is_dir() for folder in folders)


def apply(repository: Repository, planned: Merge) -> Merged:
    """Write a merge into the project, and stage what has no conflict. Raises FileError; then nothing is changed."""
    folder = repository.folder
    result = planned.result(folder)
    if result.nothing:
        return result
    repository.refuse_locked()
    places = [*sorted(planned.written, key=lambda place: (place == FILE, place)), *planned.removed]
    with git.undisturbed(), changing(folder, {place: planned.written.get(place) for place in places}):
        unstaged = repository.stage((*result.added, *result.changed, *result.removed), planned.sides)
    return Merged(result.added, result.changed, result.removed, result.conflicts, unstaged)
