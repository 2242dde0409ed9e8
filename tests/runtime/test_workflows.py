"""Workflows as agents call them: plans with inputs, on the way of `run_steps` (R-STEP-3)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from test_steps import Zoo

from aqlgen.runtime.dispatch.dispatcher import Dispatcher
from aqlgen.runtime.server.mcp import build_server
from aqlgen.runtime.session import Session
from tests.cases import setting

pytestmark = pytest.mark.anyio
WORKFLOWS: dict[str, Any] = {
    "rename_animal": {
        "workflow_id": "renameAnimal",
        "family": "update",
        "summary": "Give an animal another name",
        "danger": "reversible",
        "danger_reason": "update_animal is reversible",
        "inputs": {
            "number": {"in": "adapter", "required": True, "schema": {"type": "integer", "minimum": 1}},
            "name": {"in": "adapter", "schema": {"type": "string", "default": "Max"}, "description": "The new one"},
            "more": {"in": "adapter", "schema": {"type": "object"}},
        },
        "steps": [
            {"id": "old", "operation": "get_animal", "params": {"animal_id": {"$ref": "inputs.number"}}},
            {
                "operation": "update_animal",
                "params": {
                    "animal_id": {"$ref": "old.id"},
                    "input": {"name": {"$ref": "inputs.name"}, "tags": [{"$ref": "inputs.more.tag"}]},
                },
            },
        ],
        "outputs": {"kind": {"$ref": "old.species"}, "now": {"$ref": "2.name"}, "tag": {"$ref": "inputs.more.tag"}},
    },
    "visit_keepers": {
        "workflow_id": "visitKeepers",
        "family": "read",
        "summary": "Look after those who feed",
        "danger": "safe",
        "danger_reason": "list_keepers is safe",
        "steps": [{"operation": "list_keepers", "params": {}}],
    },
    "strike_animal": {
        "workflow_id": "strikeAnimal",
        "family": "delete",
        "summary": "Take an animal off the books",
        "danger": "destructive",
        "danger_reason": "delete_animal is destructive",
        "inputs": {"number": {"in": "adapter", "required": True, "schema": {"type": "integer"}}},
        "steps": [
            {"id": "see", "operation": "get_animal", "params": {"animal_id": {"$ref": "inputs.number"}}},
            {"operation": "delete_animal", "params": {"animal_id": {"$ref": "inputs.number"}}},
            {"operation": "delete_animal", "params": {"animal_id": 2}},
        ],
    },
}


@pytest.fixture
def api() -> Zoo:
    return Zoo()


@pytest.fixture
def package(package: Path) -> Path:
    (package / "workflows.json").write_text(json.dumps(WORKFLOWS), encoding="utf-8")
    return package


async def call(zoo: Dispatcher, operation: str, family: str | None = None, **params: Any) -> dict[str, Any]:
    return await zoo.handle(family, {"operation": operation, "params": params}, Session("s"))


async def test_a_workflow_runs_its_steps_and_answers_with_its_outputs(zoo: Dispatcher, api: Zoo) -> None:
    """R-STEP-3"""
    done = await call(zoo, "rename_animal", "update", number=1, name="Ann", more={"tag": "x"})
    assert done["data"] == {"kind": "lion", "now": "Ann", "tag": "x"}
    assert done["_meta"]["summary"] == {"steps": 2, "done": 2, "calls": 2}
    assert api.animals[1]["tags"] == ["x"]


async def test_an_input_that_is_not_given_is_its_default_or_left_out(zoo: Dispatcher, api: Zoo) -> None:
    done = await call(zoo, "rename_animal", number=1)
    assert done["data"] == {"kind": "lion", "now": "Max", "tag": None}
    assert api.animals[1]["tags"] == []


async def test_inputs_are_checked_by_their_schemas(zoo: Dispatcher, api: Zoo) -> None:
    assert (await call(zoo, "rename_animal"))["error"]["code"] == "VALIDATION_MISSING_PARAM"
    assert (await call(zoo, "rename_animal", number="x"))["error"]["code"] == "VALIDATION_INVALID_TYPE"
    assert (await call(zoo, "rename_animal", number=0))["error"]["code"] == "VALIDATION_INVALID_VALUE"
    assert (await call(zoo, "rename_animal", number=1, steps=[]))["error"]["code"] == "VALIDATION_UNKNOWN_PARAM"
    assert (await call(zoo, "rename_animal", number=1, **{"continue": "plan_1"}))["success"] is False
    assert not api.done


@pytest.mark.parametrize("value", [{"$ref": "old.name"}, {"tag": {"$ref": "old.name"}}, {"a": [{"$ref": "old"}]}])
async def test_an_input_is_a_value_and_no_reference(zoo: Dispatcher, api: Zoo, value: Any) -> None:
    answer = await call(zoo, "rename_animal", number=1, more=value)
    assert "is not taken" in answer["error"]["message"]
    assert not api.done


async def test_it_belongs_to_one_tool_and_is_no_part_of_a_batch_or_plan(zoo: Dispatcher, api: Zoo) -> None:
    assert (await call(zoo, "rename_animal", "read", number=1))["error"]["code"] == "VALIDATION_ENDPOINT_MISMATCH"
    item = {"operation": "rename_animal", "params": {"number": 1}}
    batch = await zoo.handle(None, {"operations": [item]}, Session("s"))
    assert "not plans" in batch["results"][0]["result"]["error"]["message"]
    plan = await call(zoo, "run_steps", steps=[item])
    assert "no step of a plan" in plan["error"]["message"]
    assert not api.done


async def test_what_must_be_confirmed_is_asked_once_and_run_steps_goes_on(
    make: Callable[..., Dispatcher], api: Zoo
) -> None:
    """R-STEP-3, R-SAFE-4"""
    zoo, session = make(), Session("s")
    asked = await zoo.handle("delete", {"operation": "strike_animal", "params": {"number": 1}}, session)
    assert asked["error"]["code"] == "CONFIRMATION_REQUIRED"
    assert "continue" in asked["error"]["details"]["plan"]
    assert not any(name == "delete_animal" for name, _ in api.done)
    params = {
        "continue": asked["error"]["details"]["plan"]["continue"],
        "confirmation_token": asked["confirmation"]["token"],
    }
    again = {"number": 1, "confirmation_token": params["confirmation_token"]}
    refused = await zoo.handle("delete", {"operation": "strike_animal", "params": again}, session)
    assert "call run_steps with 'confirmation_token' and the 'continue'" in refused["error"]["message"]
    done = await zoo.handle("execute", {"operation": "run_steps", "params": params}, session)
    assert done["success"]
    assert [number for name, number in api.done if name == "delete_animal"] == [1, 2]


async def test_a_dry_run_sends_nothing(zoo: Dispatcher, api: Zoo) -> None:
    answer = await call(zoo, "rename_animal", number=1, dry_run=True)
    assert [step["operation"] for step in answer["data"]["steps"]] == ["get_animal", "update_animal"]
    assert not api.done


async def test_a_read_only_adapter_has_only_the_workflows_that_read(make: Callable[..., Dispatcher], api: Zoo) -> None:
    """R-TRUST-6"""
    zoo = make(read_only=True)
    assert (await call(zoo, "visit_keepers", "read"))["success"]
    assert (await call(zoo, "strike_animal", number=1))["error"]["code"] == "NOT_FOUND_OPERATION"
    listed = await call(zoo, "introspect", query="operations")
    assert "strike_animal" not in json.dumps(listed)
    assert [name for name, _ in api.done] == ["list_keepers"]


async def test_introspection_lists_finds_and_describes_it(zoo: Dispatcher) -> None:
    """R-STEP-3, R-INT-3"""
    listed = await call(zoo, "introspect", query="operations", category="UPDATE")
    assert "rename_animal" in [item["name"] for item in listed["data"]["operations"]]
    hits = await call(zoo, "introspect", query="operations", search="give an animal another name")
    assert hits["data"]["operations"][0]["name"] == "rename_animal"
    details = (await call(zoo, "introspect", query="operations", name="rename_animal"))["data"]["operation"]
    assert details["mcpTool"] == "mcp_aql_update"
    assert "Runs 'get_animal', 'update_animal'." in details["description"]
    assert {item["name"]: (item["type"], item["required"]) for item in details["parameters"]} == {
        "number": ("integer", True),
        "name": ("string", False),
        "more": ("object", False),
        "dry_run": ("boolean", False),
    }


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_a_real_client_calls_it(zoo: Dispatcher, era: str) -> None:
    async with Client(build_server(zoo), mode=era) as client:
        arguments = {"operation": "rename_animal", "params": {"number": 1}}
        result = await client.call_tool("mcp_aql_update", arguments)
    assert result.structured_content is not None
    assert result.structured_content["data"]["now"] == "Max"


async def test_rules_of_the_owner_hold_for_each_step(make: Callable[..., Dispatcher], api: Zoo) -> None:
    """R-SAFE-1, R-STEP-3"""
    rules = [{"id": "no-ann", "operations": ["update_*"], "when": {"input.name": "Ann"}, "action": "deny"}]
    zoo = make(policy_rules=setting("policy.rules", rules))
    refused = await call(zoo, "rename_animal", number=1, name="Ann", more={"tag": "x"})
    assert refused["success"] is False
    assert "no-ann" in refused["error"]["message"]
    assert {name for name, _ in api.done} <= {"get_animal"}
    assert (await call(zoo, "rename_animal", number=1, name="Ben", more={"tag": "x"}))["success"]
