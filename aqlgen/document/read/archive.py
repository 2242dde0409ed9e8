"""A zip archive as a folder of files: bounded, read in memory, never unpacked to disk."""

from __future__ import annotations

import io
import posixpath
import stat
import zipfile
import zlib
from collections.abc import Iterator

from aqlgen.diagnostics.errors import AqlgenError, DocumentError, FileError
from aqlgen.document.read.library import NotRead
from aqlgen.document.read.limits import Limits

_ENTRY = b"PK\x01\x02"
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class Archive:
    """The regular files of an archive by normalised path, without links and paths that leave the archive."""

    def __init__(self, name: str, data: bytes, limits: Limits) -> None:
        """Read the list of entries. Raises DocumentError if this is no archive, or one over the limits."""
        if data.count(_ENTRY) > limits.files:  # before zipfile builds an object for each
            raise _refusal(name, f"more than {limits.files:,} entries")
        try:
            self._file = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
            raise _refusal(name, f"not readable: {error}") from None
        self._entries = {path: entry for entry in self._file.infolist() if (path := _path(entry))}
        if sum(entry.file_size for entry in self._entries.values()) > limits.all_size:
            raise _refusal(name, f"more than {limits.all_size // (1024 * 1024)} MiB when unpacked")
        self._name = name
        self._limits = limits

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __contains__(self, path: str) -> bool:
        return path in self._entries

    def read(self, path: str) -> bytes:
        """Return the content of a file, cut one byte past the limit. Raises FileError."""
        entry = self._entries[path]
        if entry.compress_type not in _METHODS or entry.flag_bits & 1:
            raise FileError.of("file-unreadable", "encrypted, or packed in an unusual way", file=f"{self._name}/{path}")
        try:
            with self._file.open(entry) as file:
                return file.read(self._limits.size + 1)
        except (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError, RuntimeError) as error:
            raise FileError.of("file-unreadable", f"damaged: {error}", file=f"{self._name}/{path}") from None


class ArchiveFiles:
    """Files in an archive, which no reference in it can leave."""

    def __init__(self, name: str, archive: Archive) -> None:
        self._name = name
        self._archive = archive

    def find(self, base: str, path: str) -> str:
        """Return the address of `path` relative to `base`. Raises NotRead, or ValueError if it is not a path."""
        address = posixpath.normpath(posixpath.join(posixpath.dirname(base), path))
        if address.startswith(".."):
            raise NotRead("outside-reference", f"the reference {path!r} leaves the archive, so it is not read")
        return address

    def load(self, address: str) -> bytes:
        """Return the bytes, cut one byte past the limit. Raises NotRead."""
        if address not in self._archive:
            raise NotRead("unresolved-reference", f"{self.name(address)}: no such file")
        try:
            return self._archive.read(address)
        except AqlgenError as error:
            raise NotRead("unresolved-reference", f"{self.name(address)}: {error}") from None

    def name(self, address: str) -> str:
        """Return the name to show for a file."""
        return f"{self._name}/{address}"


def _path(entry: zipfile.ZipInfo) -> str:
    """Return the normalised path of a regular file, "" for any other entry."""
    if entry.is_dir() or stat.S_ISLNK(entry.external_attr >> 16):
        return ""
    path = posixpath.normpath(entry.filename.replace("\\", "/"))
    return "" if path.startswith(("/", "../")) or path in (".", "..") or ":" in path.split("/")[0] else path


def _refusal(name: str, problem: str) -> DocumentError:
    return DocumentError.of("bad-archive", f"the archive cannot be used: {problem}", file=name)
