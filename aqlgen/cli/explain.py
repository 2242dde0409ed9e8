"""`aqlgen explain`, as it is typed."""

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
from aqlgen.decisions import Category, Danger
from aqlgen.document.request import Request


@app.command(
    "explain",
    short_help="Show every decision with its reason, in the terminal or as a page.",
    epilog=examples(
        "aqlgen explain openapi.yaml --review",
        "aqlgen explain openapi.yaml --category delete --danger destructive",
        "aqlgen explain openapi.yaml --html review.html",
    ),
)
def explain_command(
    spec: Spec,
    name: Name = None,
    overrides: OverridesFile = None,
    include: Include = None,
    exclude: Exclude = None,
    review: Annotated[bool, typer.Option("--review", help="Show only what needs a review.")] = False,
    category: Annotated[
        list[Category] | None, typer.Option(case_sensitive=False, help="Show only these categories.")
    ] = None,
    danger: Annotated[
        list[Danger] | None, typer.Option(case_sensitive=False, help="Show only these levels of danger.")
    ] = None,
    field_case: Fields = None,
    header: Header = None,
    overlay: Overlay = None,
    allow_refs: AllowRefs = None,
    strict: Strict = False,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write a page to review in a browser.")
    ] = None,
    output_format: OutputFormat = Output.HUMAN,
    verbose: Verbose = False,
    quiet: Quiet = False,
) -> None:
    """Show every decision about an OpenAPI document with its reason; write nothing but the page you ask for."""
    from aqlgen import terminal, terminal_decisions
    from aqlgen.commands.explain import Only, explain
    from aqlgen.commands.explain import as_json as explained
    from aqlgen.diagnostics.report import as_json, json_text
    from aqlgen.pipeline import Options

    request = Request.of(spec, header or (), overlay or (), allow_refs or ())
    fields = field_case and field_case.value
    options = Options(request, name, overrides, tuple(include or ()), tuple(exclude or ()), fields, strict)
    only = Only(review, tuple(category or ()), tuple(danger or ()))
    with terminal.progress(shown=output_format is Output.HUMAN and not quiet) as progress:
        prepared = explain(options, progress, html, only)
    if output_format is Output.JSON:
        typer.echo(json_text(explained(prepared, as_json(prepared.diagnostics))))
        return
    if not quiet:
        report(prepared, prepared.diagnostics, verbose=verbose)
    if html is not None:
        typer.echo(terminal.reported(prepared, html))
        return
    terminal_decisions.decisions(prepared)
