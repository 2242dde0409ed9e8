"""The adapter's table, and sessions with its dispatcher, which is called as the server calls it.

MCP itself is the same in every adapter, and its types cost more to load than all tests to run.
"""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx2

from ..assembly import Assembly, assemble
from ..decode.attachments import Attachments
from ..introspection.protocol import tool_name
from ..protocol_operations import Person
from ..session import Session as Caller
from ..session import with_caller
from ..table import FAMILIES, Adapter, Row, Table

PACKAGE = __name__.partition(".runtime.")[0]
FOLDER = Path(import_module(PACKAGE).__file__ or "").resolve().parent
SAMPLE = int(os.environ.get("ADAPTER_SAMPLE") or 0)
"""About how many operations are tried; 0: all."""
MOST_SHOWN = 25
ISOLATED = {
    "MCP_AQL_POLICY": "open",
    "MCP_AQL_APPROVAL": "agent",
    "MCP_AQL_READ_ONLY": "0",
    "MCP_AQL_STATE_URL": "memory:",
    "MCP_AQL_AUDIT_PATH": os.devnull,
}
"""Settings of an adapter that asks nobody, and keeps nothing on this machine."""


@cache
def adapter() -> Adapter:
    """Return the adapter that adapter.json describes."""
    return Adapter.load(FOLDER)


@cache
def operations() -> tuple[Row, ...]:
    """Return every operation that is tried, family by family; of each family one at least."""
    table = Table(FOLDER)
    names = list(table.names())
    rows: list[Row | None] = []
    for family in FAMILIES:
        members = [key for key in names if key[1] == family]
        rows += (table.find(*key) for key in members[:: max(1, round(len(names) / SAMPLE)) if SAMPLE else 1])
    return tuple(row for row in rows if row is not None)


def callable_operations() -> list[Row]:
    """Return the operations that have an example."""
    return [row for row in operations() if row.example is not None]


def params_of(row: Row) -> dict[str, Any]:
    """Return the example, or, without one, something for each required parameter."""
    required = (name for name, parameter in row.shown_parameters.items() if parameter.required)
    return dict.fromkeys(required, "x") if row.example is None else dict(row.example)


def variables(*schemes: str) -> dict[str, str]:
    """Return a value for each environment variable that holds a credential of these schemes, of all for none."""
    known = adapter().security_schemes
    names = [name for scheme in schemes or known for name in known[scheme]["variables"]]
    return {name: f"test-{name.lower()}" for name in names}


def base_url(addresses: Mapping[str, str]) -> str:
    """Return the setting for the addresses of APIs; the name of the only one is empty."""
    return ",".join(f"{name}={address}".removeprefix("=") for name, address in addresses.items())


class Session:
    """Calls by family and gives envelopes. `sent` counts requests; `person` is behind the client."""

    assembly: Assembly

    def __init__(self, person: Person | None) -> None:
        self.caller = Caller.new()
        self.sent = 0
        self._person = person
        self._findings: list[str] = []

    def count(self, _: Any, call: Any) -> None:
        """Count a request, as the hook `before_send`."""
        self.sent += not call.dry_run

    def expect(self, holds: bool, name: str, what: str, answer: Mapping[str, Any] | None = None) -> None:
        """Note that `what` does not hold for operation or type `name`; `answer` is shown, cut to a line."""
        if not holds:
            shown = "" if answer is None else "  " + json.dumps(answer, ensure_ascii=False)[:400]
            self._findings.append(f"{name}: {what}{shown}")

    def check(self) -> None:
        """Fail the test with all that was noted."""
        assert not self._findings, f"{len(self._findings)} findings\n" + "\n".join(self._findings[:MOST_SHOWN])

    def tool(self, family: str) -> str:
        """Return the name of the tool that serves a family."""
        return tool_name(self.assembly.config, family)

    async def call(self, row: Row, params: Mapping[str, Any] | None = None, **beside: Any) -> dict[str, Any]:
        """Call an operation, with its example unless parameters are given."""
        return await self.send(row.family, row.name, params_of(row) if params is None else params, **beside)

    async def send(self, family: str, operation: str, params: Mapping[str, Any], **beside: Any) -> dict[str, Any]:
        """Call, and return the envelope, which is JSON."""
        arguments = {"operation": operation, "params": dict(params), **beside}
        limit = self.assembly.config.files_max_attached
        with with_caller(None, None, self.caller.id), Attachments(limit):
            answer = await self.assembly.dispatcher.handle(family, arguments, self.caller, self._person)
        envelope: dict[str, Any] = json.loads(json.dumps(answer))
        assert not ("data" in envelope and "error" in envelope)
        return envelope


@asynccontextmanager
async def connect(
    *,
    mock: bool = True,
    credentials: bool = True,
    person: Person | None = None,
    hooks: object | None = None,
    network: httpx2.AsyncBaseTransport | None = None,
    **settings: str,
) -> AsyncIterator[Session]:
    """Assemble the adapter with these settings and no others; what was noted fails the test at the end.

    It asks nobody unless MCP_AQL_POLICY says so, and then `person`.
    """
    environment = {"MCP_AQL_CONFIG": os.devnull, **ISOLATED, **settings, **(variables() if credentials else {})}
    session = Session(person)
    hooks = SimpleNamespace(before_send=session.count) if hooks is None else hooks
    session.assembly = assemble(FOLDER, hooks, environ=environment, mock=mock, network=network)
    try:
        yield session
    finally:
        session.caller.close()
        await session.assembly.close()
    session.check()
