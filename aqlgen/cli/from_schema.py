"""`aqlgen from-schema`: generate a complete project from an adapter element that its owner wrote."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from aqlgen.cli.app import (
    Exclude,
    Fields,
    Include,
    Name,
    Output,
    OutputFormat,
    OverridesFile,
    Quiet,
    RuntimeForm,
    Strict,
    Verbose,
    app,
    examples,
)
from aqlgen.cli.from_openapi import generate, print_generated
from aqlgen.cli.output import progress
from aqlgen.document.request import Request


@app.command(
    "from-schema",
    short_help="Generate an adapter project from a hand-written adapter element.",
    epilog=examples(
        "aqlgen from-schema github-api-adapter.md",
        "aqlgen from-schema adapter.yaml -o github-adapter",
        "aqlgen from-schema adapter.yaml --dry-run --output-format json",
    ),
)
def from_schema_command(
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help="YAML, JSON, or Markdown with front matter; - reads YAML or JSON."),
    ],
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
    runtime: RuntimeForm = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Do everything but write.")] = False,
    strict: Strict = False,
    output_format: OutputFormat = Output.HUMAN,
    verbose: Verbose = False,
    quiet: Quiet = False,
) -> None:
    """Generate a complete adapter project from an adapter element that you wrote, or that aqlgen did.

    Its names, families and danger levels are decided as yours; overrides.yaml still has the last word.
    """
    from aqlgen.pipeline import Options

    request = Request(file, element=True)
    fields = field_case and field_case.value
    options = Options(request, name, overrides, tuple(include or ()), tuple(exclude or ()), fields, strict)
    options = replace(options, runtime=None if runtime is None else runtime.value)
    with progress(shown=output_format is Output.HUMAN and not quiet) as stage:
        generated = generate(options, output=output, license=license, dry_run=dry_run, progress=stage)
    print_generated(generated, output_format, verbose=verbose, quiet=quiet)
