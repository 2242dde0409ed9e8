"""Whose a file of a project is: the user's, shared with aqlgen, or the machine's. The one table of it."""

from __future__ import annotations

from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Final

__all__ = ["Kind", "folders", "kind"]


class Kind(StrEnum):
    """What becomes of a file on `aqlgen update`."""

    YOURS = "yours"
    """Written once, then never touched again."""
    SHARED = "shared"
    """Edits are merged with what aqlgen changes."""
    MACHINE = "machine"
    """Written anew; an edit becomes an override or is refused."""


_TABLE: Final = (
    ("overrides.yaml", Kind.YOURS),
    ("adapter.toml", Kind.YOURS),
    ("src/{package}/hooks.py", Kind.YOURS),
    ("openapi/*", Kind.MACHINE),
    ("OPERATIONS.md", Kind.MACHINE),
    ("MCPAQL-PROVENANCE.json", Kind.MACHINE),
    (".copier-answers.yml", Kind.MACHINE),
    ("schema/*", Kind.MACHINE),
    ("src/{package}/operations/*", Kind.MACHINE),
    ("src/{package}/*.json", Kind.MACHINE),
)
"""Patterns of paths within the project, where `*` stands for slashes too; whatever matches none is shared."""


def kind(path: str, package: str) -> Kind:
    """Give the kind of a file that aqlgen writes, by its path in the project.

    A file that aqlgen does not write is the user's own, wherever it stands: the recorded paths tell which those are.
    """
    return next((one for pattern, one in _TABLE if fnmatchcase(path, pattern.format(package=package))), Kind.SHARED)


def folders(package: str) -> tuple[str, ...]:
    """Give the folders that aqlgen alone writes to, as prefixes of paths; a file of another is out of place there."""
    return ("openapi/", f"src/{package}/operations/")
