"""`aqlgen check`: its options and its output."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aqlgen.cli.app import Folder, Output, OutputFormat, Quiet, app, examples
from aqlgen.cli.output import announce, progress
from aqlgen.diagnostics.errors import OptionError

if TYPE_CHECKING:
    from aqlgen.diagnostics import Diagnostic
    from aqlgen.ir import Json
    from aqlgen.project.check import Checked


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
    keep_edits: Annotated[
        bool, typer.Option("--keep-edits", help="Accept code that `aqlgen update --keep-edits` made a fork.")
    ] = False,
    output_format: OutputFormat = Output.HUMAN,
    quiet: Quiet = False,
) -> None:
    """Check that the generated files of a project are as they were generated; for continuous integration."""
    from aqlgen.diagnostics.report import as_text, json_text
    from aqlgen.project.check import check

    if not pristine:
        raise OptionError.of(
            "bad-option",
            "say what to check",
            help="`aqlgen check --pristine` checks the generated files; the project's own tests check its server.",
        )
    standing = announce(folder, shown=output_format is Output.HUMAN and not quiet)
    with progress(shown=output_format is Output.HUMAN and not quiet) as stage:
        checked = check(folder, stage, keep_edits=keep_edits)
    if output_format is Output.JSON:
        typer.echo(json_text(_as_json(checked, standing)))
    elif checked.findings or not quiet:
        if checked.fork:
            typer.echo(as_text(checked.fork, show_all=True), err=True)
        typer.echo(_as_text(checked), err=bool(checked.findings))
    raise typer.Exit(checked.exit_code)


def _as_text(checked: Checked) -> str:
    from aqlgen.diagnostics.plain import counted
    from aqlgen.diagnostics.report import as_text
    from aqlgen.runtime.text import visible

    folder, files = visible(str(checked.folder)), counted(checked.files, "generated file")
    if checked.findings:
        findings = counted(len(checked.findings), "finding")
        return f"{as_text(checked.findings, show_all=True)}\n{folder} is not as it was generated: {findings}."
    again = "the same when generated again"
    if not checked.generated_again:
        again = f"not generated again: {visible(checked.why_not)}"
    fork = f" but for {counted(len(checked.fork), 'file')} of code that is a fork" if checked.fork else ""
    return f"{folder} is pristine{fork}: {files} as generated, {again}."


def _as_json(checked: Checked, standing: tuple[Diagnostic, ...]) -> dict[str, Json]:
    from aqlgen.diagnostics.report import as_json

    return {
        "success": not checked.findings,
        "output_directory": str(checked.folder),
        "package": checked.package,
        "pristine": {
            "files": checked.files,
            "generated_again": checked.generated_again,
            "why_not": checked.why_not,
            "findings": as_json(checked.findings),
            "fork": [finding.file for finding in checked.fork],
        },
        "warnings": as_json(standing),
    }
