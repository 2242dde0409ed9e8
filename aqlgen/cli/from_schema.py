"""`aqlgen from-schema`: generate a complete project from an adapter element that its owner wrote."""

from __future__ import annotations

from typing import Annotated

import typer

from aqlgen.cli.app import (
    Destination,
    DryRun,
    License,
    NameOrFolder,
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
from aqlgen.pipeline import Options
from aqlgen.table.identity import named_by


@app.command(
    "from-schema",
    epilog=examples(
        "aqlgen from-schema github-api-adapter.md",
        "aqlgen from-schema adapter.yaml -o github-adapter",
        "aqlgen from-schema adapter.yaml --dry-run --output-format json",
    ),
)
def from_schema_command(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="Adapter element: YAML, JSON, or Markdown with front matter; - reads YAML or JSON."
        ),
    ],
    output: Destination = None,
    name: NameOrFolder = None,
    overrides: OverridesFile = None,
    license: License = "",
    runtime: RuntimeForm = None,
    dry_run: DryRun = False,
    strict: Strict = False,
    output_format: OutputFormat = Output.HUMAN,
    verbose: Verbose = False,
    quiet: Quiet = False,
) -> None:
    """Generate an adapter project from an adapter element, written by you or by aqlgen.

    Its names, families and danger levels count as your decisions; overrides.yaml has the last word.
    """
    options = Options(
        (Request(file, element=True),),
        name=name or named_by(output),
        overrides=overrides,
        strict=strict,
        runtime=runtime and runtime.value,
    )
    with progress(shown=output_format is Output.HUMAN and not quiet) as stage:
        generated = generate(options, output=output, license=license, dry_run=dry_run, progress=stage)
    print_generated(generated, output_format, verbose=verbose, quiet=quiet)
