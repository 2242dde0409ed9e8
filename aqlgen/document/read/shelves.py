"""Where the files around a document are: in a folder, in an archive, or nowhere; each knows its own addresses."""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from aqlgen.diagnostics.errors import AqlgenError
from aqlgen.document.read.archive import Archive
from aqlgen.document.read.limits import Limits

ALLOW_HELP = "If you trust it, let it be read: --allow-refs {}"


class NotRead(Exception):
    """A reference to another file is not followed. `forbidden` when no good document has such a one."""

    def __init__(self, code: str, message: str, help: str = "", *, cause: AqlgenError | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.help = help
        self.cause = cause
        self.forbidden = code == "forbidden-reference"


class Shelf(Protocol):
    """Files by address; `find` takes a relative path with slashes."""

    def find(self, base: str, path: str) -> str:
        """Give the address of what `path` names beside `base`. Raises NotRead, or ValueError for what is no path."""

    def load(self, address: str) -> bytes:
        """Give the bytes, one over the bound at most. Raises NotRead."""

    def name(self, address: str) -> str:
        """Give the name to show."""


class Folder:
    """Files on disk, within the boundary or an allowed folder, symbolic links followed to where they really lead."""

    def __init__(self, spec: str, root: Path, boundary: Path, allowed: Sequence[str], limits: Limits) -> None:
        self._root = root
        self._shown = spec if os.path.realpath(spec) == os.path.abspath(spec) else str(root)
        self._folders = [os.path.realpath(one) for one in (str(boundary), *allowed)]
        self._limits = limits

    def find(self, base: str, path: str) -> str:
        """Give the address of what `path` names beside `base`. Raises NotRead, or ValueError for what is no path."""
        joined = posixpath.join(posixpath.dirname(base), path)
        if _climbs_out(joined):
            raise NotRead("forbidden-reference", f"the reference {path!r} climbs above the file system's root")
        address = os.path.realpath(joined)
        if not any(os.path.commonpath((folder, address)) == folder for folder in self._folders):
            place = self.name(address)
            message = f"the reference {path!r} leaves the document's folder, to {place}, which is not read"
            raise NotRead("outside-reference", message, ALLOW_HELP.format(os.path.dirname(place) or "."))
        return address

    def load(self, address: str) -> bytes:
        """Give the bytes, one over the bound at most. Raises NotRead."""
        try:
            if not stat.S_ISREG(os.stat(address).st_mode):
                raise NotRead("unresolved-reference", f"{self.name(address)} is not a file")
            with open(address, "rb") as file:
                return file.read(self._limits.size + 1)
        except OSError as error:
            problem = (error.strerror or "cannot be read").lower()
            raise NotRead("unresolved-reference", f"{self.name(address)}: {problem}") from None

    def name(self, address: str) -> str:
        """Give the name to show."""
        beside = os.path.relpath(address, self._root.parent)
        return os.path.normpath(os.path.join(os.path.dirname(self._shown), beside))


class Zip:
    """Files in an archive, which nothing in it can leave."""

    def __init__(self, name: str, archive: Archive) -> None:
        self._name = name
        self._archive = archive

    def find(self, base: str, path: str) -> str:
        """Give the address of what `path` names beside `base`. Raises NotRead, or ValueError for what is no path."""
        address = posixpath.normpath(posixpath.join(posixpath.dirname(base), path))
        if address.startswith(".."):
            raise NotRead("outside-reference", f"the reference {path!r} leaves the archive, so it is not read")
        return address

    def load(self, address: str) -> bytes:
        """Give the bytes, one over the bound at most. Raises NotRead."""
        if address not in self._archive:
            raise NotRead("unresolved-reference", f"{self.name(address)}: no such file")
        try:
            return self._archive.read(address)
        except AqlgenError as error:
            raise NotRead("unresolved-reference", f"{self.name(address)}: {error}") from None

    def name(self, address: str) -> str:
        """Give the name to show."""
        return f"{self._name}/{address}"


class Nothing:
    """There are no files beside standard input or below a URL's own: references from there are URLs."""

    def find(self, base: str, path: str) -> str:
        """Give the address of what `path` names beside `base`. Raises NotRead, or ValueError for what is no path."""
        message = f"the reference {path!r} names a file, and there is none beside {base}"
        raise NotRead("outside-reference", message, "Give the root document as a file.")

    def load(self, address: str) -> bytes:
        """Give the bytes, one over the bound at most. Raises NotRead."""
        raise NotRead("unresolved-reference", f"{address}: no such file")

    def name(self, address: str) -> str:
        """Give the name to show."""
        return address


def _climbs_out(path: str) -> bool:
    depth = 0
    for part in path.split("/"):
        depth += -1 if part == ".." else 0 if part in ("", ".") else 1
        if depth < 0:
            return True
    return False
