"""What every part of the upgrade shares: the document as given, where its parts came from, and what there is to say."""

from __future__ import annotations

from collections.abc import Mapping

from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.document.origins import Origins
from aqlgen.document.resolve import Resolver, UnresolvedError
from aqlgen.document.upgrade.schemas import Schemas
from aqlgen.ir import Json, Origin


class Upgrade:
    """One document being upgraded; all pointers are those of the document given."""

    def __init__(self, root: dict[str, Json], origins: Origins) -> None:
        self.root = root
        self.origins = origins
        self.resolver = Resolver(root)
        self.schemas = Schemas(self.resolver, origins)
        self.diagnostics: list[Diagnostic] = []
        self.memory: dict[tuple[str, int, tuple[str, ...]], tuple[Json, Json]] = {}
        """Parts converted before, by kind, identity and content types; with the part, to keep its identity its own."""

    def warn(self, code: str, message: str, pointer: str, help: str = "") -> None:
        """Note something that has no exact equivalent."""
        self.diagnostics.append(Diagnostic(code, Severity.WARNING, message, pointer=pointer, help=help))

    def origin(self, pointer: str) -> Origin:
        """Give where in the user's files a part of the given document stands."""
        return self.origins.find(self.root, pointer)

    def follow(self, node: Json, pointer: str) -> tuple[Json, str]:
        """Follow references to what is meant and where it stands; one that leads nowhere is left to the build stage."""
        try:
            return self.resolver.follow(node, pointer)
        except UnresolvedError:
            return node, pointer

    def place(self, container: dict[str, Json], key: str, value: Json, pointer: str) -> None:
        """Put what came from `pointer` under a key of a new object."""
        container[key] = value
        self.origins.note(container, key, self.origin(pointer))

    def append(self, container: list[Json], value: Json, pointer: str) -> None:
        """Put what came from `pointer` at the end of a new list."""
        container.append(value)
        self.origins.note(container, len(container) - 1, self.origin(pointer))

    def entries(self, key: str) -> list[tuple[str, Json]]:
        """Give the entries of a mapping at the root."""
        found = self.root.get(key)
        return list(found.items()) if isinstance(found, Mapping) else []
