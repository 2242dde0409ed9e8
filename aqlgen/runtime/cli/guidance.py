# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Sentences for the person at a terminal, on standard error: how to connect a client, what a refusal means."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..text import line

__all__ = ["YES_COUNTS_FOR_NOTHING", "advice", "no_such_command", "no_such_name", "serving_notice", "start_command"]

YES_COUNTS_FOR_NOTHING = (
    'Note: --yes confirms nothing here, since the adapter\'s owner demands a person (approval = "person").'
)


def serving_notice(name: str, package: str, options: Sequence[str] = ()) -> str:
    """Return what to do, for somebody who started the server on a terminal, where no client talks to it."""
    command, *arguments = [*start_command(package), *options]
    server = {name: {"command": command, "args": arguments}}
    return "\n".join(
        (
            f"{name}-adapter serves MCP on standard input and output: an MCP client starts it and talks to it.",
            f"In a client's settings:  {json.dumps({'mcpServers': server}, ensure_ascii=False)}",
            f"For Claude Code:         claude mcp add {name} -- {shlex.join((command, *arguments))}",
            f"For other clients:       {name}-adapter clients",
            f"For yourself:            {name}-adapter --help. Ctrl-C ends this.",
        )
    )


def start_command(package: str) -> list[str]:
    """Return the words that start this program from anywhere; -P keeps the working directory out of the imports."""
    script = Path(sys.argv[0])
    if script.name == "__main__.py" or not script.is_file():
        return [sys.executable, "-P", "-m", package]
    return [str(script.absolute())]


def no_such_name(name: str, near: Sequence[str], command: str, kind: str = "operation") -> str:
    """Return a sentence about a name that nothing has, with those that may be meant."""
    shown = line(name, 64)
    meant = f" Did you mean {_either(near)}?" if near else ""
    return f"there is no {kind} '{shown}'.{meant} `{command} operations` lists all, `--search WORDS` finds some."


def _either(names: Sequence[str]) -> str:
    *others, last = (f"'{name}'" for name in names)
    return f"{', '.join(others)} or {last}" if others else last


def no_such_command(word: str, command: str, commands: Sequence[str], *, is_operation: bool) -> str:
    """Return a sentence about a word that is no command of the adapter."""
    if is_operation:
        return f"'{word}' is an operation, not a command: `{command} call {word}` performs it."
    from difflib import get_close_matches

    near = get_close_matches(word.lower(), commands, 1)
    meant = f" Did you mean `{command} {near[0]}`?" if near else ""
    return f"there is no command '{line(word, 64)}'.{meant} The commands are {', '.join(commands)}."


def advice(envelope: Mapping[str, Any], operation: str, command: str) -> str:
    """Return what a person can do about a call that failed, "" where its error says all."""
    error = envelope.get("error", {})
    code, details = str(error.get("code", "")), error.get("details", {})
    name = line(operation, 64)
    if code == "NOT_FOUND_OPERATION":
        return f"Note: {no_such_name(operation, details.get('available', ())[:1], command)}"
    if code == "CONFIRMATION_REQUIRED" and "waits_as" in details:
        return f"An operator approves it: {command} operator approve {line(details['waits_as'], 64)}"
    if code == "CONFIRMATION_REQUIRED":
        return f"To confirm '{name}' yourself, give the same command with --yes, or type it where you can be asked."
    if code == "PERMISSION_DENIED" and details.get("approval") == "person":
        return (
            f"'{name}' is confirmed by a person alone, and --yes is none: type the command at a terminal, where you "
            "are asked. The owner's setting: approval (MCP_AQL_APPROVAL)."
        )
    if code.startswith("VALIDATION_"):
        return f"`{command} describe {name}` shows what it takes."
    return ""
