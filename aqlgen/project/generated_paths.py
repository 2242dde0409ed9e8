"""Paths of generated files: which text may be one, and reading and removing below a folder without following links.

A project's records are text of its repository, and its folder may hold links to anywhere: neither leads aqlgen out of
the project. The project's own folder may be a link; everything below it is looked at component by component.
"""

from __future__ import annotations

import os
import re
import stat
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Final

from aqlgen.diagnostics.errors import FileError
from aqlgen.diagnostics.plain import few

_HIDDEN: Final = frozenset(
    ".copier-answers.yml .dockerignore .editorconfig .env.example .gitattributes .github .gitignore .mcpbignore "
    ".python-version".split()
)
"""Names with a leading dot that a template of aqlgen may have; others belong to git, editors and shells."""

_GIT: Final = re.compile(r"\.git|git~\d+")
_DEVICE: Final = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?")
_LONGEST: Final = 255

_NO_FOLLOW: Final = getattr(os, "O_NOFOLLOW", 0)
_AT_ONCE: Final = getattr(os, "O_NONBLOCK", 0)
_FOLDER: Final = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _NO_FOLLOW
_BY_DESCRIPTOR: Final = os.open in os.supports_dir_fd and os.unlink in os.supports_dir_fd


def problem_of(path: str) -> str:
    """Return the reason why a text is not the path of a generated file, "" if it can be one on every system."""
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return "it is not Unicode text"
    if "\\" in path or ":" in path or _has_control(path):
        return "it has a character that no generated path has"
    return next(filter(None, map(_problem_of_name, path.split("/"))), "")


def _has_control(path: str) -> bool:
    """Return True for a text with a character that controls, formats or stands for none."""
    if path.isascii():
        return not path.isprintable()
    return any(unicodedata.category(char).startswith("C") for char in path)


@lru_cache(maxsize=1024)
def _problem_of_name(name: str) -> str:
    plain = unicodedata.normalize("NFKC", name).casefold()
    if name in ("", ".", ".."):
        return "it leaves the project"
    if name != name.rstrip(". ") or len(name.encode("utf-8")) > _LONGEST or _DEVICE.fullmatch(plain):
        return "it is another file on some systems"
    if _GIT.fullmatch(plain) or (plain.startswith(".") and name not in _HIDDEN):
        return "aqlgen generates no such file"
    return ""


def problem_of_all(paths: Iterable[str]) -> str:
    """Return the problem of the first path that cannot be one, or of two that some systems take for one."""
    seen: dict[str, str] = {}
    for path in paths:
        problem = problem_of(path)
        if problem:
            return f"it names {path!r}, and {problem}"
        other = seen.setdefault(unicodedata.normalize("NFC", path).casefold(), path)
        if other != path:
            return f"it names {other!r} and {path!r}, one file on systems that ignore case"
    return ""


def refuse_links(root: Path, paths: Iterable[str]) -> None:
    """Refuse links, junctions and special files at generated paths and in their folders. Raises FileError."""
    kinds: dict[str, str] = {}
    for path in paths:
        for name in _with_folders(str(PurePosixPath(path))):
            if name not in kinds:
                kinds[name] = _odd_kind(root, name)
            if kinds[name]:
                break  # what is beyond it is not looked at
    odd = [name for name, what in kinds.items() if what]
    if odd:
        shown = few([f"{name} ({kinds[name]})" for name in odd])
        raise FileError.of_all(
            "generated-path-linked",
            f"aqlgen generates files there, and follows no links: {shown}",
            [str(root / name) for name in odd],
            help=f"Remove it (`git rm {odd[0]}`, or delete it) and commit; `aqlgen update` then writes the file. "
            "Nothing was changed.",
        )


def _with_folders(path: str) -> Iterator[str]:
    """Yield the folders of a path from the outermost to the innermost, and the path."""
    for end in (at for at, char in enumerate(path) if char == "/"):
        if path[:end].strip("/"):
            yield path[:end]
    yield path


def _odd_kind(root: Path, name: str) -> str:
    """Return the kind of an odd entry, "" for a file, a folder or nothing. Raises FileError if that cannot be known."""
    try:
        status = os.lstat(f"{root}/{name}")  # there are hundreds, and a Path for each takes several times as long
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except (OSError, ValueError) as error:
        place = root / name
        raise FileError.of("file-unreadable", f"{place} cannot be looked at", file=str(place)) from error
    if stat.S_ISLNK(status.st_mode):
        return "symbolic link"
    if getattr(status, "st_file_attributes", 0) & getattr(stat, "FILE_ATTRIBUTE_REPARSE_POINT", 0):
        return "junction"
    return "" if stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode) else "pipe, socket or device"


def read_below(root: Path, path: str) -> bytes | None:
    """Return an ordinary file's content without following a link below the root; None if no such file is there."""
    try:
        with _parent(root, path) as (folder, name):
            descriptor = os.open(name, os.O_RDONLY | _NO_FOLLOW | _AT_ONCE | getattr(os, "O_BINARY", 0), dir_fd=folder)
            with os.fdopen(descriptor, "rb") as file:
                return file.read() if stat.S_ISREG(os.fstat(descriptor).st_mode) else None
    except OSError:
        return None


def remove_below(root: Path, path: str) -> None:
    """Remove a file without following a link below the root. Raises FileError."""
    try:
        with _parent(root, path) as (folder, name):
            os.unlink(name, dir_fd=folder)
    except OSError as error:
        raise FileError.of("output-unwritable", f"{root / path} cannot be replaced", file=str(root / path)) from error


@contextmanager
def _parent(root: Path, path: str) -> Iterator[tuple[int | None, str]]:
    """Yield the open folder of a path and the name in it. Raises OSError for a link on the way."""
    *folders, last = path.split("/")
    if not _BY_DESCRIPTOR:
        refuse_links(root, [path])
        yield None, str(root / path)
        return
    descriptor = os.open(root, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    try:
        for name in folders:
            inner = os.open(name, _FOLDER, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        yield descriptor, last
    finally:
        os.close(descriptor)
