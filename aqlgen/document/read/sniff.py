"""Saying what a file is when it is not text that could be an OpenAPI document."""

from __future__ import annotations

import re
from typing import Final, NoReturn

from aqlgen.diagnostics.errors import DocumentError
from aqlgen.document.read.kinds import READABLE, of_text

_MAGIC: Final = (
    (b"%PDF-", "a PDF"),
    (b"PK\x03\x04", "a zip archive"),
    (b"\x1f\x8b", "a gzip file"),
    (b"BZh", "a bzip2 file"),
    (b"\xfd7zXZ\x00", "an xz file"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"\x28\xb5\x2f\xfd", "a zstd file"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"\x7fELF", "a program"),
    (b"\xcf\xfa\xed\xfe", "a program"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"\xd0\xcf\x11\xe0", "an old Office document"),
)
_ARCHIVES: Final = ("zip", "gzip", "bzip2", "xz", "7z", "zstd")
_UTF16_BOMS: Final = (b"\xff\xfe", b"\xfe\xff")
_HTML: Final = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.I | re.S
)
_MARKUP: Final = re.compile(r"\s*<[?!A-Za-z]")


def refuse_binary(name: str, data: bytes) -> None:
    """Raise DocumentError for what cannot be text, naming its kind where the first bytes tell it."""
    for magic, kind in _MAGIC:
        if data.startswith(magic):
            unpack = any(word in kind for word in _ARCHIVES)
            _refuse(name, kind, help="Unpack it and name the document inside." if unpack else "")
    if not data.startswith(_UTF16_BOMS) and b"\x00" in data[:4096]:
        _refuse(name, "binary data", help=f"Byte {data.index(0)} is zero: if it is text, save it as UTF-8.")


def refuse_markup(name: str, text: str) -> None:
    """Raise DocumentError for HTML, XML and the texts of other languages: what servers send, and people mix up."""
    head = text[:4096]
    if _HTML.match(head):
        _refuse(
            name,
            "an HTML page",
            help="Give the address of the document itself, often /openapi.json or the raw file of a repository.",
        )
    _refuse_kind(name, text)
    if _MARKUP.match(head):
        _refuse(name, "an XML document", help=READABLE)


def _refuse_kind(name: str, text: str) -> None:
    """Raise DocumentError for a text that is plainly of another kind, though one may read a part of it as YAML."""
    kind = of_text(text)
    if kind is not None:
        message = f"this is {kind.name}, not an OpenAPI document"
        raise DocumentError.of("not-openapi", message, file=name, line=1, column=1, help=kind.way)


def _refuse(name: str, kind: str, *, help: str = "") -> NoReturn:
    raise DocumentError.of("not-text", f"this is {kind}, not an OpenAPI document", file=name, help=help)
