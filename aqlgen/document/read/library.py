"""The files that a document refers to: which of them may be read, each read once.

Files in the document's own folder are read (the folder or archive that the user named, or the URLs below the
document's own). Files outside it are read only where the user allowed it. References that no legitimate document
contains are refused.
"""

from __future__ import annotations

import os
import posixpath
import re
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Protocol
from urllib.parse import unquote, urljoin, urlsplit

from aqlgen.diagnostics.errors import AqlgenError, DocumentError, FileError
from aqlgen.document.read.limits import Limits
from aqlgen.document.read.source import Source, parse
from aqlgen.document.read.web import Web, is_url, same_origin, without_credentials

ALLOW_HELP = "If you trust it, let it be read: --allow-refs {}"


class NotRead(Exception):
    """A reference to another file is not followed. `forbidden` is true if no legitimate document contains it."""

    def __init__(self, code: str, message: str, help: str = "", *, cause: AqlgenError | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.help = help
        self.cause = cause
        self.forbidden = code == "forbidden-reference"


class FileStore(Protocol):
    """Files by address; `find` takes a relative path with slashes."""

    def find(self, base: str, path: str) -> str:
        """Return the address of `path` relative to `base`. Raises NotRead, or ValueError if it is not a path."""

    def load(self, address: str) -> bytes:
        """Return the bytes, cut one byte past the limit. Raises NotRead."""

    def name(self, address: str) -> str:
        """Return the name to show for a file."""


class Folder:
    """Files on disk, within the boundary or an allowed folder; symbolic links are resolved before the check."""

    def __init__(self, spec: str, root: Path, boundary: Path, allowed: Sequence[str], limits: Limits) -> None:
        self._root = root
        self._shown = spec if os.path.realpath(spec) == os.path.abspath(spec) else str(root)
        self._folders = [os.path.realpath(folder) for folder in (str(boundary), *allowed)]
        self._limits = limits

    def find(self, base: str, path: str) -> str:
        """Return the address of `path` relative to `base`. Raises NotRead, or ValueError if it is not a path."""
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
        """Return the bytes, cut one byte past the limit. Raises NotRead."""
        try:
            if not stat.S_ISREG(os.stat(address).st_mode):
                raise NotRead("unresolved-reference", f"{self.name(address)} is not a file")
            with open(address, "rb") as file:
                return file.read(self._limits.size + 1)
        except OSError as error:
            problem = (error.strerror or "cannot be read").lower()
            raise NotRead("unresolved-reference", f"{self.name(address)}: {problem}") from None

    def name(self, address: str) -> str:
        """Return the name to show for a file."""
        beside = os.path.relpath(address, self._root.parent)
        return os.path.normpath(os.path.join(os.path.dirname(self._shown), beside))


class NoFiles:
    """No files: beside standard input there are none, and references from a URL are URLs."""

    def find(self, base: str, path: str) -> str:
        """Return the address of `path` relative to `base`. Raises NotRead, or ValueError if it is not a path."""
        message = f"the reference {path!r} names a file, which is not beside {base}"
        raise NotRead("outside-reference", message, "Give the root document as a file.")

    def load(self, address: str) -> bytes:
        """Return the bytes, cut one byte past the limit. Raises NotRead."""
        raise NotRead("unresolved-reference", f"{address}: no such file")

    def name(self, address: str) -> str:
        """Return the name to show for a file."""
        return address


def _climbs_out(path: str) -> bool:
    depth = 0
    for part in path.split("/"):
        depth += -1 if part == ".." else 0 if part in ("", ".") else 1
        if depth < 0:
            return True
    return False


_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")


class Library:
    """Files around a document, by address: a path or URL as text. `address` is that of the root document."""

    def __init__(self, address: str, files: FileStore, web: Web, allowed: Sequence[str], limits: Limits) -> None:
        self.address = address
        self._files = files
        self._web = web
        self._prefixes = [*([urljoin(address, ".")] if is_url(address) else []), *filter(is_url, allowed)]
        self._limits = limits
        self._loaded: dict[str, bytes | NotRead] = {}
        self._parsed: dict[str, Source | NotRead] = {}
        self._size = 0

    def find(self, base: str, reference: str) -> str:
        """Return the address of `reference` (without fragment) relative to the file at `base`. Raises NotRead."""
        try:
            return self._find(base, reference.replace("\\", "/"))
        except (
            ValueError
        ):  # from urllib, for brackets that are no IPv6 address, or from the file system, for a zero byte
            raise NotRead("unresolved-reference", f"the reference {reference!r} is neither a URL nor a path") from None

    def _find(self, base: str, reference: str) -> str:
        scheme = _SCHEME.match(reference)
        if scheme and not is_url(reference):
            raise _refused_scheme(reference, scheme[1])
        if scheme or is_url(base):
            return self._allowed(without_credentials(urljoin(base, reference)), reference)
        path = unquote(reference)
        if path.startswith("/"):
            raise NotRead("forbidden-reference", f"the reference {reference!r} is an absolute path")
        return self._files.find(base, path)

    def open(self, address: str) -> Source:
        """Return the file as a source: any JSON or YAML, not only an object. Raises NotRead."""
        source = self._parsed.get(address)
        if source is None:
            source = self._parsed[address] = self._parse(address)
        if isinstance(source, NotRead):
            raise source
        return source

    def name(self, address: str) -> str:
        """Return the name to show for a file."""
        return address if is_url(address) else self._files.name(address)

    def _parse(self, address: str) -> Source | NotRead:
        data = self._bytes(address)
        if isinstance(data, NotRead):
            return data
        name = self.name(address)
        try:
            return parse(name, data, None, limits=self._limits, part=True)
        except AqlgenError as error:
            return NotRead("unresolved-reference", f"{name} cannot be read: {error}", cause=error)

    def _bytes(self, address: str) -> bytes | NotRead:
        data = self._loaded.get(address)
        if data is None:
            try:
                data = self._load(address)
            except NotRead as refusal:
                data = refusal
            except FileError as error:
                message = f"{self.name(address)}: {error}"
                data = NotRead("unresolved-reference", message, error.diagnostics[0].help)
            self._loaded[address] = data
        return data

    def _load(self, address: str) -> bytes:
        if len(self._loaded) >= self._limits.files:
            raise _too_much(f"refers to more than {self._limits.files:,} files")
        if is_url(address):
            _, data = self._web.get(address, self._is_allowed)
        else:
            data = self._files.load(address)
        self._size += len(data)
        if len(data) > self._limits.size or self._size > self._limits.all_size:
            raise _too_much(f"and its files are larger than {self._limits.all_size // (1024 * 1024)} MiB")
        return data

    def _allowed(self, url: str, reference: str) -> str:
        if self._is_allowed(url):
            return url
        message = f"the reference {reference!r} names an address outside the document's folder, which is not read"
        raise NotRead("outside-reference", message, ALLOW_HELP.format(urljoin(url, ".")))

    def _is_allowed(self, url: str) -> bool:
        """Return True if a URL lies below a prefix; false for a path that hides dots in escapes."""
        path = unquote(urlsplit(url).path)
        if ".." in path.split("/"):
            return False
        return any(
            same_origin(url, prefix) and f"{path}/".startswith(f"{unquote(urlsplit(prefix).path).removesuffix('/')}/")
            for prefix in self._prefixes
        )


def _refused_scheme(reference: str, scheme: str) -> NotRead:
    if len(scheme) == 1 or scheme.lower() == "file":
        return NotRead("forbidden-reference", f"the reference {reference!r} is an absolute path")
    return NotRead("outside-reference", f"the reference {reference!r} is not a URL that can be read")


def _too_much(problem: str) -> DocumentError:
    return DocumentError.of("document-too-large", f"the document {problem}")
