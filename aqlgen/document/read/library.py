"""The files that a document refers to: which of them may be read, and each read once.

Those in the document's own folder are read (the folder or archive that was named, or the URLs below its own). What
leaves it is read only where the user allowed it. What no good document refers to is refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import unquote, urljoin, urlsplit

from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.diagnostics.errors import AqlgenError, DocumentError, FileError
from aqlgen.document.read.encoding import decode
from aqlgen.document.read.limits import Limits
from aqlgen.document.read.shelves import ALLOW_HELP, NotRead, Shelf
from aqlgen.document.read.source import Source, parse
from aqlgen.document.read.web import Web, is_url, same_origin, without_credentials

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")


class Library:
    """The neighbours of a document by address, a path or URL as text; `address` is the root document's own."""

    def __init__(self, address: str, shelf: Shelf, web: Web, allowed: Sequence[str], limits: Limits) -> None:
        self.address = address
        self._shelf = shelf
        self._web = web
        self._prefixes = [*([urljoin(address, ".")] if is_url(address) else []), *filter(is_url, allowed)]
        self._limits = limits
        self._loaded: dict[str, bytes | NotRead] = {}
        self._parsed: dict[str, Source | NotRead] = {}
        self._size = 0

    def find(self, base: str, reference: str) -> str:
        """Give the address of what `reference` (without its fragment) names from the file at `base`. Raises NotRead."""
        try:
            return self._find(base, reference.replace("\\", "/"))
        except ValueError:  # what urllib says of brackets that are no IPv6 address, and the file system of a zero byte
            raise NotRead("unresolved-reference", f"the reference {reference!r} is no address and no path") from None

    def _find(self, base: str, reference: str) -> str:
        scheme = _SCHEME.match(reference)
        if is_url(base):
            if scheme and not is_url(reference):
                raise _kind(reference, scheme[1])
            return self._permitted(without_credentials(urljoin(base, reference)), reference)
        if scheme:
            if is_url(reference):
                return self._permitted(without_credentials(reference), reference)
            raise _kind(reference, scheme[1])
        if reference.startswith("/"):
            raise NotRead("forbidden-reference", f"the reference {reference!r} is an absolute path")
        plain = unquote(reference)
        if plain == reference:
            return self._shelf.find(base, reference)
        if plain.startswith("/"):
            raise NotRead("forbidden-reference", f"the reference {reference!r} is an absolute path")
        address = self._shelf.find(base, plain)
        if isinstance(self._bytes(address), NotRead):
            return self._shelf.find(base, reference)
        return address

    def open(self, address: str) -> Source:
        """Give the file as a source: any JSON or YAML, not only an object. Raises NotRead."""
        found = self._parsed.get(address)
        if found is None:
            found = self._parsed[address] = self._parse(address)
        if isinstance(found, NotRead):
            raise found
        return found

    def text(self, address: str) -> str:
        """Give the file as text. Raises NotRead."""
        data = self._bytes(address)
        if isinstance(data, NotRead):
            raise data
        try:
            return decode(self.name(address), data)
        except AqlgenError as error:
            raise NotRead("unresolved-reference", f"{self.name(address)}: {error}") from None

    def name(self, address: str) -> str:
        """Give the name to show for a file."""
        return address if is_url(address) else self._shelf.name(address)

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
        found = self._loaded.get(address)
        if found is None:
            try:
                found = self._load(address)
            except NotRead as refusal:
                found = refusal
            except FileError as error:
                message = f"{self.name(address)}: {error}"
                found = NotRead("unresolved-reference", message, error.diagnostics[0].help)
            self._loaded[address] = found
        return found

    def _load(self, address: str) -> bytes:
        if len(self._loaded) >= self._limits.files:
            raise _too_much(f"refers to more than {self._limits.files:,} files")
        if is_url(address):
            _, data = self._web.get(address, self._covered)
        else:
            data = self._shelf.load(address)
        self._size += len(data)
        if len(data) > self._limits.size or self._size > self._limits.all_size:
            raise _too_much(f"and its files are larger than {self._limits.all_size // (1024 * 1024)} MiB")
        return data

    def _permitted(self, url: str, reference: str) -> str:
        if self._covered(url):
            return url
        message = f"the reference {reference!r} names an address outside the document's folder, which is not read"
        raise NotRead("outside-reference", message, ALLOW_HELP.format(urljoin(url, ".")))

    def _covered(self, url: str) -> bool:
        """Whether a URL lies below a prefix; a path that hides dots in escapes lies nowhere."""
        path = unquote(urlsplit(url).path)
        if ".." in path.split("/"):
            return False
        return any(
            same_origin(url, prefix) and f"{path}/".startswith(_folder(unquote(urlsplit(prefix).path)))
            for prefix in self._prefixes
        )


def _folder(path: str) -> str:
    return path if path.endswith("/") else f"{path}/"


def _kind(reference: str, scheme: str) -> NotRead:
    if len(scheme) == 1 or scheme.lower() == "file":
        return NotRead("forbidden-reference", f"the reference {reference!r} is an absolute path")
    return NotRead("outside-reference", f"the reference {reference!r} is no address that can be read")


def _too_much(problem: str) -> DocumentError:
    return DocumentError(Diagnostic("document-too-large", Severity.ERROR, f"the document {problem}"))
