"""The application that every command registers itself with, and the options that several commands share."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from aqlgen.diagnostics.errors import OptionError

HELP = {"help_option_names": ["-h", "--help"]}


def examples(*commands: str) -> str:
    """Return the end of a help text: commands to copy, each on a line of its own."""
    return "\n".join(("\b", "Examples:", *(f"  {command}" for command in commands)))


_MANUAL = """

\b
Exit codes:
  0  done
  1  internal error; update: unresolved conflicts; diff: a breaking change;
     check: a failed test; learn --check: a contradiction
  2  the document is invalid
  3  an option or an override is invalid
  4  reading or writing failed; learn: no read succeeded
  5  a template failed

\b
Environment:
  SOURCE_DATE_EPOCH  time to record in a project, in seconds; without it no
                     time is recorded, and the same input gives the same bytes
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


def refuse_without_http(context: typer.Context, way: str) -> None:
    """Raise OptionError for --host or --port of a server that does not serve HTTP."""
    for name in ("host", "port"):
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            raise OptionError.of("bad-option", f"--{name} needs {way}", help=f"Add {way}, or leave --{name} out.")


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
        help="File, folder, zip, URL or address of a running API; - for standard input; NAME=SPEC for several APIs.",
    ),
]
Destination = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="DIR", help="Folder of the project; default ./<name>-adapter.")
]
License = Annotated[str, typer.Option("--license", metavar="SPDX", help="Licence of the project; default none.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Write no files.")]
Folder = Annotated[Path, typer.Argument(metavar="DIR", help="Folder of the project.")]
Name = Annotated[str | None, typer.Option(help="Name of the adapter; default: from the API's title.")]
NameOrFolder = Annotated[
    str | None,
    typer.Option(help="Name of the adapter; default: NAME of `-o NAME-adapter`, else from the API's title."),
]
OverridesFile = Annotated[Path | None, typer.Option("--overrides", metavar="FILE", help="Your overrides, as YAML.")]


def _selectors(incomplete: str) -> list[str]:
    """Return the beginnings of patterns, for a shell that completes one."""
    return [start for start in ("tag:", "path:", "operation:") if start.startswith(incomplete)]


Include = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PATTERN", help="Include only these operations: tag:…, path:…, operation:…", autocompletion=_selectors
    ),
]
Exclude = Annotated[
    list[str] | None, typer.Option(metavar="PATTERN", help="Exclude these operations.", autocompletion=_selectors)
]
Fields = Annotated[FieldCase | None, typer.Option("--field-case", help="Spelling of fields for agents; default snake.")]
Auth = Annotated[
    str | None,
    typer.Option(
        metavar="KIND",
        help="Credential for operations without declared security: basic, bearer, header:NAME or query:NAME.",
    ),
]
RuntimeForm = Annotated[
    Runtime | None,
    typer.Option("--runtime", help="Runtime in the project: one archive, or sources; default sealed."),
]
Header = Annotated[
    list[str] | None,
    typer.Option(metavar="HEADER", help="“Name: value” header to fetch a URL; sent to its server only."),
]
Overlay = Annotated[
    list[str] | None, typer.Option(metavar="FILE", help="OpenAPI Overlay; repeatable, applied in order.")
]
Workflows = Annotated[
    list[str] | None,
    typer.Option("--workflows", metavar="FILE", help="Arazzo document; each workflow becomes an operation."),
]
AllowRefs = Annotated[
    list[str] | None, typer.Option("--allow-refs", metavar="PREFIX", help="Folder or URL that $refs may use.")
]
Strict = Annotated[bool, typer.Option("--strict", help="Treat warnings as errors.")]
OutputFormat = Annotated[Output, typer.Option("--output-format", help="Output for people or for programs.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Also show notes.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show errors only.")]
