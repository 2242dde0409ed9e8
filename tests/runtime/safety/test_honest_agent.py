"""An agent that does what it may is asked for nothing, and whoever looks is never held up (R-SAFE-1, R-SAFE-2)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.types import ElicitResult

from aqlgen.runtime.assembly import assemble
from aqlgen.runtime.server.mcp import build_server
from aqlgen.runtime.settings.trust import TRUST_LEVELS
from aqlgen.runtime.table import Row, Table
from tests.cases import each

pytestmark = pytest.mark.anyio
PETSTORE = Path(__file__).parents[3] / "fixtures/golden/petstore/src/petstore_adapter"
ROWS = [row for name, _ in Table(PETSTORE).names() if (row := Table(PETSTORE).find(name)) is not None]
READS = [row for row in ROWS if row.danger == "safe"]
WRITES = [row for row in ROWS if row.danger == "reversible" and row.asked == "never"]
POLICIES = [(policy, trust) for policy in ("standard", "strict", "open") for trust in TRUST_LEVELS]
QUERIES: tuple[Mapping[str, Any], ...] = (
    {"query": "operations"},
    {"query": "search", "search": "delete a pet"},
    {"query": "types"},
    {"query": "danger"},
    {"query": "adapter_info"},
)


class Session:
    """A client with a person behind it; `asked` are the questions that reached the person."""

    def __init__(self) -> None:
        self.client: Any = None
        self.asked: list[str] = []

    async def person(self, _: Any, params: Any) -> ElicitResult:
        """Agree to everything, and remember what it was."""
        self.asked.append(params.message)
        return ElicitResult(action="accept", content={"confirm": True})

    async def call(self, family: str, operation: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Call an operation and return its envelope."""
        result = await self.client.call_tool(f"mcp_aql_{family}", {"operation": operation, "params": dict(params)})
        envelope: dict[str, Any] = result.structured_content
        return envelope

    async def take(self, row: Row) -> dict[str, Any]:
        """Call an operation as its example does."""
        return await self.call(row.family, row.name, row.example or {})


@asynccontextmanager
async def session(tmp_path: Path, era: str = "auto", **settings: str) -> AsyncIterator[Session]:
    """Serve the generated adapter in mock mode."""
    environ = {"MCP_AQL_CONFIG": "/dev/null", "XDG_STATE_HOME": str(tmp_path), "MCP_AQL_LOG_LEVEL": "error", **settings}
    parts = assemble(PETSTORE, environ=environ, mock=True)
    opened = Session()
    try:
        async with Client(
            build_server(parts.dispatcher), mode=era, elicitation_callback=opened.person
        ) as opened.client:
            yield opened
    finally:
        await parts.close()


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_a_hundred_allowed_writes_ask_nobody(tmp_path: Path, era: str) -> None:
    """R-SAFE-1: policy `standard`, the loop disabled."""
    assert len(WRITES) >= 3
    async with session(tmp_path, era) as opened:
        for row in islice(cycle(WRITES), 100):
            envelope = await opened.take(row)
            assert envelope["success"], (row.name, envelope)
        assert opened.asked == []
        grave = next(row for row in ROWS if row.danger == "destructive")
        await opened.take(grave)
        assert len(opened.asked) == 1


@each(("policy", "trust"), POLICIES)
async def test_reads_and_introspection_are_never_gated(tmp_path: Path, policy: str, trust: str) -> None:
    """R-SAFE-2: under no policy but `strict` for an adapter that nobody has tested, where looking stays free."""
    async with session(tmp_path, MCP_AQL_POLICY=policy, MCP_AQL_TRUST_LEVEL=trust) as opened:
        for query in QUERIES:
            assert (await opened.call("read", "introspect", query))["success"]
        for row in READS:
            envelope = await opened.take(row)
            refused = (policy, trust) == ("strict", "untested")
            assert envelope["success"] is not refused, (row.name, envelope)
        assert opened.asked == []


@pytest.mark.parametrize("mode", ["enforcing", "monitoring", "logging"])
async def test_reads_and_introspection_need_no_report_to_the_loop(tmp_path: Path, mode: str) -> None:
    """R-LOOP-2"""
    async with session(tmp_path, MCP_AQL_SAFETY_LOOP=mode) as opened:
        for query in QUERIES:
            assert (await opened.call("read", "introspect", query))["success"]
        for row in READS:
            assert (await opened.take(row))["success"], row.name
        assert opened.asked == []
