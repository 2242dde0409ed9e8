"""Fetching a document from a file, folder, archive, http(s) URL or standard input, with the files around it."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.diagnostics.errors import AqlgenError, DocumentError, FileError
from aqlgen.document.read.library import FileStore, Folder, Library, NoFiles
from aqlgen.document.read.limits import Limits, too_large
from aqlgen.document.read.source import Source, parse
from aqlgen.document.read.web import Headers, Web, is_url, without_credentials
from aqlgen.document.request import is_searched


@dataclass(frozen=True, slots=True)
class Raw:
    """Bytes of a document, the name to show for it, and its location."""

    name: str
    data: bytes
    base: Path | str | None


def fetch(spec: str, limits: Limits, web: Web) -> Raw:
    """Read a file, URL or standard input. Raises FileError, or DocumentError if it is empty or too large."""
    if spec == "-":
        raw = Raw("<stdin>", sys.stdin.buffer.read(limits.size + 1), None)
    elif is_url(spec):
        base, data = web.get(spec)
        raw = Raw(without_credentials(spec), data, base)
    else:
        raw = _from_file(spec, limits)
    if len(raw.data) > limits.size:
        raise too_large(raw.name, limits)
    if not raw.data.strip():
        raise DocumentError.of("empty-document", "the document is empty", file=raw.name)
    return raw


def _from_file(spec: str, limits: Limits) -> Raw:
    path = Path(spec)
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):  # opening a pipe waits for its writer
            message = "this is a pipe, a socket or a device, not a file"
            raise FileError.of(
                "file-unreadable", message, file=spec, help="Give - as its name, and the document as standard input."
            )
        with path.open("rb") as file:
            data = file.read(limits.size + 1)
    except IsADirectoryError:
        raise FileError.of(
            "file-is-a-folder", "this is a folder, not a file", file=spec, help="Name the document inside it."
        ) from None
    except FileNotFoundError:
        scheme = spec.partition("://")[0] if "://" in spec else ""
        advice = f"Only http and https addresses can be read, not {scheme}." if scheme else "Check the path."
        if _ADDRESS.match(spec):
            advice = f"Did you mean http://{spec}?"
        raise FileError.of("file-not-found", "no such file", file=spec, help=advice) from None
    except ValueError:
        raise FileError.of("file-not-found", "not a possible file name", file=spec) from None
    except OSError as error:
        raise FileError.of("file-unreadable", f"cannot be read: {error.strerror or error}", file=spec) from None
    return Raw(spec, data, path.resolve())


_ADDRESS: Final = re.compile(r"(?:localhost|\d{1,3}(?:\.\d{1,3}){3}|[\w.-]+:\d)[\d:]*(?:/|$)")
"""An address without its scheme."""
_ZIP_MAGIC: Final = b"PK\x03\x04"
_SUFFIXES: Final = (".json", ".yaml", ".yml")
_SIGN: Final = re.compile(rb"""^(?:\xef\xbb\xbf)?["']?(?:openapi|swagger)["']?\s*:|"(?:openapi|swagger)"\s*:""", re.M)
_BEGINNINGS: Final = (b"{", b"openapi", b"swagger", b"\xef\xbb\xbf{")
_SHOWN: Final = 10
_MOST: Final = 50
_SKIPPED: Final = frozenset({"node_modules", "__pycache__", "__MACOSX"})


def find_root(name: str, paths: Iterable[str], load: Callable[[str], bytes], limits: Limits) -> str:
    """Return the path of the only file that has `openapi` or `swagger` at its root.

    Raises FileError if there is none, or several.
    """
    likely: list[str] = []
    size = 0
    for path in sorted(paths, key=lambda path: (path.count("/"), path)):
        if not path.lower().endswith(_SUFFIXES) or _hidden(path):
            continue
        data = load(path)
        size += len(data)
        if size > limits.all_size:
            raise _refusal("no-root-document", "it holds too much to look through", name)
        if _is_document(path, data, limits):
            likely.append(path)
        if len(likely) > _MOST:
            break
    if not likely:
        raise _refusal("no-root-document", "no file in it has openapi or swagger at its root", name)
    if len(likely) > 1:
        more = ["…"] if len(likely) > _SHOWN else []
        message = f"several files have openapi or swagger at their root: {', '.join([*likely[:_SHOWN], *more])}"
        raise _refusal("several-root-documents", message, name)
    return likely[0]


def files_below(folder: Path, limits: Limits) -> Iterator[str]:
    """Yield the paths of files below a folder, with slashes; skip links to folders. Raises FileError."""
    seen = 0
    for here, folders, files in os.walk(folder):
        folders[:] = [folder_name for folder_name in folders if not _hidden(folder_name)]
        seen += len(files)
        if seen > 10 * limits.files:
            raise _refusal("no-root-document", f"it has more than {10 * limits.files:,} files", str(folder))
        for file in files:
            yield (Path(here) / file).relative_to(folder).as_posix()


def _hidden(path: str) -> bool:
    return any(part.startswith(".") or part in _SKIPPED for part in path.split("/"))


def _is_document(path: str, data: bytes, limits: Limits) -> bool:
    """Return True if a file has `openapi` or `swagger` at its root."""
    try:
        return is_document(path, data, limits)
    except AqlgenError:
        return False


def is_document(name: str, data: bytes, limits: Limits) -> bool:
    """Return True if a file has `openapi` or `swagger` at its root. Raises DocumentError for one that is broken."""
    if not _SIGN.search(data.replace(b"\0", b"")):
        return False
    root = parse(name, data, None, limits=limits).root
    return any(isinstance(root.get(key), (str, int, float)) for key in ("openapi", "swagger"))


def _refusal(code: str, message: str, name: str) -> FileError:
    return FileError.of(code, message, file=name, help="Name the root document inside it.")


def read(spec: str, *, headers: Headers = (), limits: Limits | None = None) -> Source:
    """Read a file, an http(s) URL (sending `headers` to its own origin) or `-` for standard input.

    Raises FileError if it cannot be fetched, DocumentError if it is not a JSON or YAML object.
    """
    limits = limits or Limits()
    web = Web(spec, headers, limits)
    try:
        raw = fetch(spec, limits, web)
    finally:
        web.close()
    return _parsed(raw, limits)


def _parsed(raw: Raw, limits: Limits, place_of: str = "") -> Source:
    """Return the document that a file holds, which is the front matter if it is Markdown.

    `place_of` is what the user named: it is noted which document was taken if it is not that itself.
    """
    source = parse(raw.name, front_matter(raw.name, raw.data), raw.base, limits=limits)
    notes = source.diagnostics
    if is_searched(place_of) and raw.name != without_credentials(place_of):
        message = f"the document of {without_credentials(place_of)} is taken from {raw.name}"
        notes = (Diagnostic("document-found", Severity.NOTE, message, file=raw.name), *notes)
    return replace(source, data=raw.data, diagnostics=notes)


@contextmanager
def open_document(
    spec: str, *, headers: Headers = (), allowed: Sequence[str] = (), limits: Limits | None = None
) -> Iterator[tuple[Source, Library]]:
    """Read the root document of a file, folder, archive, http(s) URL or standard input (`-`), with its library.

    Raises FileError if it cannot be fetched, DocumentError if it is not a JSON or YAML object.
    """
    limits = limits or Limits()
    web = Web(spec, headers, limits, filter(is_url, allowed))
    try:
        raw, address, files = _open(spec, web, allowed, limits)
        library = Library(address, files, web, allowed, limits)
        yield _parsed(raw, limits, place_of=spec), library
    finally:
        web.close()


def _open(spec: str, web: Web, allowed: Sequence[str], limits: Limits) -> tuple[Raw, str, FileStore]:
    folders = [place for place in allowed if "://" not in place]
    if spec != "-" and os.path.isdir(spec):
        boundary = Path(spec)
        root_path = find_root(spec, files_below(boundary, limits), lambda path: _bytes(boundary / path, limits), limits)
        raw = fetch(os.path.join(spec, root_path), limits, web)
        return raw, str(raw.base), Folder(raw.name, Path(str(raw.base)), boundary, folders, limits)
    raw = _found(spec, limits, web) if is_searched(spec) else fetch(spec, limits, web)
    if raw.data.startswith(_ZIP_MAGIC):
        from aqlgen.document.read.archive import Archive, ArchiveFiles  # only archives should pay for importing it

        archive = Archive(raw.name, raw.data, limits)
        member = find_root(raw.name, archive, archive.read, limits)
        files = ArchiveFiles(raw.name, archive)
        return Raw(files.name(member), archive.read(member), None), member, files
    if isinstance(raw.base, Path):
        return raw, str(raw.base), Folder(spec, raw.base, raw.base.parent, folders, limits)
    return raw, raw.base or "<stdin>", NoFiles()


def _found(spec: str, limits: Limits, web: Web) -> Raw:
    """Return the document at an address, or that of its server. Raises FileError if there is none."""
    from aqlgen.document.read.places import find_document  # only URLs should pay for importing it

    url, data = find_document(spec, web, limits, lambda name, content: _is_meant(name, content, limits))
    return Raw(without_credentials(spec) if urlsplit(url).path == urlsplit(spec).path else url, data, url)


def _is_meant(name: str, data: bytes, limits: Limits) -> bool:
    """Return True for a document, an archive, or a file of another kind that is known, which is said of it then."""
    if data.startswith(_ZIP_MAGIC):
        return True
    try:
        return is_document(name, data, limits)
    except DocumentError as error:
        if error.diagnostics[0].code in ("not-text", "not-an-object") or not data.lstrip().startswith(_BEGINNINGS):
            return False
        raise


def _bytes(path: Path, limits: Limits) -> bytes:
    """Return the content of a candidate for the root document, nothing for a file that cannot be read."""
    try:
        if not path.is_file():  # opening a pipe waits for its writer
            return b""
        with path.open("rb") as file:
            return file.read(limits.size + 1)
    except OSError:
        return b""


# Markdown files with front matter: the YAML between two lines of three dashes is the document (element type, 1.3).
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
