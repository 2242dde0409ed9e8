"""The start of an adapter: the command of its project, by the package that the runtime is in."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from .cli import main as command


def main() -> int:
    """Serve, or do what the first argument names. Returns the process's exit code."""
    package = __name__.removesuffix(".runtime.start")
    file = import_module(package).__file__
    return command(Path(file or "").resolve().parent, f"{package}.hooks")
