"""The header by which gateways see the operation of a call: it never says another one than the call does (R-REQ-11)."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
from mcp.types import CLIENT_CAPABILITIES_META_KEY, HEADER_MISMATCH, PROTOCOL_VERSION_META_KEY

from tests.runtime.http_endpoint import LEGACY, MODERN, Answer, Endpoint, endpoint

pytestmark = pytest.mark.anyio
ENCODED = f"=?base64?{base64.b64encode(b'list_keepers').decode()}?="


async def call(served: Endpoint, arguments: dict[str, Any], *values: str, era: str = MODERN) -> Answer:
    """Call the read tool with the header of each value."""
    params: dict[str, Any] = {"name": "mcp_aql_read", "arguments": arguments}
    headers = [("mcp-protocol-version", era)]
    if era == MODERN:
        params["_meta"] = {PROTOCOL_VERSION_META_KEY: MODERN, CLIENT_CAPABILITIES_META_KEY: {}}
        headers += [("mcp-method", "tools/call"), ("mcp-name", "mcp_aql_read")]
    else:
        headers.append(("mcp-session-id", await served.open()))
    return await served.rpc("tools/call", params, headers=[*headers, *(("Mcp-Param-Operation", v) for v in values)])


@pytest.mark.parametrize("era", [MODERN, LEGACY])
@pytest.mark.parametrize("value", ["list_keepers", ENCODED])
async def test_a_header_with_the_operation_of_the_call_is_fine(package: Path, era: str, value: str) -> None:
    async with endpoint(package) as served:
        assert (await call(served, {"operation": "list_keepers"}, value, era=era)).envelope["success"]


@pytest.mark.parametrize("era", [MODERN, LEGACY])
@pytest.mark.parametrize(
    ("arguments", "values"),
    [
        ({"operation": "list_keepers"}, ["list_animals"]),
        ({"operation": "list_keepers"}, ["LIST_KEEPERS"]),
        ({"operation": "list_keepers"}, [""]),
        ({"operation": "list_keepers"}, ["list_keepers", "list_animals"]),
        ({"operation": "list_keepers"}, ["list_animals", "list_keepers"]),
        ({"operation": "list_keepers"}, ["=?base64?%%%?="]),
        ({"operation": ["list_keepers"]}, ["list_keepers"]),
        ({"operations": [{"operation": "list_keepers"}]}, ["list_keepers"]),
        ({"params": {"operation": "list_keepers"}}, ["list_keepers"]),
    ],
)
async def test_a_header_with_anything_else_is_refused_before_the_call(
    package: Path, era: str, arguments: dict[str, Any], values: list[str]
) -> None:
    async with endpoint(package) as served:
        answer = await call(served, arguments, *values, era=era)
        assert answer.json["error"]["code"] == HEADER_MISMATCH
        assert answer.status == (400 if era == MODERN else 200)
        assert not served.api.sent


async def test_a_call_of_the_newest_protocol_needs_the_header(package: Path) -> None:
    """What a gateway cannot see, it cannot allow."""
    async with endpoint(package) as served:
        answer = await call(served, {"operation": "list_keepers"})
        assert (answer.status, answer.json["error"]["code"]) == (400, HEADER_MISMATCH)
        assert (await call(served, {"operation": "list_keepers"}, era=LEGACY)).envelope["success"]


async def test_the_header_allows_nothing_that_the_tool_does_not(package: Path) -> None:
    async with endpoint(package) as served:
        answer = await call(served, {"operation": "delete_animal", "params": {"animal_id": 7}}, "delete_animal")
        assert answer.envelope["error"]["code"] == "VALIDATION_ENDPOINT_MISMATCH"
        assert not served.api.sent
