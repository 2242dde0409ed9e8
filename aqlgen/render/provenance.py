"""`MCPAQL-PROVENANCE.json`: the input, the generator and the options of a project, and its files (R-CONF-2).

The only table of who owns a file: the user, the user together with aqlgen, or the machine.
"""

from __future__ import annotations

import os
from base64 import b64decode, b64encode
from bz2 import BZ2Decompressor, compress
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import lru_cache
from hashlib import sha256
from json import JSONEncoder, dumps
from json.encoder import c_make_encoder, encode_basestring_ascii  # type: ignore[attr-defined]
from typing import Any, Final

from aqlgen import __version__
from aqlgen.diagnostics.errors import OptionError
from aqlgen.ir import Json
from aqlgen.resources import Release, build
from aqlgen.table.adapter import SPEC_VERSION

RUNTIME: Final = "vendor/runtime.zip"
"""The archive of the runtime's sources."""


class Kind(StrEnum):
    """The treatment of a file by `aqlgen update`."""

    YOURS = "yours"
    """Written once. No update changes it, but `--aliases` adds old names to `overrides.yaml`."""
    SHARED = "shared"
    """Edits are merged with what aqlgen changes."""
    MACHINE = "machine"
    """Replaced whole; an edit is refused with the override that does it."""


_TABLE: Final = (
    ("overrides.yaml", Kind.YOURS),
    ("adapter.toml", Kind.YOURS),
    ("src/{package}/hooks.py", Kind.YOURS),
    ("openapi/*", Kind.MACHINE),
    ("OPERATIONS.md", Kind.MACHINE),
    ("MCPAQL-PROVENANCE.json", Kind.MACHINE),
    (".copier-answers.yml", Kind.MACHINE),
    ("schema/*", Kind.MACHINE),
    ("hatch_build.py", Kind.MACHINE),
    ("vendor/*", Kind.MACHINE),
    ("src/{package}/*", Kind.MACHINE),
)
"""Patterns of paths in the project, where `*` matches slashes, too; the first match counts. The rest is shared."""


@lru_cache(maxsize=4096)
def kind(path: str, package: str) -> Kind:
    """Return the kind of a file that aqlgen writes, by its path in the project.

    A file that aqlgen does not write is the user's own, wherever it is: the recorded paths say which files those are.
    """
    return next((whose for pattern, whose in _TABLE if fnmatchcase(path, pattern.format(package=package))), Kind.SHARED)


def is_code(path: str, package: str) -> bool:
    """Return True for a machine file of code; the other machine files hold the API's data."""
    of_runtime = path.startswith((f"src/{package}/runtime/", "vendor/"))
    return (path.endswith(".py") or of_runtime) and kind(path, package) is Kind.MACHINE


def folders(package: str) -> tuple[str, ...]:
    """Return the folders that aqlgen alone writes to, as prefixes of paths; files of others are out of place there."""
    return ("openapi/", f"src/{package}/operations/", f"src/{package}/runtime/", "vendor/")


FILE = "MCPAQL-PROVENANCE.json"

_LARGEST = 1 << 22
"""The maximal size of a shared file in bytes, so that no record expands to more."""


_encoder = c_make_encoder(None, JSONEncoder().default, encode_basestring_ascii, None, ":", ",", True, False, True)
"""An encoder in C for all values: the one that JSONEncoder makes for each takes longer to make than to run."""


def canonical_hash(value: Json, depth: int = 3) -> str:
    """Return the SHA-256 of a JSON value written with sorted keys and no white space.

    Down to a depth, objects are hashed key by key; in a document it is that of each schema.
    """
    whole = sha256()
    for part in _canonical(value, depth):
        whole.update(part.encode())
    return f"sha256:{whole.hexdigest()}"


def _canonical(value: Json, depth: int) -> Iterator[str]:
    """Yield the canonical text in parts, since that of a whole document takes as much memory as the document."""
    if not depth or not isinstance(value, dict) or set(map(type, value)) != {str}:
        yield from _encoder(value, 0)
        return
    sign = "{"
    for key in sorted(value):
        yield f"{sign}{encode_basestring_ascii(key)}:"
        yield from _canonical(value[key], depth - 1)
        sign = ","
    yield "}"


def file_hash(content: bytes) -> str:
    """Return the SHA-256 of a file, in hexadecimal digits."""
    return sha256(content).hexdigest()


def tree_hash(each: Mapping[str, str]) -> str:
    """Return the SHA-256 over the paths and hashes of all files, in the order of their paths."""
    whole = sha256()
    for path in sorted(each):
        whole.update(f"{path}\0{each[path]}\n".encode())
    return f"sha256:{whole.hexdigest()}"


def generated_at() -> str | None:
    """Return the time of `SOURCE_DATE_EPOCH`, None when it is not set: the same input gives the same bytes."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if epoch is None:
        return None
    try:
        return datetime.fromtimestamp(int(epoch), UTC).isoformat().replace("+00:00", "Z")
    except (ValueError, OverflowError, OSError):
        raise OptionError.of(
            "bad-option", f"SOURCE_DATE_EPOCH is {epoch!r}", help="Give whole seconds since 1970-01-01, or unset it."
        ) from None


def provenance(
    input_hash: str,
    options: Mapping[str, Json],
    tree: Mapping[str, bytes],
    package: str,
    release: Release,
    at: str | None,
    *,
    hashes: Mapping[str, str],
    texts_hash: str,
    conformance: Json,
) -> bytes:
    """Return the content of the file; `input_hash` is the hash of the input.

    `release` is that of the templates; with `address` and `commit` it can be had again.

    `texts_hash` is the hash of all that agents read.

    The hash of each file shows later, with nothing else at hand, whether it still is as it was generated. `hashes` are
    those of files that the project keeps as they were generated earlier.

    `base` has the shared files as they are generated, which the next update needs for merging edits of them.
    `conformance` is what `aqlgen check` recorded; it is the last entry.
    """
    each = {path: hashes.get(path) or file_hash(tree[path]) for path in sorted(tree)}
    known = {"address": release.address, "commit": release.commit}
    generator = {"name": "aqlgen", "version": __version__, "build": build(), "templates": release.tag}
    record: dict[str, Json] = {
        "spec_version": SPEC_VERSION,
        "generator": generator | {key: value for key, value in known.items() if value},
        "generated_at": at,
        "input": {"hash": input_hash},
        "texts": {"hash": texts_hash},
        "options": dict(options),
        "files": {"count": len(each), "hash": tree_hash(each), "each": each},
        "base": {  # bzip2 has one encoder, so that the bytes are the same everywhere
            path: b64encode(compress(tree[path])).decode() for path in each if kind(path, package) is Kind.SHARED
        },
        "conformance": conformance,
    }
    return written(record, package)


def written(record: Mapping[str, Any], package: str) -> bytes:
    """Return the text of a record, with the hashes of many files on a line."""
    text = dumps({**record, "files": {}}, indent=2, ensure_ascii=False) + "\n"
    return text.replace('"files": {}', _files(record["files"], package), 1).encode("utf-8", "backslashreplace")


def bases(record: Mapping[str, Json]) -> dict[str, bytes]:
    """Return the shared files as they were generated last time, those of which the record has both content and hash."""
    files, packed = record.get("files"), record.get("base")
    each = files.get("each") if isinstance(files, dict) else None
    if not isinstance(packed, dict) or not isinstance(each, dict):
        return {}
    contents = {}
    for path, text in packed.items():
        try:
            content = BZ2Decompressor().decompress(b64decode(text), _LARGEST)
        except (OSError, TypeError, ValueError, EOFError):
            continue
        if file_hash(content) == each.get(path):
            contents[path] = content
    return contents


def _files(files: Mapping[str, Any], package: str) -> str:
    """Format the hashes, one file a line, but those of the data on one line and those of the code on another.

    The files of either change together, and a line of a diff for each of them says nothing.
    """
    lines: dict[str, list[str]] = {}
    for path, digest in files["each"].items():
        line = " code" if is_code(path, package) else "" if kind(path, package) is Kind.MACHINE else path
        lines.setdefault(line, []).append(f"{dumps(path, ensure_ascii=False)}: {dumps(digest)}")
    written = ",\n      ".join(", ".join(lines[line]) for line in sorted(lines))
    head = f'"count": {dumps(files.get("count"))}, "hash": {dumps(files.get("hash"))}, "each": {{'
    return f'"files": {{\n    {head}{written}\n    }}\n  }}'
