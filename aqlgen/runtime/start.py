"""The start of an adapter: the command of its project, by the package that the runtime is in."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path


def main() -> int:
    """Serve, or do what the first argument names. Returns the process's exit code."""
    package = __name__.removesuffix(".runtime.start")
    file = import_module(package).__file__
    try:
        from .cli import main as command

        return command(Path(file or "").resolve().parent, f"{package}.hooks")
    except ImportError as problem:
        reason = f"a package that the adapter needs is missing or of another version ({problem})"
        sys.stderr.write(f"Error: {reason}. Install the adapter again with its dependencies.\n")
        return 1
