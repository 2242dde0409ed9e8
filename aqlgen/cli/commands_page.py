"""The page docs/commands.md: every command of aqlgen and of an adapter, with its options, read from their parsers.

`python -m aqlgen.cli.commands_page > docs/commands.md` writes it again, in a clone of aqlgen.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import typer.main

from aqlgen.cli import COMMANDS, register
from aqlgen.cli.app import app
from aqlgen.options import PARTS
from aqlgen.runtime.cli.arguments import argument_parser
from aqlgen.runtime.table import Adapter

_HEAD = """\
# Commands and exit codes

`aqlgen` generates and updates projects. Each project has a command named after its API, such as `petstore-adapter`.
`--help` shows the same texts with examples, and `aqlgen --version` the version.

Most commands of aqlgen also take `--output-format human/json` (default: `human`), `-v, --verbose` (also show notes) and
`-q, --quiet` (show errors only). `operations`, `doctor` and `learn` of an adapter also take `--output-format`.
The *envelope* is the JSON object of an answer ([results and errors](agents.md#results-and-errors)).
"""

_COMMANDS = "| command, with its arguments and options | effect |\n|---|---|"
_COMMON = ("Output for people or for programs.", "Also show notes.", "Show errors only.")
"""The help of options that the head of the page explains."""

_EXIT_CODES = """\
## Exit codes

| exit code | `aqlgen` | an adapter |
|---|---|---|
| 0 | done | done; for `call`, the answer has `success: true` |
| 1 | internal error; `update`: conflicts; `diff`: breaking; `check`: a failed test; `learn --check`: a contradiction | failed; for `call`, the answer has `success: false` |
| 2 | the document is invalid | invalid arguments or settings |
| 3 | an option or an override is invalid | HTTP without authentication |
| 4 | reading or writing failed; for `learn`, no read succeeded | |
| 5 | a template failed | |

With `--output-format json` a failure of `aqlgen` is an object on standard output. Its `error` has this code, a type, a message and
`details` for each [finding](diagnostics.md): path, line, column, code, message and suggestion.
"""  # noqa: E501 - rows of a table


def page() -> str:
    """Return the text of docs/commands.md."""
    return "\n".join((_HEAD, *_of_aqlgen(), *_of_adapters(), _EXIT_CODES))


def _of_aqlgen() -> Iterator[str]:
    yield "## aqlgen\n"
    yield _COMMANDS
    register(*COMMANDS)
    group: Any = typer.main.get_command(app)
    generating: list[tuple[str, str]] = []
    for name, command in group.commands.items():
        yield f"| **`aqlgen {name}`** | {_sentences(command.help)} |"
        with command.make_context(name, [], resilient_parsing=True) as context:
            records = filter(None, (parameter.get_help_record(context) for parameter in command.params))
            rows = [(_names(names), _explained(text)) for names, text in records if not text.startswith(_COMMON)]
        generating = generating or rows
        same = [names for names, text in rows if (names, text) in generating] if rows is not generating else []
        yield from _rows(rows, same, "As in `from-openapi`.")
    parts = (f"`{part}` ({content})" for part, (content, _) in PARTS.items())
    yield f"\nParts of `aqlgen add`: {'; '.join(parts)}.\n"


def _names(text: str) -> str:
    """Return the names of an option or an argument, with what it takes, as typer's help has them."""
    names, _, kind = text.partition(" <")
    choices = kind.removesuffix(">").removeprefix("list[").removesuffix("]").replace("int range", "N")
    return f"`{names}`" if choices in ("", "str", "path") else f"`{names} {choices.replace('|', '/')}`"


def _explained(text: str) -> str:
    """Return the help of an option with its default as a sentence."""
    words, _, extra = text.partition("  [")
    default = re.search(r"default: ([^;\]]+)", extra)
    return f"{_sentences(words)} Default: `{default[1]}`." if default else _sentences(words)


def _of_adapters() -> Iterator[str]:
    adapter = Adapter(
        name="petstore", package="petstore_adapter", title="the petstore", description="", version="0", api_version="",
        spec_version="", field_case="snake", servers=(), security=(), security_schemes={}, counts={}, quick_start={},
    )  # fmt: skip
    parser = argument_parser(adapter)
    yield "## The command of an adapter\n"
    yield f"{_sentences(parser.description or '')}\n"
    yield "| option | effect |\n|---|---|"
    yield from (_row(_argument(action)) for action in _actions(parser))
    yield ""
    commands = next(action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    texts = {action.dest: action.help for action in commands._choices_actions}
    yield _COMMANDS
    aqlgen: Any = typer.main.get_command(app)
    known = {option for parameter in aqlgen.commands["learn"].params for option in parameter.opts}
    for name, command in commands.choices.items():
        rows = [row for row in map(_argument, _actions(command)) if not row[1].startswith(_COMMON)]
        same = [names for names, _ in rows if name == "learn" and re.split("[ `]", names[1:])[0] in known]
        yield f"| **`petstore-adapter {name}`** | {_sentences(str(texts[name]))} |"
        yield from _rows(rows, same, "As in `aqlgen learn`.")
    yield ""


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:
        if not isinstance(action, (argparse._HelpAction, argparse._SubParsersAction)):
            yield action


def _argument(action: argparse.Action) -> tuple[str, str]:
    """Return the names of an argument, and its help."""
    choices = "/".join(map(str, action.choices or ()))
    text = _sentences(action.help or (f"one of {choices}" if not action.option_strings else ""))
    if not action.option_strings:
        return f"`{action.metavar or action.dest.upper()}`", text
    value = "" if action.nargs == 0 else choices or str(action.metavar or action.dest.upper())
    return f"`{', '.join(action.option_strings)} {value}".strip() + "`", text


def _rows(rows: Sequence[tuple[str, str]], same: Sequence[str], text: str) -> Iterator[str]:
    """Yield the rows of options, the same ones as elsewhere in one row with this text."""
    yield from (_row(row) for row in rows if row[0] not in same)
    if same:
        yield _row((", ".join(same), text))


def _row(row: tuple[str, str]) -> str:
    return f"| {row[0].replace('|', '/')} | {row[1]} |"


def _sentences(text: str | None) -> str:
    """Return a help text as it stands on the page: one paragraph that begins upper-case and ends in a full stop."""
    plain = re.sub(r"(?<![`\w])<(\w+)>", r"&lt;\1&gt;", " ".join((text or "").split()))
    if not plain:
        return ""
    return plain[0].upper() + plain[1:] + ("" if plain.endswith((".", "?", "!", "…")) else ".")


if __name__ == "__main__":
    sys.stdout.write(page())
