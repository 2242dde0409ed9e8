"""The command line: it parses, calls and prints. Exit codes: `aqlgen.diagnostics.errors`."""

from __future__ import annotations

import atexit
import gc
import itertools
import sys
import tempfile
import traceback
from importlib import import_module
from typing import NoReturn

import typer
from typer.models import CommandInfo

from aqlgen import __version__
from aqlgen.cli.app import app
from aqlgen.diagnostics import Severity
from aqlgen.diagnostics.errors import AqlgenError

__all__ = ["COMMANDS", "main", "register", "without_headers"]

COMMANDS = (
    "from-openapi",
    "serve",
    "from-schema",
    "explain",
    "review",
    "learn",
    "add",
    "update",
    "diff",
    "status",
    "check",
    "safety",
)
"""The commands as people meet them; each is a module of this package, which registers it."""

USAGE_ERROR: type[Exception] = typer.BadParameter.__mro__[1]
"""What the parser raises for a wrong option; typer keeps its own copy of click and exports only the leaves."""


def main() -> NoReturn:
    """Run the command line; the console script and `python -m aqlgen`."""
    gc.disable()  # one run, then exit: collecting cycles among millions of living objects would only cost time,
    atexit.register(gc.freeze)  # at the end too: the system takes all memory back at once
    try:
        code = _run()
    except AqlgenError as error:
        code = _fail(error)
    except USAGE_ERROR as error:
        from aqlgen.cli.misuse import misused

        code = _fail(misused(error))
    except (KeyboardInterrupt, typer.Abort):
        typer.echo("Interrupted; nothing was written.", err=True)
        code = 130
    except BrokenPipeError:
        code = 0
    except Exception as error:  # noqa: BLE001 - the very top: no traceback ever reaches a user
        code = _internal(error)
    sys.exit(code or 0)


_registered: dict[str, CommandInfo] = {}


def register(*names: str) -> None:
    """Let the application know these commands alone; importing the others, and reading their options, takes time."""
    for name in names:
        import_module(f"aqlgen.cli.{name.replace('-', '_')}")
        _registered.update((str(command.name), command) for command in app.registered_commands)
    app.registered_commands = [_registered[name] for name in names]


def _run() -> int | None:
    """Run the command that is asked for."""
    register(*([name for name in COMMANDS if name in sys.argv[1:2]] or COMMANDS))
    code: int | None = app(prog_name="aqlgen", standalone_mode=False)
    return code


def safety_main() -> NoReturn:
    """Run `aqlgen safety` under the name by which the safety server speaks of itself, as adapters do."""
    sys.argv[1:1] = ["safety"]
    main()


def _fail(error: AqlgenError) -> int:
    """Print an error in the form that the user asked for, and return its exit code."""
    from aqlgen.diagnostics.report import as_json, as_text, json_text

    if _wants_json():
        body = {"code": error.exit_code, "type": error.type, "message": str(error)}
        typer.echo(json_text({"success": False, "error": {**body, "details": as_json(error.diagnostics)}}))
    else:
        verbose = bool({"-v", "--verbose"} & set(sys.argv[1:]))
        shown = [finding for finding in error.diagnostics if verbose or finding.severity is not Severity.NOTE]
        typer.echo(as_text(shown, error.sources, show_all=verbose), err=True)
    return error.exit_code


def _internal(error: Exception) -> int:
    """Write a report for the authors, print where it is, and return the exit code."""
    with tempfile.NamedTemporaryFile("w", prefix="aqlgen-report-", suffix=".txt", delete=False) as report:
        report.write(f"aqlgen {__version__}, Python {sys.version}\narguments: {without_headers(sys.argv[1:])}\n\n")
        traceback.print_exception(error, file=report)
    message = f"internal error: {type(error).__name__}; the report is in {report.name}"
    if _wants_json():
        from aqlgen.diagnostics.report import json_text

        details = {"code": 1, "type": "internal", "message": message, "details": []}
        typer.echo(json_text({"success": False, "error": details}))
    else:
        typer.echo(message, err=True)
    return 1


def without_headers(arguments: list[str]) -> list[str]:
    """Return the arguments as others may see them: headers are credentials."""
    hidden = ["--header=…" if argument.startswith("--header=") else argument for argument in arguments]
    return ["…" if before == "--header" else argument for before, argument in zip(["", *hidden], hidden, strict=False)]


def _wants_json() -> bool:
    """Return True if JSON was asked for, also when the options could not be parsed."""
    arguments = sys.argv[1:]
    return "--output-format=json" in arguments or ("--output-format", "json") in itertools.pairwise(arguments)
