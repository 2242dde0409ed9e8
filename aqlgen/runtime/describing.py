# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""What `describe` says of one operation: what introspection tells an agent, as a page for people."""

from __future__ import annotations

import json
import shlex
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from . import config as settings
from .introspection import Introspection
from .table import Adapter, Table
from .text import line

__all__ = ["describe", "render_description", "suggestion"]

_WIDE = 100
_FACTS = ("format", "minimum", "maximum", "minLength", "maxLength", "pattern")


def _introspection(folder: Path, environ: Mapping[str, str]) -> tuple[Introspection, Table]:
    table = Table(folder)
    return Introspection(Adapter.load(folder), table, settings.load(folder, environ)), table


def describe(folder: Path, operation: str, environ: Mapping[str, str]) -> dict[str, Any] | None:
    """Give what introspection says of an operation, with its method, path and danger; None when there is none."""
    introspection, table = _introspection(folder, environ)
    answer = introspection.answer({"query": "operations", "name": operation}, None)
    found = answer["data"]["operation"] if answer["success"] else None
    row = None if found is None else table.find(found["name"])
    if found is None or row is None:
        return found
    return {**found, "method": row.method, "path": row.path, "danger": row.danger}


def suggestion(folder: Path, operation: str, environ: Mapping[str, str]) -> str:
    """Say that there is no such operation, and which may be meant."""
    return _introspection(folder, environ)[0].unknown(operation).message


def render_description(found: Mapping[str, Any], command: str) -> str:
    """Make it readable. `command` is how the adapter is called."""
    about = [found["semantic_category"]]
    if "path" in found:
        about = [f"{found['method']} {found['path']}", *about, found["danger"]]
    lines = [found["name"], f"  {', '.join(about)}", *_wrapped(found["description"], "  "), "", "Parameters"]
    wide = max((len(one["name"]) for one in found["parameters"]), default=0)
    for one in found["parameters"]:
        lines += _parameter(one, wide)
    if not found["parameters"]:
        lines.append("  none")
    lines += ["", f"Gives {found['returns']['name']}"]
    for one in found.get("examples", ())[:1]:
        params = json.dumps(one["request"]["params"], ensure_ascii=False, separators=(",", ":"))
        lines += ["", f"Try  {command} call {found['name']} {shlex.quote(params)} --mock"]
    return "\n".join(lines)


def _parameter(one: Mapping[str, Any], wide: int) -> Iterator[str]:
    kind = str(one["type"])
    if kind == "array" and "items" in one:
        kind = f"list of {one['items']['type']}"
    facts = [kind, *(["required"] if one["required"] else [])]
    facts += [f"{key} {one[key]}" for key in _FACTS if key in one]
    if "default" in one:
        facts.append(f"default {json.dumps(one['default'], ensure_ascii=False)}")
    values = one.get("enum", one.get("items", {}).get("enum"))
    if values:
        facts.append(f"one of {', '.join(json.dumps(value, ensure_ascii=False) for value in values)}")
    indent = " " * (wide + 4)
    head, *rest = textwrap.wrap(", ".join(facts), _WIDE - len(indent)) or [""]
    yield f"  {one['name']:<{wide}}  {head}"
    yield from (indent + text for text in rest)
    yield from _wrapped(line(one.get("description", ""), 1000), indent)


def _wrapped(text: str, indent: str) -> Iterator[str]:
    for part in text.splitlines():
        yield from textwrap.wrap(part, _WIDE, initial_indent=indent, subsequent_indent=indent)
