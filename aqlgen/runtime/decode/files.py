"""Files that the API sends, saved in the one folder that the owner allows (specification, 4.7.4).

A name of the API's choosing never leaves that folder, never replaces a file and never follows a link.
"""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import unquote, urlsplit

from ..errors import Code, Failure
from ..text import without_unseen
from ..wire import FORM, OCTETS, SavedFile, is_json, is_multipart, is_text, media_type, stream_form

if TYPE_CHECKING:
    from ..table import Row

_MAX_NAME_BYTES = 120
_MAX_HEADER = 10_000
_MAX_NUMBER = 10_000
"""Files of one name, told apart by a number."""
_UNSAFE = re.compile(r"""[\\/:*?"<>|$`'!;&%^\x00-\x1f\x7f]+""")
"""Characters that mean something else within a path, to a shell too, also between quotes."""
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?", re.IGNORECASE)
_EXTENDED = re.compile(r"filename\*\s*=\s*\"?([A-Za-z0-9!#$&+^_`{}~-]*)'[^']*'([^;\"\s]+)", re.IGNORECASE)
_PLAIN = re.compile(r'filename\s*=\s*(?:"((?:[^"\\]++|\\.)*+)"|([^;\s]+))', re.IGNORECASE)


def is_file(headers: Mapping[str, str], promised: str) -> bool:
    """Return True if a response is a file: nothing that is read as data or text."""
    kind = media_type(headers.get("content-type", ""))
    if not kind or kind == FORM:
        return False
    if kind == OCTETS and (is_json(promised) or is_text(promised)):
        return False  # data under a careless name
    return not (is_json(kind) or is_text(kind) or is_multipart(kind) or stream_form(kind) is not None)


class FileWriter:
    """A file that is being written, as a context; left without `finish`, what was written is removed."""

    def __init__(self, folder: str, name: str, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._hash = hashlib.sha256()
        self._finished = False
        self.size = 0
        try:
            self._path, self._file = _open(Path(folder), name)
        except OSError:
            raise Failure(
                Code.INTERNAL_ERROR,
                "Internal error: the API's file cannot be saved in the folder set by MCP_AQL_FILES_FOLDER",
            ) from None

    def write(self, data: bytes) -> bool:
        """Write the next bytes; return False when they are more than a file may have."""
        self.size += len(data)
        if self.size > self._max_bytes:
            return False
        self._hash.update(data)
        try:
            self._file.write(data)
        except OSError:
            raise _write_failure() from None
        return True

    def finish(self, mime_type: str) -> SavedFile:
        """Close the file and return its description."""
        try:
            self._file.close()
        except OSError:
            raise _write_failure() from None
        self._finished = True
        return SavedFile(str(self._path), self.size, mime_type, self._hash.hexdigest())

    def __enter__(self) -> FileWriter:
        return self

    def __exit__(self, *_: object) -> None:
        if self._finished:
            return
        with suppress(OSError):
            self._file.close()
        with suppress(OSError):
            self._path.unlink()


def _write_failure() -> Failure:
    return Failure(Code.INTERNAL_ERROR, "Internal error: the API's file could not be saved whole")


def file_name(headers: Mapping[str, str], url: str, row: Row) -> str:
    """Return a safe name: the API's own, else the end of the address, else the operation's name."""
    name = _safe(disposition_name(headers.get("content-disposition", ""))) or _safe(_end_of(url)) or row.name
    if "." not in name.strip("."):
        import mimetypes

        name += mimetypes.guess_extension(media_type(headers.get("content-type", ""))) or ""
    return name


def disposition_name(header: str) -> str:
    """Return the file name of a Content-Disposition header (RFC 6266); '' when it has none."""
    header = header[:_MAX_HEADER]
    extended = _EXTENDED.search(header)
    if extended is not None:
        charset = extended[1].lower() if extended[1].lower() in ("utf-8", "iso-8859-1") else "utf-8"
        return unquote(extended[2], encoding=charset, errors="replace")
    plain = _PLAIN.search(header)
    if plain is None:
        return ""
    if plain[1] is None:
        return unquote(plain[2])
    text = re.sub(r"\\(.)", r"\1", plain[1])
    with suppress(UnicodeError):  # UTF-8 that was read byte by byte
        text = text.encode("latin-1").decode("utf-8")
    return unquote(text) if "%" in text else text


def _end_of(url: str) -> str:
    end = unquote(urlsplit(url).path.rstrip("/").rpartition("/")[2])
    return end if "." in end.strip(".") else ""


def _safe(name: str) -> str:
    """Return a name without anything that can mean a place, a device, a hidden file, an option or a command."""
    name = unicodedata.normalize("NFC", name).replace("\\", "/").rpartition("/")[2]
    name = _UNSAFE.sub("_", without_unseen(name).replace("\n", "")).rstrip(". ").lstrip(". ~-")
    if _DEVICES.fullmatch(name):
        name = f"_{name}"
    stem, dot, extension = name.rpartition(".")
    if not stem or len(extension) > 16:
        stem, dot, extension = name, "", ""
    while len(f"{stem}{dot}{extension}".encode()) > _MAX_NAME_BYTES:
        stem = stem[:-1]
    return f"{stem}{dot}{extension}"


def _open(folder: Path, name: str) -> tuple[Path, BinaryIO]:
    """Open a new file under the name, or under the name with a number."""
    folder.mkdir(mode=0o700, exist_ok=True)
    folder = folder.resolve(strict=True)
    stem, dot, extension = name.rpartition(".") if "." in name.strip(".") else (name, "", "")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    for number in range(_MAX_NUMBER):
        path = folder / (f"{stem}-{number}{dot}{extension}" if number else name)
        try:
            return path, os.fdopen(os.open(path, flags, 0o600), "wb")
        except FileExistsError:
            continue
    raise FileExistsError(name)
