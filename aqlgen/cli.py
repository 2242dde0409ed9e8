"""The command line: it parses, calls and prints. Exit codes: `aqlgen.errors`."""

from __future__ import annotations

import gc
import itertools
import sys
import tempfile
import traceback
from enum import StrEnum
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from aqlgen import __version__
from aqlgen.decisions import Category, Danger
from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.errors import AqlgenError, OptionError
from aqlgen.pipeline import Options, Prepared
from aqlgen.request import Request

USAGE_ERROR: type[Exception] = typer.BadParameter.__mro__[1]
"""What the parser raises for a wrong option; typer keeps its own copy of click and exports only the leaves."""

app = typer.Typer(
    name="aqlgen",
    help="Turn an OpenAPI document into an MCP-AQL adapter.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


class Output(StrEnum):
    """How results and errors are printed."""

    HUMAN = "human"
    JSON = "json"


class FieldCase(StrEnum):
    """How the fields of payloads are spelled for the agent."""

    SNAKE = "snake"
    PRESERVE = "preserve"


Spec = Annotated[str, typer.Argument(metavar="SPEC", help="A file, folder, zip or URL, or - for standard input.")]
Name = Annotated[str | None, typer.Option(help="What to call the adapter; default: after the API's title.")]
OverridesFile = Annotated[Path | None, typer.Option("--overrides", metavar="FILE", help="Your decisions, as YAML.")]
Include = Annotated[list[str] | None, typer.Option(metavar="PATTERN", help="Only these: tag:…, path:…, operation:…")]
Exclude = Annotated[list[str] | None, typer.Option(metavar="PATTERN", help="All but these.")]
Fields = Annotated[FieldCase | None, typer.Option("--field-case", help="Spelling of payload fields; default snake.")]
Header = Annotated[
    list[str] | None, typer.Option(metavar="HEADER", help="For an address: “Name: value”, sent to its server only.")
]
Overlay = Annotated[list[str] | None, typer.Option(metavar="FILE", help="An OpenAPI Overlay, applied in order.")]
AllowRefs = Annotated[
    list[str] | None, typer.Option("--allow-refs", metavar="PREFIX", help="A folder or URL that $refs may reach.")
]
Strict = Annotated[bool, typer.Option("--strict", help="Refuse a document that gives warnings.")]
OutputFormat = Annotated[Output, typer.Option("--output-format", help="For people or for programs.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Show notes too.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show errors only.")]


@app.callback(invoke_without_command=True)
def version(
    context: typer.Context,
    show: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Turn an OpenAPI document into an MCP-AQL adapter."""
    if show:
        typer.echo(f"aqlgen {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command("from-openapi")
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
    from aqlgen.report import as_json, json_text

    request = Request.of(spec, header or (), overlay or (), allow_refs or ())
    fields = field_case and field_case.value
    options = Options(request, name, overrides, tuple(include or ()), tuple(exclude or ()), fields, strict)
    with terminal.progress(shown=output_format is Output.HUMAN and not quiet) as progress:
        made = from_openapi(options, output=output, license=license, dry_run=dry_run, progress=progress)
    if output_format is Output.JSON:
        typer.echo(json_text(made.as_json(as_json(made.warnings))))
        return
    if not quiet:
        _report(made.prepared, made.warnings, verbose=verbose)
        typer.echo(terminal.summary(made))


@app.command("explain")
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
    from aqlgen import terminal
    from aqlgen.commands.explain import Only, explain
    from aqlgen.commands.explain import as_json as explained
    from aqlgen.report import as_json, json_text

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
        _report(prepared, prepared.diagnostics, verbose=verbose)
    if html is not None:
        typer.echo(terminal.reported(prepared, html))
        return
    terminal.decisions(prepared)


def _report(prepared: Prepared, diagnostics: tuple[Diagnostic, ...], *, verbose: bool) -> None:
    """Print what there is to say about a document on standard error."""
    from aqlgen.report import as_text

    shown = tuple(one for one in diagnostics if verbose or one.severity is not Severity.NOTE)
    if shown:
        typer.echo(as_text(shown, prepared.assembled.sources, every=verbose), err=True)


def main() -> NoReturn:
    """Run the command line; the console script and `python -m aqlgen`."""
    gc.disable()  # one run, then exit: collecting cycles among millions of living objects would only cost time
    try:
        code = app(standalone_mode=False)
    except AqlgenError as error:
        code = _fail(error)
    except USAGE_ERROR as error:
        describe = getattr(error, "format_message", None)
        text = str(describe()) if callable(describe) else str(error)
        code = _fail(OptionError.of("bad-option", text, help="See `aqlgen --help`."))
    except (KeyboardInterrupt, typer.Abort):
        typer.echo("Interrupted; nothing was written.", err=True)
        code = 130
    except BrokenPipeError:
        code = 0
    except Exception as error:  # noqa: BLE001 - the very top: no traceback ever reaches a user
        code = _internal(error)
    sys.exit(code or 0)


def _fail(error: AqlgenError) -> int:
    """Print an error as the user asked for it, and give its exit code."""
    from aqlgen.report import as_json, as_text, json_text

    if _wants_json():
        body = {"code": error.exit_code, "type": error.type, "message": str(error)}
        typer.echo(json_text({"success": False, "error": {**body, "details": as_json(error.diagnostics)}}))
    else:
        verbose = bool({"-v", "--verbose"} & set(sys.argv[1:]))
        shown = [one for one in error.diagnostics if verbose or one.severity is not Severity.NOTE]
        typer.echo(as_text(shown, error.sources, every=verbose), err=True)
    return error.exit_code


def _internal(error: Exception) -> int:
    """Write a report for the authors, and say in a line where it is."""
    with tempfile.NamedTemporaryFile("w", prefix="aqlgen-report-", suffix=".txt", delete=False) as report:
        report.write(f"aqlgen {__version__}, Python {sys.version}\narguments: {_without_headers(sys.argv[1:])}\n\n")
        traceback.print_exception(error, file=report)
    message = f"internal error: {type(error).__name__}; the report is in {report.name}"
    if _wants_json():
        from aqlgen.report import json_text

        details = {"code": 1, "type": "internal", "message": message, "details": []}
        typer.echo(json_text({"success": False, "error": details}))
    else:
        typer.echo(message, err=True)
    return 1


def _without_headers(arguments: list[str]) -> list[str]:
    """Give the arguments as a report may show them: headers are credentials."""
    hidden = ["--header=…" if one.startswith("--header=") else one for one in arguments]
    return ["…" if before == "--header" else one for before, one in zip(["", *hidden], hidden, strict=False)]


def _wants_json() -> bool:
    """Whether JSON was asked for, also when the options could not be parsed."""
    arguments = sys.argv[1:]
    return "--output-format=json" in arguments or ("--output-format", "json") in itertools.pairwise(arguments)
