"""The user's options that name the document: validated, and safe to record."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Self
from urllib.parse import urlsplit

from aqlgen.diagnostics.errors import OptionError
from aqlgen.runtime.hosts import Origin

if TYPE_CHECKING:
    from aqlgen.runtime.table import Accepted

_FILES: Final = (".json", ".yaml", ".yml", ".md", ".markdown", ".zip")
_HERE: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE: Final = re.compile(r"[\t\x20-\x7e\x80-\xff]*")


@dataclass(frozen=True, slots=True)
class Request:
    """A document of an adapter, headers for its server, overlays in order, workflows, and places of references.

    Headers are credentials more often than not: they are never stored and never shown.
    """

    spec: str
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    overlays: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    workflows: tuple[str, ...] = ()
    element: bool | None = False
    """True for an adapter element, which decides as the owner does; None for a document that may be one.

    A project is made of one only where its owner names it as such.
    """
    name: str = ""
    """The name of the API where the adapter has several, "" until it is named after its document."""
    accepted: Accepted | None = None
    """The origins that were accepted when the project was generated; None accepts those of this document."""
    base: str | None = None
    """The URL from which relative servers go on when the document is not read from one."""
    spec_url: str | None = None
    """The address to record; None for that of the document."""
    was_alone: bool = False
    """Whether it was the adapter's only API: the variables of its credentials stay, without the API's name."""

    @property
    def files(self) -> tuple[object, ...]:
        """The files that are read: requests with the same ones have the same document."""
        return self.spec, self.headers, self.overlays, self.allow, self.workflows, self.element

    @classmethod
    def of(
        cls,
        spec: str,
        headers: Iterable[str],
        overlays: Iterable[str],
        allow: Iterable[str],
        workflows: Iterable[str] = (),
        name: str = "",
    ) -> Self:
        """Build a request from options as written. Raises OptionError, which does not repeat a header's value."""
        return cls(spec, tuple(map(_header, headers)), tuple(overlays), tuple(allow), tuple(workflows), name=name)

    def at(self, address: str) -> Self:
        """Return the request for the document at an address, if this one names the server or a page of it."""
        is_elsewhere = is_searched(self.spec) and urlsplit(address).path != urlsplit(self.spec).path
        return replace(self, spec=address) if is_elsewhere else self

    @property
    def public_url(self) -> str:
        """The document's address if it may be recorded for a later update, else "".

        An address with a user name or a query, or one that needs headers, may hold a credential.
        """
        if self.spec_url is not None:
            return self.spec_url
        if self.headers or any(char in self.spec for char in "?#@") or not self.spec.isprintable():
            return ""
        return self.spec if urlsplit(self.spec).scheme in ("http", "https") else ""


@dataclass(frozen=True, slots=True)
class Typed:
    """The server of the URL that a user typed."""

    origin: Origin
    is_searched: bool

    @classmethod
    def of(cls, spec: str) -> Self | None:
        """Return the server of a URL, None for a file."""
        origin = Origin.of(spec)
        return None if origin is None else cls(origin, is_searched(spec))

    def is_at(self, address: str) -> bool:
        """Return True for an address of that server, whatever this machine is called, or of the same over https."""
        other = Origin.of(address)
        if other is None or (other.scheme, other.port) == (self.origin.scheme, self.origin.port):
            return other is not None and (other.host == self.origin.host or {other.host, self.origin.host} <= _HERE)
        return other == Origin.of(f"https://{self.origin.place}")

    def elsewhere(self, address: str) -> Iterator[str]:
        """Yield the note on a document that was searched for there, and names another address."""
        if self.is_searched and Origin.of(address) is not None and not self.is_at(address):
            setting = f"MCP_AQL_BASE_URL={self.origin}"
            yield f"Calls go to {address}, which the document names, not to {self.origin}: set {setting} for that."


def is_searched(spec: str) -> bool:
    """Return True for an http(s) URL that may be of a server or a page of it: it has no query and names no file."""
    try:
        parts = urlsplit(spec)
    except ValueError:
        return False
    names_file = parts.path.lower().endswith(_FILES) or parts.query or parts.fragment
    return parts.scheme in ("http", "https") and not names_file


def _header(written: str) -> tuple[str, str]:
    """Split `Name: value` (RFC 9110, section 5)."""
    name, colon, value = written.partition(":")
    name, value = name.strip(), value.strip()
    if not colon or not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
        raise OptionError.of(
            "bad-option",
            "--header is not a header" if not colon else "--header has a name or a value that no header can have",
            help="Give a name and a value, such as --header 'Authorization: Bearer …'.",
        )
    return name, value
