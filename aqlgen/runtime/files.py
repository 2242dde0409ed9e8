# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Files of the API, saved in the one folder that the owner allows (specification, 4.7.4).

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

from .bodies import is_json, is_text, media_type
from .errors import Code, Failure
from .wire import SavedFile

if TYPE_CHECKING:
    from .table import Row

__all__ = ["Saving", "file_name", "is_file"]

_LONGEST = 120
_MOST_OF_A_NAME = 10_000
_UNSAFE = re.compile(r'[\\/:*?"<>|\x00-\x1f\x7f]+')
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?", re.IGNORECASE)
_EXTENDED = re.compile(r"filename\*\s*=\s*\"?([A-Za-z0-9!#$&+^_`{}~-]*)'[^']*'([^;\"\s]+)", re.IGNORECASE)
_PLAIN = re.compile(r'filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))', re.IGNORECASE)
_FORMS = frozenset({"application/x-www-form-urlencoded"})


def is_file(headers: Mapping[str, str], promised: str) -> bool:
    """Whether an answer is a file: nothing that is read as data or text."""
    from .streams import form_of

    kind, wanted = media_type(headers.get("content-type", "")), media_type(promised)
    if not kind:
        return False
    if kind == "application/octet-stream" and (is_json(wanted) or is_text(wanted)):
        return False  # data under a careless name
    read = is_json(kind) or is_text(kind) or form_of(kind) is not None or kind.startswith("multipart/")
    return not read and kind not in _FORMS


class Saving:
    """A file that is being written, as a context; left without `done`, what was written is removed."""

    def __init__(self, folder: str, name: str, most: int) -> None:
        self._most = most
        self._hash = hashlib.sha256()
        self._whole = False
        self.size = 0
        try:
            self._path, self._file = _open(Path(folder).expanduser(), name)
        except OSError:
            raise Failure(
                Code.INTERNAL_ERROR,
                "Internal error: the API's file cannot be saved in the folder set by MCP_AQL_FILES_FOLDER",
            ) from None

    def write(self, data: bytes) -> bool:
        """Write the next bytes; give False when they are more than a file may have."""
        self.size += len(data)
        if self.size > self._most:
            return False
        self._hash.update(data)
        try:
            self._file.write(data)
        except OSError:
            raise _unsaved() from None
        return True

    def done(self, mime_type: str) -> SavedFile:
        """Close the file, and tell of it."""
        try:
            self._file.close()
        except OSError:
            raise _unsaved() from None
        self._whole = True
        return SavedFile(str(self._path), self.size, mime_type, self._hash.hexdigest())

    def __enter__(self) -> Saving:
        return self

    def __exit__(self, *_: object) -> None:
        if self._whole:
            return
        with suppress(OSError):
            self._file.close()
        with suppress(OSError):
            self._path.unlink()


def _unsaved() -> Failure:
    return Failure(Code.INTERNAL_ERROR, "Internal error: the API's file could not be saved whole")


def file_name(headers: Mapping[str, str], url: str, row: Row) -> str:
    """Give a safe name: as the API says, else the end of the address, else the operation's name."""
    told = disposition_name(headers.get("content-disposition", ""))
    name = _safe(told) or _safe(_end_of(url)) or row.name
    if "." not in name.strip("."):
        import mimetypes

        name += mimetypes.guess_extension(media_type(headers.get("content-type", ""))) or ""
    return name


def disposition_name(header: str) -> str:
    """Give the file name of a Content-Disposition header (RFC 6266); empty when it names none."""
    header = header[:_MOST_OF_A_NAME]
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
    path = urlsplit(url).path.rstrip("/")
    end = unquote(path.rpartition("/")[2])
    return end if "." in end.strip(".") else ""


def _safe(name: str) -> str:
    """Give what is left of a name when nothing in it can mean a place, a device or a hidden file."""
    name = unicodedata.normalize("NFC", name).replace("\\", "/").rpartition("/")[2]
    name = "".join(one for one in name if unicodedata.category(one) not in ("Cc", "Cf", "Cs", "Zl", "Zp"))
    name = _UNSAFE.sub("_", name).strip(". ")
    if _DEVICES.fullmatch(name):
        name = f"_{name}"
    return _shortened(name)


def _shortened(name: str) -> str:
    """Give a name of few enough bytes, its extension kept."""
    stem, dot, extension = name.rpartition(".")
    if not stem or len(extension) > 16:
        stem, dot, extension = name, "", ""
    while len(f"{stem}{dot}{extension}".encode()) > _LONGEST:
        stem = stem[:-1]
    return f"{stem}{dot}{extension}"


def _open(folder: Path, name: str) -> tuple[Path, BinaryIO]:
    """Open a new file under the name, or under the name with a number."""
    folder.mkdir(mode=0o700, exist_ok=True)
    folder = folder.resolve(strict=True)
    stem, dot, extension = name.rpartition(".") if "." in name.strip(".") else (name, "", "")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    for number in range(_MOST_OF_A_NAME):
        path = folder / (f"{stem}-{number}{dot}{extension}" if number else name)
        try:
            return path, os.fdopen(os.open(path, flags, 0o600), "wb")
        except FileExistsError:
            continue
    raise FileExistsError(name)
