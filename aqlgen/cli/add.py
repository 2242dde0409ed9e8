"""`aqlgen add`: what a project can have beside the adapter itself."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aqlgen.cli.app import Output, OutputFormat, Quiet, app, examples
from aqlgen.cli.output import progress
from aqlgen.diagnostics.plain import counted
from aqlgen.diagnostics.report import json_text
from aqlgen.options import PARTS
from aqlgen.project.parts import change_parts

_LIST = "\n".join(("\b", "Parts:", *(f"  {part:<11} {about}" for part, (about, _) in PARTS.items())))


@app.command(
    "add",
    epilog=f"{_LIST}\n\n{examples('aqlgen add ci docker', 'aqlgen add --remove schemas')}",
)
def add_command(
    parts: Annotated[
        list[str] | None,
        typer.Argument(metavar="PART", help="Part to add, or all.", autocompletion=lambda: [*PARTS, "all"]),
    ] = None,
    remove: Annotated[
        list[str] | None, typer.Option("--remove", metavar="PART", help="Remove the files of this part instead.")
    ] = None,
    folder: Annotated[Path, typer.Option("--project", metavar="DIR", help="Folder of the project.")] = Path(),
    output_format: OutputFormat = Output.HUMAN,
    quiet: Quiet = False,
) -> None:
    """Add optional files to a project; `aqlgen update` keeps them current."""
    shown = output_format is Output.HUMAN and not quiet
    with progress(shown=shown) as stage:
        changed = change_parts(folder, parts or (), remove or (), stage)
    if output_format is Output.JSON:
        typer.echo(json_text(changed.as_json()))
    elif not quiet:
        for done, paths in (("Added", changed.added), ("Removed", changed.removed)):
            if paths:
                typer.echo(f"{done}: {', '.join(paths)}.")
        for address, number in changed.elsewhere.items():
            typer.echo(
                f"{counted(number, 'operation')} at {address}: an adapter of the element calls its base_url instead."
            )
        if not (changed.added or changed.removed):
            typer.echo("Nothing to do: the parts are as they should be.")
