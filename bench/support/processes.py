"""Processes that measurements start: aqlgen, other commands with what they cost, and servers."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, perf_counter, sleep

ROOT = Path(__file__).resolve().parents[2]
AQLGEN = (sys.executable, "-m", "aqlgen")


@dataclass(frozen=True)
class Finished:
    """A command that has ended: exit code, what it printed, wall and CPU time in seconds, peak memory in MB."""

    code: int
    output: str
    seconds: float
    cpu: float
    megabytes: float


def environment(**variables: str) -> dict[str, str]:
    """Return the environment in which this checkout is imported from any folder, with some variables more."""
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return os.environ | {"PYTHONPATH": os.pathsep.join(paths)} | variables


def run(command: Sequence[str], folder: Path | None = None, limit: int | None = None) -> Finished:
    """Run a command to its end, or for `limit` seconds, after which its exit code is 124."""
    command = ["timeout", str(limit), *command] if limit else list(command)
    begin = perf_counter()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, cwd=folder, env=environment())
        _, status, usage = os.wait4(process.pid, 0)
        seconds = perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode("utf-8", "replace")
    scale = 1024 * 1024 if sys.platform == "darwin" else 1024
    return Finished(process.returncode, text, seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / scale)


def generate(
    document: Path, project: Path, *options: str, folder: Path | None = None, limit: int | None = None
) -> None:
    """Generate a project; a checkout of aqlgen in `folder` is taken before this one. Raises CalledProcessError."""
    command = [*AQLGEN, "from-openapi", str(document), "-o", str(project), "-q", *options]
    subprocess.run(command, check=True, capture_output=True, cwd=folder, timeout=limit, env=environment())


def free_port() -> int:
    """Return a port of the loopback address that nothing listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


@contextmanager
def served(command: Sequence[str], port: int, log: Path, variables: Mapping[str, str] | None = None) -> Iterator[None]:
    """Run a server for as long as the context lasts. Raises RuntimeError with its log if it opens no port."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            stdout=output,
            stderr=output,
            stdin=subprocess.DEVNULL,
            env=environment(**(variables or {})),
            start_new_session=True,  # what a launcher such as node's starts ends with it
        )
        try:
            _wait_for(port, process, log)
            yield
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            process.wait(20)


def _wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    end = monotonic() + 180
    while monotonic() < end and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        sleep(0.05)
    raise RuntimeError(log.read_text("utf-8", "replace"))
