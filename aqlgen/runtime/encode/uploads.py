"""Files that a call sends: base64 or a text, alone or with a name and a type, or a path in the owner's folder.

(MCP-AQL specification, 4.7.4.) Paths are refused until the owner names a folder, and never lead out of it.
"""

from __future__ import annotations

import base64
import binascii
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import Failure, invalid
from ..wire import OCTETS, SentFile, media_type

SOURCES = frozenset({"content", "text", "path"})
"""Keys of which a file has one: its bytes in base64, its text in UTF-8, or its place in the owner's folder."""

_ABOUT = frozenset({"mime_type", "filename"})
_FORM = (
    "must be base64, or an object with one of `content` (base64), `text` and `path`, and `filename` and `mime_type` if "
    "they matter, all of them strings"
)
_MAX_BYTES = 100 * 1024 * 1024
_MIME_TYPE = re.compile(r"[\w.+-]{1,100}/[\w.+-]{1,100}(?:; ?[\w.+-]{1,100}=[\w.+-]{1,100}){0,5}", re.ASCII)


@dataclass(frozen=True, slots=True)
class File:
    """A file's bytes, with its name and type where the call has them."""

    content: bytes
    filename: str | None = None
    mime_type: str | None = None


class Files:
    """A reader of files in calls; `folder` is the owner's setting, empty where paths are not allowed."""

    def __init__(self, folder: str = "") -> None:
        self._folder = folder

    def read(self, name: str, value: Any, content_type: str) -> File:
        """Return the file that is a parameter's value. Raises Failure when it cannot be read."""
        if isinstance(value, str):
            return File(_base64_bytes(name, value, content_type))
        members = {**value} if isinstance(value, Mapping) else {}
        mime_type, filename = members.get("mime_type"), members.get("filename")
        source = SOURCES.intersection(members)
        if len(source) != 1 or not all(isinstance(members[key], str) for key in {*source, *(_ABOUT & members.keys())}):
            raise _refusal(name, _FORM)
        if mime_type is not None and not _MIME_TYPE.fullmatch(mime_type):
            raise _refusal(name, "gives a `mime_type` unlike a content type such as 'image/png'")
        if "path" in members:
            content, path = self._read_from_folder(name, members["path"])
            return File(content, _without_folders(filename) or os.path.basename(path), mime_type)
        if "content" in members:
            content = _base64_bytes(name, members["content"], mime_type or content_type)
        else:
            content = members["text"].encode()
        return File(content, _without_folders(filename), mime_type)

    def _read_from_folder(self, name: str, path: str) -> tuple[bytes, str]:
        if not self._folder:
            raise _refusal(name, "gives a path, which needs MCP_AQL_FILES_FOLDER to be set by the adapter's owner")
        missing = _refusal(name, "gives a path which leads to no file in the folder of the setting files.folder")
        if not path or "\0" in path:
            raise missing
        folder = os.path.realpath(self._folder)
        real_path = os.path.realpath(os.path.join(folder, path))  # symlinks followed before it is judged
        if not real_path.startswith(folder.rstrip(os.sep) + os.sep):
            raise missing
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        import stat

        try:
            handle = os.open(real_path, flags)
        except (OSError, ValueError):
            raise missing from None
        try:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                raise missing
            if status.st_size > _MAX_BYTES:
                raise _refusal(name, f"gives a file of more than {_MAX_BYTES // (1024 * 1024)} MiB")
            with os.fdopen(handle, "rb", closefd=False) as file:
                return file.read(_MAX_BYTES), real_path
        finally:
            os.close(handle)


class ReadFiles(Files):
    """A reader that remembers what it read, in `sent`: the files of one request."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self.sent: list[SentFile] = []

    def read(self, name: str, value: Any, content_type: str) -> File:
        """Return the file that is a parameter's value. Raises Failure when it cannot be read."""
        file = self._files.read(name, value, content_type)
        self.sent.append(SentFile(name, file.content, file.filename, file.mime_type))
        return file


def first_type(content_types: str, default: str) -> str:
    """Return the first content type of a list, between commas, that is not a range, else the default."""
    return next((content_type for content_type in _listed(content_types) if "*" not in content_type), default)


def type_of_file(file: File, content_types: str) -> str:
    """Return the content type of a file: that which the call gives it, or that of its name's ending.

    `content_types` is the list, between commas, of the types and ranges that the API takes: what it does not name is
    not sent, except where it names ranges only. Without any hint it is the first type, else that of plain bytes.
    """
    admitted = _listed(content_types)
    if len(admitted) == 1 and "*" not in content_types:
        return admitted[0]
    if file.mime_type and _admits(admitted, file.mime_type):
        return file.mime_type
    guess = None
    if file.filename:
        from mimetypes import MimeTypes

        guess = MimeTypes().guess_type(file.filename)[0]
    if guess and _admits(admitted, guess):
        return guess
    return first_type(content_types, file.mime_type or OCTETS)


def _listed(content_types: str) -> list[str]:
    return [stripped for part in content_types.split(",") if (stripped := part.strip())]


def _admits(content_types: list[str], content_type: str) -> bool:
    """Return True if a content type is in a list of types and ranges, or the list is empty."""
    kind = media_type(content_type)
    ranges = {kind, "*/*", kind.partition("/")[0] + "/*"}
    return not content_types or any(media_type(admitted) in ranges for admitted in content_types)


def _without_folders(filename: str | None) -> str | None:
    """Return a file's name without folders before it (RFC 7578, 4.2)."""
    return filename and (filename.replace("\\", "/").rpartition("/")[2] or None)


def _base64_bytes(name: str, value: str, content_type: str) -> bytes:
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        raise invalid(
            name, f"Parameter '{name}' {_FORM}; the bytes are of type '{content_type}'", format="base64"
        ) from None


def _refusal(name: str, problem: str) -> Failure:
    return invalid(name, f"Parameter '{name}' {problem}")
