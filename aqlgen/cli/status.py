"""`aqlgen status`, as it is typed."""

from __future__ import annotations

from pathlib import Path

import typer

from aqlgen.cli.app import app, examples
from aqlgen.cli.options import Folder, Output, OutputFormat, Verbose


@app.command(
    "status",
    short_help="Tell what you changed, and what is out of date.",
    epilog=examples(
        "aqlgen status",
        "aqlgen status petstore-adapter -v",
    ),
)
def status_command(
    folder: Folder = Path(),
    output_format: OutputFormat = Output.HUMAN,
    verbose: Verbose = False,
) -> None:
    """Tell what you changed in a project since it was generated, and whether it is up to date."""
    from aqlgen import terminal_state
    from aqlgen.cli import output as terminal
    from aqlgen.commands.status import status
    from aqlgen.diagnostics.report import json_text

    with terminal.progress(shown=output_format is Output.HUMAN) as progress:
        found = status(folder, progress)
    if output_format is Output.JSON:
        typer.echo(json_text(found.as_json()))
    else:
        typer.echo(terminal_state.status(found, every=verbose))
