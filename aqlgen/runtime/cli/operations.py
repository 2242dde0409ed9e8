# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""What the command prints of operations: describe, operations and call. Nothing here imports mcp."""

from __future__ import annotations

import json
import shlex
import sys
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..introspection.introspect import Introspection
from ..settings.load import load
from ..table import Adapter, Table
from ..text import line
from ..unseen import escaped, terminal_text

__all__ = [
    "Terminal",
    "as_json",
    "call",
    "describe",
    "list_operations",
    "render_description",
    "render_operations",
    "suggestion",
]


_WIDTH = 100
_FACTS = ("format", "minimum", "maximum", "minLength", "maxLength", "pattern")


def _introspection(folder: Path, environ: Mapping[str, str]) -> tuple[Introspection, Table]:
    config = load(folder, environ)
    table = Table(folder, read_only=config.read_only)
    return Introspection(Adapter.load(folder), table, config), table


def describe(folder: Path, operation: str, environ: Mapping[str, str]) -> dict[str, Any] | None:
    """Return the introspection of an operation with its method, path and danger, None if there is no such operation."""
    introspection, table = _introspection(folder, environ)
    answer = introspection.answer({"query": "operations", "name": operation}, None)
    details = answer["data"]["operation"] if answer["success"] else None
    row = None if details is None else table.find(details["name"])
    if details is None or row is None:
        return details
    return {**details, "method": row.method, "path": row.path, "danger": row.danger}


def suggestion(folder: Path, operation: str, environ: Mapping[str, str]) -> str:
    """Return a message that there is no such operation, with the name that may be meant."""
    return _introspection(folder, environ)[0].unknown(operation).message


def render_description(details: Mapping[str, Any], command: str) -> str:
    """Return the page for people. `command` is how the adapter is called."""
    summary = [details["semantic_category"]]
    if "path" in details:
        summary = [f"{details['method']} {details['path']}", *summary, details["danger"]]
    lines = [details["name"], f"  {', '.join(summary)}", *_wrapped(details["description"], "  "), "", "Parameters"]
    width = max((len(parameter["name"]) for parameter in details["parameters"]), default=0)
    for parameter in details["parameters"]:
        lines += _parameter(parameter, width)
    if not details["parameters"]:
        lines.append("  none")
    lines += ["", f"Gives {details['returns']['name']}"]
    for example in details.get("examples", ())[:1]:
        params = json.dumps(example["request"]["params"], ensure_ascii=False, separators=(",", ":"))
        lines += ["", f"Try  {command} call {details['name']} {shlex.quote(params)} --mock"]
    return "\n".join(lines)


def _parameter(parameter: Mapping[str, Any], width: int) -> Iterator[str]:
    kind = str(parameter["type"])
    if kind == "array" and "items" in parameter:
        kind = f"list of {parameter['items']['type']}"
    facts = [kind, *(["required"] if parameter["required"] else [])]
    facts += [f"{key} {parameter[key]}" for key in _FACTS if key in parameter]
    if "default" in parameter:
        facts.append(f"default {json.dumps(parameter['default'], ensure_ascii=False)}")
    values = parameter.get("enum", parameter.get("items", {}).get("enum"))
    if values:
        facts.append(f"one of {', '.join(json.dumps(value, ensure_ascii=False) for value in values)}")
    indent = " " * (width + 4)
    head, *rest = textwrap.wrap(", ".join(facts), _WIDTH - len(indent)) or [""]
    yield f"  {parameter['name']:<{width}}  {head}"
    yield from (indent + text for text in rest)
    yield from _wrapped(line(parameter.get("description", ""), 1000), indent)


def _wrapped(text: str, indent: str) -> Iterator[str]:
    for part in text.splitlines():
        yield from textwrap.wrap(part, _WIDTH, initial_indent=indent, subsequent_indent=indent)


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
    person = Terminal(yes=yes and parts.config.approval != "person")
    try:
        return await parts.dispatcher.handle(None, {"operation": operation, "params": params}, Session.new(), person)
    finally:
        await parts.transport.aclose()


def as_json(value: Any) -> str:
    """Return JSON for people to read."""
    return escaped(json.dumps(value, indent=2, ensure_ascii=False))


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
