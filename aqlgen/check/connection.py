"""Connections with an adapter as its users have them: a process over stdio or HTTP, in either era of the protocol."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic
from typing import Any, TextIO

import anyio
import anyio.to_thread

__all__ = [
    "ERAS",
    "Adapter",
    "Answer",
    "Launch",
    "NotStarted",
    "command_result",
    "command_streams",
    "connect",
    "served_over_http",
]

ERAS = {"2025-11-25": "legacy", "2026-07-28": "2026-07-28"}
"""The mode of mcp's client for each era of the protocol."""
_ADDRESS = re.compile(rb"http://127\.0\.0\.1:\d+/mcp")
_START = 60.0
_ANSWER = 60.0
_PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TEMP", "SYSTEMROOT", "USERPROFILE", "XDG_CONFIG_HOME")


class NotStarted(Exception):
    """The adapter did not start, or ended; the text says what it said last."""

    @classmethod
    def of(cls, output: str, problem: BaseException | None = None) -> NotStarted:
        """Return the problem of a process that wrote this output."""
        lines = [line for line in output.splitlines() if line.strip()]
        return cls(lines[-1][:300] if lines else "it ended" if problem is None else type(problem).__name__)


@dataclass(frozen=True)
class Launch:
    """The start of an adapter: its project, its package, and the variables that it gets."""

    project: Path
    command: Sequence[str]
    variables: Mapping[str, str] = field(default_factory=dict)

    def with_variables(self, **variables: str) -> Launch:
        """Return the launch with more variables."""
        return replace(self, variables={**self.variables, **variables})

    @property
    def environment(self) -> dict[str, str]:
        """The whole environment of the process: nothing of this one but what programs need."""
        passed = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        return {**passed, "PYTHONPATH": str(self.project / "src"), "PYTHONDONTWRITEBYTECODE": "1", **self.variables}


class Answer(dict[str, Any]):
    """The envelope of an answer; empty for a result that has none."""

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


class Adapter:
    """A session with an adapter. `tools` are the tools that it lists, by name."""

    def __init__(self, client: Any, tools: Mapping[str, Any], log: Callable[[], str]) -> None:
        self.client = client
        self.tools = tools
        self.log = log

    def tool(self, family: str) -> str:
        """Return the name of the tool that serves a family of operations."""
        names = list(self.tools)
        return next((name for name in names if name.endswith(f"_{family}")), names[0])

    async def raw(self, tool: str, arguments: Mapping[str, Any]) -> Any:
        """Call a tool and return MCP's result."""
        with anyio.fail_after(_ANSWER):
            return await self.client.call_tool(tool, dict(arguments))

    async def send(self, tool: str, arguments: Mapping[str, Any]) -> Answer:
        """Call a tool and return the envelope."""
        return Answer((await self.raw(tool, arguments)).structured_content or {})

    async def call(self, family: str, operation: str, params: Mapping[str, Any], **beside: Any) -> Answer:
        """Call an operation by the tool of its family and return the envelope."""
        return await self.send(self.tool(family), {"operation": operation, "params": dict(params), **beside})

    async def introspect(self, **params: Any) -> Answer:
        """Introspect and return the envelope."""
        return await self.call("read", "introspect", params)


@asynccontextmanager
async def connect(
    launch: Launch, era: str, url: str | None = None, answer: Callable[[str], str] | None = None
) -> AsyncIterator[Adapter]:
    """Start the adapter over stdio, or connect to the URL of one that serves HTTP.

    `answer` says what a person answers to a question: accept, decline or cancel; without it nobody can be asked.
    Raises NotStarted when the adapter does not start or answer.
    """
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client
    from mcp.types import ElicitResult

    questions: list[str] = []

    async def elicited(_: Any, params: Any) -> ElicitResult:
        questions.append(params.message)
        return ElicitResult.model_validate({"action": answer(params.message) if answer else "cancel", "content": {}})

    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        server: Any = url
        if url is None:
            command, *arguments = launch.command
            params = StdioServerParameters(
                command=command, args=arguments, env=launch.environment, cwd=str(launch.project)
            )
            server = stdio_client(params, errlog=errors)
        more: dict[str, Any] = {"elicitation_callback": elicited} if answer else {}
        started = False
        try:
            async with Client(
                server, mode=ERAS[era], cache=None, **more,
            ) as client:  # fmt: skip
                with anyio.fail_after(_START):
                    tools = (await client.list_tools()).tools
                started = True
                adapter = Adapter(client, {tool.name: tool for tool in tools}, lambda: _content(errors))
                yield adapter
        except Exception as problem:
            if started:
                raise
            raise NotStarted.of(_content(errors), problem) from None


def _content(file: TextIO) -> str:
    """Return what was written to a file so far."""
    file.seek(0)
    return file.read()


@asynccontextmanager
async def served_over_http(launch: Launch) -> AsyncIterator[tuple[str, Callable[[], str]]]:
    """Start the adapter over HTTP; yields its URL and what gives its log. Raises NotStarted if it does not."""
    arguments = [*launch.command, "--transport", "http", "--port", "0"]
    with tempfile.TemporaryFile("w+b") as output:
        process = subprocess.Popen(  # noqa: S603 - the project that the user named
            arguments,
            stdout=output,
            stderr=output,
            cwd=launch.project,
            env=launch.environment,
            stdin=subprocess.DEVNULL,
        )
        try:
            yield await _address(process, output), lambda: _written(output)
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                await anyio.to_thread.run_sync(lambda: process.wait(15))
            process.kill()
            process.wait()


def _written(output: Any) -> str:
    size = output.seek(0, os.SEEK_END)
    return os.pread(output.fileno(), size, 0).decode("utf-8", "replace")


async def _address(process: subprocess.Popen[bytes], output: Any) -> str:
    ends = monotonic() + _START
    while monotonic() < ends:
        match = _ADDRESS.search(_written(output).encode())
        if match is not None:
            return match[0].decode()
        if process.poll() is not None:
            break
        await anyio.sleep(0.01)
    raise NotStarted.of(_written(output))


async def command_result(launch: Launch, *arguments: str, seconds: float = _ANSWER) -> tuple[int | None, str]:
    """Run a command of the adapter; returns its exit code, None if it did not end in time, and all that it printed."""
    code, output, errors = await command_streams(launch, *arguments, seconds=seconds)
    return code, output + errors


async def command_streams(launch: Launch, *arguments: str, seconds: float = _ANSWER) -> tuple[int | None, str, str]:
    """Run a command of the adapter; returns its exit code, its standard output and its standard error."""
    with anyio.move_on_after(seconds):
        result = await anyio.run_process(
            [*launch.command, *arguments], cwd=launch.project, env=launch.environment, check=False
        )
        return result.returncode, result.stdout.decode("utf-8", "replace"), result.stderr.decode("utf-8", "replace")
    return None, "", f"it did not end within {seconds:g} seconds"
