# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The operator's page, from the command line."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ..text import terminal_text

if TYPE_CHECKING:
    import argparse

__all__ = ["run_page"]


def run_page(folder: Path, environ: Mapping[str, str], options: argparse.Namespace) -> int:
    """Serve the operator's page until a signal arrives. Returns the exit code; raises ConfigError."""
    from ..operator.serve import NoTerminal, serve_page
    from ..server.http import BindError

    try:
        return serve_page(folder, environ, port=options.port, address_file=options.address_file, name=options.by)
    except NoTerminal as problem:
        sys.stderr.write(f"Error: {terminal_text(str(problem))}\n")
        return 2
    except (BindError, OSError) as problem:
        sys.stderr.write(f"Error: {terminal_text(str(problem))}\n")
        return 1
