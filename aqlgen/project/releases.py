"""The release that this aqlgen is: a tag `v<version>`, from whose templates plain copier can update.

A checkout has it in its history; an installed aqlgen has it from its build (`hatch_build.py`).
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any, Final

from aqlgen import __version__, git
from aqlgen.diagnostics.errors import FileError
from aqlgen.resources import PACKAGED, Release, own_templates

__all__ = ["current"]

_PARTS: Final = ("copier.yml", "templates", "aqlgen/runtime")


@cache
def current() -> Release:
    """Return the release of this aqlgen's own templates; none when they were changed since."""
    record = PACKAGED / "release.txt"
    if record.is_file():
        return Release(*record.read_text(encoding="utf-8").splitlines())
    checkout = _checkout()
    tag = f"v{__version__}"
    if checkout is None or not _unchanged(checkout, tag):
        return Release()
    settings: dict[str, Any] = tomllib.loads((checkout / "pyproject.toml").read_text(encoding="utf-8"))
    commit = git.attempt("rev-parse", f"refs/tags/{tag}^{{commit}}", cwd=checkout).text
    return Release(tag, commit, settings["tool"]["hatch"]["build"]["hooks"]["custom"]["address"])


def _checkout() -> Path | None:
    """Return the repository that aqlgen runs from, if it does."""
    root = PACKAGED.parent.parent
    return root if own_templates() == root and (root / ".git").exists() else None


def _unchanged(root: Path, tag: str) -> bool:
    """Return True if the templates in the work tree are those of a tag, to the byte."""
    try:
        changed = git.attempt("diff", "--quiet", f"refs/tags/{tag}", "--", *_PARTS, cwd=root)
        added = git.attempt("ls-files", "--others", "--exclude-standard", "--", *_PARTS, cwd=root)
    except FileError:
        return False
    return changed.code == added.code == 0 and not added.out
