"""Who owns a file of a project: the user, the user together with aqlgen, or the machine. The only table of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Final

from aqlgen.diagnostics.errors import OptionError

__all__ = ["PARTS", "RUNTIME", "Kind", "folders", "is_code", "kind", "known_parts", "part_of"]

RUNTIME: Final = "vendor/runtime.zip"
"""The archive of the runtime's sources."""


class Kind(StrEnum):
    """What happens to a file on `aqlgen update`."""

    YOURS = "yours"
    """Written once, then never touched again."""
    SHARED = "shared"
    """Edits are merged with what aqlgen changes."""
    MACHINE = "machine"
    """Replaced whole; an edit becomes an override, or is refused."""


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


PARTS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "ci": ("workflows for GitHub, and the script of updates", (".github/*", "scripts/*")),
    "clients": ("settings of MCP clients, and an .env to fill in", ("CLIENTS.md", ".env.example")),
    "docker": ("an image, and Compose with a store", ("Dockerfile", ".dockerignore", "deploy/compose.yaml")),
    "element": ("the operations as an adapter element of the protocol", ("schema/adapter.yaml", "schema/*.md")),
    "git": ("how git keeps line ends, and what a review folds", (".gitattributes",)),
    "hooks": ("hooks.py, for your functions around every call", ("src/{package}/hooks.py",)),
    "kubernetes": ("manifests of three replicas", ("deploy/kubernetes.yaml",)),
    "mcpb": ("a bundle for Claude Desktop", ("manifest.json", ".mcpbignore")),
    "overrides": ("overrides.yaml, with an example of each decision", ("overrides.yaml",)),
    "registry": ("an entry for registries of MCP servers", ("server.json",)),
    "schemas": ("JSON Schemas of the project's files, for editors", ("schema/*.schema.json",)),
    "settings": ("adapter.toml, with every setting and its default", ("adapter.toml",)),
}
"""What a project can have beside the adapter itself: what `aqlgen add` says of each part, and its files.

Each is the same in every adapter, or says nothing before somebody edits it.
"""


def part_of(path: str, package: str) -> str:
    """Return the part that a file belongs to, "" for one that every project has."""
    files = ((part, file.format(package=package)) for part, (_, patterns) in PARTS.items() for file in patterns)
    return next((part for part, file in files if fnmatchcase(path, file)), "")


def known_parts(names: Collection[str]) -> tuple[str, ...]:
    """Return parts by their names, every one for `all`. Raises OptionError."""
    unknown = sorted(set(names) - PARTS.keys() - {"all"})
    if unknown:
        raise OptionError.of(
            "bad-option", f"{unknown[0]!r} is no part of a project", help=f"The parts are {', '.join((*PARTS, 'all'))}."
        )
    return tuple(PARTS) if "all" in names else tuple(sorted(set(names)))


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
