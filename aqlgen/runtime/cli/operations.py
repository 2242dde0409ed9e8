# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""The commands `operations` and `call`. Nothing here imports mcp."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..table import Table
from ..text import line

if TYPE_CHECKING:
    from ..protocol_operations import Person

__all__ = ["Terminal", "as_json", "call", "list_operations", "render_operations"]


def list_operations(folder: Path, *, category: str | None, search: str | None) -> list[dict[str, Any]]:
    """Return a package's operations as introspection lists them, with method and path; searched, the best first."""
    from ..introspection.search import Index

    table = Table(folder)
    listed = {
        name: {
            "name": name,
            "semantic_category": family.upper(),
            "endpoint": family,
            "description": summary,
            "method": method,
            "path": path,
            "resource": resource,
            "danger": danger,
        }
        for name, family, (summary, method, path, resource, danger) in table.values(
            "summary", "method", "path", "resource", "danger"
        )
        if category is None or family == category.lower()
    }
    if search is None:
        return list(listed.values())
    index = Index((name, entry["resource"], entry["description"]) for name, entry in listed.items())
    return [listed[name] for name in index.search(search)]


def render_operations(operations: list[dict[str, Any]]) -> str:
    """Return a table of operations for a terminal, a line each."""
    width = max((len(operation["name"]) for operation in operations), default=0)
    return "\n".join(
        f"{operation['semantic_category']:<7}  {operation['name']:<{width}}  {line(operation['description'], 120)}"
        for operation in operations
    )


async def call(
    folder: Path,
    hooks: object | None,
    operation: str,
    params: Any,
    environ: Mapping[str, str],
    *,
    mock: bool,
    person: Person | None = None,
) -> dict[str, Any]:
    """Perform an operation as for an agent. Returns the envelope; `person` can confirm."""
    from ..assembly import assemble
    from ..session import Session

    parts = assemble(folder, hooks, environ=environ, mock=mock)
    try:
        return await parts.dispatcher.handle(None, {"operation": operation, "params": params}, Session.new(), person)
    finally:
        await parts.transport.aclose()


def as_json(value: Any) -> str:
    """Return JSON for people to read."""
    return json.dumps(value, indent=2, ensure_ascii=False)


class Terminal:
    """The person at the terminal, whom `call` asks for a confirmation (R-SAFE-4). `yes` answers each question."""

    batched = False

    def __init__(self, *, yes: bool) -> None:
        self._yes = yes

    @property
    def reachable(self) -> bool:
        """True if somebody can answer."""
        return self._yes or (sys.stdin is not None and sys.stdin.isatty())

    async def ask(self, question: str) -> bool:
        """Ask a question. Anything but a clear yes is a no."""
        if self._yes:
            return True
        sys.stderr.write(f"{question}\nGo on? [y/N] ")
        sys.stderr.flush()
        return sys.stdin.readline().strip().lower() in ("y", "yes")
