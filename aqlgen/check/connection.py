"""Connections with an adapter as its users have them: a process over stdio or HTTP, in either era of the protocol."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from time import monotonic, perf_counter
from typing import IO, Any

import anyio
import anyio.to_thread

from aqlgen.check.client import LONGEST, Client, OverHttp, OverStdio, Person, text_of

_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/mcp")
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
    """The start of an adapter: its project, its command and its variables."""

    project: Path
    command: Sequence[str]
    variables: Mapping[str, str]

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
        return answer


@asynccontextmanager
async def connect(
    launch: Launch,
    era: str,
    judge: Callable[[str, Any], None],
    url: str | None = None,
    person: Person | None = None,
) -> AsyncIterator[Adapter]:
    """Start the adapter over stdio, or connect to the URL of one that serves HTTP.

    Raises NotStarted when the adapter does not start or answer.
    """
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "errors").open("wb") as errors:
        started = False
        try:
            async with _by_stdio(launch, errors) if url is None else nullcontext(OverHttp(url)) as connection:
                client = Client(era, connection, person)
                with anyio.fail_after(_SECONDS):
                    await client.begin()
                    tools = (await client.request("tools/list"))["tools"]
                started = True
                yield Adapter(client, {tool["name"]: tool for tool in tools}, lambda: _written(errors), judge)
        except Exception as problem:
            if started:
                raise
            raise NotStarted.of(_written(errors), problem) from None


@asynccontextmanager
async def _by_stdio(launch: Launch, errors: IO[bytes]) -> AsyncIterator[OverStdio]:
    """Start the adapter over stdio, and end it."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *launch.command, stdin=pipe, stdout=pipe, stderr=errors, env=launch.environment, cwd=launch.project,
        limit=LONGEST,
    )  # fmt: skip
    try:
        yield OverStdio(process)
    finally:
        if process.stdin is not None:
            process.stdin.close()
        with anyio.move_on_after(_GRACE, shield=True):
            await process.wait()
        if process.returncode is None:
            process.kill()


def _written(file: IO[bytes]) -> str:
    """Return what was written to a file so far."""
    return Path(file.name).read_text(encoding="utf-8", errors="replace")


@asynccontextmanager
async def served_over_http(launch: Launch) -> AsyncIterator[tuple[str, Callable[[], str]]]:
    """Start the adapter over HTTP; yields its URL and what gives its log. Raises NotStarted if it does not."""
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "output").open("wb") as output:
        process = subprocess.Popen(  # noqa: S603 - the project that the user named
            [*launch.command, "--transport", "http", "--port", "0"],
            stdout=output,
            stderr=output,
            cwd=launch.project,
            env=launch.environment,
            stdin=subprocess.DEVNULL,
        )
        try:
            ends, match = monotonic() + _SECONDS, None
            while match is None and process.poll() is None and monotonic() < ends:
                await anyio.sleep(0.01)
                match = _ADDRESS.search(_written(output))
            if match is None:
                raise NotStarted.of(_written(output))
            yield match[0], lambda: _written(output)
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                await anyio.to_thread.run_sync(lambda: process.wait(15))
            process.kill()
            process.wait()


async def output_of(launch: Launch, *arguments: str) -> tuple[int | None, str, str]:
    """Run a command of the adapter; returns its exit code, None if it does not end, and both of its outputs."""
    with anyio.move_on_after(_SECONDS):
        command = [*launch.command, *arguments]
        done = await anyio.run_process(command, cwd=launch.project, env=launch.environment, check=False)
        return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
    return None, "", f"it did not end within {_SECONDS:g} seconds"
