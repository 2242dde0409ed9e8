"""The options of a generation, and the parts that a project can have beside the adapter itself."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal

from aqlgen.diagnostics.errors import FileError, OptionError

if TYPE_CHECKING:
    from aqlgen.document.request import Request

AS_GIVEN: Final[Mapping[str, bool]] = MappingProxyType({"as given": True})
"""The metadata of a field that a project records where it is set: its default says that it is a text (None), a switch
(False) or texts (an empty tuple)."""


@dataclass(frozen=True, slots=True)
class Options:
    """What the user asked for, as far as it decides what is in the table."""

    requests: tuple[Request, ...]
    """The documents: that of an adapter of one, or those of several APIs."""
    name: str | None = None
    overrides: Path | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    field_case: str | None = None
    """snake or preserve; None leaves it to the overrides, and then it is snake."""
    strict: bool = False
    stale: Literal["error", "report"] = "error"
    """What becomes of overrides that the document has nothing for: they refuse the run, or are warned of."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Names to keep, by `METHOD /path`: those of the table that there was, or what its record has pinned."""
    ids: Mapping[str, str] = field(default_factory=dict)
    """The operationIds of the table that there was, by `METHOD /path`: they tell operations that moved."""
    retired: Mapping[str, str] = field(default_factory=dict)
    """Names that no other operation is to get, each with the `METHOD /path` that it stood for before."""
    runtime: str | None = None
    """sealed or source: the runtime as one archive in the project, or as its source; None is sealed."""
    parts: tuple[str, ...] = ()
    """What the project has beside the adapter itself, such as ci."""
    overrides_text: bytes | None = None
    """The content of the overrides, under the name of that file, before it is written there."""
    auth: str | None = field(default=None, metadata=AS_GIVEN)
    """The credential of operations for which the document states none: basic, bearer, header:NAME or query:NAME."""

    @property
    def of_several(self) -> bool:
        """True for an adapter of several APIs, of which one may be left: each has a name."""
        return len(self.requests) > 1 or bool(self.requests[0].name)


def overrides_content(options: Options) -> bytes | None:
    """Return the overrides as bytes, None without any. Raises FileError."""
    path = options.overrides
    if path is None or options.overrides_text is not None:
        return options.overrides_text
    try:
        return path.read_bytes()
    except OSError as error:
        raise FileError.of("file-unreadable", f"{path} cannot be read", file=str(path)) from error


PARTS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "ci": ("GitHub workflows, and the update script", (".github/*", "scripts/*")),
    "clients": ("settings of MCP clients, and an .env to fill in", ("CLIENTS.md", ".env.example")),
    "docker": ("Dockerfile, and Compose with a store", ("Dockerfile", ".dockerignore", "deploy/compose.yaml")),
    "element": ("the operations as an adapter element of MCP-AQL", ("schema/adapter.yaml", "schema/*.md")),
    "git": ("git attributes: line ends, and files folded in reviews", (".gitattributes",)),
    "hooks": ("hooks.py, your functions around every call", ("src/{package}/hooks.py",)),
    "kubernetes": ("Kubernetes manifests of three replicas", ("deploy/kubernetes.yaml",)),
    "mcpb": ("a bundle for Claude Desktop", ("manifest.json", ".mcpbignore")),
    "overrides": ("overrides.yaml, with an example of each decision", ("overrides.yaml",)),
    "registry": ("server.json and a Server Card, for registries and clients", ("server.json", "server-card.json")),
    "schemas": ("JSON Schemas of the project's files, for editors", ("schema/*.schema.json",)),
    "settings": ("adapter.toml, for your settings", ("adapter.toml",)),
    "skill": ("a skill (SKILL.md) for agents that work in a shell", ("skills/*",)),
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
            "bad-option",
            f"{unknown[0]!r} is not a part of a project",
            help=f"The parts are {', '.join((*PARTS, 'all'))}.",
        )
    return tuple(PARTS) if "all" in names else tuple(sorted(set(names)))
