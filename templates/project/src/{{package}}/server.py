# machine: replaced by `aqlgen update`; extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The adapter's command, called by the script of `pyproject.toml` and by `python -m <package>`."""

from __future__ import annotations

from .runtime.cli import main as command
from .settings import FOLDER, hooks


def main() -> int:
    """Serve, or do what the first argument names. Returns the process's exit code."""
    code: int = command.main(FOLDER, hooks)
    return code
