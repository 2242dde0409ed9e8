"""The arguments of the adapter's command, and its help."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from ..table import FAMILIES, Adapter
from ..text import line


def parse_arguments(adapter: Adapter, arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the arguments of a command; parameters of `call` may stand behind its options too.

    Wrong ones end the process with exit code 2, after a line that says what is wrong.
    """
    parser = argument_parser(adapter)
    options, rest = parser.parse_known_args(arguments)
    if rest and (options.command != "call" or any(argument.startswith("-") for argument in rest)):
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    if rest:
        options.params += rest
    for name, default in (("host", "127.0.0.1"), ("port", 8000)):
        if getattr(options, name, None) is None:
            setattr(options, name, default)
        elif options.command == "serve" and options.transport == "stdio":
            parser.error(f"--{name} needs --transport http")
    return options


_CLIENTS = ("claude-desktop", "claude-code", "cursor", "vscode", "windsurf", "codex", "gemini-cli", "zed")


def argument_parser(adapter: Adapter) -> argparse.ArgumentParser:
    """Return the parser of the command of an adapter."""
    name, title = f"{adapter.name}-adapter", line(adapter.title, 100).replace("%", "")
    parser = argparse.ArgumentParser(
        prog=name,
        description=f"MCP-AQL adapter of {title}. Without a command, serve MCP over standard input and output.",
        epilog=f"examples:\n  {name} doctor\n  {name} --mock\n  {name} --transport http --port 8000",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"{name} {adapter.version}")
    parser.add_argument(
        "--transport", choices=("stdio", "http"), default="stdio", help="transport for clients (default: stdio)"
    )
    parser.add_argument("--host", help="address for http (default: 127.0.0.1; others need a token or OAuth)")
    parser.add_argument("--port", type=_port, help="port for http (default: 8000; 0: any free port)")
    parser.add_argument("--mock", action="store_true", help="answer from the API's document, without network")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command")
    parser.set_defaults(command="serve")

    def add(word: str, effect: str) -> argparse.ArgumentParser:
        return commands.add_parser(word, help=effect, description=f"{effect[0].upper()}{effect[1:]}.")

    operations = add("operations", "list the operations")
    operations.add_argument("--category", type=str.lower, choices=FAMILIES, help="show only this category")
    operations.add_argument("--search", metavar="WORDS", help="show only matches, best first")

    search = add("search", "find operations by words; a pipe gets the answer that agents get")
    search.add_argument("words", metavar="WORDS", nargs="+", help="such as: adopt a pet")

    describe = add("describe", "show parameters and result of an operation, or fields of a type")
    describe.add_argument("operation", metavar="NAME", help="name of an operation or a type")

    call = add("call", "call an operation and print the envelope")
    call.add_argument("operation", metavar="OPERATION", help="name of the operation, or the API's operationId")
    call.add_argument(
        "params",
        metavar="PARAMS",
        nargs="*",
        default=[],
        help="parameters: NAME=VALUE each (commas in a list, JSON for an object), one JSON object (-: from standard "
        "input), or both",
    )
    call.add_argument("--mock", action="store_true", default=argparse.SUPPRESS, help="answer from the document")
    call.add_argument(
        "--yes",
        action="store_true",
        help="confirm without a question (not with MCP_AQL_APPROVAL=person or operator)",
    )

    login = add("login", "log in, so that the adapter acts for you")
    login.add_argument("scheme", metavar="SCHEME", nargs="?", help="security scheme, if there are several")
    login.add_argument("--port", type=_port, default=0, help="port of the redirect to this machine (default: any)")
    login.add_argument("--no-browser", action="store_true", help="print the address instead of opening a browser")
    login.add_argument("--forget", action="store_true", help="forget the login")

    clients = add("clients", "show settings of MCP clients for this adapter")
    clients.add_argument("client", metavar="CLIENT", nargs="?", choices=_CLIENTS, help=f"one of {', '.join(_CLIENTS)}")

    audit = add("audit", "show the end of the audit log, or verify it")
    audit.add_argument("action", choices=("verify", "tail"))
    audit.add_argument("--last", metavar="HASH", default="", help="verify: a stored hash that must be in the log")
    audit.add_argument("--lines", type=int, default=20, help="tail: number of entries (default: 20)")

    trust = add("trust", "show the trust level, or change it by one step")
    trust.add_argument("action", choices=("show", "promote", "demote"), nargs="?", default="show")
    trust.add_argument("--by", default="", metavar="WHO", help="person or tool that decides")
    trust.add_argument("--reason", default="", metavar="WHY", help="reason, in a line")
    trust.add_argument("--authority", default="", help="certified: certifying authority")
    trust.add_argument("--certificate-id", default="", help="certified: id of the certificate")
    trust.add_argument("--expires-at", default="", metavar="TIME", help="certified: expiry date, such as 2027-01-20")
    operator = add("operator", "decide on waiting calls on a local page, out of the agents' reach")
    operator.add_argument("--port", type=_port, default=0, help="port of the page (default: any)")
    operator.add_argument(
        "--address-file",
        metavar="PATH",
        type=Path,
        help="without a terminal: write the page's address into this new file; whoever reads it can decide",
    )
    operator.add_argument("--by", metavar="NAME", default="", help="name for the audit log (default: your user name)")

    runtime = add("runtime", "show and verify the sealed runtime")
    runtime.add_argument("path", metavar="PATH", nargs="?", help="show this file")
    runtime.add_argument("--list", action="store_true", help="list files with hashes")

    doctor = add("doctor", "show settings and credentials, and missing ones")
    doctor.add_argument("--all", action="store_true", help="also show settings with default values")
    doctor.add_argument("--call", action="store_true", help="call safe reads, to test the API and the credential")
    doctor.add_argument("--mock", action="store_true", default=argparse.SUPPRESS, help="call without network")

    learn = add("learn", "observe the API by safe reads, and print a report for `aqlgen learn`")
    learn.add_argument("--plan", action="store_true", help="show the requests without sending them")
    learn.add_argument("--requests", type=int, default=300, metavar="N", help="send at most N requests (default: 300)")
    learn.add_argument("--seconds", type=float, default=60.0, metavar="N", help="stop after N seconds (default: 60)")
    learn.add_argument(
        "--only", action="append", default=[], metavar="OPERATION", help="observe only this operation; repeatable"
    )
    learn.add_argument("--from-notes", action="store_true", help="use the notes of `learn.notes`; send nothing")
    learn.add_argument("--allow-writes", action="store_true", help="create, change and delete test resources")
    learn.add_argument(
        "--resource",
        action="append",
        default=[],
        metavar="PATH=VALUES",
        help="also change and restore this resource: /pets/{petId}=7",
    )
    learn.add_argument(
        "--make",
        action="append",
        default=[],
        metavar="OPERATION",
        help="also create a resource with this operation, which may give access or need a confirmation",
    )
    learn.add_argument(
        "--key", metavar="VARIABLE", help="try the key in this variable if the document declares no credential"
    )
    for command in (operations, doctor):
        command.add_argument(
            "--output-format", choices=("human", "json"), default="human", help="output for people or for programs"
        )
    return parser


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > 65535:
        raise argparse.ArgumentTypeError("must be a number from 0 to 65535")
    return int(text)
