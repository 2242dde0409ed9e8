"""Markdown files with front matter: the YAML between two lines of three dashes is the document (element type, 1.3)."""

from __future__ import annotations

import re
from typing import Final

from aqlgen.diagnostics.errors import DocumentError

__all__ = ["front_matter", "is_markdown"]

_OPENING: Final = re.compile(rb"(?:\xef\xbb\xbf)?---[ \t]*+\r?\n")
_CLOSING: Final = re.compile(rb"^(?:---|\.\.\.)[ \t]*+\r?$", re.MULTILINE)


def is_markdown(name: str) -> bool:
    """Return True if a file is Markdown by its name."""
    return name.lower().endswith((".md", ".markdown"))


def front_matter(name: str, data: bytes) -> bytes:
    """Return the front matter of a Markdown file, at the same lines, and any other file as it is.

    Raises DocumentError for Markdown without front matter.
    """
    if not is_markdown(name):
        return data
    opening = _OPENING.match(data)
    closing = _CLOSING.search(data, opening.end()) if opening else None
    if opening is None or closing is None:
        way = "Put the element between two lines of three dashes, the first of which is the first line of the file."
        raise DocumentError.of("no-front-matter", "the file has no front matter", file=name, line=1, column=1, help=way)
    return data[: closing.start()]
