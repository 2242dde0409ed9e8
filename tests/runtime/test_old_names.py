"""Old names of operations, as an agent meets them through a real client."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from stand_in import FakeApi
from tiny_zoo import ADAPTER, OPERATIONS, TYPES, write_package

from aqlgen.runtime.dispatch.dispatcher import Dispatcher
from aqlgen.runtime.server.mcp import build_server
from aqlgen.runtime.session import Session
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.table import Adapter, Table
from tests.cases import without_ids

pytestmark = pytest.mark.anyio
TODAY = datetime.now(UTC).date()
YESTERDAY, SOON, LATER = (TODAY + timedelta(days=days) for days in (-1, 10, 200))
ALIASES = [
    {"name": "all_animals"},
    {"name": "fetch_animals", "until": LATER.isoformat()},
    {"name": "read_animals", "until": SOON.isoformat()},
    {"name": "see_animals", "until": TODAY.isoformat()},
    {"name": "animals", "until": YESTERDAY.isoformat()},
]
NAMES = {alias["name"] for alias in ALIASES}


@pytest.fixture
def zoo(tmp_path: Path) -> Dispatcher:
    read = {**OPERATIONS["read"], "list_animals": {**OPERATIONS["read"]["list_animals"], "aliases": ALIASES}}
    read["list_keepers"] = {**read["list_keepers"], "operation_id": "all_animals"}
    delete = {"delete_animal": {**OPERATIONS["delete"]["delete_animal"], "aliases": [{"name": "remove_animal"}]}}
    operations = {**OPERATIONS, "read": read, "delete": delete}
    package = write_package(tmp_path / "zoo", ADAPTER, operations, TYPES)
    adapter, table = Adapter.load(package), Table(package)
    return Dispatcher(adapter, table, FakeApi(), Config(policy="standard"))


async def call(zoo: Dispatcher, operation: str, tool: str = "mcp_aql_read", **params: Any) -> dict[str, Any]:
    async with Client(build_server(zoo)) as client:
        result = await client.call_tool(tool, {"operation": operation, "params": params})
    assert result.structured_content is not None
    return result.structured_content


@pytest.mark.parametrize(
    ("name", "severity", "removal"),
    [
        ("all_animals", "low", {}),
        ("fetch_animals", "medium", {"removal_date": LATER.isoformat()}),
        ("read_animals", "high", {"removal_date": SOON.isoformat()}),
        ("see_animals", "high", {"removal_date": TODAY.isoformat()}),
    ],
)
async def test_a_call_by_an_alias_runs_the_operation_and_is_warned_of(
    zoo: Dispatcher, name: str, severity: str, removal: dict[str, str]
) -> None:
    """R-WARN-2"""
    envelope, plainly = await call(zoo, name, limit=3), await call(zoo, "list_animals", limit=3)
    assert envelope["success"]
    assert envelope["data"] == plainly["data"]
    assert "warnings" not in plainly
    assert envelope["warnings"] == [
        {
            "code": "DEPRECATION_WARNING",
            "message": f"Operation '{name}' is deprecated",
            "details": {"type": "operation", "deprecated_item": name, "replacement": "list_animals", **removal},
            "severity": severity,
        }
    ]


async def test_an_alias_whose_time_has_passed_is_unknown_and_the_error_names_the_replacement(zoo: Dispatcher) -> None:
    envelope = await call(zoo, "animals")
    assert without_ids(envelope["error"]) == {
        "code": "NOT_FOUND_OPERATION",
        "message": f"Operation 'animals' ended after {YESTERDAY}. Use 'list_animals'.",
        "details": {"operation": "animals", "available": ["list_animals"]},
    }
    shown = await call(zoo, "introspect", query="operations", name="animals")
    assert shown["data"] == {"operation": None}


async def test_an_alias_belongs_to_the_tool_of_its_operation(zoo: Dispatcher) -> None:
    """R-REQ-5"""
    envelope = await call(zoo, "all_animals", "mcp_aql_delete")
    assert envelope["error"]["code"] == "VALIDATION_ENDPOINT_MISMATCH"
    assert "'mcp_aql_read'" in envelope["error"]["message"]


async def test_the_gatekeeper_treats_an_alias_as_the_operation(zoo: Dispatcher) -> None:
    """R-SAFE-3: a token that is given to one name confirms the other, for it is the same call."""
    session, params = Session.new(), {"animal_id": 7}
    asked = await zoo.handle("delete", {"operation": "remove_animal", "params": params}, session)
    assert asked["error"]["code"] == "CONFIRMATION_REQUIRED"
    params["confirmation_token"] = asked["confirmation"]["token"]
    done = await zoo.handle("delete", {"operation": "delete_animal", "params": params}, session)
    assert done["success"], done


async def test_a_failed_call_by_an_alias_has_no_warnings(zoo: Dispatcher) -> None:
    """R-WARN-1"""
    envelope = await call(zoo, "all_animals", nonsense=1)
    assert not envelope["success"]
    assert "warnings" not in envelope


async def test_a_batch_tells_of_its_aliases_beside_the_results(zoo: Dispatcher) -> None:
    """R-BAT-1"""
    batch = [{"operation": "all_animals", "params": {}}, {"operation": "list_animals", "params": {}}]
    async with Client(build_server(zoo)) as client:
        result = await client.call_tool("mcp_aql_read", {"operations": batch})
    assert result.structured_content is not None
    assert result.structured_content["summary"]["succeeded"] == 2
    warnings = result.structured_content["warnings"]
    assert [warning["details"]["deprecated_item"] for warning in warnings] == ["all_animals"]


async def test_introspection_of_an_alias_shows_the_operation_and_the_name_to_use(zoo: Dispatcher) -> None:
    """R-INT-4"""
    plainly = (await call(zoo, "introspect", query="operations", name="list_animals"))["data"]["operation"]
    shown = (await call(zoo, "introspect", query="operations", name="all_animals"))["data"]["operation"]
    assert shown["name"] == "list_animals"
    assert shown["description"] == (
        "The name 'all_animals' is deprecated: use 'list_animals'. "
        "List the animals, the newest first.\n\nPages hold 20."
    )
    assert {**shown, "description": ""} == {**plainly, "description": ""}
    dated = (await call(zoo, "introspect", query="operations", name="read_animals"))["data"]["operation"]
    start = f"The name 'read_animals' is deprecated and ends after {SOON}: use 'list_animals'. "
    assert dated["description"].startswith(start)


async def test_aliases_stand_in_no_list_no_tool_and_no_search(zoo: Dispatcher) -> None:
    """R-INT-2, R-INT-6"""
    listing = (await call(zoo, "introspect", query="operations"))["data"]
    assert not NAMES & {operation["name"] for operation in listing["operations"]}
    results = (await call(zoo, "introspect", query="operations", search="fetch_animals see"))["data"]
    assert not NAMES & {operation["name"] for operation in results["operations"]}
    async with Client(build_server(zoo)) as client:
        tools = json.dumps([tool.model_dump(mode="json") for tool in (await client.list_tools()).tools])
    assert not [name for name in NAMES if name != "animals" and name in tools]


async def test_an_alias_comes_before_another_operations_own_id(zoo: Dispatcher) -> None:
    """R-REQ-2"""
    assert (await call(zoo, "all_animals"))["data"] == (await call(zoo, "list_animals"))["data"]
