# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The adapter as a client starts it: a process of its own that speaks over standard input and output, in mock mode."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

from .findings import Findings
from .sessions import ISOLATED, Session
from .table import FOLDER, PACKAGE, operations, sample


def _server(config: Path | None, *arguments: str) -> StdioServerParameters:
    """Return the command that a client is configured with; `config` is an empty settings file, or the project's own."""
    settings = {} if config is None else {"MCP_AQL_CONFIG": str(config)}
    environment = {"PYTHONPATH": str(FOLDER.parent), **settings, **ISOLATED}
    return StdioServerParameters(command=sys.executable, args=["-m", PACKAGE, *arguments], env=environment)


@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_a_sample_of_operations_can_be_called(era: str, tmp_path: Path) -> None:
    findings = Findings()
    (tmp_path / "empty.toml").touch()
    async with Client(_server(tmp_path / "empty.toml", "--mock"), mode=era) as client:
        session = await Session.of(client)
        listed = {entry["name"] for entry in await session.listed("operations")}
        findings.expect(listed >= {operation.name for operation in operations()}, "the list", "lacks operations")
        for operation in sample(25):
            details = await session.introspect("operations", operation.name)
            findings.expect(details["success"], operation.name, "cannot be introspected", details)
            answer = await session.call(operation.family, operation.name, operation.params)
            findings.expect(answer["success"], operation.name, "its example fails", answer)
    findings.check()


async def test_the_project_starts_with_its_own_settings() -> None:
    async with Client(_server(None, "--mock")) as client:
        assert (await client.list_tools()).tools


def test_the_server_ends_when_its_input_ends() -> None:
    server = _server(None, "--mock")
    done = subprocess.run(
        [server.command, *server.args], env=server.env, stdin=subprocess.DEVNULL, capture_output=True, timeout=30
    )
    assert (done.returncode, done.stdout) == (0, b""), done.stderr.decode()
