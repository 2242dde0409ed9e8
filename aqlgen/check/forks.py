"""A server of processes that have imported an adapter: each start is a fork, and takes a hundredth of a second.

A start hands arguments, folder, environment and streams to the server over a socket. The fork ends when that is closed,
and sends its exit code before. Where the system cannot fork, the interpreter starts each process.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import marshal
import os
import pkgutil
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

TABLE = "AQLGEN_CHECK_TABLE"
"""The variable that names a folder of data files, with which the runtime is started in place of the project's."""
HOOKS = "AQLGEN_CHECK_HOOKS"
"""The variable that names a folder with the hooks.py beside such data files; without it these have none."""

_MODULES = (
    "mcp", "sqlite3", "ssl", "jsonschema_rs", "logging.config", "anyio._backends._asyncio", "uvicorn.lifespan.on",
    "uvicorn.loops.asyncio", "uvicorn.protocols.http.auto", "httpcore2", "truststore", "tomllib", "encodings.idna",
    "difflib",
)  # fmt: skip
_LEFT_OUT = ("learn", "testing", "witness")
"""Packages of the runtime that no server of MCP loads; one imports pytest."""
_YOUNG = 50_000
"""Objects after which garbage is collected: a fork lives shortly."""
_GRACE = 5


@contextmanager
def starter(package: str, environment: Mapping[str, str]) -> Iterator[str]:
    """Yield the address of a server of forks of a package; "" where the system cannot fork."""
    if not hasattr(os, "fork"):
        yield ""
        return
    with tempfile.TemporaryDirectory() as folder:
        address = str(Path(folder) / "forks")
        server = subprocess.Popen(  # noqa: S603 - the project that the user named
            [sys.executable, "-P", __file__, address, package],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(environment),
        )
        try:
            if server.stdout is not None:
                server.stdout.readline()
            yield address
        finally:
            server.communicate()  # the end of its input ends the server


def _import(package: str) -> None:
    """Import whatever the adapter may; what cannot be imported, the adapter itself shall say."""
    with suppress(Exception):
        for name in (*_MODULES, *_modules(f"{package}.runtime")):
            with suppress(Exception):
                importlib.import_module(name)
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG)


def _modules(package: str) -> Iterator[str]:
    """Yield the modules of a package, except for what is left out."""
    for module in pkgutil.iter_modules(importlib.import_module(package).__path__, f"{package}."):
        if module.name.rpartition(".")[2] not in _LEFT_OUT:
            yield from _modules(module.name) if module.ispkg else (module.name,)


def _next_start(listener: socket.socket) -> socket.socket | None:
    """Fork for each start until standard input ends; in each fork, return the connection with who asked for it."""
    while 0 not in select.select([0, listener.fileno()], [], [])[0]:
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        connection, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            _become(connection)
            return connection
        connection.close()
    return None


def _become(connection: socket.socket) -> None:
    """Become the process that is asked for, which ends when nobody waits for it any more."""
    head, streams, _, _ = socket.recv_fds(connection, 8, 3)
    with connection.makefile("rb") as file:
        arguments, folder, variables = marshal.loads(file.read(int.from_bytes(head, "big")))  # noqa: S302 - of the check
    threading.Thread(target=_attend, args=(connection,), daemon=True).start()
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables)
    for target, stream in enumerate(streams):
        os.dup2(stream, target)
        os.close(stream)
    sys.path.insert(0, folder)
    sys.argv[1:] = arguments


def _attend(connection: socket.socket) -> None:
    if not connection.recv(1):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(_GRACE)
        os.kill(os.getpid(), signal.SIGKILL)


def _run(package: str, connection: socket.socket) -> None:
    """Run the adapter, tell its code, and end without taking the interpreter apart, which takes longer than a start."""
    code: object = 0
    table = os.environ.pop(TABLE, "")
    if table:
        module = importlib.import_module(package)
        module.__file__ = f"{table}/__init__.py"
        sys.modules[f"{package}.hooks"] = None  # type: ignore[assignment]  # the owner's are not of this table
    hooks = os.environ.pop(HOOKS, "")
    if hooks:
        del sys.modules[f"{package}.hooks"]
        importlib.import_module(package).__path__.insert(0, hooks)
    try:
        runpy.run_module(package, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        code = end.code or 0
    except BaseException:  # noqa: BLE001 - as the interpreter does
        traceback.print_exc()
        code = 1
    if not isinstance(code, int):
        sys.stderr.write(f"{code}\n")
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    with suppress(OSError, ValueError):
        sys.stdout.flush()
    connection.send(bytes([code & 0xFF if isinstance(code, int) else 1]))
    os._exit(0)


if __name__ == "__main__":
    _, place, name = sys.argv
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(place)
        server.listen(64)
        os.write(1, b"ready\n")
        _import(name)
        asked = _next_start(server)
    if asked is not None:
        _run(name, asked)
