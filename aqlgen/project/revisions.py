"""Git revisions as a user writes them, `REV` or `REV:PATH`, and the files in them."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from aqlgen import git
from aqlgen.diagnostics.errors import FileError
from aqlgen.git.isolation import Isolated, Place, isolated, place_of

_REGULAR: Final = ("100644", "100755")
_REFERENCE: Final = re.compile(rb"""["']?\$ref["']?\s*:\s*["']?[^\s"'#]""")
"""A reference to another file."""

_DATA: Final = frozenset({".json", ".yaml", ".yml"})
"""The suffixes of documents and of the records of projects."""


@dataclass(frozen=True, slots=True)
class Revision:
    """A file or a folder of a commit. `path` is its place in the repository whose top folder is `top`.

    An empty `path` is the whole repository.
    """

    written: str
    commit: str
    place: Place
    path: str
    is_folder: bool

    @property
    def top(self) -> Path:
        """The top folder of the work tree."""
        return self.place.top

    @property
    def work_tree(self) -> Path:
        """The same file or folder as it is now."""
        return self.top / self.path

    def write(self, folder: Path) -> Path:
        """Write it into an empty folder, of a folder its JSON and YAML files, and return its place there.

        For a file that refers to others, those beside and below it are written too.
        """
        with isolated(self.place) as repository:
            if self.is_folder:
                self._write(repository, self.path, folder)
                return folder
            content = repository.run("cat-file", "blob", f"{self.commit}:{self.path}").out
            place = PurePosixPath(self.path)
            if _REFERENCE.search(content):
                self._write(repository, "" if place.parent == PurePosixPath() else str(place.parent), folder)
            (folder / place.name).write_bytes(content)
            return folder / place.name

    def _write(self, repository: Isolated, path: str, folder: Path) -> None:
        """Write the data of a folder. Raises FileError where a tree, which git does not check, has other names."""
        listing = repository.run("ls-tree", "-r", "-z", "--full-tree", f"{self.commit}:{path}").out
        oids: dict[str, str] = {}
        for record in os.fsdecode(listing).split("\0"):
            about, _, name = record.partition("\t")
            if about[:6] in _REGULAR and PurePosixPath(name).suffix.lower() in _DATA:
                oids[name] = about.split(" ")[2]
        contents = git.blobs(oids.values(), repository.top, repository.env)
        for name, oid in oids.items():
            if oid not in contents or not _is_inside(name):
                why = "leads out of the folder" if oid in contents else "is not in this clone"
                raise FileError.of("file-unreadable", f"{name!r} of {self.written} {why}", file=self.written)
            place = folder / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(contents[oid])


def _is_inside(name: str) -> bool:
    parts = name.replace("\\", "/").split("/")
    return ":" not in parts[0] and not {"", ".", ".."} & set(parts) and ".git" not in map(str.casefold, parts)


def revision(written: str, folder: Path) -> Revision | None:
    """Resolve a revision from a folder; None when there is no such revision. Raises FileError for a wrong path.

    A revision alone means that folder. A path begins at the top of the repository, or at the folder when it begins
    with `./`, as git has it.
    """
    name, colon, path = written.partition(":")
    if not name or name.startswith("-"):
        return None
    place = place_of(folder)
    commit = git.attempt("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}", cwd=folder)
    if isinstance(place, git.Done) or commit.code:
        return None
    if not colon or path.startswith(("./", "../")):
        path = os.path.normpath(f"{place.prefix}{path}")
    path = "" if path in (".", "") else PurePosixPath(path).as_posix()
    with isolated(place) as repository:
        kind = repository.attempt("cat-file", "-t", f"{commit.text}:{path}")
    if kind.code:
        raise FileError.of(
            "file-not-found",
            f"the revision {name} has no {path}",
            help="A path begins at the top of the repository, or here when it begins with ./",
            file=written,
        )
    return Revision(written, commit.text, place, path, kind.text == "tree")
