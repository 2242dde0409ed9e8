"""`aqlgen from-openapi`, as it is typed."""

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
    Name,
    Output,
    OutputFormat,
    Overlay,
    OverridesFile,
    Quiet,
    Spec,
    Strict,
    Verbose,
    report,
)
from aqlgen.document.request import Request


@app.command(
    "from-openapi",
    short_help="Generate an adapter project from an OpenAPI document.",
    epilog=examples(
        "aqlgen from-openapi openapi.yaml",
        "aqlgen from-openapi openapi.yaml --include tag:pets --exclude 'operation:delete_*'",
        'aqlgen from-openapi https://example.com/api.json --header "X-Key: $KEY"',
    ),
)
def from_openapi_command(
    spec: Spec,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="DIR", help="Where to; default ./<name>-adapter.")
    ] = None,
    name: Name = None,
    overrides: OverridesFile = None,
    include: Include = None,
    exclude: Exclude = None,
    license: Annotated[
        str, typer.Option("--license", metavar="SPDX", help="The project's licence; default none.")
    ] = "",
    field_case: Fields = None,
    header: Header = None,
    overlay: Overlay = None,
    allow_refs: AllowRefs = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Do everything but write.")] = False,
    strict: Strict = False,
    output_format: OutputFormat = Output.HUMAN,
    verbose: Verbose = False,
    quiet: Quiet = False,
) -> None:
    """Generate a complete adapter project from an OpenAPI document."""
    from aqlgen import terminal
    from aqlgen.commands.from_openapi import from_openapi
    from aqlgen.diagnostics.report import as_json, json_text
    from aqlgen.pipeline import Options

    request = Request.of(spec, header or (), overlay or (), allow_refs or ())
    fields = field_case and field_case.value
    options = Options(request, name, overrides, tuple(include or ()), tuple(exclude or ()), fields, strict)
    with terminal.progress(shown=output_format is Output.HUMAN and not quiet) as progress:
        made = from_openapi(options, output=output, license=license, dry_run=dry_run, progress=progress)
    if output_format is Output.JSON:
        typer.echo(json_text(made.as_json(as_json(made.warnings))))
        return
    if not quiet:
        report(made.prepared, made.warnings, verbose=verbose)
        typer.echo(terminal.summary(made))
