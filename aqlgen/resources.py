"""The templates and the runtime: in a checkout at its root, in an installed aqlgen beside its modules."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Final
from zipfile import ZIP_STORED, ZipFile, ZipInfo

from aqlgen import __version__
from aqlgen.runtime import SEAL

SOURCE: Final = "`pip install` with the path of its wheel or checkout"
"""How aqlgen is installed. It is on no public index, where whoever registers its name would be run."""

_PACKAGE: Final = Path(__file__).parent

MAIN: Final = "templates/project/src/{{package}}/__main__.py"
"""The module of every project by which `python -m` starts it; it is in the archive with the runtime."""

BYTECODE: Final = ("__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".DS_Store")
"""Folders and files that are no part of a template or of the runtime."""

PACKAGED: Final = _PACKAGE / "template"
"""Where an installed aqlgen has its templates."""


@dataclass(frozen=True, slots=True)
class Release:
    """A release by its tag and its commit, and the address of its repository; "" for what is not known."""

    tag: str = ""
    commit: str = ""
    address: str = ""


def own_templates() -> Path:
    """Return the folder that holds `copier.yml` and `templates/` of this aqlgen."""
    return PACKAGED if (PACKAGED / "copier.yml").is_file() else _PACKAGE.parent


def runtime_of(templates: Path) -> Path:
    """Return the folder of the runtime that belongs to templates: an installed aqlgen has it only as a package."""
    beside = templates / "aqlgen/runtime"
    return beside if beside.is_dir() else _PACKAGE / "runtime"


@cache
def sealed_runtime() -> bytes:
    """Return the runtime as one archive of its sources; the same sources give the same bytes.

    It is a zip, from which Python imports, and which OpenSSF Scorecard's check for binary artifacts passes, other than
    a wheel. It is stored and not deflated: the bytes depend on no zlib, searches see the text, and git keeps no more of
    the next version than its changes.
    """
    content = BytesIO()
    with ZipFile(content, "w", ZIP_STORED) as archive:
        files = {path: file.read_bytes() for path, file in files_in(runtime_of(own_templates()))}
        files[SEAL] = seal(files).encode()
        entries = {f"runtime/{path}": text for path, text in files.items()}
        for path, text in sorted({**entries, "__main__.py": (own_templates() / MAIN).read_bytes()}.items()):
            entry = ZipInfo(path)  # of 1980, the first time that a zip can say
            entry.create_system, entry.external_attr = 3, 0o644 << 16
            archive.writestr(entry, text)
    return content.getvalue()


def seal(files: Mapping[str, bytes]) -> str:
    """Return the hashes of files in the form of `sha256sum`, without that of a seal."""
    return "".join(f"{sha256(files[path]).hexdigest()}  {path}\n" for path in sorted(files) if path != SEAL)


def own_files() -> list[tuple[str, Path]]:
    """Return all files of this aqlgen, code and templates, by their path."""
    templates = own_templates()
    beside = [] if templates == PACKAGED else [*files_in(templates / "templates"), ("", templates / "copier.yml")]
    return sorted([*files_in(_PACKAGE), *beside])


@cache
def build() -> str:
    """Return the identity of this build: the version, and the hash of all files, the same in a checkout and a wheel."""
    places = {path.removeprefix("template/templates/"): file for path, file in own_files()}
    places[""] = places.pop("template/copier.yml", own_templates() / "copier.yml")
    for beside in ("release.txt", "CHANGELOG.md"):
        places.pop(f"template/{beside}", None)
    whole = sha256()
    for path in sorted(places):
        whole.update(f"{path}\0{sha256(places[path].read_bytes()).hexdigest()}\n".encode())
    return f"{__version__}+{whole.hexdigest()[:12]}"


def cache_folder() -> Path | None:
    """Return the folder of the user's that keeps results, outside of every project; None if AQLGEN_CACHE is empty."""
    chosen, shared = os.environ.get("AQLGEN_CACHE"), os.environ.get("XDG_CACHE_HOME")
    try:
        root = Path(chosen if chosen is not None else Path(shared or Path.home() / ".cache") / "aqlgen")
    except RuntimeError:  # no home
        return None
    return None if chosen == "" else root


_LINK = re.compile(r" \(\[[^\[\]]*\]\([^()]*\)(?:, \[[^\[\]]*\]\([^()]*\))*\)|\[([^\[\]]*)\]\([^()]*\)")
"""A link of the changelog: in brackets, which a terminal does not need, or around some words."""


def changelog(version: str) -> list[str]:
    """Return the entries of the changelog above the heading of a version, the first sentence of each."""
    file = own_templates() / "CHANGELOG.md"
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    newer = re.split(rf"^## {re.escape(version)}(?![\w.])", text, maxsplit=1, flags=re.MULTILINE)[0]
    kind, entries = "", []
    for heading, entry in re.findall(r"^(?:### (.*)|- (.*\n(?:  .*\n)*))", newer, re.MULTILINE):
        kind = heading or kind
        text = _LINK.sub(r"\1", " ".join(entry.split()))
        sentence = re.split(r"(?<=\.) ", text, maxsplit=1)[0]
        entries += [f"Removed: {sentence}" if kind == "Removed" else sentence] if entry else []
    return entries


def files_in(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the files in a folder with their path in it; links to folders are not followed."""
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in BYTECODE]
        home = Path(parent)
        prefix = "" if home == folder else f"{home.relative_to(folder).as_posix()}/"
        yield from ((f"{prefix}{name}", home / name) for name in names if name not in BYTECODE)
