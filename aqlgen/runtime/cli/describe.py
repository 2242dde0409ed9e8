# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""The command `describe`: what introspection tells an agent about an operation, as a page for people."""

from __future__ import annotations

import json
import shlex
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..introspection.introspect import Introspection
from ..settings.load import load
from ..table import Adapter, Table
from ..text import line

__all__ = ["describe", "render_description", "suggestion"]

_WIDTH = 100
_FACTS = ("format", "minimum", "maximum", "minLength", "maxLength", "pattern")


def _introspection(folder: Path, environ: Mapping[str, str]) -> tuple[Introspection, Table]:
    table = Table(folder)
    return Introspection(Adapter.load(folder), table, load(folder, environ)), table


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
