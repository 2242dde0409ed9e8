# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The tools that each mode offers, and what they say (R-REQ-5, R-REQ-11)."""

from __future__ import annotations

import pytest

from ..table import FAMILIES
from .sessions import Session, connect
from .table import offered, sample


async def _families(session: Session) -> list[str]:
    """Return the families that have an operation, of the API or of the protocol."""
    endpoints = {entry["endpoint"] for entry in await session.listed("operations")}
    assert endpoints >= set(offered())
    return [family for family in FAMILIES if family in endpoints]


@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_semantic_mode_offers_a_tool_for_each_family(era: str) -> None:
    async with connect(era=era, MCP_AQL_ENDPOINT_MODE="semantic") as session:
        assert session.tools == [session.tool(family) for family in await _families(session)]
        for operation in sample(5):
            answer = await session.call(operation.family, operation.name, operation.params)
            assert answer["success"], answer


@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_single_mode_offers_one_tool_for_everything(era: str) -> None:
    async with connect(era=era, MCP_AQL_ENDPOINT_MODE="single") as session:
        assert session.tools == ["mcp_aql"]
        assert (await session.introspect("operations"))["success"]
        for operation in sample(5):
            answer = await session.call("", operation.name, operation.params)
            assert answer["success"], answer


async def test_mode_all_offers_both() -> None:
    async with connect(MCP_AQL_ENDPOINT_MODE="all") as session:
        assert set(session.tools) == {"mcp_aql", *(session.tool(family) for family in await _families(session))}


async def test_an_unknown_operation_is_refused() -> None:
    """R-ERR-1"""
    async with connect() as session:
        answer = await session.call("read", "no_such_operation_anywhere", {})
    assert answer["error"]["code"] == "NOT_FOUND_OPERATION"
