"""Connections with an adapter as its users have them: a process over stdio or HTTP, in either era of the protocol."""

from __future__ import annotations

import asyncio
import marshal
import os
import re
import select
import socket
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryFile
from time import monotonic, perf_counter
from types import MappingProxyType
from typing import IO, Any, cast

import anyio

from aqlgen.check.client import LONGEST, Client, OverHttp, OverStdio, Person, text_of

_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/(?:mcp|#\S+)")
_BY_HTTP = ("--transport", "http", "--port", "0")
_SECONDS, _GRACE = 60.0, 5.0
_PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TEMP", "SYSTEMROOT", "USERPROFILE", "XDG_CONFIG_HOME")


class NotStarted(Exception):
    """The adapter did not start, or ended; the text says what it said last."""

    @classmethod
    def of(cls, output: str, problem: BaseException | None = None) -> NotStarted:
        """Return the problem of a process that wrote this output."""
        lines = [line for line in output.splitlines() if line.strip()]
        if isinstance(problem, TimeoutError):
            lines.append(f"it did not answer within {_SECONDS:g} seconds")
        return cls(lines[-1][:300] if lines else "it ended" if problem is None else type(problem).__name__)


@dataclass(frozen=True)
class Launch:
    """The start of an adapter: its project, its variables, and the address of a server of forks, "" without one."""

    project: Path
    package: str
    variables: Mapping[str, str]
    forks: str = ""

    def with_variables(self, **variables: str) -> Launch:
        """Return the launch with more variables."""
        return replace(self, variables={**self.variables, **variables})

    @property
    def environment(self) -> dict[str, str]:
        """The whole environment of the process: nothing of this one but what programs need."""
        passed = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        return {**passed, "PYTHONPATH": str(self.project / "src"), **self.variables}


class Answer(dict[str, Any]):
    """The envelope of an answer; empty for a result that has none."""

    seconds = 0.0
    """How long it took."""
    text = ""
    """Its text, in which numbers have all their digits."""
    blocks: Sequence[Any] = ()
    """The blocks of its content behind that text, such as images."""

    @property
    def ok(self) -> bool:
        """True for a success."""
        return self.get("success") is True

    @property
    def error(self) -> dict[str, Any]:
        """The error, empty for a success."""
        return self.get("error") or {}

    @property
    def code(self) -> str:
        """The code of a failure, "" for a success."""
        return str(self.error.get("code", ""))

    @property
    def details(self) -> dict[str, Any]:
        """The details of a failure."""
        return self.error.get("details") or {}

    @property
    def data(self) -> Any:
        """The data of a success, an empty object for none."""
        return self.get("data") or {}

    @property
    def fields(self) -> dict[str, Any]:
        """Some values of the data, by their paths."""
        return dict(islice(values_of(self.data, "data"), 5))

    @property
    def warned(self) -> str:
        """The warnings, as text."""
        return str(self.get("warnings") or "")


def values_of(data: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield the texts, whole numbers and booleans within data with their paths."""
    if isinstance(data, str | int):
        yield path, data
    for key, inner in data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ():
        if "." not in str(key):
            yield from values_of(inner, f"{path}.{key}")


@dataclass
class Adapter:
    """A session with an adapter. `tools` are those that it lists, by name; `judge` is shown every result of a call."""

    client: Client
    tools: Mapping[str, Mapping[str, Any]]
    log: Callable[[], str]
    judge: Callable[[str, Any], None]
    url: str = ""
    """The address of one that serves HTTP."""

    def tool(self, family: str) -> str:
        """Return the name of the tool that serves a family of operations."""
        return next((name for name in self.tools if name.endswith(f"_{family}")), next(iter(self.tools)))

    async def send(self, tool: str, arguments: Mapping[str, Any]) -> Answer:
        """Call a tool and return the envelope."""
        begin = perf_counter()
        with anyio.fail_after(_SECONDS):
            result = await self.client.request("tools/call", name=tool, arguments=arguments)
        if tool in self.tools:
            self.judge(str(arguments.get("operation", tool)), result)
        answer = Answer(result.get("structuredContent") or {})
        answer.seconds, answer.text = perf_counter() - begin, text_of(result)
        answer.blocks = result.get("content", [])[1:]
        return answer


@asynccontextmanager
async def connect(
    launch: Launch,
    era: str,
    judge: Callable[[str, Any], None],
    url: str | None = None,
    person: Person | None = None,
    headers: Mapping[str, str] = MappingProxyType({}),
) -> AsyncIterator[Adapter]:
    """Start the adapter over stdio, or connect to the URL of one that serves HTTP, with headers of the caller.

    Raises NotStarted when the adapter does not start or answer.
    """
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "errors").open("wb") as errors:
        started = False
        try:
            async with _by_stdio(launch, errors) if url is None else nullcontext(OverHttp(url, headers)) as connection:
                client = Client(era, connection, person)
                with anyio.fail_after(_SECONDS):
                    await client.begin()
                    tools = (await client.request("tools/list"))["tools"]
                started = True
                adapter = Adapter(client, {tool["name"]: tool for tool in tools}, lambda: _written(errors), judge)
                yield adapter
            text = _written(errors)
            adapter.log = lambda: text
        except Exception as problem:
            if started:
                raise
            raise NotStarted.of(_written(errors), problem) from None


class _Fork:
    """A process that a server of forks started. It ends when its link is closed."""

    def __init__(self, launch: Launch, arguments: Sequence[str], streams: Sequence[int]) -> None:
        order = marshal.dumps(([*arguments], str(launch.project), launch.environment))
        self._code: int | None = None
        self._link = socket.socket(socket.AF_UNIX)
        self._link.connect(launch.forks)
        socket.send_fds(self._link, [len(order).to_bytes(8, "big")], streams)
        self._link.sendall(order)

    @property
    def returncode(self) -> int | None:
        """The exit code, None while it runs."""
        if self._code is None and select.select([self._link], [], [], 0)[0]:
            self._code = (self._link.recv(1) or b"\1")[0]
            self._link.close()
        return self._code

    async def wait(self) -> int:
        """Wait for its end, and return the exit code."""
        while self.returncode is None:
            await anyio.sleep(0.005)
        return self.returncode

    def kill(self) -> None:
        """End it."""
        self._code = 1
        self._link.close()


_Process = _Fork | asyncio.subprocess.Process


async def _start(launch: Launch, arguments: Sequence[str], *streams: Any) -> _Process:
    """Start the adapter with three streams."""
    if launch.forks:
        return _Fork(launch, arguments, [stream.fileno() for stream in streams])
    source, sink, errors = streams
    return await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-m", launch.package, *arguments, stdin=source, stdout=sink, stderr=errors,
        env=launch.environment, cwd=launch.project, limit=LONGEST,
    )  # fmt: skip


async def _end(process: _Process, grace: float = 0) -> int | None:
    """Wait for the end of a process, then kill it. Returns its exit code, None if it was killed."""
    with anyio.move_on_after(grace, shield=True):
        return await process.wait()
    with suppress(ProcessLookupError):  # it has ended meanwhile
        process.kill()
    return None


@asynccontextmanager
async def _by_stdio(launch: Launch, errors: IO[bytes]) -> AsyncIterator[OverStdio]:
    """Start the adapter over stdio, and end it."""
    pipe, ends = asyncio.subprocess.PIPE, socket.socketpair()
    reader, writer = await asyncio.open_connection(sock=ends[0], limit=LONGEST)
    try:
        with ends[1] as stream:
            process = await _start(launch, (), *((stream, stream) if launch.forks else (pipe, pipe)), errors)
        if isinstance(process, asyncio.subprocess.Process):
            writer.close()
            reader, writer = cast("Any", (process.stdout, process.stdin))
        try:
            yield OverStdio(reader, writer)
        finally:
            writer.write_eof()
            await _end(process, _GRACE)
    finally:
        writer.close()


def _written(file: IO[bytes] | Path) -> str:
    """Return the text that was written to a file so far."""
    path = file if isinstance(file, Path) else Path(file.name)
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


@asynccontextmanager
async def served_over_http(
    launch: Launch, arguments: Sequence[str] = _BY_HTTP, file: Path | None = None
) -> AsyncIterator[tuple[str, Callable[[], str]]]:
    """Start the adapter over HTTP, which writes its URL or that of the operator's page into its log or a file.

    Yields the URL and what gives the log. Raises NotStarted if it does not start.
    """
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "output").open("wb") as output:
        with Path(os.devnull).open("rb") as nothing:
            process = await _start(launch, arguments, nothing, output, output)
        try:
            ends, match = monotonic() + _SECONDS, None
            while match is None and process.returncode is None and monotonic() < ends:
                await anyio.sleep(0.01)
                match = _ADDRESS.search(_written(output)) or _ADDRESS.search(_written(file or output))
            if match is None:
                raise NotStarted.of(_written(output))
            yield match[0], lambda: _written(output)
        finally:
            await _end(process)


async def output_of(launch: Launch, *arguments: str) -> tuple[int | None, str, str]:
    """Run a command of the adapter; returns its exit code, None if it does not end, and both of its outputs."""
    with Path(os.devnull).open("rb") as nothing, TemporaryFile() as output, TemporaryFile() as errors:
        code = await _end(await _start(launch, arguments, nothing, output, errors), _SECONDS)
        for file in (output, errors):
            file.seek(0)
        if code is None:
            return None, "", f"it did not end within {_SECONDS:g} seconds"
        return code, output.read().decode("utf-8", "replace"), errors.read().decode("utf-8", "replace")
