"""A stand-in for the Python interpreter that forks a process in which large packages are imported already.

Starting `python -m PACKAGE` costs a second of imports that are the same for every adapter. The stand-in is a small
program that hands its arguments, folder, environment, umask and standard streams to a server, which forks. It sends
the fork the signals that it gets, ends as the fork ends, and takes the fork with it when it is killed. What
is measured or tested is a process of its own, which imports the adapter.

What the fork cannot be, the interpreter is: with other options than `-P`, without a program, or where the environment
has other settings of the interpreter than the server had or a locale without UTF-8, the stand-in becomes the real one.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import io
import marshal
import os
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import types
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any, NoReturn

__all__ = ["ADAPTERS", "interpreter"]

ADAPTERS = (
    "anyio._backends._asyncio",
    "jsonschema_rs",
    "logging.config",
    "mcp",
    "sqlite3",
    "ssl",
    "uvicorn.lifespan.on",
    "uvicorn.loops.auto",
    "uvicorn.protocols.http.auto",
)
"""The modules that adapters import beside their own."""

LAUNCHER = """#!{python} -IS
import _signal, _socket, marshal, os, sys

arguments = sys.argv[1:]
program = arguments[1:] if arguments[:1] == ["-P"] else arguments
plain = program and (program[0] in ("-c", "-m") if program[0][:1] == "-" else os.path.isfile(program[0]))
locale = next(filter(None, map(os.environ.get, ("LC_ALL", "LC_CTYPE", "LANG"))), "C")
utf8 = locale in ("C", "POSIX") or locale.lower().endswith(("utf-8", "utf8"))
names = [name for name in os.environ if name.startswith({prefixes!r}) and name not in {obeyed!r}]
fixed = {{name: os.environ[name] for name in names}}
if not plain or not utf8 or fixed != {fixed!r}:
    os.execv({python!r}, [{python!r}, *arguments])
umask = os.umask(0)
os.umask(umask)
ignored = [number for number in {signals!r} if _signal.getsignal(number) == _signal.SIG_IGN]
order = marshal.dumps((arguments, os.getcwd(), dict(os.environ), umask, ignored))
server = _socket.socket(_socket.AF_UNIX)
server.connect({address!r})
streams = b"".join(stream.to_bytes(4, sys.byteorder) for stream in (0, 1, 2))
server.sendmsg([len(order).to_bytes(8, "big")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
server.sendall(order)
for number in {signals!r}:
    _signal.signal(number, lambda number, _: server.sendall(bytes([number])))
for stream in (0, 1, 2):
    os.close(stream)
code = int.from_bytes(server.recv(4) or b"\\1", "little", signed=True)
if code < 0:
    if -code != _signal.SIGKILL:
        _signal.signal(-code, _signal.SIG_DFL)
    os.kill(os.getpid(), -code)
os._exit(code)
"""
SIGNALS = tuple(
    int(number) for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2)
)
FIXED = ("PYTHON", "TZ")
"""Beginnings of the variables that the interpreter obeys when it starts, beside those of the locale."""
OBEYED = ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "PYTHON")
"""Those that a fork obeys as well; the last is none of the interpreter's."""
BUFFERED: Mapping[str, Any] = {"r": io.BufferedReader, "w": io.BufferedWriter}


@contextmanager
def interpreter(modules: Iterable[str] = ADAPTERS, paths: Iterable[Path] = ()) -> Iterator[Path]:
    """Serve forks that have imported modules for as long as the context lasts; yield the path of the stand-in.

    `paths` are folders to import from beside the installed packages: a fork whose own path leads to another module of
    that name imports its own.
    """
    with tempfile.TemporaryDirectory(prefix="python-") as name, socket.socket(socket.AF_UNIX) as listener:
        launcher, address = Path(name) / "python", str(Path(name) / "socket")
        listener.bind(address)
        listener.listen(64)
        environment = {name: value for name, value in os.environ.items() if name not in OBEYED}
        fixed = {name: value for name, value in environment.items() if name.startswith(FIXED)}
        text = LAUNCHER.format(
            python=sys.executable, address=address, signals=SIGNALS, prefixes=FIXED, obeyed=OBEYED, fixed=fixed
        )
        launcher.write_text(text, encoding="utf-8")
        launcher.chmod(0o755)
        folders = os.pathsep.join(map(str, paths))
        command = [sys.executable, "-P", __file__, str(listener.fileno()), str(launcher), folders, *modules]
        server = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            env=environment | {"LC_ALL": "C.UTF-8"},
            pass_fds=[listener.fileno()],
        )
        listener.close()  # so that a stand-in whose server has ended does not wait for it
        try:
            yield launcher
        finally:
            server.communicate(b"end")  # when this process is killed, the end of its input ends the server


@dataclass(frozen=True)
class Order:
    """The order of a stand-in: all that it was started with."""

    arguments: list[str]
    folder: str
    variables: dict[str, str]
    umask: int
    ignored: list[int]
    streams: tuple[int, int, int]


class Server:
    """A server of forks: each has a connection to its stand-in."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self._forks: dict[int, socket.socket] = {}
        self._selector = selectors.DefaultSelector()
        self._ended, self._wakeup = socket.socketpair()
        self._wakeup.setblocking(False)

    def serve(self) -> Order | None:
        """Serve until standard input ends, which ends all forks too; return in each fork, with its order."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # that of a terminal is for the tests
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._wakeup.fileno(), warn_on_full_buffer=False)
        for source in (0, self._listener, self._ended):
            self._selector.register(source, selectors.EVENT_READ)
        while True:
            for key, _ in self._selector.select():
                if key.fileobj == 0:
                    self._end()
                    return None
                if key.fileobj is self._listener:
                    order = self._fork()
                    if order is not None:
                        return order
                elif key.fileobj is self._ended:
                    self._ended.recv(4096)
                    self._send_ends()
                elif key.data in self._forks:
                    self._pass_on(key.data)

    def _fork(self) -> Order | None:
        connection, _ = self._listener.accept()
        order = _received(connection)
        if order is None:
            connection.close()
            return None
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        process = os.fork()
        if process == 0:
            self._leave(connection)
            return order
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        for stream in order.streams:
            os.close(stream)
        self._forks[process] = connection
        self._selector.register(connection, selectors.EVENT_READ, process)
        return None

    def _leave(self, connection: socket.socket) -> None:
        """Let go, in a fork, of what is the server's."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._selector.close()
        for held in (self._listener, self._ended, self._wakeup, connection, *self._forks.values()):
            held.close()

    def _pass_on(self, process: int) -> None:
        """Send a fork the signals that its stand-in got; end it if its stand-in has ended."""
        try:
            numbers = self._forks[process].recv(64)
        except ConnectionError:
            numbers = b""
        if not numbers:
            self._selector.unregister(self._forks[process])
        for number in numbers or (signal.SIGKILL,):
            os.kill(process, number)

    def _send_ends(self) -> None:
        """Send each stand-in whose fork has ended how it ended."""
        while self._forks:
            process, status = os.waitpid(-1, os.WNOHANG)
            if not process:
                return
            connection = self._forks.pop(process)
            if connection in self._selector.get_map():
                self._selector.unregister(connection)
                with suppress(ConnectionError):
                    connection.send(os.waitstatus_to_exitcode(status).to_bytes(4, "little", signed=True))
            connection.close()

    def _end(self) -> None:
        for process in self._forks:
            os.kill(process, signal.SIGKILL)
        for process in self._forks:
            os.waitpid(process, 0)


def _received(connection: socket.socket) -> Order | None:
    """Return the order of a stand-in, None if it went away."""
    head, streams, _, _ = socket.recv_fds(connection, 8, 3)
    text, size = bytearray(), int.from_bytes(head, "big")
    while len(text) < size and (part := connection.recv(size - len(text))):
        text += part
    if not size or len(text) < size:
        return None
    input_, output, errors = streams
    return Order(*marshal.loads(text), (input_, output, errors))


def _imported(modules: Iterable[str], paths: list[str]) -> Mapping[str, str]:
    """Import modules; return the files of the packages that come from the paths, by their names."""
    installed = list(sys.path)
    sys.path[:0] = paths
    for module in modules:
        importlib.import_module(module)
    sys.path[:] = installed
    sys.path_importer_cache.clear()
    files = {name: getattr(module, "__file__", None) for name, module in sys.modules.items() if "." not in name}
    local = {name: file for name, file in files.items() if file and Path(file).parents[1] in map(Path, paths)}
    gc.collect()
    gc.freeze()
    return local


def _become(order: Order, launcher: str, local: Mapping[str, str]) -> None:
    """Make of a fork the process that the order asks for."""
    os.umask(order.umask)
    os.chdir(order.folder)
    os.environ.clear()
    os.environ.update(order.variables)
    for target, stream in enumerate(order.streams):
        os.dup2(stream, target)
        os.close(stream)
    _open_streams(unbuffered=bool(order.variables.get("PYTHONUNBUFFERED")))
    sys.executable, sys.orig_argv = launcher, [launcher, *order.arguments]
    sys.dont_write_bytecode = bool(order.variables.get("PYTHONDONTWRITEBYTECODE"))
    if folders := order.variables.get("PYTHONPATH"):
        sys.path[:] = dict.fromkeys([*map(os.path.abspath, folders.split(os.pathsep)), *sys.path])
    tempfile.tempdir = None
    for name, file in local.items():
        spec = PathFinder.find_spec(name)
        if spec is None or spec.origin != file:
            for module in [key for key in sys.modules if key.partition(".")[0] == name]:
                del sys.modules[module]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in order.ignored:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)


def _open_streams(*, unbuffered: bool) -> None:
    """Open the standard streams as the interpreter does."""
    for fd, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        former: io.TextIOWrapper = getattr(sys, name)
        raw = io.FileIO(fd, mode, closefd=False)
        binary: Any = raw if unbuffered and mode == "w" else BUFFERED[mode](raw)
        stream = io.TextIOWrapper(
            binary,
            encoding=former.encoding,
            errors=former.errors,
            newline=None if mode == "r" else "\n",
            line_buffering=fd == 2 or raw.isatty(),
            write_through=binary is raw,
        )
        stream.mode = mode
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def _run(arguments: list[str]) -> None:
    """Run what the interpreter's arguments name, as its main module."""
    safe = arguments[0] == "-P"
    kind, *rest = arguments[safe:]
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    if kind == "-m":
        sys.path[:0] = [] if safe else [os.getcwd()]
        sys.argv = ["-m", *rest[1:]]
        runpy._run_module_as_main(rest[0])  # type: ignore[attr-defined]
    elif kind == "-c":
        sys.path[:0] = [] if safe else [""]
        sys.argv = ["-c", *rest[1:]]
        exec(compile(rest[0], "<string>", "exec"), vars(main))
    else:
        sys.path[:0] = [] if safe else [os.path.dirname(os.path.realpath(kind))]
        sys.argv = [kind, *rest]
        main.__file__ = kind
        exec(compile(Path(kind).read_bytes(), kind, "exec"), vars(main))


def _live(arguments: list[str]) -> NoReturn:
    """Run to the end, and end as the interpreter does."""
    code, interrupted = 0, False
    try:
        _run(arguments)
    except SystemExit as end:
        if end.code is not None and not isinstance(end.code, int):
            print(end.code, file=sys.stderr)
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException as error:  # noqa: BLE001  (as the interpreter does)
        place = error.__traceback__
        while place and place.tb_frame.f_code.co_filename == __file__:
            place = place.tb_next
        sys.excepthook(type(error), error.with_traceback(place), place)
        code, interrupted = 1, isinstance(error, KeyboardInterrupt)
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        sys.exit(code)  # and say so, as the interpreter does
    if interrupted:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    os._exit(code & 0xFF)


def main(listener: str, launcher: str, folders: str, *modules: str) -> None:
    """Import the modules, serve, and in each fork run its program."""
    sys.executable = launcher
    local = _imported(modules, folders.split(os.pathsep) if folders else [])
    order = Server(socket.socket(fileno=int(listener))).serve()
    if order is not None:
        _become(order, launcher, local)
        _live(order.arguments)


if __name__ == "__main__":
    main(*sys.argv[1:])
