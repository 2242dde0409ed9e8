# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""The adapter's command: serves MCP, or answers a person. Never shows a traceback.

Exit codes: 0 done, 1 failed, 2 bad arguments or settings.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .config import ConfigError
from .hooks import HookError
from .log import Logger
from .table import FAMILIES, Adapter
from .text import line

__all__ = ["main"]

_LINE_OVERHEAD = 64 * 1024
_ESCAPES = 4
_GRACE = 5.0


def main(folder: Path, hooks: object | None = None, arguments: Sequence[str] | None = None) -> int:
    """Do what the arguments ask with the package in `folder`; give the exit code."""
    try:
        adapter = Adapter.load(folder)
    except (OSError, ValueError, KeyError, TypeError) as problem:
        return _fail(f"adapter.json cannot be read ({type(problem).__name__}); generate the project again", 1)
    try:
        options = _parser(adapter).parse_args(arguments)
        return _COMMANDS[options.command](folder, hooks, options)
    except (ConfigError, HookError) as problem:
        return _fail(str(problem), 2)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1
    except KeyboardInterrupt:
        return 130
    except Exception as error:  # noqa: BLE001 - a person gets one line, the log the rest
        Logger("error").exception("internal error", error)
        return _fail(f"internal error ({type(error).__name__}); the record above says where", 1)


def _parser(adapter: Adapter) -> argparse.ArgumentParser:
    name, title = f"{adapter.name}-adapter", line(adapter.title, 100).replace("%", "")
    parser = argparse.ArgumentParser(
        prog=name,
        description=f"MCP-AQL adapter of {title}. Without a command it serves MCP over standard input and output.",
    )
    parser.add_argument("--version", action="version", version=f"{name} {adapter.version}")
    parser.add_argument("--transport", choices=("stdio", "http"), default="stdio", help="default: stdio")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on with http (default: 127.0.0.1)")
    parser.add_argument("--port", type=_port, default=8000, help="port to listen on with http (default: 8000; 0: any)")
    parser.add_argument("--mock", action="store_true", help="answer from the API's document, with no network")
    parser.set_defaults(command="serve")
    commands = parser.add_subparsers(title="commands for people", metavar="")

    operations = commands.add_parser("operations", help="list the operations")
    operations.add_argument("--category", type=str.lower, choices=FAMILIES, help="only of this category")
    operations.add_argument("--search", metavar="WORDS", help="only those that match, the best first")
    operations.set_defaults(command="operations")

    call = commands.add_parser("call", help="perform one operation and print the envelope")
    call.add_argument("operation", metavar="OPERATION")
    call.add_argument("params", metavar="PARAMS", nargs="?", default="{}", help="its parameters, a JSON object")
    call.add_argument("--mock", action="store_true", default=argparse.SUPPRESS, help="with no network")
    call.add_argument("--yes", action="store_true", help="confirm what asks for it, without being asked")
    call.set_defaults(command="call")

    login = commands.add_parser("login", help="let the adapter act for you, where the API knows logins")
    login.add_argument("scheme", metavar="SCHEME", nargs="?", help="the security scheme, where there are several")
    login.add_argument("--scopes", default="", help="divided by spaces (default: what the operations need)")
    login.add_argument("--port", type=_port, default=0, help="of the redirect to this machine (default: any)")
    login.add_argument("--device", action="store_true", help="enter a code in a browser elsewhere")
    login.add_argument("--no-browser", action="store_true", help="only print the address")
    login.add_argument("--forget", action="store_true", help="forget the login")
    login.set_defaults(command="login")

    doctor = commands.add_parser("doctor", help="show the settings, and which credentials are missing")
    doctor.set_defaults(command="doctor")
    for one in (operations, doctor):
        one.add_argument("--output-format", choices=("human", "json"), default="human")
    return parser


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > 65535:
        raise argparse.ArgumentTypeError("must be a number from 0 to 65535")
    return int(text)


def _serve(folder: Path, hooks: object | None, options: argparse.Namespace) -> int:
    from .assembly import assemble

    parts = assemble(folder, hooks, mock=options.mock)
    from .bridge import adopt
    from .server import build_server

    adopt(parts.dispatcher.log)
    limit = parts.config.max_request_size * _ESCAPES + _LINE_OVERHEAD
    server = build_server(parts.dispatcher, parts.transport.aclose)
    if options.transport == "stdio":
        from .pipe import serve_pipe

        return serve_pipe(server, max_line=limit, grace=parts.config.timeout + _GRACE)
    from .http import BindError, serve_http

    try:
        return serve_http(server, host=options.host, port=options.port, max_body=limit)
    except BindError as problem:
        return _fail(str(problem), 1)


def _operations(folder: Path, _: object | None, options: argparse.Namespace) -> int:
    from .people import as_json, list_operations, render_operations

    found = list_operations(folder, category=options.category, search=options.search)
    _print(as_json({"operations": found}) if options.output_format == "json" else render_operations(found))
    return 0


def _call(folder: Path, hooks: object | None, options: argparse.Namespace) -> int:
    import asyncio

    from .people import as_json, call
    from .terminal import Terminal

    try:
        params: Any = json.loads(options.params)
    except (ValueError, RecursionError):
        return _fail("PARAMS is not valid JSON; give an object, such as '{\"id\": 1}'", 2)
    person = Terminal(yes=options.yes)
    envelope = asyncio.run(call(folder, hooks, options.operation, params, os.environ, mock=options.mock, person=person))
    _print(as_json(envelope))
    return 0 if envelope["success"] else 1


def _login(folder: Path, _: object | None, options: argparse.Namespace) -> int:
    from .logging_in import forget, log_in
    from .login import LoginError, Wishes

    try:
        if options.forget:
            _print(forget(folder, options.scheme, os.environ))
        else:
            wishes = Wishes(options.scopes, options.port, options.device, not options.no_browser)
            _print(log_in(folder, options.scheme, wishes, os.environ))
    except LoginError as problem:
        return _fail(str(problem), 1)
    return 0


def _doctor(folder: Path, hooks: object | None, options: argparse.Namespace) -> int:
    from .people import as_json, doctor, render_doctor

    found = doctor(folder, os.environ, hooks)
    _print(as_json(found) if options.output_format == "json" else render_doctor(found))
    return 0


_COMMANDS = {"serve": _serve, "operations": _operations, "call": _call, "login": _login, "doctor": _doctor}


def _print(text: str) -> None:
    sys.stdout.buffer.write(text.encode("utf-8", "replace") + b"\n")
    sys.stdout.flush()


def _fail(message: str, code: int) -> int:
    sys.stderr.write(f"Error: {message}\n")
    return code
