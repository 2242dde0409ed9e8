"""A stand-in for the Python interpreter that forks a process in which large packages are imported already.

`python -m PACKAGE` costs a second of imports that are the same for every adapter. The stand-in is a small program that
hands its arguments, folder, environment and standard streams to a server, which forks, and exits with the exit code of
the fork. What is measured is a process of its own all the same, whose adapter is imported anew.
"""

from __future__ import annotations

import atexit
import json
import os
import runpy
import signal
import socket
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

LAUNCHER = """#!{python} -IS
import json, os, socket, sys
server = socket.socket(socket.AF_UNIX)
server.connect({address!r})
order = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
socket.send_fds(server, [len(order).to_bytes(8, "big")], [0, 1, 2])
server.sendall(order)
for stream in (0, 1, 2):
    os.close(stream)
answer = server.recv(1)
os._exit(answer[0] if answer else 1)
"""


@contextmanager
def interpreter(folder: Path) -> Iterator[Path]:
    """Write the stand-in into a folder and serve it for as long as the context lasts; yield its path.

    It knows `-m MODULE ARGUMENTS` alone. The modules that this process has imported are what a fork has.
    """
    address = str(folder / "socket")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen(64)
    launcher = folder / "python"
    launcher.write_text(LAUNCHER.format(python=sys.executable, address=address), encoding="utf-8")
    launcher.chmod(0o755)
    server = os.fork()
    if server == 0:
        _serve(listener)
    listener.close()
    try:
        yield launcher
    finally:
        os.kill(server, signal.SIGTERM)
        os.waitpid(server, 0)


def _serve(listener: socket.socket) -> NoReturn:
    atexit._clear()  # what ends with this process is the parent's to end
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the forks leave no zombies
    while True:
        connection, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            try:
                _run(connection)
            finally:  # what the context holds is the parent's
                os._exit(1)
        connection.close()


def _run(connection: socket.socket) -> None:
    head, streams, _, _ = socket.recv_fds(connection, 8, 3)
    arguments, folder, variables = _order(connection, int.from_bytes(head, "big"))
    for target, stream in enumerate(streams):
        os.dup2(stream, target)
        os.close(stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables)
    sys.path[:0] = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    code = _code(arguments)
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    connection.send(bytes([code]))
    os._exit(code)


def _order(connection: socket.socket, size: int) -> Any:
    text = bytearray()
    while len(text) < size and (part := connection.recv(size - len(text))):
        text += part
    return json.loads(text)


def _code(arguments: list[str]) -> int:
    """Run `-m MODULE ARGUMENTS` and return its exit code."""
    sys.argv = arguments[1:]
    try:
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001  (as the interpreter does)
        traceback.print_exc()
        return 1
    return 0
