"""What every part of the build stage shares: the resolver, the version, and where findings go."""

from __future__ import annotations

from dataclasses import dataclass, field

from aqlgen.build.typed import Kind, Model, view
from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.ir import Json
from aqlgen.resolve import Resolver


class SkipError(Exception):
    """The operation being built cannot be served; `diagnostic` says why."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


@dataclass(slots=True)
class Context:
    """The document's resolver and version, and the diagnostics found so far."""

    resolver: Resolver
    openapi: str
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def warn(self, code: str, message: str, pointer: str, help: str = "") -> None:
        """Note something that was left out or repaired."""
        self.diagnostics.append(Diagnostic(code, Severity.WARNING, message, pointer=pointer, help=help))

    def note(self, code: str, message: str, pointer: str, help: str = "") -> None:
        """Add a note."""
        self.diagnostics.append(Diagnostic(code, Severity.NOTE, message, pointer=pointer, help=help))

    def view(self, kind: Kind[Model], raw: Json, pointer: str) -> Model:
        """Give the typed view of an object; keys that do not validate are dropped with a warning.

        Raises InvalidObjectError.
        """

        def drop(key: str, why: str) -> None:
            self.warn("invalid-component", f"{key!r} is ignored: {why.lower()}", f"{pointer}/{key}")

        return view(kind, raw, self.openapi, drop)


def items(node: Json) -> list[tuple[str, Json]]:
    """Give the entries of a mapping, none where there is no mapping; specification extensions are left out."""
    if not isinstance(node, dict):
        return []
    return [(key, value) for key, value in node.items() if not key.startswith("x-")]


def text(node: Json) -> str:
    """Give a string as it is and anything else as nothing."""
    return node.strip() if isinstance(node, str) else ""
