"""The start of the runtime as a safety server, and of its commands for people (execution safety loop document, 2).

Before it the policy is checked: every wrong key and value of it, each with its position.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.diagnostics.errors import FileError, OptionError
from aqlgen.document.positions import Position
from aqlgen.runtime.cli import main as run_adapter
from aqlgen.runtime.settings import ConfigError, Setting, refusal
from aqlgen.runtime.settings.config import SETTINGS
from aqlgen.runtime.settings.load import CONFIG_FILE_VARIABLE, load, parse_settings
from aqlgen.runtime.text import did_you_mean, terminal_text

_TABLES: Final = frozenset({"safety_loop", "state", "audit", "limits", "telemetry", "http"})
_ALONE: Final = frozenset({"endpoint_mode", "tool_prefix", "log_level", "introspection.max_list"})
_MAX_BYTES: Final = 1024 * 1024
_CODE: Final = "bad-policy"
_HELP: Final = "A policy is TOML; docs/safety-server.md shows one."

SETTINGS_OF_POLICIES: Final[dict[str, Setting]] = {
    setting.key: setting for setting in SETTINGS if setting.key in _ALONE or setting.key.partition(".")[0] in _TABLES
}
"""The settings of adapters that mean something where there is no API."""
_OTHERS: Final = frozenset(setting.key for setting in SETTINGS) - SETTINGS_OF_POLICIES.keys()


def check_policy(path: Path) -> frozenset[str]:
    """Return the settings that a policy sets. Raises FileError, and OptionError with all that is wrong with it."""
    content = _content(path)
    try:
        values = parse_settings(path.name, content)
    except ConfigError as problem:
        raise OptionError.of(
            _CODE, f"the policy {problem}", file=str(path), line=problem.line, column=problem.column, help=_HELP
        ) from None
    mistakes = {key: mistake for key, raw in values.items() if (mistake := _mistake(key, raw)) is not None}
    if mistakes:
        positions = _positions(content.decode("utf-8-sig"), list(mistakes))
        findings = [
            Diagnostic(
                _CODE,
                Severity.ERROR,
                message,
                file=str(path),
                line=positions[key][0],
                column=positions[key][1],
                help=advice,
            )
            for key, (message, advice) in mistakes.items()
        ]
        raise OptionError(*sorted(findings, key=lambda finding: (finding.line, finding.column)))
    return frozenset(values)


def _content(path: Path) -> bytes:
    if path.exists() and not path.is_file():  # a pipe could be read once, and the runtime reads it again
        raise FileError.of("file-unreadable", f"the policy {path} is not a file", help="Write it into a file.")
    try:
        with path.open("rb") as file:
            content = file.read(_MAX_BYTES + 1)
    except FileNotFoundError:
        raise FileError.of(
            "file-not-found", f"there is no policy {path}", help="Give --policy the path of one."
        ) from None
    except OSError as problem:
        raise FileError.of("file-unreadable", f"the policy {path} cannot be read: {problem.strerror}") from None
    if len(content) > _MAX_BYTES:
        raise OptionError.of(_CODE, f"the policy has more than {_MAX_BYTES} bytes", file=str(path))
    return content


def _mistake(key: str, raw: Any) -> tuple[str, str] | None:
    """Return the problem of a key or its value, and the help; None without one."""
    if key in SETTINGS_OF_POLICIES:
        try:
            SETTINGS_OF_POLICIES[key].parse(raw)
        except ValueError as problem:
            return f"'{key}' {problem}", "Correct the value; docs/safety-server.md shows a policy."
        return None
    if refusal(key):
        return f"'{key}' {refusal(key)}", "Take it out of the policy."
    if key in _OTHERS:
        return (
            f"'{key}' concerns operations of an API; a safety server has none",
            "Take it out; it belongs to an adapter.",
        )
    tables = dict.fromkeys(name.partition(".")[0] for name in SETTINGS_OF_POLICIES)
    advice = f"A policy has {', '.join(tables)}; see docs/safety-server.md."
    return f"'{key}' is not a key of a policy", did_you_mean(key, SETTINGS_OF_POLICIES) or advice


def _positions(text: str, keys: list[str]) -> dict[str, Position]:
    """Return the first line that gives each dotted key: under its table, or its table where it is one; (0, 0) if none.

    The text is valid TOML, so that a line is enough; one within a text of several lines may be taken for a key.
    """
    places: dict[str, Position] = dict.fromkeys(keys, (0, 0))
    table = ""
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if stripped.startswith("["):
            name = table = _plain(stripped.strip("[").partition("]")[0])
        else:
            name = ".".join(filter(None, (table, _plain(stripped.partition("=")[0]))))
        for key, place in places.items():
            if place == (0, 0) and (name == key or name.startswith(f"{key}.")):
                places[key] = number, len(line) - len(line.lstrip()) + 1
    return places


def _plain(name: str) -> str:
    """Return a dotted name without quotes and blanks."""
    return ".".join(part.strip().strip("\"'") for part in name.split("."))


FOLDER: Final = Path(__file__).resolve().parent / "adapter"
"""The package of data: an adapter without operations."""
COMMANDS: Final = ("operator", "audit")
"""The commands of adapters that mean something without an API."""

_MODE: Final = "MCP_AQL_SAFETY_LOOP"
_MISUSE: Final = 2
"""The runtime's exit code for wrong arguments and settings."""


def run(policy: Path | None, arguments: Sequence[str]) -> int:
    """Serve, or do what the first argument names, with a policy or without. Returns the exit code.

    Settings come from the environment first, as of every adapter. Raises OptionError and FileError.
    """
    gc.enable()  # the command line has switched it off, which is for what ends soon
    try:
        if policy is not None:
            os.environ[CONFIG_FILE_VARIABLE] = str(policy.absolute())
        file = os.environ.get(CONFIG_FILE_VARIABLE)
        settings = check_policy(Path(file)) if file and file != os.devnull else frozenset()
        if not os.environ.get(_MODE) and "safety_loop.mode" not in settings:
            os.environ[_MODE] = "enforcing"
        load(FOLDER, os.environ)
    except ConfigError as problem:
        raise OptionError.of("bad-policy", str(problem), help="docs/safety-server.md lists the settings.") from None
    if not arguments and sys.stdin is not None and sys.stdin.isatty():
        sys.stdout.write(terminal_text(_notice(policy)))
        return 0
    try:
        code = run_adapter(FOLDER, None, arguments)
    except SystemExit as ended:  # its parser refuses arguments so
        code = ended.code if isinstance(ended.code, int) else 0
    return OptionError.exit_code if code == _MISUSE else code


def _notice(policy: Path | None) -> str:
    words = ["safety", *(() if policy is None else ("--policy", str(policy.absolute())))]
    server = {"safety": {"command": "aqlgen", "args": words}}
    return (
        "The safety server speaks MCP on standard input and output: an MCP client starts it and talks to it.\n"
        f"In a client's settings:  {json.dumps({'mcpServers': server}, ensure_ascii=False)}\n"
        f"For yourself:            aqlgen {' '.join(words)} operator\n"
    )
