"""The parts that a project can have beside the adapter itself, and the files of each. The only table of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from fnmatch import fnmatchcase
from typing import Final

from aqlgen.diagnostics.errors import OptionError

__all__ = ["PARTS", "known_parts", "part_of"]

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
