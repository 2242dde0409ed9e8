# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The command of the operator."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from ..text import terminal_text

__all__ = ["run_page"]


def run_page(folder: Path, environ: Mapping[str, str], port: int, address_file: Path | None) -> int:
    """Serve the operator's page until a signal arrives. Returns the exit code; raises ConfigError."""
    from ..operator.serve import NoTerminal, serve_page
    from ..server.http import BindError

    try:
        return serve_page(folder, environ, port=port, address_file=address_file)
    except NoTerminal as problem:
        sys.stderr.write(f"Error: {terminal_text(str(problem))}\n")
        return 2
    except (BindError, OSError) as problem:
        sys.stderr.write(f"Error: {terminal_text(str(problem))}\n")
        return 1
