"""The command line: it parses, calls and prints. Exit codes: `aqlgen.diagnostics.errors`."""

from __future__ import annotations

import atexit
import difflib
import gc
import itertools
import os
import sys
import tempfile
import traceback
from importlib import import_module
from pathlib import Path
from typing import Final, NoReturn

import typer
from typer.models import CommandInfo

from aqlgen import __version__
from aqlgen.cli.app import app
from aqlgen.diagnostics import Severity
from aqlgen.diagnostics.errors import AqlgenError, OptionError

COMMANDS: Final = {
    "from-openapi": "Generate an adapter project from an OpenAPI document.",
    "serve": "Serve an API to agents in one command.",
    "from-schema": "Generate an adapter project from a hand-written adapter element.",
    "explain": "Show every decision with its reason, in the terminal or as a page.",
    "review": "Write answers to the questions of a review to overrides.yaml.",
    "learn": "Observe the real API by safe reads; propose overrides.",
    "add": "Add workflows, a Dockerfile, schemas and other files to a project.",
    "update": "Take a newer document, overrides or aqlgen; keep your edits.",
    "diff": "Show changes that agents notice, breaking or not.",
    "status": "Show your edits and outdated parts of a project.",
    "check": "Test the adapter from outside; --pristine: compare the generated files.",
    "safety": "Serve the safety loop alone, for actions on other servers.",
}
"""The commands as people meet them, with their lines in `--help`; a module of this package registers each."""

_COMPLETION: Final = "_AQLGEN_COMPLETE"
"""The variable by which a shell asks for completions, those of options too."""

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
        code = _fail(_misused(error))
    except (KeyboardInterrupt, typer.Abort):
        typer.echo("Interrupted; nothing was written.", err=True)
        code = 130
    except BrokenPipeError:
        code = 0
    except Exception as error:  # noqa: BLE001 - the very top: no traceback ever reaches a user
        code = _internal(error)
    sys.exit(code or 0)


_registered: dict[str, CommandInfo] = {}


def _listed() -> None:
    """Stand for a command in the list of them."""


def register(*names: str) -> None:
    """Let the application know these commands alone; importing the others, and reading their options, takes time."""
    for name in names:
        import_module(f"aqlgen.cli.{name.replace('-', '_')}")
        imported = (command for command in app.registered_commands if command.callback is not _listed)
        _registered.update((str(command.name), command) for command in imported)
    app.registered_commands = [_registered[name] for name in names]
    for command in app.registered_commands:
        command.short_help = COMMANDS[str(command.name)]


def _run() -> int | None:
    """Run the command that is asked for; where none is, the application knows the commands by their lines alone."""
    if sys.argv[1:2] and sys.argv[1] in COMMANDS:
        register(sys.argv[1])
    elif _COMPLETION in os.environ:
        register(*COMMANDS)
    else:
        app.registered_commands = [CommandInfo(name, callback=_listed, short_help=COMMANDS[name]) for name in COMMANDS]
    code: int | None = app(prog_name="aqlgen", standalone_mode=False)
    return code


def safety_main() -> NoReturn:
    """Run `aqlgen safety` under the safety server's own name, as adapters run under theirs."""
    sys.argv[1:1] = ["safety"]
    main()


def _misused(error: Exception) -> OptionError:
    """Return the parser's refusal as an error of aqlgen's own, with a help."""
    describe = getattr(error, "format_message", None)
    message = (str(describe()) if callable(describe) else str(error)).replace("Value error, ", "").rstrip(".")
    context = getattr(error, "ctx", None)
    path = "aqlgen" if context is None else str(context.command_path)
    unknown = message.startswith("No such command")
    word = message.split("'")[1] if unknown and "'" in message else ""
    if unknown:
        message = message.partition(". Did you mean")[0]
    return OptionError.of("bad-option", message, help=_meant(word) if word else f"See `{path} --help`.")


def _meant(word: str) -> str:
    """Return the hint at the command that an unknown word may be meant for: a document belongs behind one."""
    if "://" in word or Path(word).exists() or word.endswith((".json", ".yaml", ".yml")):
        return f"`aqlgen from-openapi {word}` generates an adapter of it, `aqlgen explain {word}` shows its decisions."
    near = difflib.get_close_matches(word.lower(), COMMANDS, n=1)
    return f"Did you mean `aqlgen {near[0]}`?" if near else f"The commands are {', '.join(sorted(COMMANDS))}."


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
