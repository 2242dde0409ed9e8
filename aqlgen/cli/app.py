"""The application that every command registers itself with."""

from __future__ import annotations

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
