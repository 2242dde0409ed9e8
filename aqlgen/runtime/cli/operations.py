# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""What the command prints of operations: describe, operations and call. Nothing here imports mcp."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..exact_json import write_json
from ..introspection.introspect import Introspection
from ..settings.load import load
from ..table import Adapter, Table
from ..text import line
from ..unseen import escaped, terminal_text
from .guidance import YES_COUNTS_FOR_NOTHING

__all__ = [
    "Terminal",
    "as_json",
    "call",
    "describe",
    "knows",
    "list_operations",
    "nearest",
    "read_params",
    "render_description",
    "render_operations",
]


def _introspection(folder: Path, environ: Mapping[str, str]) -> tuple[Introspection, Table]:
    config = load(folder, environ)
    table = Table(folder, read_only=config.read_only)
    return Introspection(Adapter.load(folder), table, config), table


def describe(folder: Path, name: str, environ: Mapping[str, str]) -> dict[str, Any] | None:
    """Return the introspection of an operation, with its method, path and danger, or else of a type.

    None if there is neither.
    """
    introspection, table = _introspection(folder, environ)
    answer = introspection.answer({"query": "operations", "name": name}, None)
    details: dict[str, Any] | None = answer["data"]["operation"] if answer["success"] else None
    if details is None:
        answer = introspection.answer({"query": "types", "name": name}, None)
        return answer["data"]["type"] if answer["success"] else None
    row = table.find(details["name"])
    return details if row is None else {**details, "method": row.method, "path": row.path, "danger": row.danger}


def render_description(folder: Path, details: Mapping[str, Any], command: str, environ: Mapping[str, str]) -> str:
    """Return the page for people of what `describe` returned. `command` is how the adapter is called."""
    from .description import render_operation, render_type

    table = Table(folder, read_only=load(folder, environ).read_only)
    if "semantic_category" in details:
        return render_operation(details, command, table.find(details["name"]), table.types)
    return render_type(details, command, table.types.get(details["name"], {}), table.types)


def nearest(folder: Path, name: str, environ: Mapping[str, str], *, types: bool = False) -> list[str]:
    """Return the operation that an unknown name may mean, and with `types` the type, as far as there are any."""
    from difflib import get_close_matches

    introspection, table = _introspection(folder, environ)
    near = list(introspection.unknown(name).details.get("available", ()))[:1]
    known = {kind.lower(): kind for kind in table.types} if types else {}
    return near + [known[kind] for kind in get_close_matches(name.lower(), known, 1, 0.75)]


def knows(folder: Path, name: str) -> bool:
    """Return True if the adapter has an operation of that name."""
    return Table(folder).find(name) is not None


def read_params(folder: Path, operation: str, pairs: Sequence[str], environ: Mapping[str, str]) -> dict[str, Any]:
    """Read NAME=VALUE each, as the operation's schemas have them. Raises ValueProblem."""
    from .values import declared_parameters, read_pairs

    introspection, table = _introspection(folder, environ)
    return read_pairs(pairs, declared_parameters(introspection, table, operation))


def list_operations(
    folder: Path, environ: Mapping[str, str], *, category: str | None, search: str | None
) -> list[dict[str, Any]]:
    """Return the operations that are offered as introspection lists them, with method and path.

    Searched ones are in order, the best first.
    """
    from ..introspection.names import Index

    table = Table(folder, read_only=load(folder, environ).read_only)
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
    yes: bool = False,
) -> dict[str, Any]:
    """Perform an operation as for an agent. Returns the envelope; the person at the terminal can confirm.

    `yes` confirms in advance, unless the owner demands a person.
    """
    from ..assembly import assemble
    from ..session import Session

    parts = assemble(folder, hooks, environ=environ, mock=mock)
    by_person = parts.config.approval == "person"
    if yes and by_person:
        sys.stderr.write(f"{YES_COUNTS_FOR_NOTHING}\n")
    person = Terminal(yes=yes and not by_person)
    try:
        return await parts.dispatcher.handle(None, {"operation": operation, "params": params}, Session.new(), person)
    finally:
        await parts.transport.aclose()


def as_json(value: Any) -> str:
    """Return JSON for people to read."""
    return escaped(write_json(value, json.JSONEncoder(indent=2, ensure_ascii=False).encode))


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
        sys.stderr.write(f"{terminal_text(question)}\nGo on? [y/N] ")
        sys.stderr.flush()
        return sys.stdin.readline().strip().lower() in ("y", "yes")
