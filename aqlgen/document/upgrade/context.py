"""The context that all parts of the upgrade share: the original document, origins and diagnostics."""

from __future__ import annotations

from collections.abc import Mapping

from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.document.positions import Origins
from aqlgen.document.resolve import Resolver, UnresolvedError
from aqlgen.document.upgrade.schemas import Schemas
from aqlgen.ir import Json, Origin


class Upgrade:
    """One document being upgraded; all pointers lead into the original document."""

    def __init__(self, root: dict[str, Json], origins: Origins) -> None:
        self.root = root
        self.origins = origins
        self.resolver = Resolver(root)
        self.schemas = Schemas(self.resolver, origins)
        self.diagnostics: list[Diagnostic] = []
        self.memory: dict[tuple[str, int, tuple[str, ...]], tuple[Json, Json]] = {}
        """Converted parts by kind, identity and content types, with the part itself to keep its identity unique."""

    def warn(self, code: str, message: str, pointer: str, help: str = "") -> None:
        """Add a warning about something without an exact equivalent."""
        self.diagnostics.append(Diagnostic(code, Severity.WARNING, message, pointer=pointer, help=help))

    def origin(self, pointer: str) -> Origin:
        """Return the origin in the user's files of a part of the original document."""
        return self.origins.find(self.root, pointer)

    def follow(self, node: Json, pointer: str) -> tuple[Json, str]:
        """Follow references to the target and its pointer; leave one that leads nowhere to the build stage."""
        try:
            return self.resolver.follow(node, pointer)
        except UnresolvedError:
            return node, pointer

    def place(self, container: dict[str, Json], key: str, value: Json, pointer: str) -> None:
        """Set a member of a new object to a value that came from `pointer`."""
        container[key] = value
        self.origins.note(container, key, self.origin(pointer))

    def append(self, container: list[Json], value: Json, pointer: str) -> None:
        """Append a value that came from `pointer` to a new list."""
        container.append(value)
        self.origins.note(container, len(container) - 1, self.origin(pointer))

    def entries(self, key: str) -> list[tuple[str, Json]]:
        """Return the entries of a mapping at the root, none if there is no mapping."""
        mapping = self.root.get(key)
        return list(mapping.items()) if isinstance(mapping, Mapping) else []
