"""Calls as models write them: performed if they can mean one thing only, else refused with the right call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aqlgen.runtime.assembly import assemble
from aqlgen.runtime.dispatch.dispatcher import Dispatcher
from aqlgen.runtime.validation.problems import near_name

pytestmark = pytest.mark.anyio

ADA = {"name": "Ada", "species": "lion"}


@pytest.fixture
def zoo(package: Path) -> Dispatcher:
    settings = {"MCP_AQL_STATE_URL": "memory:", "MCP_AQL_AUDIT_PATH": "off", "MCP_AQL_POLICY": "open"}
    return assemble(package, environ=settings, mock=True).dispatcher


@pytest.mark.parametrize(
    "arguments",
    [
        {"operation": "get_animal", "params": '{"animal_id": 7}'},
        {"operation": "get_animal", "params": {"animalId": 7}},
        {"operation": "get_animal", "params": {"animal-id": 7}},
        {"operation": "get_animal", "animal_id": 7},
        {"operation": "get-animal", "params": {"animal_id": 7}},
        {"operation": "GET_ANIMAL", "params": {"animal_id": 7}},
        {"operation": "getAnimal", "params": {"animal_id": 7}},
        {"operation": "showAnimal", "params": {"animal_id": 7}},
        {"operation": "show_animal", "params": {"animal_id": 7}},
        {"operation": "GET /animals/{animalId}", "params": {"animal_id": 7}},
        {"operation": "get /animals/{animalId}", "params": {"animal_id": 7}},
    ],
)
async def test_a_call_that_can_mean_one_thing_only_is_performed(zoo: Dispatcher, arguments: dict[str, Any]) -> None:
    """R-REQ-2"""
    assert (await zoo.handle("read", arguments))["success"] is True


@pytest.mark.parametrize("items", ['[{"operation": "list_keepers"}]', [{"operation": "list_keepers", "params": "{}"}]])
async def test_a_batch_may_come_as_text(zoo: Dispatcher, items: Any) -> None:
    assert (await zoo.handle("read", {"operations": items}))["summary"] == {"total": 1, "succeeded": 1, "failed": 0}


@pytest.mark.parametrize("text", ["[" * 100_000, '{"limit": NaN}', '{"limit": 1', "[1]", "limit=1", ""])
async def test_text_that_is_no_object_is_refused(zoo: Dispatcher, text: str) -> None:
    error = (await zoo.handle("read", {"operation": "list_animals", "params": text}))["error"]
    assert error["message"].startswith("Parameter 'params' expected 'object', got 'string'. Give an object")


async def test_what_comes_as_text_is_bounded_as_all_else_is(zoo: Dispatcher) -> None:
    """R-REQ-9"""
    deep = '{"a":' * 40 + "1" + "}" * 40
    for arguments in ({"operation": "list_animals", "params": deep}, {"operations": [{"params": deep}]}):
        assert (await zoo.handle("read", arguments))["error"]["details"]["limit_type"] == "nesting_depth"


@pytest.mark.parametrize(
    ("family", "arguments", "way"),
    [
        ("read", {"name": "get_animal", "params": {}}, "Give 'get_animal' as 'operation', not as 'name'"),
        ("read", {"tool": "introspect", "params": {}}, "Give 'introspect' as 'operation', not as 'tool'"),
        ("read", {"query": "operations"}, "give 'introspect' as operation"),
        ("read", {"params": {"query": "types"}}, "give 'introspect' as operation"),
        ("read", {"operation": "fetch_animal"}, "Did you mean 'get_animal'?"),
        ("read", {"operation": "read_animal"}, "Did you mean 'get_animal'?"),
        ("read", {"operation": "get_animls"}, "Did you mean 'get_animal'?"),
        ("read", {"operation": "GET /animals/7"}, "Did you mean 'get_animal'?"),
        ("read", {"operation": "DELETE /animals/7"}, "Did you mean 'delete_animal'?"),
        ("read", {"operation": "/animals/7?x=1"}, "Did you mean 'get_animal'?"),
        ("read", {"operation": "/keepers/"}, "Did you mean 'list_keepers'?"),
        ("read", {"operation": "/animals"}, "Did you mean 'list_animals'?"),
        ("read", {"operation": "get_animal", "params": {"id": 7}}, "Did you mean 'animal_id' for 'id'?"),
        ("read", {"operation": "get_animal", "params": {"animal": {"animalId": 7}}}, "'animal_id' for 'animal'?"),
        ("read", {"operation": "list_animals", "params": {"born_after": 2020}}, "must be a date, such as '2026-01-31'"),
        ("create", {"operation": "create_animal", "params": {**ADA, "tags": "a, b"}}, 'Give a list: ["a", "b"]'),
        ("create", {"operation": "create_animal", "params": {**ADA, "tags": '["a"'}}, "not its text"),
        ("create", {"operation": "create_animal", "params": {**ADA, "notes": '{"a": 1, "a": 2}'}}, "not its text"),
        ("update", {"operation": "update_animal", "params": {"animal_id": "x", "name": "A"}}, "fields of 'input'"),
        ("update", {"operation": "update_animal", "params": {"animal_id": 7}}, "'input' (type NewAnimal)"),
        ("create", {"operation": "get_animal", "params": {"animal_id": 7}}, "through 'mcp_aql_read'"),
        ("read", {"operation": "introspect", "params": {"query": "get_animal"}}, "Give name to describe one"),
    ],
)
async def test_a_refusal_shows_the_right_call(
    zoo: Dispatcher, family: str, arguments: dict[str, Any], way: str
) -> None:
    """R-ENV-5: what is wrong, and what to do next."""
    error = (await zoo.handle(family, arguments))["error"]
    messages = [error["message"], *(problem["message"] for problem in error.get("details", {}).get("problems", ()))]
    assert any(way in message for message in messages), messages


async def test_a_sensitive_value_is_not_given_back_in_advice(zoo: Dispatcher) -> None:
    """R-ENV-4"""
    params = {**ADA, "secret_word": 123456}
    assert "123456" not in str(await zoo.handle("create", {"operation": "create_animal", "params": params}))


@pytest.mark.parametrize(
    "params",
    [
        {"query": "operations", "name": "GET-ANIMAL"},
        {"query": "operations", "category": "read", "search": "keepers"},
        {"query": "types", "name": "new_animal"},
    ],
)
async def test_introspection_reads_names_and_categories_in_any_case(zoo: Dispatcher, params: dict[str, Any]) -> None:
    data = (await zoo.handle("read", {"operation": "introspect", "params": params}))["data"]
    assert all(data.values()), data


@pytest.mark.parametrize(
    ("name", "meant"), [("get_animak", "get_animal"), ("list_keeperz", "list_keepers"), ("lst_keepers", "list_keepers")]
)
async def test_a_mistyped_name_is_answered_with_the_one_that_was_meant(zoo: Dispatcher, name: str, meant: str) -> None:
    """R-ENV-5"""
    answer = await zoo.handle("read", {"operation": name, "params": {}})
    assert answer["error"]["details"]["available"][0] == meant


async def test_a_name_without_words_of_its_own_is_no_suggestion() -> None:
    """R-ENV-5"""
    assert near_name("no_such_parameter", ["as", "of", "tail"]) is None
    assert near_name("tail_lines", ["as", "tail"]) == "tail"
