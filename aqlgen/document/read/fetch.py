"""Getting the bytes of a document: from a file, an http(s) URL, or standard input."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from aqlgen.diagnostics.errors import DocumentError, FileError
from aqlgen.document.read.bounds import too_large
from aqlgen.document.read.limits import Limits
from aqlgen.document.read.web import Web, is_url, without_credentials


@dataclass(frozen=True, slots=True)
class Raw:
    """Bytes with the name to show for them and the place they came from."""

    name: str
    data: bytes
    base: Path | str | None


def fetch(spec: str, limits: Limits, web: Web) -> Raw:
    """Read what `spec` names. Raises FileError, or DocumentError when it is empty or over the size bound."""
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
        with path.open("rb") as file:
            data = file.read(limits.size + 1)
    except IsADirectoryError:
        raise FileError.of(
            "file-is-a-folder", "this is a folder, not a file", file=spec, help="Name the document inside it."
        ) from None
    except FileNotFoundError:
        scheme = spec.partition("://")[0] if "://" in spec else ""
        advice = f"Only http and https addresses can be read, not {scheme}." if scheme else "Check the path."
        raise FileError.of("file-not-found", "no such file", file=spec, help=advice) from None
    except ValueError:
        raise FileError.of("file-not-found", "not a possible file name", file=spec) from None
    except OSError as error:
        raise FileError.of("file-unreadable", f"cannot be read: {error.strerror or error}", file=spec) from None
    return Raw(spec, data, path.resolve())
