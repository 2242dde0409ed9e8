"""The application that every command registers itself with, and the options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from aqlgen import __version__

HELP = {"help_option_names": ["-h", "--help"]}


def examples(*commands: str) -> str:
    """Return the end of a help text: commands to copy, each on a line of its own."""
    return "\n".join(("\b", "Examples:", *(f"  {command}" for command in commands)))


app = typer.Typer(
    name="aqlgen",
    help="Turn an OpenAPI document into an MCP-AQL adapter.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings=HELP,
    epilog=examples(
        "aqlgen explain openapi.yaml --review",
        "aqlgen from-openapi openapi.yaml -o petstore-adapter",
        "aqlgen from-openapi https://example.com/openapi.json --include tag:pets",
        "aqlgen update petstore-adapter --spec openapi.yaml",
    ),
)


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


class Output(StrEnum):
    """How results and errors are printed."""

    HUMAN = "human"
    JSON = "json"


class Runtime(StrEnum):
    """Where the code is that serves an adapter."""

    COPIED = "copied"
    PACKAGE = "package"


class FieldCase(StrEnum):
    """How the fields of payloads are spelled for the agent."""

    SNAKE = "snake"
    PRESERVE = "preserve"


Spec = Annotated[str, typer.Argument(metavar="SPEC", help="A file, folder, zip or URL, or - for standard input.")]
Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The project.")]
Name = Annotated[str | None, typer.Option(help="What to call the adapter; default: after the API's title.")]
OverridesFile = Annotated[Path | None, typer.Option("--overrides", metavar="FILE", help="Your decisions, as YAML.")]
Include = Annotated[list[str] | None, typer.Option(metavar="PATTERN", help="Only these: tag:…, path:…, operation:…")]
Exclude = Annotated[list[str] | None, typer.Option(metavar="PATTERN", help="All but these.")]
Fields = Annotated[FieldCase | None, typer.Option("--field-case", help="Spelling of payload fields; default snake.")]
RuntimeForm = Annotated[
    Runtime | None,
    typer.Option("--runtime", help="Copy the runtime into the project, or depend on its package; default copied."),
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
