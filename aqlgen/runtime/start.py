"""The start of an adapter: the command of its project, by the package that the runtime is in."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from .cli import main as command


def main() -> int:
    """Serve, or do what the first argument names. Returns the process's exit code."""
    package = __name__.removesuffix(".runtime.start")
    hooks = import_module(f"{package}.hooks") if find_spec(f"{package}.hooks") else None
    file = import_module(package).__file__
    return command(Path(file or "").resolve().parent, hooks)
