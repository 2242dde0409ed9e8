"""`aqlgen update`, as it is typed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aqlgen.cli.app import app, examples
from aqlgen.cli.options import (
    AllowRefs,
    Exclude,
    Fields,
    Header,
    Include,
    Output,
    OutputFormat,
    Overlay,
    Quiet,
    Strict,
    Verbose,
)


@app.command(
    "update",
    short_help="Generate again, and merge with your edits.",
    epilog=examples(
        "aqlgen update",
        "aqlgen update --spec https://example.com/openapi.json --dry-run",
        "aqlgen update petstore-adapter --spec openapi.yaml --aliases 90",
    ),
)
def update_command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The project.")] = Path(),
    spec: Annotated[
        str | None, typer.Option("--spec", metavar="SPEC", help="A newer document; default: the one that is kept.")
    ] = None,
    header: Header = None,
    overlay: Overlay = None,
    allow_refs: AllowRefs = None,
    license: Annotated[
        str | None, typer.Option("--license", metavar="SPDX", help="Another licence for the project; '' for none.")
    ] = None,
    include: Include = None,
    exclude: Exclude = None,
    field_case: Fields = None,
    rename: Annotated[
        bool, typer.Option("--rename", help="Take today's names; else operations keep those that they have.")
    ] = False,
    aliases: Annotated[
        int | None,
        typer.Option(metavar="DAYS", min=1, max=3650, help="Let what is renamed answer to its old name for so long."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Do everything but write.")] = False,
    strict: Strict = False,
    output_format: OutputFormat = Output.HUMAN,
    verbose: Verbose = False,
    quiet: Quiet = False,
) -> None:
    """Bring a project up to date with its API and with aqlgen; your edits are merged, conflicts left to you."""
    from aqlgen import terminal_update
    from aqlgen.cli import output as terminal
    from aqlgen.commands.update import update
    from aqlgen.commands.updated import Asked
    from aqlgen.diagnostics.report import as_json, json_text

    asked = Asked(
        spec=spec,
        headers=tuple(header or ()),
        overlays=tuple(overlay or ()),
        allow=tuple(allow_refs or ()),
        license=license,
        include=tuple(include or ()),
        exclude=tuple(exclude or ()),
        field_case=field_case and field_case.value,
        rename=rename,
        aliases=aliases,
        strict=strict,
    )
    with terminal.progress(shown=output_format is Output.HUMAN and not quiet) as progress:
        done = update(folder, asked, dry_run=dry_run, progress=progress)
    if output_format is Output.JSON:
        typer.echo(json_text(done.as_json(as_json(done.warnings))))
    elif not quiet:
        terminal.print_diagnostics(done.warnings, done.prepared.assembled.sources, verbose=verbose)
        typer.echo(terminal_update.summary(done, verbose=verbose))
    elif done.merged.conflicts:
        typer.echo(terminal_update.conflicts(done), err=True)
    raise typer.Exit(done.exit_code)
