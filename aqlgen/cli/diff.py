"""`aqlgen diff`: what changed for an agent, before it is generated, merged or released."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from aqlgen.cli.app import AllowRefs, Header, Quiet, Verbose, app, examples, listed
from aqlgen.cli.comparison import compare_sides
from aqlgen.cli.output import progress
from aqlgen.diagnostics.report import json_text
from aqlgen.runtime.text import visible


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
    header: Header = None,
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
    """Show changes that agents notice, breaking or not: operations, parameters, types, danger.

    A document is read with the overrides and options of the project on the other side.
    """
    with progress(shown=output_format is Form.HUMAN and not quiet) as stage:
        compared = compare_sides(old, new, stage, headers=listed(header), allow=listed(allow_refs), rename=rename)
    changes = compared.changes
    if output_format is Form.JSON:
        typer.echo(json_text(compared.as_json()))
    elif output_format is Form.MARKDOWN:
        typer.echo(changes.as_markdown(), nl=False)
    elif not quiet:
        typer.echo(f"From {visible(compared.old)} to {visible(compared.new) if new else 'your files'}:")
        typer.echo(changes.as_text(show_all=verbose))
    failed = {FailOn.BREAKING: changes.breaking, FailOn.ANY: bool(changes), FailOn.NEVER: False}
    raise typer.Exit(int(failed[fail_on]))
