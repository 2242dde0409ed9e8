"""The adapter's command, which serves MCP or answers a person. It never shows a traceback.

Exit codes: 0 done, 1 failed, 2 bad arguments or settings, 3 HTTP without saying who may use it.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from ..errors import CommandError, Failure
from ..exact_json import read_json
from ..hooks import HookError, import_hooks
from ..redaction import redact, without_userinfo
from ..settings.load import ConfigError
from ..table import Adapter, FormatError
from ..text import line, terminal_text
from .arguments import parse_arguments


def main(folder: Path, hooks: object | None = None, arguments: Sequence[str] | None = None) -> int:
    """Run the command that the arguments name with the package in `folder`, and with `hooks` or the module so named.

    Returns the exit code. Raises ImportError if a package is not installed.
    """
    try:
        adapter = Adapter.load(folder)
    except FormatError as problem:
        return _fail(str(problem), 1)
    except (KeyError, TypeError) as problem:
        return _fail(f"adapter.json cannot be read ({type(problem).__name__}); generate the project again", 1)
    try:
        options = parse_arguments(adapter, arguments)
        hooks = import_hooks(hooks) if isinstance(hooks, str) else hooks
        return _COMMANDS[options.command](folder, hooks, options)
    except (ConfigError, HookError) as problem:
        is_plain = isinstance(problem, ConfigError) and problem.free_of_values
        return _fail(redact(without_userinfo(str(problem)), () if is_plain else _secrets(adapter)), 2)
    except (CommandError, Failure, FormatError) as problem:
        return _fail(str(problem), 1)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1
    except KeyboardInterrupt:
        return 130
    except ImportError:
        raise
    except Exception as error:  # noqa: BLE001 - a person gets a line, the log the rest
        from ..logs import Logger

        Logger("error", secrets=lambda: _secrets(adapter)).exception("internal error", error)
        return _fail(f"internal error ({type(error).__name__}); see the record above", 1)


def _secrets(adapter: Adapter) -> frozenset[str]:
    from ..assembly import adapter_secrets

    return adapter_secrets(adapter, os.environ)


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
    from .operations import advice, as_json, read_params

    pairs = [argument for argument in options.params if "=" in argument and not argument.startswith("{")]
    texts = [argument for argument in options.params if argument not in pairs]
    way = "; give an object, such as '{\"id\": 1}', or id=1"
    if len(texts) > 1:
        return _fail(f"PARAMS has {len(texts)} arguments without a name: {line(' '.join(texts), 120)}{way}", 2)
    try:
        params = read_json(sys.stdin.read() if texts == ["-"] else "".join(texts) or "{}")
    except (ValueError, RecursionError) as problem:
        return _fail(f"PARAMS is not valid JSON ({problem}){way}", 2)
    if not isinstance(params, dict):
        return _fail("PARAMS is not an object; give each parameter with its name, such as id=1", 2)
    params |= read_params(folder, options.operation, pairs, os.environ) if pairs else {}
    envelope = _performed(folder, hooks, options, options.operation, params, yes=options.yes)
    _print(as_json(envelope))
    if envelope["success"]:
        return 0
    hint = advice(envelope, f"{Adapter.load(folder).name}-adapter") if sys.stdout.isatty() else ""
    if hint:
        sys.stderr.write(f"{hint}\n")
    return 1


def _search(folder: Path, hooks: object | None, options: argparse.Namespace) -> int:
    words = " ".join(options.words)
    if sys.stdout.isatty():
        listed = argparse.Namespace(category=None, search=words, output_format="human")
        return _operations(folder, hooks, listed)
    return _print_answer(_introspected(folder, hooks, options, search=words))


def _introspected(folder: Path, hooks: object | None, options: argparse.Namespace, **params: Any) -> dict[str, Any]:
    """Return the answer to an agent that searches, or has operations described."""
    return _performed(folder, hooks, options, "introspect", {"query": "search", **params})


def _performed(
    folder: Path, hooks: object | None, options: argparse.Namespace, operation: str, params: Any, *, yes: bool = False
) -> dict[str, Any]:
    """Perform an operation as for an agent. What hooks print goes to stderr: the answer goes to stdout."""
    import asyncio

    from .operations import call

    with redirect_stdout(sys.stderr):
        return asyncio.run(call(folder, hooks, operation, params, os.environ, mock=options.mock, yes=yes))


def _print_answer(envelope: dict[str, Any]) -> int:
    from .operations import as_json

    _print(as_json(envelope))
    return 0 if envelope["success"] else 1


def _login(folder: Path, _: object | None, options: argparse.Namespace) -> int:
    from ..auth.login import LoginOptions
    from .login import forget, log_in

    if options.forget:
        _print(forget(folder, options.scheme, os.environ))
    else:
        login_options = LoginOptions(options.port, not options.no_browser)
        _print(log_in(folder, options.scheme, login_options, os.environ))
    return 0


def _clients(folder: Path, _: object | None, options: argparse.Namespace) -> int:
    from .clients import CLIENTS, client_texts, start_of

    start = start_of(folder)
    if options.client:
        settings, remark = client_texts(start, CLIENTS[options.client])
        sys.stderr.write(f"{terminal_text(remark)}\n")
        _print(settings)
        return 0
    _print("\n\n".join("\n".join(reversed(client_texts(start, client))) for client in CLIENTS.values()))
    return 0


def _audit(folder: Path, _: object | None, options: argparse.Namespace) -> int:
    from .audit import audit_tail, audit_verdict

    if options.action == "verify":
        _print(audit_verdict(folder, os.environ, options.last.strip().lower()))
    else:
        for entry in audit_tail(folder, os.environ, max(1, options.lines)):
            _print(entry)
    return 0


def _trust(folder: Path, _: object | None, options: argparse.Namespace) -> int:
    from .trust import Change, change_trust, shown_trust

    asked = options.by, options.reason, options.authority, options.certificate_id, options.expires_at
    change = Change(options.action == "promote", *asked)
    is_shown = options.action == "show"
    _print(shown_trust(folder, os.environ) if is_shown else change_trust(folder, os.environ, change))
    return 0


def _operator(folder: Path, _: object | None, options: argparse.Namespace) -> int:
    from ..operator.serve import NoTerminal, serve_page
    from ..server.http import BindError

    try:
        return serve_page(folder, os.environ, port=options.port, address_file=options.address_file, name=options.by)
    except NoTerminal as problem:
        return _fail(str(problem), 2)
    except (BindError, OSError) as problem:
        return _fail(str(problem), 1)


def _doctor(folder: Path, hooks: object | None, options: argparse.Namespace) -> int:
    from .doctor import doctor, render_doctor
    from .operations import as_json

    with redirect_stdout(sys.stderr):
        report = doctor(folder, os.environ, hooks, call=options.call, mock=options.mock)
    as_text = as_json(report) if options.output_format == "json" else render_doctor(report, all_settings=options.all)
    _print(as_text)
    return 0 if report.get("call", {}).get("success", True) else 1


def _learn(folder: Path, hooks: object | None, options: argparse.Namespace) -> int:
    from .learn import learn

    with redirect_stdout(sys.stderr):
        report = learn(folder, hooks, os.environ, options)
    _print(report)
    return 0


def _describe(folder: Path, hooks: object | None, options: argparse.Namespace) -> int:
    name, answer = options.operation, _introspected(folder, hooks, options, name=[options.operation])
    if answer["success"] and not answer["data"]["operations"]:
        answer = _introspected(folder, hooks, options, query="types", name=name, all=True)
        if answer["success"] and answer["data"]["type"] is None:
            return _fail(f"there is no operation or type '{line(name, 64)}'; `search WORDS` finds operations", 1)
    return _print_answer(answer)


def _runtime(_folder: Path, _hooks: object | None, options: argparse.Namespace) -> int:
    from .sealed import listing, shown, verified

    if options.list:
        _print(listing())
        return 0
    if options.path:
        text = shown(options.path)
        if text is None:
            return _fail(f"the runtime has no file {options.path}; `runtime --list` lists them", 1)
        _print(text.rstrip("\n"))
        return 0
    sentence, is_whole = verified()
    _print(sentence)
    return int(not is_whole)


_COMMANDS = {
    "serve": _serve,
    "operations": _operations,
    "search": _search,
    "describe": _describe,
    "call": _call,
    "login": _login,
    "clients": _clients,
    "doctor": _doctor,
    "learn": _learn,
    "audit": _audit,
    "trust": _trust,
    "operator": _operator,
    "runtime": _runtime,
}


def _print(text: str) -> None:
    sys.stdout.buffer.write(terminal_text(text).encode("utf-8", "replace") + b"\n")
    sys.stdout.flush()


def _fail(message: str, code: int) -> int:
    sys.stderr.write(f"Error: {terminal_text(message)}\n")
    return code
