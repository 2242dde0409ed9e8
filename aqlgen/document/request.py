"""The user's options that name the document: validated, and safe to record."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final, Self
from urllib.parse import urlsplit

from aqlgen.diagnostics.errors import OptionError

__all__ = ["Request", "is_origin"]

_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE: Final = re.compile(r"[\t\x20-\x7e\x80-\xff]*")


@dataclass(frozen=True, slots=True)
class Request:
    """The document, headers for its server, overlays in order, workflows, and the places that references may reach.

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

    @classmethod
    def of(
        cls,
        spec: str,
        headers: Iterable[str],
        overlays: Iterable[str],
        allow: Iterable[str],
        workflows: Iterable[str] = (),
    ) -> Self:
        """Build a request from options as written. Raises OptionError, which does not repeat a header's value."""
        return cls(spec, tuple(map(_header, headers)), tuple(overlays), tuple(allow), tuple(workflows))

    def at(self, address: str) -> Self:
        """Return the request for the document at an address, if this one names no more than its server."""
        return replace(self, spec=address) if is_origin(self.spec) else self

    @property
    def public_url(self) -> str:
        """The document's address if it may be recorded for a later update, else "".

        An address with a user name or a query, or one that needs headers, may hold a credential.
        """
        if self.headers or any(char in self.spec for char in "?#@") or not self.spec.isprintable():
            return ""
        return self.spec if urlsplit(self.spec).scheme in ("http", "https") else ""


def is_origin(spec: str) -> bool:
    """Return True for an http(s) URL that names a server and nothing on it."""
    try:
        parts = urlsplit(spec)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and not (parts.path.strip("/") or parts.query or parts.fragment)


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
