"""Opening what the user named, whatever it is, with the files around it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from aqlgen.document.read.archive import MAGIC, Archive
from aqlgen.document.read.fetch import Raw, fetch
from aqlgen.document.read.library import Library
from aqlgen.document.read.limits import Limits
from aqlgen.document.read.roots import files_below, find_root
from aqlgen.document.read.shelves import Folder, Nothing, Shelf, Zip
from aqlgen.document.read.source import Source, parse
from aqlgen.document.read.web import Headers, Web


@contextmanager
def opened(
    spec: str, *, headers: Headers = (), allowed: Sequence[str] = (), limits: Limits | None = None
) -> Iterator[tuple[Source, Library]]:
    """Read the root document of a file, folder, archive, http(s) URL or standard input (`-`), with its library.

    Raises FileError when it cannot be had, DocumentError when what is there is not a JSON or YAML object.
    """
    limits = limits or Limits()
    web = Web(spec, headers, limits)
    try:
        raw, address, shelf = _open(spec, web, allowed, limits)
        library = Library(address, shelf, web, allowed, limits)
        yield parse(raw.name, raw.data, raw.base, limits=limits), library
    finally:
        web.close()


def _open(spec: str, web: Web, allowed: Sequence[str], limits: Limits) -> tuple[Raw, str, Shelf]:
    folders = [one for one in allowed if "://" not in one]
    if spec != "-" and os.path.isdir(spec):
        boundary = Path(spec)
        found = find_root(spec, files_below(boundary, limits), lambda path: _bytes(boundary / path, limits), limits)
        raw = fetch(os.path.join(spec, found), limits, web)
        return raw, str(raw.base), Folder(raw.name, Path(str(raw.base)), boundary, folders, limits)
    raw = fetch(spec, limits, web)
    if raw.data.startswith(MAGIC):
        archive = Archive(raw.name, raw.data, limits)
        member = find_root(raw.name, archive, archive.read, limits)
        shelf = Zip(raw.name, archive)
        return Raw(shelf.name(member), archive.read(member), None), member, shelf
    if isinstance(raw.base, Path):
        return raw, str(raw.base), Folder(spec, raw.base, raw.base.parent, folders, limits)
    return raw, raw.base or "<stdin>", Nothing()


def _bytes(path: Path, limits: Limits) -> bytes:
    """Give what may be the root document; what cannot be read is not."""
    try:
        with path.open("rb") as file:
            return file.read(limits.size + 1) if path.is_file() else b""
    except OSError:
        return b""
