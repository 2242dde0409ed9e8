# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The arguments of the adapter's command, and its help."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from ..table import FAMILIES, Adapter
from ..text import line

__all__ = ["argument_parser", "parse_arguments"]


def parse_arguments(adapter: Adapter, folder: Path, arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the arguments of a command; parameters of `call` may stand behind its options too.

    Wrong ones end the process with exit code 2, after a line that says what is wrong.
    """
    parser = argument_parser(adapter, folder)
    options, rest = parser.parse_known_args(arguments)
    if rest and (options.command != "call" or any(argument.startswith("-") for argument in rest)):
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    if rest:
        options.params += rest
    return options


class _Parser(argparse.ArgumentParser):
    """A parser whose help ends with commands to copy, and whose refusals are for people.

    The calls among the examples are read from the table, so only when they are shown.
    """

    folder: Path
    adapter: Adapter
    commands: Sequence[str] = ()
    examples: Sequence[str] = ()
    most_calls = 0

    def format_help(self) -> str:
        """Return the help with its examples."""
        if self.examples or self.most_calls:
            from .operations import example_calls

            calls = example_calls(self.folder, self.adapter, os.environ)[: self.most_calls]
            lines = [text.replace("%", "%%") for text in (*self.examples, *calls)]
            self.epilog = "\n".join(("examples:", *(f"  {text}" for text in lines))) if lines else None
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        """Refuse the arguments with exit code 2."""
        word = _UNKNOWN_COMMAND.match(message)
        if word is None or not self.commands:
            super().error(message)
        from .operations import knows, no_such_command

        is_operation = knows(self.folder, word[1])
        self.exit(2, f"Error: {no_such_command(word[1], self.prog, self.commands, is_operation=is_operation)}\n")


_CLIENTS = ("claude-desktop", "claude-code", "cursor", "vscode", "windsurf", "codex", "gemini-cli", "zed")
_OPERATOR_ACTIONS = ("list", "show", "approve", "deny", "code", "revoke")
_UNKNOWN_COMMAND = re.compile(r"argument COMMAND: invalid choice: '(.*?)' \(")


def argument_parser(adapter: Adapter, folder: Path) -> argparse.ArgumentParser:
    """Return the parser of the command of the adapter in a folder."""
    name, title = f"{adapter.name}-adapter", line(adapter.title, 100).replace("%", "")
    parser = _Parser(
        prog=name,
        description=f"MCP-AQL adapter of {title}. Without a command it serves MCP over standard input and output.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.folder, parser.adapter, parser.most_calls = folder, adapter, 1
    parser.examples = (f"{name} doctor", f"{name} --mock", f"{name} --transport http --port 8000")
    parser.add_argument("--version", action="version", version=f"{name} {adapter.version}")
    parser.add_argument(
        "--transport", choices=("stdio", "http"), default="stdio", help="how clients talk to it (default: stdio)"
    )
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        help="address to listen on with http (default: 127.0.0.1; others need MCP_AQL_HTTP_AUTH)",
    )
    parser.add_argument("--port", type=_port, default=8000, help="port to listen on with http (default: 8000; 0: any)")
    parser.add_argument("--mock", action="store_true", help="answer from the API's document, with no network")
    parser.set_defaults(command="serve")
    commands = parser.add_subparsers(title="commands for people", metavar="COMMAND", parser_class=_Parser)

    operations = commands.add_parser("operations", help="list the operations")
    operations.add_argument("--category", type=str.lower, choices=FAMILIES, help="only of this category")
    operations.add_argument("--search", metavar="WORDS", help="only those that match, the best first")
    operations.set_defaults(command="operations")

    describe = commands.add_parser("describe", help="show what one operation takes and gives, or a type's fields")
    describe.add_argument("operation", metavar="NAME", help="of an operation or a type")
    describe.set_defaults(command="describe")

    call = commands.add_parser(
        "call",
        help="perform one operation and print the envelope",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    call.folder, call.adapter, call.most_calls = folder, adapter, 3
    call.add_argument("operation", metavar="OPERATION", help="its name, or the API's own")
    call.add_argument(
        "params",
        metavar="PARAMS",
        nargs="*",
        default=[],
        help="its parameters: NAME=VALUE each (a list with commas, an object as JSON), a JSON object of all, or - to "
        "read that from standard input",
    )
    call.add_argument("--mock", action="store_true", default=argparse.SUPPRESS, help="with no network")
    call.add_argument(
        "--yes",
        action="store_true",
        help="confirm what asks for it, without being asked (not with MCP_AQL_APPROVAL=person)",
    )
    call.set_defaults(command="call")

    plan = commands.add_parser("plan", help="check a plan of several steps and show its requests; nothing is sent")
    plan.add_argument("file", metavar="FILE", help="the parameters of run_steps as JSON; - for standard input")
    plan.add_argument("--arazzo", metavar="NAME", help="write it out as the workflow NAME of an Arazzo 1.0 document")
    plan.add_argument(
        "--url", default="openapi.yaml", help="of the API's document, for --arazzo (default: openapi.yaml)"
    )
    plan.add_argument("--mock", action="store_true", default=argparse.SUPPRESS, help="with no address of the API")
    plan.set_defaults(command="plan")

    login = commands.add_parser("login", help="let the adapter act for you, where the API knows logins")
    login.add_argument("scheme", metavar="SCHEME", nargs="?", help="the security scheme, where there are several")
    login.add_argument("--scopes", default="", help="divided by spaces (default: what the operations need)")
    login.add_argument("--port", type=_port, default=0, help="of the redirect to this machine (default: any)")
    login.add_argument("--device", action="store_true", help="enter a code in a browser elsewhere")
    login.add_argument("--no-browser", action="store_true", help="only print the address")
    login.add_argument("--forget", action="store_true", help="forget the login")
    login.set_defaults(command="login")

    clients = commands.add_parser("clients", help="show the settings that start this adapter in an MCP client")
    clients.add_argument("client", metavar="CLIENT", nargs="?", choices=_CLIENTS, help=", ".join(_CLIENTS))
    clients.add_argument("--env-file", type=Path, metavar="FILE", help="name this file, instead of each variable")
    clients.set_defaults(command="clients")

    audit = commands.add_parser("audit", help="show the end of the audit log, or whether all of it is there unchanged")
    audit.add_argument("action", choices=("verify", "tail"))
    audit.add_argument(
        "--last", metavar="HASH", default="", help="verify: a hash that must be in it, kept from earlier"
    )
    audit.add_argument("--lines", type=int, default=20, help="tail: how many entries (default: 20)")
    audit.set_defaults(command="audit")

    trust = commands.add_parser("trust", help="show who vouches for the adapter, or change it by one step")
    trust.add_argument("action", choices=("show", "promote", "demote"), nargs="?", default="show")
    trust.add_argument("--by", default="", metavar="WHO", help="who decides it: a person or a tool")
    trust.add_argument("--reason", default="", metavar="WHY", help="why, in a line")
    trust.add_argument("--to", default="", metavar="LEVEL", help="the level that is meant, to be sure")
    trust.add_argument("--authority", default="", help="certified: who certifies it")
    trust.add_argument("--certificate-id", default="", help="certified: the certificate")
    trust.add_argument("--expires-at", default="", metavar="TIME", help="certified: until when, such as 2027-01-20")
    trust.set_defaults(command="trust")
    operator = commands.add_parser("operator", help="decide what agents wait for, outside of everything they reach")
    operator.add_argument("--page", action="store_true", help="on a page of this machine, in a browser")
    operator.add_argument("--port", type=_port, default=0, help="of the page (default: any)")
    operator.add_argument(
        "--address-file",
        metavar="PATH",
        type=Path,
        help="write the page's address into this new file, where there is no terminal; who reads it decides",
    )
    operator.add_argument(
        "action",
        choices=_OPERATOR_ACTIONS,
        nargs="?",
        default="list",
        help="default: list what waits and what holds",
    )
    operator.add_argument("id", metavar="ID", nargs="?", default="", help="of the question, challenge or approval")
    operator.add_argument("--session", action="store_true", help="approve further calls of the same shape, too")
    operator.add_argument("--by", metavar="NAME", default="", help="who decides, for the audit log (default: the user)")
    operator.set_defaults(command="operator")

    runtime = commands.add_parser(
        "runtime", help="show what the sealed runtime holds, and whether it is as it was sealed"
    )
    runtime.add_argument("path", metavar="PATH", nargs="?", help="show this file of it")
    runtime.add_argument("--list", action="store_true", help="list its files with their hashes")
    runtime.set_defaults(command="runtime")

    doctor = commands.add_parser("doctor", help="show what is set, what is missing, and whether calls can be made")
    doctor.set_defaults(command="doctor")
    doctor.add_argument("--all", action="store_true", help="show the settings that are as they come, too")
    doctor.add_argument(
        "--call", action="store_true", help="make one safe read, and show if the API answers and takes the credential"
    )
    doctor.add_argument("--mock", action="store_true", default=argparse.SUPPRESS, help="call with no network")

    learn = commands.add_parser("learn", help="observe the API by safe reads, and propose what its document lacks")
    learn.add_argument("--plan", action="store_true", help="only show what would be asked of the API")
    learn.add_argument("--requests", type=int, default=300, metavar="N", help="send at most N (default: 300)")
    learn.add_argument("--seconds", type=float, default=60.0, metavar="N", help="take at most N (default: 60)")
    learn.add_argument("--only", action="append", default=[], metavar="OPERATION", help="only this; may be repeated")
    learn.add_argument("--from-notes", action="store_true", help="take the notes of `learn.notes`; ask nothing")
    learn.add_argument("--allow-writes", action="store_true", help="make things, change them, and take them away again")
    learn.add_argument(
        "--resource",
        action="append",
        default=[],
        metavar="PATH=VALUES",
        help="change and restore it, as /pets/{petId}=7",
    )
    learn.add_argument("--write", type=Path, metavar="FILE", help="keep it for `aqlgen learn --from FILE`")
    learn.set_defaults(command="learn")
    for command in (operations, describe, doctor, learn):
        command.add_argument(
            "--output-format", choices=("human", "json"), default="human", help="for people or for programs"
        )
    parser.commands = list(commands.choices)
    return parser


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > 65535:
        raise argparse.ArgumentTypeError("must be a number from 0 to 65535")
    return int(text)
