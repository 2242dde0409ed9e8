"""A client that sends MCP as raw lines over a process's pipes, so that the server is what is measured."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from time import perf_counter
from typing import Any, Self

from bench.support.documents import package_of
from bench.support.processes import environment

ERAS = ("2025-11-25", "2026-07-28")
CLIENT = {"name": "bench", "version": "1"}
META = {
    "io.modelcontextprotocol/protocolVersion": ERAS[1],
    "io.modelcontextprotocol/clientInfo": CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {},
}


class RawClient:
    """A server process and the connection to it. `started` is the seconds from its start to its first answer."""

    def __init__(self, command: list[str], era: str, variables: dict[str, str] | None = None) -> None:
        begin = perf_counter()
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment(**(variables or {})),
        )
        self.pid = self._process.pid
        self._modern = era == ERAS[1]
        self._id = 0
        if self._modern:
            answer = self.ask("server/discover", {})
        else:
            answer = self.ask("initialize", {"protocolVersion": era, "capabilities": {}, "clientInfo": CLIENT})
        self.started = perf_counter() - begin
        if "result" not in answer:
            raise SystemExit(f"{command}: {answer}")
        if not self._modern:
            self._write(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}).encode() + b"\n")

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Send a request and return its answer."""
        answer: dict[str, Any] = json.loads(self.exchange(self.line(method, params)))
        return answer

    def line(self, method: str, params: dict[str, Any]) -> bytes:
        """Return the line of a request, with the next id."""
        self._id += 1
        params = params | {"_meta": META} if self._modern else params
        return json.dumps({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params}).encode() + b"\n"

    def exchange(self, line: bytes) -> bytes:
        """Send a line and return the line that comes back."""
        self._write(line)
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def _write(self, line: bytes) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line)
        self._process.stdin.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(10)


def bare_command(transport: str = "stdio") -> list[str]:
    """Return the command of the bare server."""
    return [sys.executable, "-m", "bench.support.bare", "--transport", transport]


def adapter_command(project: Path) -> tuple[list[str], dict[str, str]]:
    """Return the command of a project's adapter in mock mode, and the variables that it needs."""
    return [sys.executable, "-m", package_of(project).name, "--mock"], {"PYTHONPATH": str(project / "src")}


def example(project: Path, family: str = "read") -> tuple[str, dict[str, Any]]:
    """Return the operation of a family whose example has the most parameters, and the example."""
    rows = json.loads((package_of(project) / "operations" / f"{family}.json").read_bytes())
    examples = [(name, row["example"]) for name, row in rows.items() if row.get("example") is not None]
    return max(examples, key=lambda pair: len(pair[1]))
