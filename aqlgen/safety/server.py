"""The start of the runtime as a safety server, and of its commands for people (execution safety loop document, 2)."""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from aqlgen.diagnostics.errors import OptionError
from aqlgen.runtime.cli import main as run_adapter
from aqlgen.runtime.settings.load import CONFIG_FILE_VARIABLE, ConfigError, load
from aqlgen.runtime.text import terminal_text
from aqlgen.safety.policy import check_policy

__all__ = ["COMMANDS", "FOLDER", "run"]

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
    if _is_typed(arguments):
        sys.stdout.write(terminal_text(_notice(policy)))
        return 0
    try:
        code = run_adapter(FOLDER, None, arguments)
    except SystemExit as ended:  # its parser refuses arguments so
        code = ended.code if isinstance(ended.code, int) else 0
    return OptionError.exit_code if code == _MISUSE else code


def _is_typed(arguments: Sequence[str]) -> bool:
    """Return True if a person has started what an MCP client starts and talks to."""
    return not arguments and sys.stdin is not None and sys.stdin.isatty()


def _notice(policy: Path | None) -> str:
    words = ["safety", *(() if policy is None else ("--policy", str(policy.absolute())))]
    server = {"safety": {"command": "aqlgen", "args": words}}
    return (
        "The safety server speaks MCP on standard input and output: an MCP client starts it and talks to it.\n"
        f"In a client's settings:  {json.dumps({'mcpServers': server}, ensure_ascii=False)}\n"
        f"For yourself:            aqlgen {' '.join(words)} operator\n"
    )
