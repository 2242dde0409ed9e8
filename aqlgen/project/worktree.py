"""The state of the files in a project's folder, compared with what was generated; git is not needed.

Git may store a generated file with other line ends: that is no edit.
The record of the last check (`aqlgen check --record`) is stale once one of them changed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Final, Self

from aqlgen import git
from aqlgen.diagnostics.errors import FileError
from aqlgen.git.isolation import isolated, place_of
from aqlgen.ir import Json
from aqlgen.project import Project
from aqlgen.project.write import write_file
from aqlgen.render.provenance import FILE, Kind, file_hash, folders, generated_at, kind, tree_hash, written
from aqlgen.resources import build

_SKIPPED: Final = frozenset(
    ".git .hg .svn .venv venv node_modules __pycache__ .mypy_cache .pytest_cache .ruff_cache build dist".split()
)
"""Folders without files of the user, where git is not there to say what it ignores."""


class State(StrEnum):
    """The state of a generated file."""

    UNCHANGED = "unchanged"
    EDITED = "edited"
    DELETED = "deleted"
    WRITTEN = "written"
    """By its owner, such as an overrides.yaml that aqlgen did not begin."""


@dataclass(slots=True)
class Worktree:
    """The files of a project in its folder. Line ends that a checkout converted to those of Windows are no edit."""

    project: Project
    _states: dict[str, State] | None = field(default=None)
    _own: tuple[str, ...] | None = field(default=None)

    def read(self, path: str) -> bytes | None:
        """Return a file with the line ends that aqlgen writes, None when it is not there. Raises FileError."""
        file = self.project.folder / path
        try:
            content = file.read_bytes() if file.is_file() else None
        except OSError as error:
            raise FileError.of("file-unreadable", f"{file} cannot be read", file=str(file)) from error
        return content and as_generated(content, self.project.recorded.get(path, ""))

    def states(self) -> dict[str, State]:
        """Return the state of every file that aqlgen recorded, by its path; the files are read once."""
        if self._states is None:
            self._states = {path: self._state(path, digest) for path, digest in self.project.recorded.items()}
        return self._states

    def _state(self, path: str, recorded: str) -> State:
        content = self.read(path)
        if content is None:
            return State.DELETED
        return State.UNCHANGED if is_generated(content, recorded) else State.EDITED

    def of(self, whose: Kind, state: State) -> list[str]:
        """Return the paths of a kind in a state."""
        package = self.project.package
        return [path for path, current in self.states().items() if current is state and kind(path, package) is whose]

    def own(self) -> tuple[str, ...]:
        """Return the files that aqlgen did not write, without those that git ignores; they are listed once."""
        if self._own is None:
            known = self.known()
            self._own = tuple(sorted(path for path in _files(self.project.folder) if path not in known))
        return self._own

    def known(self) -> frozenset[str]:
        """Return the files that aqlgen wrote."""
        return frozenset({*self.project.recorded, FILE})

    def is_replaceable(self, path: str) -> bool:
        """Return True for a file that an update may replace before it is committed, since aqlgen can write it again.

        An edited machine file is one of them: it is refused with the override that does the edit.
        """
        if kind(path, self.project.package) is Kind.MACHINE:
            return path in self.known() or not (self.project.folder / path).exists()
        return self.states().get(path) is State.UNCHANGED

    def misplaced(self) -> tuple[str, ...]:
        """Return the files of the user in folders that aqlgen alone writes to."""
        return tuple(path for path in self.own() if path.startswith(folders(self.project.package)))


def _files(folder: Path) -> Iterator[str]:
    """Yield the files of a folder that git does not ignore; all files where git is not there to say so."""
    try:
        listing = _listing(folder)
    except FileError:
        listing = None
    if listing is None:
        yield from _walk(folder)
    else:
        yield from (path for path in listing if (folder / path).is_file())


def _listing(folder: Path) -> list[str] | None:
    """Return the files of a folder that git does not ignore; None in no repository. Raises FileError without git."""
    place = place_of(folder)
    if isinstance(place, git.Done):
        return None
    with isolated(place) as repository:
        listed = ("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", f":(top,literal){place.prefix}")
        listing = repository.attempt(*listed)
    paths = os.fsdecode(listing.out).split("\0")[:-1]
    return None if listing.code else [path.removeprefix(place.prefix) for path in paths]


def _walk(folder: Path) -> Iterator[str]:
    for place, inner, files in os.walk(folder):
        inner[:] = sorted(name for name in inner if name not in _SKIPPED and not name.endswith(".egg-info"))
        prefix = "" if Path(place) == folder else f"{Path(place).relative_to(folder).as_posix()}/"
        yield from (f"{prefix}{name}" for name in files if not name.endswith(".pyc"))


@dataclass(frozen=True, slots=True)
class CheckRecord:
    """The level that was reached, the operations of `total` that it rests on, when, by which aqlgen, of which files."""

    level: int
    operations: int
    total: int
    date: str
    aqlgen: str
    files: str

    @classmethod
    def of(cls, provenance: Mapping[str, Json]) -> Self | None:
        """Return the record of a provenance file; None for no record, or for one that cannot be read."""
        entry = provenance.get("conformance")
        if not isinstance(entry, dict):
            return None
        level, operations, total = (entry.get(key) for key in ("level", "operations", "total"))
        if not (isinstance(level, int) and isinstance(operations, int) and isinstance(total, int)):
            return None
        return cls(level, operations, total, *(str(entry.get(key)) for key in ("date", "aqlgen", "files")))

    @classmethod
    def write(cls, tree: Worktree, level: int, operations: int, total: int) -> Self:
        """Record a result in the project. Raises FileError."""
        date = (generated_at() or datetime.now(UTC).isoformat())[:10]
        record = cls(level, operations, total, date, build(), _hash(tree))
        project = tree.project
        known = {**project.provenance, "conformance": asdict(record)}
        write_file(written(known, project.package), project.folder / FILE)
        return record

    def is_stale(self, tree: Worktree) -> bool:
        """Return True if files of the project changed since."""
        return self.files != _hash(tree)

    def __str__(self) -> str:
        return f"level {self.level}, from calls of {self.operations} of {self.total} operations, on {self.date}"


def _hash(tree: Worktree) -> str:
    """Return the hash of the project's files as they are."""
    return tree_hash({path: file_hash(tree.read(path) or b"") for path in tree.project.recorded})


def as_generated(content: bytes, recorded: str) -> bytes:
    """Return content with the line ends that it was generated with; edited content gets those that aqlgen writes.

    `recorded` is the hash of what was generated, "" for a file that aqlgen did not generate.
    """
    if file_hash(content) == recorded:
        return content
    if is_windows(content):
        return content.replace(b"\r\n", b"\n")
    if b"\r" not in content and file_hash(other := content.replace(b"\n", b"\r\n")) == recorded:
        return other
    return content


def is_generated(content: bytes, recorded: str) -> bool:
    """Return True if content is what was generated, with whatever line ends."""
    return file_hash(as_generated(content, recorded)) == recorded


def is_windows(content: bytes) -> bool:
    """Return True if every line ends as on Windows."""
    ends = content.count(b"\r\n")
    return 0 < ends == content.count(b"\n") == content.count(b"\r")
