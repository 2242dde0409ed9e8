"""The application that every command registers itself with, and the options that several commands share."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

HELP = {"help_option_names": ["-h", "--help"]}


def examples(*commands: str) -> str:
    """Return the end of a help text: commands to copy, each on a line of its own."""
    return "\n".join(("\b", "Examples:", *(f"  {command}" for command in commands)))


_MANUAL = """

\b
Exit codes:
  0  done
  1  internal error; update: conflicts are left; diff: something breaks an
     agent; check: a test failed
  2  the document is invalid
  3  an option or an override is wrong
  4  reading or writing failed
  5  a template failed

\b
Environment:
  SOURCE_DATE_EPOCH  the time to record in a project, in seconds; without it
                     none is recorded, and the same input gives the same bytes
"""

app = typer.Typer(
    name="aqlgen",
    help="Turn an OpenAPI document into an MCP-AQL adapter.",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings=HELP,
    epilog=examples(
        "aqlgen explain openapi.yaml --review",
        "aqlgen from-openapi openapi.yaml -o petstore-adapter",
        "aqlgen from-openapi https://example.com/openapi.json --include tag:pets",
        "aqlgen update petstore-adapter --spec openapi.yaml",
    )
    + _MANUAL,
)


@app.callback(invoke_without_command=True)
def version(
    context: typer.Context,
    show: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Turn an OpenAPI document into an MCP-AQL adapter."""
    if show:
        from aqlgen.resources import build

        typer.echo(f"aqlgen {build()}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def listed(values: Sequence[str] | None) -> tuple[str, ...]:
    """Return the values of an option that may be given several times."""
    return tuple(values or ())


class Output(StrEnum):
    """How results and errors are printed."""

    HUMAN = "human"
    JSON = "json"


class Runtime(StrEnum):
    """The form of the code that serves an adapter."""

    SEALED = "sealed"
    SOURCE = "source"


class FieldCase(StrEnum):
    """How the fields of payloads are spelled for the agent."""

    SNAKE = "snake"
    PRESERVE = "preserve"


Specs = Annotated[
    list[str],
    typer.Argument(
        metavar="SPEC...",
        help="A file, folder, zip, URL or address of a running API, or - for standard input;"
        " of several APIs each, or NAME=SPEC.",
    ),
]
Destination = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="DIR", help="Where to; default ./<name>-adapter.")
]
License = Annotated[str, typer.Option("--license", metavar="SPDX", help="The project's licence; default none.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Do everything but write.")]
Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The project.")]
Name = Annotated[str | None, typer.Option(help="What to call the adapter; default: after the API's title.")]
OverridesFile = Annotated[Path | None, typer.Option("--overrides", metavar="FILE", help="Your decisions, as YAML.")]


def _selectors(incomplete: str) -> list[str]:
    """Return the beginnings of patterns, for a shell that completes one."""
    return [start for start in ("tag:", "path:", "operation:") if start.startswith(incomplete)]


Include = Annotated[
    list[str] | None,
    typer.Option(metavar="PATTERN", help="Only these: tag:…, path:…, operation:…", autocompletion=_selectors),
]
Exclude = Annotated[list[str] | None, typer.Option(metavar="PATTERN", help="All but these.", autocompletion=_selectors)]
Fields = Annotated[FieldCase | None, typer.Option("--field-case", help="Spelling of payload fields; default snake.")]
Auth = Annotated[
    str | None,
    typer.Option(
        metavar="KIND",
        help="Credential of operations for which the document states none: basic, bearer, header:NAME or query:NAME.",
    ),
]
RuntimeForm = Annotated[
    Runtime | None,
    typer.Option("--runtime", help="The runtime as one archive in the project, or its source; default sealed."),
]
Header = Annotated[
    list[str] | None, typer.Option(metavar="HEADER", help="For an address: “Name: value”, sent to its server only.")
]
Overlay = Annotated[list[str] | None, typer.Option(metavar="FILE", help="An OpenAPI Overlay, applied in order.")]
Workflows = Annotated[
    list[str] | None,
    typer.Option("--workflows", metavar="FILE", help="An Arazzo document; each workflow becomes an operation."),
]
AllowRefs = Annotated[
    list[str] | None, typer.Option("--allow-refs", metavar="PREFIX", help="A folder or URL that $refs may reach.")
]
Strict = Annotated[bool, typer.Option("--strict", help="Refuse a document that gives warnings.")]
OutputFormat = Annotated[Output, typer.Option("--output-format", help="For people or for programs.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Show notes too.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show errors only.")]
