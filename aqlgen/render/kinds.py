"""Who owns a file of a project: the user, the user together with aqlgen, or the machine. The only table of it."""

from __future__ import annotations

from enum import StrEnum
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Final

__all__ = ["RUNTIME", "Kind", "folders", "is_code", "kind"]

RUNTIME: Final = "vendor/runtime.zip"
"""The archive of the runtime's sources."""


class Kind(StrEnum):
    """What happens to a file on `aqlgen update`."""

    YOURS = "yours"
    """Written once, then never touched again."""
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
