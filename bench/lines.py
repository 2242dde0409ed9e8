"""A client that speaks MCP in raw lines over a process's pipes, so that what is measured is the server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from time import perf_counter
from typing import Any, Self

ERAS = ("2025-11-25", "2026-07-28")
_CLIENT = {"name": "bench", "version": "1"}
_META = {
    "io.modelcontextprotocol/protocolVersion": ERAS[1],
    "io.modelcontextprotocol/clientInfo": _CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Lines:
    """One server process and its connection. `started` is the seconds from its start to its first answer."""

    def __init__(self, command: list[str], era: str, environment: dict[str, str] | None = None) -> None:
        begin = perf_counter()
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | (environment or {}),
        )
        self._modern = era == ERAS[1]
        self._id = 0
        if self._modern:
            answer = self.ask("server/discover", {})
        else:
            hello = {"protocolVersion": era, "capabilities": {}, "clientInfo": _CLIENT}
            answer = self.ask("initialize", hello)
        self.started = perf_counter() - begin
        if "result" not in answer:
            raise SystemExit(f"{command}: {answer}")
        if not self._modern:
            self._write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Send one request and give its answer."""
        answer: dict[str, Any] = json.loads(self.raw(self.line(method, params)))
        return answer

    def line(self, method: str, params: dict[str, Any]) -> bytes:
        """Make the line of a request, with the next id."""
        self._id += 1
        params = params | {"_meta": _META} if self._modern else params
        return json.dumps({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params}).encode() + b"\n"

    def raw(self, line: bytes) -> bytes:
        """Send a line and give the line that comes back."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(line)
        self._process.stdin.flush()
        return self._process.stdout.readline()

    def _write(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(10)


def bare(transport: str = "stdio") -> list[str]:
    """Give the command of the bare server."""
    return [sys.executable, str(Path(__file__).with_name("bare.py")), "--transport", transport]


def adapter(folder: Path) -> tuple[list[str], dict[str, str]]:
    """Give the command of the adapter in `folder`, in mock mode, and what it needs in its environment."""
    package = next(iter(sorted(folder.glob("src/*/adapter.json")))).parent.name
    return [sys.executable, "-m", package, "--mock"], {"PYTHONPATH": str(folder / "src")}


def example(folder: Path, family: str = "read") -> tuple[str, dict[str, Any]]:
    """Give the operation of the family whose example has the most parameters, and the example."""
    rows = json.loads(next(iter(folder.glob(f"src/*/operations/{family}.json"))).read_text("utf-8"))
    have = [(name, row["example"]) for name, row in rows.items() if row.get("example") is not None]
    return max(have, key=lambda one: len(one[1]))
