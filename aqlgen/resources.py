"""Where the templates and the runtime are: in a checkout at its root, in an installed aqlgen beside its modules."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Final

from aqlgen import __version__

__all__ = [
    "BYTECODE", "PACKAGED", "SOURCE", "URL",
    "files_in", "own_files", "own_templates", "runtime_files", "runtime_of", "runtime_project", "runtime_version",
]  # fmt: skip

URL: Final = "https://github.com/MCPAQL/aqlgen.git"
"""The public address of the templates, for `copier update`."""

SOURCE: Final = "`pip install` with the path of its wheel or checkout"
"""How aqlgen is installed. It is on no public index, where whoever registers its name would be run."""

_PACKAGE: Final = Path(__file__).parent

BYTECODE: Final = ("__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".DS_Store")
"""Folders and files that are no part of a template or of the runtime."""

PACKAGED: Final = _PACKAGE / "template"
"""Where an installed aqlgen has its templates."""


def own_templates() -> Path:
    """Return the folder that holds `copier.yml` and `templates/` of this aqlgen."""
    return PACKAGED if (PACKAGED / "copier.yml").is_file() else _PACKAGE.parent


def runtime_of(templates: Path) -> Path:
    """Return the folder of the runtime that belongs to templates: an installed aqlgen has it only as a package."""
    beside = templates / "aqlgen/runtime"
    return beside if beside.is_dir() else _PACKAGE / "runtime"


def runtime_project() -> Path:
    """Return the project from which pip builds the runtime as a package of its own."""
    return own_templates() / "templates" / "runtime"


def runtime_files() -> dict[str, Path]:
    """Return the files of the runtime by their path in it."""
    return dict(sorted(files_in(runtime_of(own_templates()))))


@cache
def runtime_version() -> str:
    """Return the version of the runtime as a package: that of aqlgen, and a label by the bytes of its files.

    No public index takes a version with a local label (PEP 440), so that nobody else can publish a package that a
    project would accept.
    """
    whole = sha256()
    for path, file in runtime_files().items():
        whole.update(f"{path}\0{sha256(file.read_bytes()).hexdigest()}\n".encode())
    return f"{__version__}+r{whole.hexdigest()[:10]}"


def own_files() -> list[tuple[str, Path]]:
    """Return all files of this aqlgen, code and templates, by their path."""
    templates = own_templates()
    beside = [] if templates == PACKAGED else [*files_in(templates / "templates"), ("", templates / "copier.yml")]
    return sorted([*files_in(_PACKAGE), *beside])


def files_in(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the files in a folder with their path in it; links to folders are not followed."""
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in BYTECODE]
        home = Path(parent)
        prefix = "" if home == folder else f"{home.relative_to(folder).as_posix()}/"
        yield from ((f"{prefix}{name}", home / name) for name in names if name not in BYTECODE)
