# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The adapter's command, which serves MCP or answers a person. It never shows a traceback.

Exit codes: 0 done, 1 failed, 2 bad arguments or settings, 3 HTTP without saying who may use it.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from ..exact_json import read_float
from ..hooks import HookError
from ..redaction import redact, without_userinfo
from ..settings.load import ConfigError
from ..table import FAMILIES, Adapter, FormatError
from ..text import line, terminal_text

__all__ = ["main"]


def main(folder: Path, hooks: object | None = None, arguments: Sequence[str] | None = None) -> int:
    """Run the command that the arguments name with the package in `folder`. Returns the exit code."""
    try:
        adapter = Adapter.load(folder)
    except FormatError as problem:
        return _fail(str(problem), 1)
    except (OSError, ValueError, KeyError, TypeError) as problem:
        return _fail(f"adapter.json cannot be read ({type(problem).__name__}); generate the project again", 1)
    try:
        options = _parsed(_parser(adapter, folder), arguments)
        if os.environ.get("MCP_AQL_ENV_FILE"):
            from ..settings.env_file import variables_of

            os.environ.update(variables_of(os.environ))
        return _COMMANDS[options.command](folder, hooks, options)
    except (ConfigError, HookError) as problem:
        return _fail(redact(without_userinfo(str(problem)), _secrets(adapter)), 2)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1
    except KeyboardInterrupt:
        return 130
    except Exception as error:  # noqa: BLE001 - a person gets a line, the log the rest
        from ..logs.log import Logger

        Logger("error", secrets=lambda: _secrets(adapter)).exception("internal error", error)
        return _fail(f"internal error ({type(error).__name__}); the record above says where", 1)


def _secrets(adapter: Adapter) -> frozenset[str]:
    from ..assembly import adapter_secrets

    return adapter_secrets(adapter, os.environ)


def _parsed(parser: argparse.ArgumentParser, arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the arguments; parameters of `call` may stand behind its options too."""
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
            from .values import example_calls

            calls = example_calls(self.folder, self.adapter, self.most_calls)
            lines = [text.replace("%", "%%") for text in (*self.examples, *calls)]
            self.epilog = "\n".join(("examples:", *(f"  {text}" for text in lines))) if lines else None
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        """Refuse the arguments with exit code 2."""
        word = _UNKNOWN_COMMAND.match(message)
        if word is None or not self.commands:
            super().error(message)
        from .guidance import no_such_command
        from .operations import knows

        is_operation = knows(self.folder, word[1])
        self.exit(2, f"Error: {no_such_command(word[1], self.prog, self.commands, is_operation=is_operation)}\n")


_OPERATOR_ACTIONS = ("list", "show", "approve", "deny", "code", "revoke", "follow")
_UNKNOWN_COMMAND = re.compile(r"argument COMMAND: invalid choice: '(.*?)' \(")


def _parser(adapter: Adapter, folder: Path) -> argparse.ArgumentParser:
    name, title = f"{adapter.name}-adapter", line(adapter.title, 100).replace("%", "")
    parser = _Parser(
        prog=name,
        description=f"MCP-AQL adapter of {title}. Without a command it serves MCP over standard input and output.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.folder, parser.adapter, parser.most_calls = folder, adapter, 1
    parser.examples = (f"{name} doctor", f"{name} --mock", f"{name} --transport http --port 8000")
    parser.add_argument("--version", action="version", version=f"{name} {adapter.version}")
    parser.add_argument("--transport", choices=("stdio", "http"), default="stdio", help="default: stdio")
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
    call.add_argument("operation", metavar="OPERATION")
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
    operator.add_argument(
        "action",
        choices=_OPERATOR_ACTIONS,
        nargs="?",
        help="default: show what waits and what comes, and take commands",
    )
    operator.add_argument("id", metavar="ID", nargs="?", default="", help="of the question, challenge or approval")
    operator.add_argument("--session", action="store_true", help="approve further calls of the same shape, too")
    operator.add_argument("--by", metavar="NAME", default="", help="who decides, for the audit log (default: the user)")
    operator.set_defaults(command="operator")

    doctor = commands.add_parser("doctor", help="show what is set, what is missing, and whether calls can be made")
    doctor.set_defaults(command="doctor")
    doctor.add_argument("--all", action="store_true", help="show the settings that are as they come, too")
    doctor.add_argument(
        "--call", action="store_true", help="make one safe read, and show if the API answers and takes the credential"
    )
    doctor.add_argument("--mock", action="store_true", default=argparse.SUPPRESS, help="call with no network")
    for command in (operations, describe, doctor):
        command.add_argument("--output-format", choices=("human", "json"), default="human")
    parser.commands = list(commands.choices)
    return parser


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > 65535:
        raise argparse.ArgumentTypeError("must be a number from 0 to 65535")
    return int(text)


def _serve(folder: Path, hooks: object | None, options: argparse.Namespace) -> int:
    from .serving import serve_over_http, serve_over_stdio

    if options.transport == "stdio":
        return serve_over_stdio(folder, hooks, mock=options.mock)
    return serve_over_http(folder, hooks, options)


def _operations(folder: Path, _: object | None, options: argparse.Namespace) -> int:
    from .operations import as_json, list_operations, render_operations

    operations = list_operations(folder, os.environ, category=options.category, search=options.search)
    if not operations and options.output_format == "human":
        sys.stderr.write("No operation is like that; `operations` alone lists all.\n")
        return 0
    as_text = as_json({"operations": operations}) if options.output_format == "json" else render_operations(operations)
    _print(as_text)
    return 0


def _call(folder: Path, hooks: object | None, options: argparse.Namespace) -> int:
    import asyncio

    from .guidance import advice
    from .operations import as_json, call, read_params
    from .values import ValueProblem

    try:
        params = _params(options.params, lambda pairs: read_params(folder, options.operation, pairs, os.environ))
    except ValueProblem as problem:
        return _fail(f"{problem}. `{_command(folder)} describe {line(options.operation, 64)}` shows what it takes", 2)
    except (ValueError, RecursionError):
        return _fail("PARAMS is not valid JSON; give an object, such as '{\"id\": 1}', or id=1", 2)
    if not isinstance(params, dict):
        return _fail("PARAMS is no object; give each parameter with its name, such as id=1", 2)
    envelope = asyncio.run(
        call(folder, hooks, options.operation, params, os.environ, mock=options.mock, yes=options.yes)
    )
    _print(as_json(envelope))
    if envelope["success"]:
        return 0
    hint = advice(envelope, options.operation, _command(folder))
    if hint:
        sys.stderr.write(f"{hint}\n")
    return 1


def _plan(folder: Path, hooks: object | None, options: argparse.Namespace) -> int:
    import asyncio

    from ..errors import Failure
    from .operations import as_json
    from .plan import plan, problem_of

    try:
        answer = asyncio.run(
            plan(folder, hooks, options.file, os.environ, mock=options.mock, name=options.arazzo, url=options.url)
        )
    except (OSError, ValueError, RecursionError, Failure) as problem:
        return _fail(problem_of(problem), 1)
    _print(as_json(answer))
    return 0 if answer.get("success", True) else 1


def _params(arguments: Sequence[str], read_pairs: Callable[[Sequence[str]], dict[str, Any]]) -> Any:
    """Read parameters: a JSON object, `-` for one on standard input, or NAME=VALUE each. Raises ValueError."""
    if arguments and all("=" in argument and not argument.startswith("{") for argument in arguments):
        return read_pairs(arguments)
    if len(arguments) > 1:
        raise ValueError(arguments)
    text = arguments[0] if arguments else "{}"
    return json.loads(sys.stdin.read() if text == "-" else text, parse_float=read_float)


def _command(folder: Path) -> str:
    return f"{Adapter.load(folder).name}-adapter"


def _login(folder: Path, _: object | None, options: argparse.Namespace) -> int:
    from ..auth.login import LoginError, LoginOptions
    from .login import forget, log_in

    try:
        if options.forget:
            _print(forget(folder, options.scheme, os.environ))
        else:
            login_options = LoginOptions(options.scopes, options.port, options.device, not options.no_browser)
            _print(log_in(folder, options.scheme, login_options, os.environ))
    except LoginError as problem:
        return _fail(str(problem), 1)
    return 0


def _audit(folder: Path, _: object | None, options: argparse.Namespace) -> int:
    from .audit import AuditError, audit_tail, audit_verdict

    try:
        if options.action == "verify":
            _print(audit_verdict(folder, os.environ, options.last.strip().lower()))
        else:
            for entry in audit_tail(folder, os.environ, max(1, options.lines)):
                _print(entry)
    except AuditError as problem:
        return _fail(str(problem), 1)
    return 0


def _trust(folder: Path, _: object | None, options: argparse.Namespace) -> int:
    from .trust import Change, TrustError, run

    asked = options.by, options.reason, options.to, options.authority, options.certificate_id, options.expires_at
    try:
        _print(run(folder, options.action, Change(options.action == "promote", *asked)))
    except TrustError as problem:
        return _fail(str(problem), 1)
    return 0


def _operator(folder: Path, _: object | None, options: argparse.Namespace) -> int:
    from .operator_desk import OperatorError, run_operator

    try:
        return run_operator(folder, os.environ, options)
    except OperatorError as problem:
        return _fail(str(problem), 1)


def _doctor(folder: Path, hooks: object | None, options: argparse.Namespace) -> int:
    from .doctor import doctor, render_doctor
    from .operations import as_json

    report = doctor(folder, os.environ, hooks, call=options.call, mock=options.mock)
    as_text = as_json(report) if options.output_format == "json" else render_doctor(report, all_settings=options.all)
    _print(as_text)
    return 0 if report.get("call", {}).get("success", True) else 1


def _describe(folder: Path, _: object | None, options: argparse.Namespace) -> int:
    from .guidance import no_such_name
    from .operations import as_json, describe, nearest, render_description

    details, command = describe(folder, options.operation, os.environ), _command(folder)
    if details is None:
        near = nearest(folder, options.operation, os.environ, types=True)
        return _fail(no_such_name(options.operation, near, command, "operation or type"), 1)
    as_text = as_json(details) if options.output_format == "json" else None
    _print(as_text or render_description(folder, details, command, os.environ))
    return 0


_COMMANDS = {
    "serve": _serve,
    "operations": _operations,
    "describe": _describe,
    "call": _call,
    "plan": _plan,
    "login": _login,
    "doctor": _doctor,
    "audit": _audit,
    "trust": _trust,
    "operator": _operator,
}


def _print(text: str) -> None:
    sys.stdout.buffer.write(terminal_text(text).encode("utf-8", "replace") + b"\n")
    sys.stdout.flush()


def _fail(message: str, code: int) -> int:
    sys.stderr.write(f"Error: {terminal_text(message)}\n")
    return code
