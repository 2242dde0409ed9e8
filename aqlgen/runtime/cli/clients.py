"""The settings with which MCP clients start this adapter, in each client's own format, to paste or by one command.

They hold no credential: a variable is a reference to the environment or to a question where the client knows such, and
empty elsewhere.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..auth import STARTED_BY, Usage
from ..table import Adapter, Table


@dataclass(frozen=True, slots=True)
class Start:
    """The start of the adapter by a client: its name there, the command's words, and the variables of credentials."""

    name: str
    command: str
    arguments: Sequence[str]
    variables: Sequence[str]

    def entry(self, reference: str = "", **more: str) -> dict[str, Any]:
        """Return the entry of most clients; `reference` has `{}` for a variable's name, or is empty."""
        return {**more, "command": self.command, "args": [*self.arguments], "env": self.environment(reference)}

    def environment(self, reference: str = "") -> dict[str, str]:
        """Return the variables with the references that the client expands."""
        return {name: reference.replace("{}", name) for name in self.variables}

    def words(self, option: str) -> str:
        """Return an option for each variable as words for a shell, which fills in what it has of them."""
        return "".join(f'{option} {name}="${name}" ' for name in self.variables)

    @property
    def line(self) -> str:
        """The command as words for a shell."""
        return shlex.join((self.command, *self.arguments))


@dataclass(frozen=True, slots=True)
class Client:
    """A client: its name, the file that it reads, the settings to put there, and a command or link that does it."""

    title: str
    file: str
    settings: Callable[[Start], str]
    one_step: Callable[[Start], str] | None = None
    language: str = "json"


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _servers(reference: str = "", **more: str) -> Callable[[Start], str]:
    """Return the settings of a client that lists its servers under `mcpServers`."""
    return lambda start: _json({"mcpServers": {start.name: start.entry(reference, **more)}})


def _vscode(start: Start) -> dict[str, Any]:
    described = ({"id": name, "description": name} for name in start.variables)
    inputs = [{"type": "promptString", **each, "password": True} for each in described]
    return {"inputs": inputs, "servers": {start.name: start.entry("${input:{}}", type="stdio")}}


def _codex(start: Start) -> str:
    """Return a table of TOML, whose basic strings are those of JSON."""
    lines = [f"[mcp_servers.{start.name}]", f"command = {_text(start.command)}", f"args = {_text([*start.arguments])}"]
    return "\n".join([*lines, f"env_vars = {_text([*start.variables])}"])


def _text(value: str | Sequence[str]) -> str:
    return json.dumps(value).replace("\x7f", "\\u007f")


CLIENTS: Mapping[str, Client] = {
    "claude-desktop": Client(
        "Claude Desktop",
        "claude_desktop_config.json, which Settings > Developer > Edit Config opens",
        _servers(),
    ),
    "claude-code": Client(
        "Claude Code",
        ".mcp.json in the folder of your work",
        _servers("${{}:-}", type="stdio"),
        lambda start: (
            f"claude mcp add {start.words('--env')}--transport stdio --scope user {start.name} -- {start.line}"
        ),
    ),
    "cursor": Client("Cursor", "~/.cursor/mcp.json, or .cursor/mcp.json", _servers("${env:{}}")),
    "vscode": Client(
        "VS Code",
        ".vscode/mcp.json, or the one of “MCP: Open User Configuration”",
        lambda start: _json(_vscode(start)),
    ),
    "windsurf": Client("Windsurf", "~/.codeium/windsurf/mcp_config.json", _servers("${env:{}}")),
    "codex": Client(
        "Codex",
        "~/.codex/config.toml, or .codex/config.toml",
        _codex,
        lambda start: f"codex mcp add {start.name} {start.words('--env')}-- {start.line}",
        "toml",
    ),
    "gemini-cli": Client(
        "Gemini CLI",
        "~/.gemini/settings.json, or .gemini/settings.json",
        _servers("${}"),
        lambda start: f"gemini mcp add --scope user {start.words('--env')}{start.name} {start.line}",
    ),
    "zed": Client(
        "Zed",
        "settings.json of “zed: open settings file”",
        lambda start: _json({"context_servers": {start.name: start.entry()}}),
    ),
}
"""The clients by the name that a person types; each form is the one of the client's own documentation."""


def start_of(folder: Path) -> Start:
    """Return how this installed adapter is started. Raises OSError, ValueError or TypeError for a damaged table."""
    adapter, table = Adapter.load(folder), Table(folder)
    requirements = (adapter.security if stated is None else stated for _, _, (stated,) in table.values("security"))
    naming = Usage.of(requirements, ()).naming
    schemes = sorted((name for name in adapter.security_schemes if naming[name]), key=lambda name: -naming[name])
    variables = [name for scheme in schemes for name in adapter.security_schemes[scheme].get("variables", ())]
    command, *arguments = _start_command(adapter.package)
    return Start(adapter.name, command, arguments, [*dict.fromkeys(variables)])


def client_texts(start: Start, client: Client) -> tuple[str, str]:
    """Return the settings to paste, and what to say beside them: where they belong, and what does it in one step."""
    step = f"\nor in one step: {client.one_step(start)}" if client.one_step is not None else ""
    return client.settings(start), f"{client.title}, in {client.file}:{step}"


def serving_notice(name: str, package: str, options: Sequence[str] = ()) -> str:
    """Return the advice for somebody who started the server on a terminal, where no client talks to it."""
    installed = not os.environ.get(STARTED_BY)
    command, *arguments = [*_start_command(package), *options] if installed else _start_command(package)
    server = {name: {"command": command, "args": arguments}}
    lines = [
        f"{name}-adapter serves MCP on standard input and output: an MCP client starts it and talks to it.",
        f"In a client's settings:  {json.dumps({'mcpServers': server}, ensure_ascii=False)}",
        f"For Claude Code:         claude mcp add {name} -- {shlex.join((command, *arguments))}",
        f"For other clients:       {name}-adapter clients",
        f"For yourself:            {name}-adapter --help. Ctrl-C ends this.",
    ]
    return "\n".join(lines if installed else [*lines[:3], "Ctrl-C ends this."])


def _start_command(package: str) -> list[str]:
    """Return the words that start this program from anywhere; -P keeps the working directory out of the imports."""
    if os.environ.get(STARTED_BY):
        return shlex.split(os.environ[STARTED_BY])
    script = Path(sys.argv[0])
    if script.name == "__main__.py" or not script.is_file():
        return [sys.executable, "-P", "-m", package]
    return [str(script.absolute())]
