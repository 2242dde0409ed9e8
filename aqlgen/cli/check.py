"""`aqlgen check`, as it is typed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aqlgen.cli.app import app, examples
from aqlgen.cli.options import Folder, Output, OutputFormat, Quiet
from aqlgen.diagnostics.errors import OptionError


@app.command(
    "check",
    short_help="Check, for CI, that generated files are as generated.",
    epilog=examples(
        "aqlgen check --pristine",
        "aqlgen check petstore-adapter --pristine --output-format json",
    ),
)
def check_command(
    folder: Folder = Path(),
    pristine: Annotated[
        bool, typer.Option("--pristine", help="The generated files: as generated, and the same again.")
    ] = False,
    output_format: OutputFormat = Output.HUMAN,
    quiet: Quiet = False,
) -> None:
    """Check that the generated files of a project are as they were generated; for continuous integration."""
    from aqlgen import terminal_state
    from aqlgen.cli import output as terminal
    from aqlgen.commands.check import check
    from aqlgen.diagnostics.report import json_text

    if not pristine:
        raise OptionError.of(
            "bad-option",
            "say what to check",
            help="`aqlgen check --pristine` checks the generated files; the project's own tests check its server.",
        )
    with terminal.progress(shown=output_format is Output.HUMAN and not quiet) as progress:
        found = check(folder, progress)
    if output_format is Output.JSON:
        typer.echo(json_text(found.as_json()))
    elif found.findings:
        typer.echo(terminal_state.checked(found), err=True)
    elif not quiet:
        typer.echo(terminal_state.checked(found))
    raise typer.Exit(found.exit_code)
