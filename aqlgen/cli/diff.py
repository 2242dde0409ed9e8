"""`aqlgen diff`: what changed for an agent, before it is generated, merged or released."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from aqlgen.cli.app import (
    AllowRefs,
    Exclude,
    Fields,
    Header,
    Include,
    Overlay,
    OverridesFile,
    Quiet,
    Verbose,
    Workflows,
    app,
    examples,
    listed,
)
from aqlgen.cli.comparison import Reading, compare_sides
from aqlgen.cli.output import progress
from aqlgen.diagnostics.report import json_text


class Form(StrEnum):
    """How the changes are printed."""

    HUMAN = "human"
    JSON = "json"
    MARKDOWN = "markdown"


class FailOn(StrEnum):
    """Which changes end the command with exit code 1."""

    BREAKING = "breaking"
    ANY = "any"
    NEVER = "never"


@app.command(
    "diff",
    epilog=examples(
        "aqlgen diff",
        "aqlgen diff old.yaml new.yaml",
        "aqlgen diff main --output-format markdown --fail-on never",
    ),
)
def diff_command(
    old: Annotated[
        str, typer.Argument(metavar="OLD", help="Document, project or git revision: REV or REV:PATH.")
    ] = "HEAD",
    new: Annotated[
        str | None,
        typer.Argument(metavar="NEW", help="Document, project or revision to compare with; default: the work tree."),
    ] = None,
    overrides: OverridesFile = None,
    include: Include = None,
    exclude: Exclude = None,
    field_case: Fields = None,
    header: Header = None,
    overlay: Overlay = None,
    workflows: Workflows = None,
    allow_refs: AllowRefs = None,
    rename: Annotated[
        bool, typer.Option("--rename", help="Use names by the current rules; else those of OLD, as in an update.")
    ] = False,
    fail_on: Annotated[FailOn, typer.Option("--fail-on", help="Changes that exit with 1.")] = FailOn.BREAKING,
    output_format: Annotated[
        Form, typer.Option("--output-format", help="Output for people, programs or a pull request.")
    ] = Form.HUMAN,
    verbose: Verbose = False,
    quiet: Quiet = False,
) -> None:
    """Show changes that agents notice, breaking or not: operations, parameters, types, danger."""
    reading = Reading(
        headers=listed(header),
        overlays=listed(overlay),
        workflows=listed(workflows),
        allow=listed(allow_refs),
        overrides=overrides,
        include=listed(include),
        exclude=listed(exclude),
        field_case=field_case and field_case.value,
        rename=rename,
    )
    with progress(shown=output_format is Form.HUMAN and not quiet) as stage:
        compared = compare_sides(old, new, reading, stage)
    changes = compared.changes
    if output_format is Form.JSON:
        typer.echo(json_text(compared.as_json()))
    elif output_format is Form.MARKDOWN:
        typer.echo(changes.as_markdown(), nl=False)
    elif not quiet:
        typer.echo(changes.as_text(show_all=verbose))
    failed = {FailOn.BREAKING: changes.breaking, FailOn.ANY: bool(changes), FailOn.NEVER: False}
    raise typer.Exit(int(failed[fail_on]))
