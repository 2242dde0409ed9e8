"""The query `danger` of introspection: levels, reasons, and what the policy does with a call (R-SAFE-1)."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from tiny_zoo import ADAPTER, OPERATIONS, write_package

from aqlgen.runtime.dispatch.dispatcher import Dispatcher
from aqlgen.runtime.introspection.introspect import Introspection
from aqlgen.runtime.server.mcp import build_server
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.table import Adapter, Table
from aqlgen.runtime.text import tokens_of

pytestmark = pytest.mark.anyio
LEVELS = ("safe", "reversible", "destructive", "dangerous", "forbidden")


def ask(folder: Path, settings: dict[str, Any] | None = None, **params: Any) -> Any:
    introspection = Introspection(Adapter.load(folder), Table(folder), Config(**(settings or {})))
    envelope = introspection.answer({"query": "danger", **params}, None)
    assert set(envelope) == {"success", "data"}, envelope
    return envelope["data"]


@pytest.fixture
def changed(tmp_path: Path) -> Callable[..., Path]:
    """Write a zoo whose delete_animal has other values."""

    def write(**values: Any) -> Path:
        operations: Any = copy.deepcopy(OPERATIONS)
        operations["delete"]["delete_animal"] |= values
        return write_package(tmp_path / "zoo", ADAPTER, operations)

    return write


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_a_client_learns_how_many_there_are_of_each_level_and_the_worst_first(zoo: Dispatcher, era: str) -> None:
    """R-SAFE-1"""
    async with Client(build_server(zoo), mode=era) as client:
        arguments = {"operation": "introspect", "params": {"query": "danger"}}
        result = await client.call_tool("mcp_aql_read", arguments)
    assert result.structured_content is not None
    data = result.structured_content["data"]
    assert next(iter(data)) == "summary"
    assert tuple(data["summary"]) == LEVELS
    assert data["policy"] == {"name": "standard", "approval": "agent", "trust_level": "generated"}
    entries = data["operations"]
    levels = [entry["danger"]["level"] for entry in entries]
    assert levels == sorted(levels, key=LEVELS.index, reverse=True)
    assert {level: levels.count(level) for level in LEVELS} == data["summary"]
    assert data["page"]["total"] == len(entries)
    assert {entry["name"] for entry in entries} >= {
        "introspect",
        *(name for rows in OPERATIONS.values() for name in rows),
    }


@pytest.mark.parametrize(
    ("level", "policy", "behavior"),
    [
        ("safe", "standard", "allow"),
        ("reversible", "standard", "allow"),
        ("destructive", "standard", "confirm"),
        ("dangerous", "strict", "deny"),
        ("forbidden", "standard", "deny"),
        ("forbidden", "open", "allow"),
    ],
)
def test_the_behavior_is_that_of_the_policy_in_force(
    changed: Callable[..., Path], level: str, policy: str, behavior: str
) -> None:
    """R-SAFE-1"""
    operation = ask(changed(danger=level), {"policy": policy}, name="delete_animal")["operation"]
    assert (operation["danger"]["level"], operation["behavior"]) == (level, behavior)


def test_one_operation_is_shown_with_every_reason(changed: Callable[..., Path]) -> None:
    """R-SAFE-1: danger levels document, 3.4."""
    more = {"danger_reason": "category: DELETE", "confirmation": "Really?", "review": ["its name is a guess"]}
    more["evidence"] = ["it speaks of permission"]
    assert ask(changed(**more), {"policy": "strict", "trust_level": "validated"}, name="delete_animal") == {
        "operation": {
            "name": "delete_animal",
            "semantic_category": "DELETE",
            "danger": {
                "level": "destructive",
                "reasons": [
                    "category: DELETE",
                    "it speaks of permission",
                    "Removes data",
                    "May not be undone",
                    "Under review: its name is a guess",
                ],
                "confirmation_message": "Really?",
            },
            "behavior": "confirm",
        }
    }


def test_an_operation_under_review_is_confirmed_only_where_the_policy_is_strict(changed: Callable[..., Path]) -> None:
    """R-SAFE-1"""
    folder = changed(danger="reversible", review=["its name is a guess"])
    settings = [{"policy": policy, "trust_level": "validated"} for policy in ("standard", "strict", "open")]
    behaviors = [ask(folder, setting, name="delete_animal")["operation"]["behavior"] for setting in settings]
    assert behaviors == ["allow", "confirm", "allow"]


def test_an_unknown_operation_is_null_and_one_of_the_adapter_has_a_level(package: Path) -> None:
    """R-SAFE-1"""
    assert ask(package, name="paint_animal") == {"operation": None}
    assert ask(package, name="introspect")["operation"]["danger"]["level"] == "safe"
    assert ask(package, name="run_steps")["operation"]["behavior"] == "allow"


def test_it_can_be_narrowed_and_paged(package: Path) -> None:
    """R-SAFE-1"""

    def names(**params: Any) -> list[str]:
        return [entry["name"] for entry in ask(package, **params)["operations"]]

    assert names(name="destructive") == ["delete_animal"]
    assert names(name=["delete_animal", "list_animals"]) == ["delete_animal", "list_animals"]
    assert names(category="DELETE") == ["delete_animal"]
    assert set(names(resource="keepers")) == {"list_keepers"}
    everything = names()
    first = ask(package, first=2)
    assert first["page"]["next"] == everything[1]
    assert names(after=everything[1]) == everything[2:]


def test_a_long_list_keeps_within_the_bound(tmp_path: Path) -> None:
    """R-SAFE-1, R-INT-6"""
    operations: Any = copy.deepcopy(OPERATIONS)
    row = operations["delete"]["delete_animal"]
    operations["delete"] = {
        f"delete_animal_{number}": {**row, "danger_reason": "irreversible: " + "gone " * 50} for number in range(400)
    }
    folder = write_package(tmp_path / "zoo", ADAPTER, operations)
    data = ask(folder, {"max_answer_tokens": 2000})
    assert tokens_of(data) <= 2000
    assert data["summary"]["destructive"] == 400
    assert data["page"]["next"] == data["operations"][-1]["name"]


def test_words_do_not_narrow_it(package: Path) -> None:
    """R-SAFE-1"""
    introspection = Introspection(Adapter.load(package), Table(package), Config())
    envelope = introspection.answer({"query": "danger", "search": "animals"}, None)
    assert envelope["error"]["code"] == "VALIDATION_INVALID_VALUE"


async def test_a_read_only_adapter_shows_the_danger_of_what_it_offers_alone(make: Callable[..., Dispatcher]) -> None:
    """R-SAFE-1, R-TRUST-6"""
    dispatcher = make(read_only=True)
    answer = await dispatcher.handle("read", {"operation": "introspect", "params": {"query": "danger"}})
    assert {entry["danger"]["level"] for entry in answer["data"]["operations"]} == {"safe"}
    deletion = {"operation": "introspect", "params": {"query": "danger", "name": "delete_animal"}}
    assert (await dispatcher.handle("read", deletion))["data"] == {"operation": None}
