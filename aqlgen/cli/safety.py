"""`aqlgen safety`: its options; everything behind them is the runtime's."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from aqlgen.cli.app import app, examples, refuse_without_http
from aqlgen.diagnostics.errors import OptionError
from aqlgen.safety.server import COMMANDS, run


class Transport(StrEnum):
    """The transport between clients and the server."""

    STDIO = "stdio"
    HTTP = "http"


@app.command(
    "safety",
    context_settings={"allow_interspersed_args": False, "ignore_unknown_options": False},
    epilog=examples(
        "aqlgen safety --policy safety.toml",
        "aqlgen safety --policy safety.toml --transport http --port 8001",
        "aqlgen safety --policy safety.toml operator",
        "aqlgen safety --policy safety.toml audit verify",
    ),
)
def safety_command(
    context: typer.Context,
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[operator|audit ...]",
            help="Instead of serving: decide on waiting actions, or read the audit log.",
            show_default=False,
        ),
    ] = None,
    policy: Annotated[
        Path | None,
        typer.Option("--policy", metavar="FILE", help="Patterns and settings, as TOML."),
    ] = None,
    transport: Annotated[Transport, typer.Option(help="Transport for clients.")] = Transport.STDIO,
    host: Annotated[str, typer.Option(help="Address for http.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port for http; 0: any free port.")] = 8000,
) -> None:
    """Serve MCP-AQL's safety loop to an agent that acts on other servers, files and shells.

    The agent reports each action and learns whether it may act; a person decides on held actions. The server has seven
    operations and no API. Its mode is enforcing unless the policy or MCP_AQL_SAFETY_LOOP sets another.
    """
    words = command or []
    if transport is Transport.STDIO:
        refuse_without_http(context, "--transport http")
    if words and words[0] not in COMMANDS:
        raise OptionError.of(
            "bad-option",
            f"{words[0]!r} is not a command of the safety server",
            help=f"There are {' and '.join(COMMANDS)}; without one it serves.",
        )
    if any(word == "--policy" or word.startswith("--policy=") for word in words):
        raise OptionError.of(
            "bad-option", f"--policy comes after {words[0]!r}", help=f"Give it before: --policy FILE {words[0]}."
        )
    serving = ["--transport", "http", "--host", host, "--port", str(port)] if transport is Transport.HTTP else []
    raise typer.Exit(run(policy, words or serving))
