"""The options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Output(StrEnum):
    """How results and errors are printed."""

    HUMAN = "human"
    JSON = "json"


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
